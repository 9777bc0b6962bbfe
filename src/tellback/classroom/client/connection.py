"""The connection to a classroom."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tellback.classroom.client.attempts import TRIES, Attempts
from tellback.classroom.client.bodies import PIECE, connection_settings, from_the_start
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

    Requests that get lost, or that the service is too busy for, are sent again, unless the service
    may have acted and would act twice: asking and importing have an idempotency key, but what
    creates something else is sent again only if it cannot have arrived.

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
        base, headers = connection_settings(url, token, tries)
        self._http: httpx.Client = self._httpx.Client(
            base_url=base, headers=headers, timeout=timeout, transport=transport
        )
        self._tries = tries

    def _lesson(self, answer: Data) -> RemoteLesson:
        return RemoteLesson(self, answer["id"])

    def send(self, method: str, path: str, **request: Any) -> Data:
        """Send a request until there is an answer; a ``ProblemError`` if it was refused."""
        return self.run(Call(method, path, request))

    def run(self, call: Call[T]) -> T:
        """Send a request until there is an answer, and read it."""
        attempts = Attempts(self._httpx, call, self._tries)
        while True:
            try:
                answer = self._http.request(call.method, call.path, **from_the_start(call.request))
            except self._httpx.TransportError as error:
                wait = attempts.wait_after_error(error)
            else:
                again = attempts.wait_after(answer)
                if again is None:
                    return attempts.read(answer)
                wait = again
            time.sleep(wait)

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
