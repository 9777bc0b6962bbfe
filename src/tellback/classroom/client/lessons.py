"""Lessons and rounds of a classroom elsewhere."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from tellback.classroom.client.bodies import Features, candidates_body, plain
from tellback.recordings.features import Columns
from tellback.recordings.recording import Recording
from tellback.recordings.teaching import import_parts
from tellback.roles import Facts, Instruction
from tellback.specs import Data, Spec

if TYPE_CHECKING:
    from tellback.classroom.client.connection import Client


class Preview(NamedTuple):
    """The response that an agent would choose, and how sure it is."""

    response: int
    estimate: float
    sure: bool
    says: str
    second: int | None


def preview_from(answer: Data) -> Preview:
    """A preview from the service's answer."""
    second = answer["second"] and answer["second"]["response"]
    return Preview(
        **{name: answer[name] for name in Preview._fields if name != "second"}, second=second
    )


class RemoteLesson:
    """A lesson of a classroom, as ``Client.create_lesson`` and ``Client.lesson`` give it."""

    def __init__(self, client: Client, id: str) -> None:
        self._client = client
        self.id = id
        self._path = f"/lessons/{id}"

    def _send(self, method: str, path: str, **request: Any) -> Data:
        return self._client.send(method, self._path + path, **request)

    def ask(
        self,
        instruction: Instruction,
        *,
        features: Features | None = None,
        texts: Sequence[str] | None = None,
        images: Sequence[str] | None = None,
        context: str | None = None,
        key: str | None = None,
    ) -> RemoteRound:
        """Ask the agent for a response: a new round, which waits for a description.

        Parameters
        ----------
        instruction : str or int
            The request.
        features, texts, images
            The possible responses, in the form of the lesson; texts and images are also shown to
            teachers.
        context : str, optional
            The situation, as teachers are told it.
        key : str, optional
            The idempotency key: the same key brings the same round. By default a new one.
        """
        body = candidates_body(instruction, features, texts, images)
        if context is not None:
            body["context"] = context
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return RemoteRound(self, self._send("POST", "/rounds", json=body, headers=headers))

    def preview(
        self,
        instruction: Instruction,
        *,
        features: Features | None = None,
        texts: Sequence[str] | None = None,
        images: Sequence[str] | None = None,
        round: int | None = None,
    ) -> Preview:
        """The response that the agent would choose without exploring. Nothing is stored.

        The possible responses are given, or those of a ``round``.
        """
        body = candidates_body(instruction, features, texts, images)
        if round is not None:
            body["round"] = round
        return preview_from(self._send("POST", "/preview", json=body))

    def describe(self, number: int, description: Instruction, *, saw_request: bool = False) -> Data:
        """Describe the response of a round; sent again, it counts once."""
        body = {"description": description, "saw_request": saw_request}
        return self._send("PUT", f"/rounds/{number}/description", json=body)

    def withdraw(self, number: int) -> bool:
        """Withdraw a description, or an outcome; False if there was none."""
        return bool(self._send("DELETE", f"/rounds/{number}/description")["withdrawn"])

    def close(self, number: int, outcome: str, note: str | None = None) -> Data:
        """Close a round without a description: ``skipped``, ``cannot_tell`` or ``flagged``."""
        body = {"outcome": outcome, "note": note}
        return self._send("PUT", f"/rounds/{number}/outcome", json=body)

    def round(self, number: int) -> Data:
        """A round with its request, the agent's choice and its description."""
        return self._send("GET", f"/rounds/{number}")

    def rounds(
        self, *, status: str | None = None, teacher: str | None = None, q: str | None = None
    ) -> Iterator[Data]:
        """Rounds by number: of a status, described by a teacher, with words in them."""
        given = {"status": status, "teacher": teacher, "q": q}
        params: Data = {name: value for name, value in given.items() if value is not None}
        after: int | None = 0
        while after is not None:
            page = self._send("GET", "/rounds", params=params | {"after": after, "limit": 200})
            yield from page["rounds"]
            after = page["next"]

    def shown(self, number: int) -> Data:
        """The candidates of a round, as teachers see them."""
        return self._send("GET", f"/rounds/{number}/shown")

    def picture(self, number: int, index: int) -> bytes:
        """The picture of a candidate, as a PNG file."""
        return self._client.picture(f"{self._path}/rounds/{number}/images/{index}.png")

    def claim(self) -> Data | None:
        """Claim a response to describe; None if there is none just now."""
        return self._send("POST", "/claims") or None

    def prolong(self, number: int) -> None:
        """Prolong a claim."""
        self._send("PUT", f"/rounds/{number}/claim")

    def next_check(self) -> Data | None:
        """A description by somebody else, and the candidates; None if there is none just now."""
        return self._send("POST", "/checks") or None

    def check(self, number: int, response: int) -> bool:
        """Say which response a description fits; whether that is the one."""
        return bool(
            self._send("PUT", f"/rounds/{number}/check", json={"response": response})["right"]
        )

    def next_judgement(self) -> Data | None:
        """A described round with its request, to be judged; None if there is none just now."""
        return self._send("POST", "/judgements") or None

    def judge(self, number: int, met: bool | None) -> Data:
        """Say whether the response of a round did what was asked; None for "cannot tell"."""
        return self._send("PUT", f"/rounds/{number}/judgement", json={"met": met})

    def delete_words(self, teacher: str) -> Data:
        """Delete the words of a teacher in this lesson, by the account's name or id."""
        return self._send("DELETE", f"/teachers/{quote(teacher, safe='')}/data")

    def webhooks(self) -> list[Data]:
        """The webhooks, and the state of their deliveries."""
        found: list[Data] = self._send("GET", "/webhooks")["webhooks"]
        return found

    def add_webhook(self, url: str) -> Data:
        """Have each description posted to a URL; the ``secret`` is in this answer alone."""
        return self._send("POST", "/webhooks", json={"url": url})

    def remove_webhook(self, id: str) -> None:
        """Delete a webhook and its waiting deliveries."""
        self._send("DELETE", f"/webhooks/{id}")

    def curve(self) -> Data:
        """The points of the progress curve."""
        return self._send("GET", "/curve")

    def progress(self) -> Data:
        """The progress of the lesson."""
        return self._send("GET", "/progress")

    def roll_back(self, to: int) -> int:
        """Roll back to the state after an event; the number of active descriptions."""
        found: int = self._send("POST", "/rollback", json={"to": to})["descriptions"]
        return found

    def replay(self, agent: Spec | Mapping[str, Any] | None = None) -> Data:
        """Teach another agent the same descriptions, and evaluate it.

        An agent without a model has the lesson's. Without an agent, the lesson's is evaluated.
        """
        body = {} if agent is None else {"agent": plain(agent)}
        return self._send("POST", "/replay", json=body, timeout=120)

    def export(self, path: str | Path, *, format: str = "jsonl", **options: bool) -> None:
        """Export the lesson to a file, with the formats and options of the API.

        "jsonl" or "parquet" (``images``), "log" for ``Log.load``, "chat" (``context``,
        ``candidates``), or "recording" for ``tellback.recordings.read``.
        """
        params = {"format": format} | {name: str(on).lower() for name, on in options.items()}
        self._client.download(f"{self._path}/export", Path(path), params)

    def import_(self, path: str | Path, *, key: str | None = None) -> Data:
        """Import rounds from a file of lines, or an export: all of them, or none."""
        with Path(path).open("rb") as file:
            return self._import(file, key)

    def teach(self, recording: Recording, columns: Columns | None = None) -> int:
        """Teach the agent every description of a recording, in order. Returns how many."""
        about = self._send("GET", "")["definition"]
        facts = Facts(about["dim"], about["instructions"])
        parts = import_parts(recording, columns, about["candidates"], facts)
        return sum(int(self._import(part)["descriptions"]) for part in parts)

    def _import(self, content: Any, key: str | None = None) -> Data:
        headers = {"Idempotency-Key": key or uuid.uuid4().hex, "Content-Type": "application/jsonl"}
        return self._send("POST", "/import", content=content, headers=headers, timeout=600)


class RemoteRound:
    """A round of a lesson.

    Attributes
    ----------
    number : int
        Its number.
    response : int
        Index of the chosen response, from 0.
    estimate, bonus, propensity : float or None
        The estimated probability that the instruction describes the response, the exploration
        bonus, and the probability of the choice.
    model_version : int
        The latest event that the agent knew of.
    """

    def __init__(self, lesson: RemoteLesson, answer: Data) -> None:
        self._lesson = lesson
        self.number: int = answer["round"]
        self.response: int = answer["response"]
        self.estimate: float | None = answer["estimate"]
        self.bonus: float | None = answer["bonus"]
        self.propensity: float | None = answer["propensity"]
        self.model_version: int = answer["model_version"]

    def describe(self, text: Instruction, *, saw_request: bool = False) -> Data:
        """Describe the response; sent again, it counts once."""
        return self._lesson.describe(self.number, text, saw_request=saw_request)

    def withdraw(self) -> bool:
        """Withdraw the description and unlearn it; False if there was none."""
        return self._lesson.withdraw(self.number)

    def __repr__(self) -> str:
        return f"RemoteRound({self.number}, response={self.response})"
