"""A client: teach an agent, and have it do things, from a program elsewhere.

room = Classroom("http://127.0.0.1:8765")
lesson = room.create_lesson("robot", dim=4)
round = lesson.ask("go to the door", features=[[0.1, ...], [0.7, ...]])
round.response                        # what to do
round.describe("went to the window")  # what that was
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from tellback.arrays import Array
from tellback.classroom.signing import verified
from tellback.errors import TellbackError
from tellback.extras import from_extra
from tellback.files import atomic_write
from tellback.roles import Instruction
from tellback.specs import Data, Spec

if TYPE_CHECKING:
    import httpx

__all__ = [
    "Classroom",
    "Lesson",
    "RefusedError",
    "Round",
    "Thought",
    "UnreachableError",
    "verified",
]

API = "/api/v1"
TRIES = 6
LONGEST_WAIT = 30.0
PASSING = (429, 502, 503, 504)
"""Answers after which the same request may succeed."""

PIECE = 2**16

Features = Sequence[Sequence[float]] | Array
"""A row of numbers for each response."""


class RefusedError(TellbackError):
    """A request that the service refused.

    Attributes
    ----------
    status : int
        Of HTTP.
    code : str
        What is wrong, in a word that does not change.
    field : str or None
        Which part of the request.
    """

    def __init__(self, status: int, code: str, says: str, field: str | None) -> None:
        super().__init__(says)
        self.status = status
        self.code = code
        self.field = field


class UnreachableError(TellbackError):
    """A service that does not answer, after several tries."""


class Classroom:
    """A service that teaches agents.

    Requests that fail on the way, or that the service is too busy for, are sent again, with a key
    by which it acts on each once.

    Parameters
    ----------
    url : str
        Where it is, such as ``http://127.0.0.1:8765``.
    token : str, optional
        What shows whose program this is; not needed on one's own machine.
    timeout : float
        Seconds to wait for an answer.
    tries : int
        How often to send a request at most.
    transport : optional
        How ``httpx`` sends requests, if not over the network.
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
    ) -> Lesson:
        """A new lesson; the settings are those of ``tellback.classroom.learning.Definition``."""
        specs = {"agent": agent, "encoder": encoder, "match": match}
        body: Data = {
            "name": name,
            "dim": dim,
            "candidates": candidates,
            "instructions": instructions,
            "second_share": second_share,
            "seed": seed,
        }
        for field, spec in specs.items():
            body[field] = spec.to_data() if isinstance(spec, Spec) else spec
        # Without a key: a lesson that was made twice harms nobody.
        given = {field: value for field, value in body.items() if value is not None}
        return Lesson(self, self.send("POST", "/lessons", json=given)["id"])

    def lesson(self, id: str) -> Lesson:
        """A lesson that there is; an error if there is not."""
        return Lesson(self, self.send("GET", f"/lessons/{id}")["id"])

    def lessons(self) -> list[Data]:
        """All lessons, the newest first."""
        found: list[Data] = self.send("GET", "/lessons")["lessons"]
        return found

    def send(self, method: str, path: str, **request: Any) -> Data:
        """Send a request until there is an answer; an error if that is a refusal."""
        answer = self._answer(method, path, request)
        if answer.status_code == 204 or not answer.content:
            return {}
        found: Data = answer.json()
        return found

    def _answer(self, method: str, path: str, request: dict[str, Any]) -> httpx.Response:
        for left in reversed(range(self._tries)):
            try:
                answer = self._http.request(method, path, **_from_the_start(request))
            except self._httpx.TransportError as error:
                if not left:
                    raise UnreachableError(
                        f"{self._http.base_url} does not answer: {type(error).__name__}: {error}"
                    ) from error
                wait = None
            else:
                if answer.status_code not in PASSING or not left:
                    return self._accepted(answer)
                wait = answer.headers.get("Retry-After")
            time.sleep(_wait(self._tries - 1 - left, wait))
        raise UnreachableError("tries must be at least 1.")

    def _accepted(self, answer: httpx.Response) -> httpx.Response:
        if answer.is_success:
            return answer
        try:
            error = answer.json()["error"]
            raise RefusedError(answer.status_code, error["code"], error["says"], error["field"])
        except (ValueError, KeyError, TypeError) as strange:
            says = f"It answered {answer.status_code}: {answer.text[:200]}"
            raise RefusedError(answer.status_code, "unknown", says, None) from strange

    def download(self, path: str, to: Path, params: Mapping[str, Any]) -> None:
        """Write an answer to a file, which is whole or absent."""
        with atomic_write(to) as temporary:
            try:
                with self._http.stream("GET", path, params=dict(params)) as answer:
                    if not answer.is_success:
                        answer.read()
                    self._accepted(answer)
                    with temporary.open("wb") as file:
                        file.writelines(answer.iter_bytes(PIECE))
            except self._httpx.TransportError as error:
                raise UnreachableError(f"The answer broke off: {error}") from error

    def close(self) -> None:
        """Let go of all connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Thought(NamedTuple):
    """What the agent would do, and how sure it is."""

    response: int
    estimate: float
    sure: bool
    says: str
    second: int | None


class Lesson:
    """A lesson, seen from elsewhere.

    Parameters
    ----------
    room : Classroom
        Where it is.
    id : str
        Which.
    """

    def __init__(self, room: Classroom, id: str) -> None:
        self._room = room
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
    ) -> Round:
        """Have the agent choose a response.

        Parameters
        ----------
        instruction : str or int
            What it is asked for.
        features, texts, images
            The responses there are: what the lesson's come as, and for teachers to look at.
        context : str, optional
            What teachers are told about the situation.
        key : str, optional
            Names this question: asked again with the same key, it is the same round. By default
            one that no other has.
        """
        body = _candidates(instruction, features, texts, images)
        if context is not None:
            body["context"] = context
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        answer = self._room.send("POST", f"{self._path}/rounds", json=body, headers=headers)
        return Round(self._room, self._path, answer)

    def would(
        self,
        instruction: Instruction,
        *,
        features: Features | None = None,
        texts: Sequence[str] | None = None,
        images: Sequence[str] | None = None,
    ) -> Thought:
        """What the agent would do, if it did not explore. Nothing is kept."""
        body = _candidates(instruction, features, texts, images)
        answer = self._room.send("POST", f"{self._path}/ask", json=body)
        second = answer["second"]
        return Thought(
            answer["response"],
            answer["estimate"],
            answer["sure"],
            answer["says"],
            None if second is None else second["response"],
        )

    def describe(self, number: int, description: Instruction, *, saw_request: bool = False) -> Data:
        """Say what the response of a round was; said again, it is kept once."""
        body = {"description": description, "saw_request": saw_request}
        path = f"{self._path}/rounds/{number}/description"
        return self._room.send("PUT", path, json=body)

    def progress(self) -> Data:
        """How the lesson goes."""
        return self._room.send("GET", f"{self._path}/progress")

    def roll_back(self, to: int) -> int:
        """Let stand what stood after an event; how many descriptions that are."""
        answer = self._room.send("POST", f"{self._path}/rollback", json={"to": to})
        found: int = answer["descriptions"]
        return found

    def replay(self, agent: Spec | Mapping[str, Any]) -> Data:
        """What another agent makes of the same descriptions."""
        data = agent.to_data() if isinstance(agent, Spec) else dict(agent)
        return self._room.send("POST", f"{self._path}/replay", json={"agent": data}, timeout=120)

    def export(self, path: str | Path, *, format: str = "jsonl", images: bool = False) -> None:
        """Write everything to a file: "jsonl", "parquet", or a "log" for ``Log.load``."""
        params = {"format": format, "images": str(images).lower()}
        self._room.download(f"{self._path}/export", Path(path), params)

    def import_(self, path: str | Path, *, key: str | None = None) -> Data:
        """Take in rounds from a file of lines, or what ``export`` wrote: all of them, or none."""
        headers = {
            "Idempotency-Key": key or uuid.uuid4().hex,
            "Content-Type": "application/jsonl",
        }
        with Path(path).open("rb") as file:
            return self._room.send(
                "POST", f"{self._path}/import", content=file, headers=headers, timeout=600
            )


class Round:
    """A round that was asked.

    Attributes
    ----------
    number : int
        Its number.
    response : int
        Which of the responses the agent chose, from 0.
    estimate, bonus, propensity : float or None
        How likely it thinks that the response will be described by the instruction, what it added
        to explore, and how probable the choice was.
    model_version : int
        The latest event that the agent knew of.
    """

    def __init__(self, room: Classroom, lesson: str, answer: Data) -> None:
        self._room = room
        self.number: int = answer["round"]
        self.response: int = answer["response"]
        self.estimate: float | None = answer["estimate"]
        self.bonus: float | None = answer["bonus"]
        self.propensity: float | None = answer["propensity"]
        self.model_version: int = answer["model_version"]
        self._path = f"{lesson}/rounds/{self.number}/description"

    def describe(self, text: Instruction, *, saw_request: bool = False) -> Data:
        """Say what the response was; said again, it is kept once."""
        body = {"description": text, "saw_request": saw_request}
        return self._room.send("PUT", self._path, json=body)

    def withdraw(self) -> bool:
        """Take that back: the agent never knew. False if there was nothing to take back."""
        done: bool = self._room.send("DELETE", self._path)["withdrawn"]
        return done

    def __repr__(self) -> str:
        return f"Round({self.number}, response={self.response})"


def _candidates(
    instruction: Instruction,
    features: Features | None,
    texts: Sequence[str] | None,
    images: Sequence[str] | None,
) -> Data:
    body: Data = {"instruction": instruction}
    if features is not None:
        # Arrays of NumPy are sequences too, and JSON knows only lists.
        body["features"] = [[float(value) for value in row] for row in features]
    if texts is not None:
        body["texts"] = list(texts)
    if images is not None:
        body["images"] = list(images)
    return body


def _from_the_start(request: dict[str, Any]) -> dict[str, Any]:
    """A file that was sent half-way is sent again from its beginning."""
    content = request.get("content")
    if content is not None and hasattr(content, "seek"):
        content.seek(0)
    return request


def _wait(failed: int, told: str | None) -> float:
    if told is not None and told.isdecimal():
        return min(float(told), LONGEST_WAIT)
    return float(min(0.1 * 2.0**failed, LONGEST_WAIT) * random.uniform(0.5, 1.0))
