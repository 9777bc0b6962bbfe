"""A lesson of a classroom, from a program elsewhere."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tellback.arrays import Array
from tellback.roles import Instruction
from tellback.specs import Data, Spec

if TYPE_CHECKING:
    from tellback.classroom.client.connection import Client

Features = Sequence[Sequence[float]] | Array
"""A row of numbers for each response."""


class Preview(NamedTuple):
    """The response that an agent would choose, and how sure it is."""

    response: int
    estimate: float
    sure: bool
    says: str
    second: int | None


class RemoteLesson:
    """A lesson of a classroom.

    Parameters
    ----------
    client : Client
        The connection to the classroom.
    id : str
        The lesson's id.
    """

    def __init__(self, client: Client, id: str) -> None:
        self._client = client
        self.id = id
        self._path = f"/lessons/{id}"

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
        body = _candidates(instruction, features, texts, images)
        if context is not None:
            body["context"] = context
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        answer = self._client.send("POST", f"{self._path}/rounds", json=body, headers=headers)
        return RemoteRound(self._client, self._path, answer)

    def preview(
        self,
        instruction: Instruction,
        *,
        features: Features | None = None,
        texts: Sequence[str] | None = None,
        images: Sequence[str] | None = None,
    ) -> Preview:
        """The response that the agent would choose without exploring. Nothing is stored."""
        body = _candidates(instruction, features, texts, images)
        answer = self._client.send("POST", f"{self._path}/preview", json=body)
        second = answer["second"]
        return Preview(
            answer["response"],
            answer["estimate"],
            answer["sure"],
            answer["says"],
            None if second is None else second["response"],
        )

    def describe(self, number: int, description: Instruction, *, saw_request: bool = False) -> Data:
        """Describe the response of a round; sent again, it counts once."""
        body = {"description": description, "saw_request": saw_request}
        path = f"{self._path}/rounds/{number}/description"
        return self._client.send("PUT", path, json=body)

    def progress(self) -> Data:
        """The progress of the lesson."""
        return self._client.send("GET", f"{self._path}/progress")

    def roll_back(self, to: int) -> int:
        """Roll back to the state after an event; the number of active descriptions."""
        answer = self._client.send("POST", f"{self._path}/rollback", json={"to": to})
        found: int = answer["descriptions"]
        return found

    def replay(self, agent: Spec | Mapping[str, Any]) -> Data:
        """Teach another agent the same descriptions, and evaluate it."""
        data = agent.to_data() if isinstance(agent, Spec) else dict(agent)
        return self._client.send("POST", f"{self._path}/replay", json={"agent": data}, timeout=120)

    def export(
        self,
        path: str | Path,
        *,
        format: str = "jsonl",
        images: bool = False,
        context: bool = True,
        candidates: bool = False,
    ) -> None:
        """Export the lesson to a file.

        Parameters
        ----------
        path : str or Path
            Where to.
        format : str
            "jsonl" or "parquet" for all events, "log" for ``Log.load``; or training data: "chat"
            for messages, "recording" for ``tellback.recordings.read``.
        images : bool
            Whether "jsonl" and "parquet" have the pictures.
        context, candidates : bool
            Whether "chat" tells the situation, and lists the possible responses.
        """
        flags = {"images": images, "context": context, "candidates": candidates}
        params = {"format": format} | {name: str(on).lower() for name, on in flags.items()}
        self._client.download(f"{self._path}/export", Path(path), params)

    def import_(self, path: str | Path, *, key: str | None = None) -> Data:
        """Import rounds from a file of lines, or an export: all of them, or none."""
        headers = {
            "Idempotency-Key": key or uuid.uuid4().hex,
            "Content-Type": "application/jsonl",
        }
        with Path(path).open("rb") as file:
            return self._client.send(
                "POST", f"{self._path}/import", content=file, headers=headers, timeout=600
            )


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

    def __init__(self, client: Client, lesson: str, answer: Data) -> None:
        self._client = client
        self.number: int = answer["round"]
        self.response: int = answer["response"]
        self.estimate: float | None = answer["estimate"]
        self.bonus: float | None = answer["bonus"]
        self.propensity: float | None = answer["propensity"]
        self.model_version: int = answer["model_version"]
        self._path = f"{lesson}/rounds/{self.number}/description"

    def describe(self, text: Instruction, *, saw_request: bool = False) -> Data:
        """Describe the response; sent again, it counts once."""
        body = {"description": text, "saw_request": saw_request}
        return self._client.send("PUT", self._path, json=body)

    def withdraw(self) -> bool:
        """Withdraw the description and unlearn it; False if there was none."""
        done: bool = self._client.send("DELETE", self._path)["withdrawn"]
        return done

    def __repr__(self) -> str:
        return f"RemoteRound({self.number}, response={self.response})"


def _candidates(
    instruction: Instruction,
    features: Features | None,
    texts: Sequence[str] | None,
    images: Sequence[str] | None,
) -> Data:
    body: Data = {"instruction": instruction}
    if features is not None:
        # JSON has lists only, and features may be an array of NumPy.
        body["features"] = [[float(value) for value in row] for row in features]
    if texts is not None:
        body["texts"] = list(texts)
    if images is not None:
        body["images"] = list(images)
    return body
