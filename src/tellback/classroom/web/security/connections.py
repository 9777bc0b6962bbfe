"""Connections that are too slow end: each holds a place that others need.

uvicorn limits the time between requests only. Here, the first line and the headers of a request
must arrive within ``HEAD_SECONDS``, its body with at least ``LEAST_BYTES`` in each of the periods
that follow, and the answer must be read with some progress every ``READ_SECONDS``. Time in which
the service does not read is not counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
BODY_SECONDS = 10.0
LEAST_BYTES = 10 * 2**10
READ_SECONDS = 60.0


class TimedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with these limits."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._incoming: asyncio.TimerHandle | None = None
        self._outgoing: asyncio.TimerHandle | None = None
        self._arrived = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client connected: it must send a request."""
        super().connection_made(transport)
        self._expect(HEAD_SECONDS, self._close)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection ended."""
        super().connection_lost(exc)
        for timer in (self._incoming, self._outgoing):
            if timer is not None:
                timer.cancel()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._expect(HEAD_SECONDS, self._close)

    def on_headers_complete(self) -> None:
        """Its body begins."""
        super().on_headers_complete()
        self._arrived = 0
        self._expect(BODY_SECONDS, self._demand_progress)

    def on_body(self, body: bytes) -> None:
        """A part of the body arrived."""
        self._arrived += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of the request arrived."""
        if self._incoming is not None:
            self._incoming.cancel()
        super().on_message_complete()

    def pause_writing(self) -> None:
        """The client does not read what it is sent."""
        super().pause_writing()
        self._outgoing = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It does again."""
        if self._outgoing is not None:
            self._outgoing.cancel()
        super().resume_writing()

    def _expect(self, seconds: float, otherwise: Callable[[], None]) -> None:
        if self._incoming is not None:
            self._incoming.cancel()
        self._incoming = self.loop.call_later(seconds, otherwise)

    def _demand_progress(self) -> None:
        if self._arrived < LEAST_BYTES and not self.flow.read_paused:
            self._close()
            return
        self._arrived = 0
        self._expect(BODY_SECONDS, self._demand_progress)

    def _close(self) -> None:
        self.transport.close()
