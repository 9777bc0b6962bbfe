"""The connection to a classroom."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from tellback.classroom.client.bodies import (
    API,
    RETRIED,
    TRIES,
    from_the_start,
    plain_body,
    wait_seconds,
)
from tellback.classroom.client.errors import UnreachableError, accepted
from tellback.classroom.client.lessons import RemoteLesson
from tellback.extras import from_extra
from tellback.files import atomic_write
from tellback.specs import Data, Spec

if TYPE_CHECKING:
    import httpx

PIECE = 2**16


class Client:
    """A connection to a classroom.

    Requests that get lost, or that the service is too busy for, are sent again. An idempotency key
    makes sure that the service acts once.

    Parameters
    ----------
    url : str
        The address of the classroom, such as ``http://127.0.0.1:8765``.
    token : str, optional
        A token of an account; not needed on one's own machine.
    timeout : float
        Seconds to wait for an answer.
    tries : int
        The most attempts for a request.
    transport : optional
        A transport of ``httpx``, if requests do not go over the network.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        tries: int = TRIES,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._httpx: Any = from_extra("classroom", "httpx", "A client of the classroom")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http: httpx.Client = self._httpx.Client(
            base_url=url.rstrip("/") + API, headers=headers, timeout=timeout, transport=transport
        )
        self._tries = tries

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
        second_share: float = 0.0,
        seed: int = 0,
    ) -> RemoteLesson:
        """Create a lesson; the settings are those of ``tellback.classroom.learning.Definition``."""
        body = plain_body(
            name=name,
            dim=dim,
            candidates=candidates,
            instructions=instructions,
            agent=agent,
            encoder=encoder,
            match=match,
            second_share=second_share,
            seed=seed,
        )
        # Without a key: a lesson that was created twice does no harm.
        return RemoteLesson(self, self.send("POST", "/lessons", json=body)["id"])

    def lesson(self, id: str) -> RemoteLesson:
        """The lesson of an id; an error if there is none."""
        return RemoteLesson(self, self.send("GET", f"/lessons/{id}")["id"])

    def lessons(self) -> list[Data]:
        """All lessons, the newest first."""
        found: list[Data] = self.send("GET", "/lessons")["lessons"]
        return found

    def me(self) -> Data:
        """The account of this client's token, and its role."""
        return self.send("GET", "/me")

    def accounts(self) -> list[Data]:
        """All accounts, by name; for admins."""
        return self._list("/accounts")

    def create_account(self, name: str, password: str, role: str = "teacher") -> Data:
        """Create an account; for admins."""
        body = {"name": name, "password": password, "role": role}
        return self.send("POST", "/accounts", json=body)

    def change_account(self, id: str, **changes: Any) -> Data:
        """Change the ``role`` or ``password`` of an account, or have it ``disabled``."""
        return self.send("PATCH", f"/accounts/{id}", json=changes)

    def tokens(self, *, everybody: bool = False) -> list[Data]:
        """The tokens of one's own account, or of all; without their secrets."""
        return self._list(f"/tokens?everybody={str(everybody).lower()}")

    def create_token(
        self, name: str, *, days: int | None = None, account: str | None = None
    ) -> Data:
        """Create a token; its ``secret`` is in this answer and nowhere else."""
        body = {"name": name, "days": days, "account": account}
        return self.send("POST", "/tokens", json=body)

    def revoke_token(self, id: str) -> None:
        """Revoke a token."""
        self.send("DELETE", f"/tokens/{id}")

    def delete_words(self, teacher: str) -> Data:
        """Delete the words of a teacher, by the account's name or id, in all lessons."""
        return self.send("DELETE", f"/teachers/{quote(teacher, safe='')}/data")

    def _list(self, path: str) -> list[Data]:
        found: list[Data] = self._answer("GET", path, {}).json()
        return found

    def picture(self, path: str) -> bytes:
        """A picture, as a PNG file."""
        return self._answer("GET", path, {}).content

    def send(self, method: str, path: str, **request: Any) -> Data:
        """Send a request until there is an answer; a ``ProblemError`` if it was refused."""
        answer = self._answer(method, path, request)
        if answer.status_code == 204 or not answer.content:
            return {}
        found: Data = answer.json()
        return found

    def _answer(self, method: str, path: str, request: dict[str, Any]) -> httpx.Response:
        for left in reversed(range(self._tries)):
            try:
                answer = self._http.request(method, path, **from_the_start(request))
            except self._httpx.TransportError as error:
                if not left:
                    raise UnreachableError(
                        f"{self._http.base_url} does not answer: {type(error).__name__}: {error}"
                    ) from error
                wait = None
            else:
                if answer.status_code not in RETRIED or not left:
                    return accepted(answer)
                wait = answer.headers.get("Retry-After")
            time.sleep(wait_seconds(self._tries - 1 - left, wait))
        raise UnreachableError("tries must be at least 1.")

    def download(self, path: str, to: Path, params: Mapping[str, Any]) -> None:
        """Write an answer to a file: all of it, or no file."""
        with atomic_write(to) as temporary:
            try:
                with self._http.stream("GET", path, params=dict(params)) as answer:
                    if not answer.is_success:
                        answer.read()
                    accepted(answer)
                    with temporary.open("wb") as file:
                        file.writelines(answer.iter_bytes(PIECE))
            except self._httpx.TransportError as error:
                raise UnreachableError(f"The answer broke off: {error}") from error

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
