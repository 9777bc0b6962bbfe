"""A client: ask an agent for responses and teach it, from a program elsewhere.

client = Client("http://127.0.0.1:8765")
lesson = client.create_lesson("robot", dim=4)
round = lesson.ask("go to the door", features=[[0.1, ...], [0.7, ...]])
round.response                        # what to do
round.describe("went to the window")  # what that was
"""

from __future__ import annotations

import math
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from tellback.arrays import Array
from tellback.classroom.signing import verified
from tellback.errors import FieldError, TellbackError
from tellback.extras import from_extra
from tellback.files import atomic_write
from tellback.recordings.features import Columns
from tellback.recordings.recording import Recording
from tellback.recordings.teaching import import_parts
from tellback.roles import Facts, Instruction
from tellback.specs import Data, Spec

if TYPE_CHECKING:
    import httpx

__all__ = [
    "Client",
    "Preview",
    "ProblemError",
    "RemoteLesson",
    "RemoteRound",
    "UnreachableError",
    "verified",
]

API = "/api/v1"
TRIES = 6
LONGEST_WAIT = 30.0
RETRIED = (429, 502, 503, 504)
"""Statuses after which the same request may succeed."""

PIECE = 2**16

Features = Sequence[Sequence[float]] | Array
"""A row of numbers for each response."""


class ProblemError(TellbackError):
    """A request that the service refused, with the problem document of its answer (RFC 9457).

    Attributes
    ----------
    status : int
        The HTTP status.
    code : str
        What is wrong, in a word that does not change.
    field : str or None
        The part of the request that is wrong.
    """

    def __init__(self, status: int, code: str, detail: str, field: str | None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.field = field


class UnreachableError(TellbackError):
    """A service that does not answer, after several attempts."""


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
        settings = {
            "name": name,
            "dim": dim,
            "candidates": candidates,
            "instructions": instructions,
            "agent": agent,
            "encoder": encoder,
            "match": match,
            "second_share": second_share,
            "seed": seed,
        }
        body = {field: _plain(value) for field, value in settings.items() if value is not None}
        # Without a key: a lesson that was created twice does no harm.
        return RemoteLesson(self, self.send("POST", "/lessons", json=body)["id"])

    def lesson(self, id: str) -> RemoteLesson:
        """The lesson of an id; an error if there is none."""
        return RemoteLesson(self, self.send("GET", f"/lessons/{id}")["id"])

    def lessons(self) -> list[Data]:
        """All lessons, the newest first."""
        found: list[Data] = self.send("GET", "/lessons")["lessons"]
        return found

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
                answer = self._http.request(method, path, **_from_the_start(request))
            except self._httpx.TransportError as error:
                if not left:
                    raise UnreachableError(
                        f"{self._http.base_url} does not answer: {type(error).__name__}: {error}"
                    ) from error
                wait = None
            else:
                if answer.status_code not in RETRIED or not left:
                    return self._accepted(answer)
                wait = answer.headers.get("Retry-After")
            time.sleep(_wait(self._tries - 1 - left, wait))
        raise UnreachableError("tries must be at least 1.")

    def _accepted(self, answer: httpx.Response) -> httpx.Response:
        if answer.is_success:
            return answer
        try:
            problem = answer.json()
            code, detail, field = problem["code"], problem["detail"], problem["field"]
        except (ValueError, KeyError, TypeError):  # not by the service: a proxy, perhaps
            code, field = "unknown", None
            detail = f"It answered {answer.status_code}: {answer.text[:200]}"
        raise ProblemError(answer.status_code, code, detail, field)

    def download(self, path: str, to: Path, params: Mapping[str, Any]) -> None:
        """Write an answer to a file: all of it, or no file."""
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
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Preview(NamedTuple):
    """The response that an agent would choose, and how sure it is."""

    response: int
    estimate: float
    sure: bool
    says: str
    second: int | None


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
        body = _candidates(instruction, features, texts, images)
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
    ) -> Preview:
        """The response that the agent would choose without exploring. Nothing is stored."""
        body = _candidates(instruction, features, texts, images)
        answer = self._send("POST", "/preview", json=body)
        if answer["second"] is not None:
            answer["second"] = answer["second"]["response"]
        return Preview(**{name: answer[name] for name in Preview._fields})

    def describe(self, number: int, description: Instruction, *, saw_request: bool = False) -> Data:
        """Describe the response of a round; sent again, it counts once."""
        body = {"description": description, "saw_request": saw_request}
        return self._send("PUT", f"/rounds/{number}/description", json=body)

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
        body = {} if agent is None else {"agent": _plain(agent)}
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
        answer = self._lesson._send("DELETE", f"/rounds/{self.number}/description")
        return bool(answer["withdrawn"])

    def __repr__(self) -> str:
        return f"RemoteRound({self.number}, response={self.response})"


def _plain(setting: Any) -> Any:
    """A setting as JSON: specs as their data."""
    if isinstance(setting, Spec):
        return setting.to_data()
    return dict(setting) if isinstance(setting, Mapping) else setting


def _candidates(
    instruction: Instruction,
    features: Features | None,
    texts: Sequence[str] | None,
    images: Sequence[str] | None,
) -> Data:
    body: Data = {"instruction": instruction}
    if features is not None:
        # JSON has lists only, and features may be an array of NumPy.
        body["features"] = [[_finite(value) for value in row] for row in features]
    if texts is not None:
        body["texts"] = list(texts)
    if images is not None:
        body["images"] = list(images)
    return body


def _finite(value: float) -> float:
    number = float(value)
    if not math.isfinite(number):  # JSON has no such number
        raise FieldError("features", f"features must be finite numbers, not {number}.")
    return number


def _from_the_start(request: dict[str, Any]) -> dict[str, Any]:
    """The request, with a file that was sent in part rewound."""
    if hasattr(request.get("content"), "seek"):
        request["content"].seek(0)
    return request


def _wait(failed: int, retry_after: str | None) -> float:
    if retry_after is not None and retry_after.isdecimal():
        return min(float(retry_after), LONGEST_WAIT)
    return float(min(0.1 * 2.0**failed, LONGEST_WAIT) * random.uniform(0.5, 1.0))
