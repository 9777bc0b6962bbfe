"""A client for programs with an event loop: the operations of ``Client``, to be awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tellback.classroom.client.attempts import TRIES, Attempts
from tellback.classroom.client.bodies import PIECE, connection_settings
from tellback.classroom.client.classroom import ClassroomOperations
from tellback.classroom.client.errors import UnreachableError, accepted
from tellback.classroom.client.lessons import AskedRound, LessonOperations, lesson_parts
from tellback.classroom.client.operations import Awaiting, Call
from tellback.extras import from_extra
from tellback.files import atomic_write
from tellback.recordings.features import Columns
from tellback.recordings.recording import Recording
from tellback.roles import Instruction
from tellback.specs import Data

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")


class AsyncClient(ClassroomOperations["AsyncLesson"], Awaiting):
    """A connection to a classroom; the parameters are those of ``Client``."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        tries: int = TRIES,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._httpx: Any = from_extra("classroom", "httpx", "A client of the classroom")
        base, headers = connection_settings(url, token, tries)
        self._http: httpx.AsyncClient = self._httpx.AsyncClient(
            base_url=base, headers=headers, timeout=timeout, transport=transport
        )
        self._tries = tries

    def _lesson(self, answer: Data) -> AsyncLesson:
        return AsyncLesson(self, answer["id"])

    async def send(self, method: str, path: str, **request: Any) -> Data:
        """Send a request until there is an answer; a ``ProblemError`` if it was refused."""
        return await self.run(Call(method, path, request))

    async def run(self, call: Call[T]) -> T:
        """Send a request until there is an answer, and read it."""
        attempts = Attempts(self._httpx, call, self._tries)
        while True:
            try:
                answer = await self._http.request(call.method, call.path, **call.request)
            except self._httpx.TransportError as error:
                wait = attempts.wait_after_error(error)
            else:
                again = attempts.wait_after(answer)
                if again is None:
                    return attempts.read(answer)
                wait = again
            await asyncio.sleep(wait)

    async def download(self, call: Call[Any], to: Path) -> None:
        """Write an answer to a file: all of it, or no file."""
        with atomic_write(to) as temporary:
            try:
                async with self._http.stream(call.method, call.path, **call.request) as answer:
                    if not answer.is_success:
                        await answer.aread()
                    accepted(answer)
                    with temporary.open("wb") as file:
                        async for piece in answer.aiter_bytes(PIECE):
                            file.write(piece)
            except self._httpx.TransportError as error:
                raise UnreachableError(f"The answer broke off: {error}") from error

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncLesson(LessonOperations["AsyncRound"], Awaiting):
    """A lesson, as ``AsyncClient.create_lesson`` and ``AsyncClient.lesson`` give it."""

    def __init__(self, client: AsyncClient, id: str) -> None:
        self._client = client
        self.id = id

    async def run(self, call: Call[T]) -> T:
        """Send a request, and read the answer."""
        return await self._client.run(call)

    def _asked(self, answer: Data) -> AsyncRound:
        return AsyncRound(self, answer)

    async def rounds(self, **wanted: Any) -> AsyncIterator[Data]:
        """All rounds that ``rounds_page`` lists, page by page; ``limit`` is the size of a page."""
        page: Data = {"next": 0}
        while page["next"] is not None:
            page = await self.rounds_page(**wanted, after=page["next"])
            for one in page["rounds"]:
                yield one

    async def export(self, path: str | Path, *, format: str = "jsonl", **options: bool) -> None:
        """Export the lesson to a file, as ``RemoteLesson.export`` does."""
        await self._client.download(self._export(format, options), Path(path))

    async def import_(self, path: str | Path, *, key: str | None = None) -> Data:
        """Import rounds from a file of lines, or an export: all of them, or none."""
        return await self.run(self._import(Path(path).read_bytes(), key))

    async def teach(self, recording: Recording, columns: Columns | None = None) -> int:
        """Teach the agent every description of a recording, in order. Returns how many."""
        parts = lesson_parts(await self.about(), recording, columns)
        return sum([int((await self.run(self._import(one)))["descriptions"]) for one in parts])


class AsyncRound(AskedRound):
    """A round, to be described or withdrawn."""

    def __init__(self, lesson: AsyncLesson, answer: Data) -> None:
        super().__init__(answer)
        self._lesson = lesson

    async def describe(self, text: Instruction, *, saw_request: bool = False) -> Data:
        """Describe the response; sent again, it counts once."""
        return await self._lesson.describe(self.number, text, saw_request=saw_request)

    async def withdraw(self) -> bool:
        """Withdraw the description and unlearn it; False if there was none."""
        return await self._lesson.withdraw(self.number)
