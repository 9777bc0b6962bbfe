"""The connection to a classroom."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tellback.classroom.client.bodies import (
    API,
    PIECE,
    RETRIED,
    TRIES,
    from_the_start,
    wait_seconds,
)
from tellback.classroom.client.classroom import ClassroomOperations
from tellback.classroom.client.errors import UnreachableError, accepted
from tellback.classroom.client.lessons import RemoteLesson
from tellback.classroom.client.operations import Blocking, Call
from tellback.extras import from_extra
from tellback.files import atomic_write
from tellback.specs import Data

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")


class Client(ClassroomOperations[RemoteLesson], Blocking):
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

    def _lesson(self, answer: Data) -> RemoteLesson:
        return RemoteLesson(self, answer["id"])

    def send(self, method: str, path: str, **request: Any) -> Data:
        """Send a request until there is an answer; a ``ProblemError`` if it was refused."""
        return self.run(Call(method, path, request))

    def run(self, call: Call[T]) -> T:
        """Send a request until there is an answer, and read it."""
        return call.read(self._answer(call.method, call.path, call.request))

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

    def download(self, call: Call[Any], to: Path) -> None:
        """Write an answer to a file: all of it, or no file."""
        with atomic_write(to) as temporary:
            try:
                with self._http.stream(call.method, call.path, **call.request) as answer:
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
