"""Operations on a classroom, of both clients."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from tellback.classroom.client.bodies import plain_body, sendable
from tellback.classroom.client.operations import Call, deletion, items, operation, part
from tellback.specs import Data, Spec

L = TypeVar("L")
"""A lesson of one of the clients."""


def _call(method: str, path: str, **request: Any) -> Call[Data]:
    return Call(method, path, sendable(request))


class ClassroomOperations(Generic[L]):
    """The operations on lessons, accounts and tokens."""

    def _lesson(self, answer: Data) -> L:
        raise NotImplementedError

    @operation
    def create_lesson(
        self,
        name: str,
        *,
        dim: int | None = None,
        candidates: str = "features",
        instructions: int | None = None,
        agent: Spec | Mapping[str, Any] | None = None,
        encoder: Spec | Mapping[str, Any] | None = None,
        match: Spec | Mapping[str, Any] | None = None,
        answers: Sequence[str] | None = None,
        second_share: float = 0.0,
        doubt: str | None = None,
        guide: str = "",
        catch: float = 0.0,
        seed: int | None = None,
    ) -> Call[L]:
        """Create a lesson; the settings are those of ``tellback.classroom.learning.Definition``."""
        body = plain_body(
            name=name,
            dim=dim,
            candidates=candidates,
            instructions=instructions,
            agent=agent,
            encoder=encoder,
            match=match,
            answers=answers,
            second_share=second_share,
            doubt=doubt,
            guide=guide,
            catch=catch,
            seed=seed,
        )
        return _call("POST", "/lessons", json=body).then(self._lesson)

    @operation
    def import_lesson(
        self,
        name: str,
        responses: Iterable[Mapping[str, Any]],
        *,
        candidates: int = 5,
        held_out: float = 0.25,
    ) -> Call[L]:
        """Create a lesson of your own material.

        Parameters
        ----------
        name : str
            Its name.
        responses : iterable of mapping
            As the lines of a recording: ``{"text": ...}`` or ``{"steps": ...}``; or with pictures,
            ``{"images": [file, ...]}``, PNG, JPEG or WebP files in base 64.
        candidates : int
            How many are shown at a time.
        held_out : float
            The share of descriptions for the exam, which are not taught.
        """
        return _call(
            "POST",
            "/lessons/import",
            content="".join(f"{json.dumps(dict(one))}\n" for one in responses),
            params={"name": name, "candidates": candidates, "held_out": held_out},
            headers={"Content-Type": "application/jsonl", "Idempotency-Key": uuid.uuid4().hex},
            timeout=600,
        ).then(self._lesson)

    @operation
    def lesson(self, id: str) -> Call[L]:
        """The lesson of an id; an error if there is none."""
        return _call("GET", f"/lessons/{id}").then(self._lesson)

    @operation
    def lessons(self) -> Call[list[Data]]:
        """All lessons, the newest first."""
        return _call("GET", "/lessons").then(part("lessons"))

    @operation
    def me(self) -> Call[Data]:
        """The account of this client's token, and its role."""
        return _call("GET", "/me")

    @operation
    def accounts(self) -> Call[list[Data]]:
        """All accounts, by name; for admins."""
        return _call("GET", "/accounts").then(items)

    @operation
    def create_account(self, name: str, password: str, role: str = "teacher") -> Call[Data]:
        """Create an account; for admins."""
        body = {"name": name, "password": password, "role": role}
        return _call("POST", "/accounts", json=body)

    @operation
    def change_account(self, id: str, /, **changes: Any) -> Call[Data]:
        """Change the ``role`` or ``password`` of an account (its id or name), or disable it."""
        return _call("PATCH", f"/accounts/{quote(id, safe='')}", json=changes)

    @operation
    def tokens(self, *, everybody: bool = False) -> Call[list[Data]]:
        """The tokens of one's own account, or of all; without their secrets."""
        return _call("GET", "/tokens", params={"everybody": str(everybody).lower()}).then(items)

    @operation
    def create_token(
        self, name: str, *, days: int | None = None, account: str | None = None
    ) -> Call[Data]:
        """Create a token; its ``secret`` is in this answer and nowhere else.

        ``account`` is the name or the id of another account; for admins.
        """
        body = {"name": name, "days": days, "account": account}
        return _call("POST", "/tokens", json=body)

    @operation
    def revoke_token(self, id: str) -> Call[None]:
        """Revoke a token."""
        return deletion(f"/tokens/{id}")

    @operation
    def delete_words(self, teacher: str) -> Call[Data]:
        """Delete the words of a teacher, by the account's name or id, in all lessons."""
        return _call("DELETE", f"/teachers/{quote(teacher, safe='')}/data")
