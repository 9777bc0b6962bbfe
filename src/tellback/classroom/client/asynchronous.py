"""A client for programs with an event loop: what a robot does, and ``send`` for the rest."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from tellback.classroom.client.bodies import (
    API,
    RETRIED,
    TRIES,
    Features,
    candidates_body,
    plain_body,
    wait_seconds,
)
from tellback.classroom.client.errors import UnreachableError, accepted
from tellback.classroom.client.lessons import Preview, preview_from
from tellback.extras import from_extra
from tellback.roles import Instruction
from tellback.specs import Data

if TYPE_CHECKING:
    import httpx


class AsyncClient:
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
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http: httpx.AsyncClient = self._httpx.AsyncClient(
            base_url=url.rstrip("/") + API, headers=headers, timeout=timeout, transport=transport
        )
        self._tries = tries

    async def create_lesson(self, name: str, **settings: Any) -> AsyncLesson:
        """Create a lesson; the settings are those of ``Client.create_lesson``."""
        made = await self.send("POST", "/lessons", json=plain_body(name=name, **settings))
        return AsyncLesson(self, made["id"])

    async def lesson(self, id: str) -> AsyncLesson:
        """The lesson of an id; an error if there is none."""
        return AsyncLesson(self, (await self.send("GET", f"/lessons/{id}"))["id"])

    async def send(self, method: str, path: str, **request: Any) -> Data:
        """Send a request until there is an answer; a ``ProblemError`` if it was refused."""
        for failed in range(self._tries):
            wait = None
            try:
                answer = await self._http.request(method, path, **request)
            except self._httpx.TransportError as error:
                if failed == self._tries - 1:
                    raise UnreachableError(
                        f"{self._http.base_url} does not answer: {type(error).__name__}: {error}"
                    ) from error
            else:
                if answer.status_code not in RETRIED or failed == self._tries - 1:
                    accepted(answer)
                    found: Data = answer.json() if answer.content else {}
                    return found
                wait = answer.headers.get("Retry-After")
            await asyncio.sleep(wait_seconds(failed, wait))
        raise UnreachableError("tries must be at least 1.")

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncLesson:
    """A lesson, as ``AsyncClient.create_lesson`` and ``AsyncClient.lesson`` give it."""

    def __init__(self, client: AsyncClient, id: str) -> None:
        self._client = client
        self.id = id

    async def send(self, method: str, path: str, **request: Any) -> Data:
        """Send a request about this lesson: the path is what follows its own."""
        return await self._client.send(method, f"/lessons/{self.id}{path}", **request)

    async def ask(
        self,
        instruction: Instruction,
        *,
        features: Features | None = None,
        texts: Sequence[str] | None = None,
        images: Sequence[str] | None = None,
        context: str | None = None,
        key: str | None = None,
    ) -> Data:
        """Ask the agent for a response: the number of the new ``round``, its ``response``, ..."""
        body = candidates_body(instruction, features, texts, images)
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        body |= plain_body(context=context)
        return await self.send("POST", "/rounds", json=body, headers=headers)

    async def preview(
        self,
        instruction: Instruction,
        *,
        features: Features | None = None,
        texts: Sequence[str] | None = None,
        images: Sequence[str] | None = None,
    ) -> Preview:
        """The response that the agent would choose without exploring. Nothing is stored."""
        body = candidates_body(instruction, features, texts, images)
        return preview_from(await self.send("POST", "/preview", json=body))

    async def describe(
        self, number: int, description: Instruction, *, saw_request: bool = False
    ) -> Data:
        """Describe the response of a round; sent again, it counts once."""
        body = {"description": description, "saw_request": saw_request}
        return await self.send("PUT", f"/rounds/{number}/description", json=body)

    async def withdraw(self, number: int) -> bool:
        """Withdraw a description and unlearn it; False if there was none."""
        return bool((await self.send("DELETE", f"/rounds/{number}/description"))["withdrawn"])

    async def next_judgement(self) -> Data | None:
        """A described round with its request, to be judged; None if there is none just now."""
        return await self.send("POST", "/judgements") or None

    async def judge(self, number: int, met: bool | None) -> Data:
        """Say whether the response of a round did what was asked; None for "cannot tell"."""
        return await self.send("PUT", f"/rounds/{number}/judgement", json={"met": met})
