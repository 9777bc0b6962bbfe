"""The connection to a classroom: requests, sent until there is an answer."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tellback.classroom.client.lesson import RemoteLesson
from tellback.errors import TellbackError
from tellback.extras import from_extra
from tellback.files import atomic_write
from tellback.specs import Data, Spec

if TYPE_CHECKING:
    import httpx

API = "/api/v1"
TRIES = 6
LONGEST_WAIT = 30.0
RETRIED = (429, 502, 503, 504)
"""Statuses after which the same request may succeed."""

PIECE = 2**16


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
        # Without a key: a lesson that was created twice does no harm.
        given = {field: value for field, value in body.items() if value is not None}
        return RemoteLesson(self, self.send("POST", "/lessons", json=given)["id"])

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _from_the_start(request: dict[str, Any]) -> dict[str, Any]:
    """The request, with a file that was sent in part rewound."""
    content = request.get("content")
    if content is not None and hasattr(content, "seek"):
        content.seek(0)
    return request


def _wait(failed: int, retry_after: str | None) -> float:
    if retry_after is not None and retry_after.isdecimal():
        return min(float(retry_after), LONGEST_WAIT)
    return float(min(0.1 * 2.0**failed, LONGEST_WAIT) * random.uniform(0.5, 1.0))
