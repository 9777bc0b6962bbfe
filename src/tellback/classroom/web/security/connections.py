"""Connections that are too slow end: each holds a place that others need. So do large headers.

uvicorn limits the time between requests only. Here, the first line and the headers of a request
must arrive within ``HEAD_SECONDS``, its body with at least ``LEAST_BYTES`` in each of the periods
that follow, and the answer must be read with some progress every ``READ_SECONDS``. Time in which
the service does not read is not counted.

uvicorn does not limit headers either. Here, a first line and headers of more than ``HEAD_BYTES``,
or of more than ``HEAD_FIELDS`` fields, are refused while they arrive.
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
HEAD_BYTES = 2**16
HEAD_FIELDS = 100
TOO_LARGE = b"The first line and the headers may have at most %d bytes and %d fields."


class TimedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with these limits."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._incoming: asyncio.TimerHandle | None = None
        self._outgoing: asyncio.TimerHandle | None = None
        self._arrived = 0
        self._head = self._fields = 0  # bytes and fields of this request's head
        self._unread = 0  # bytes that belong to a part of a request that has not ended
        self._too_large = False

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

    def data_received(self, data: bytes) -> None:
        """Anything arrived. The parser keeps a header until it ends, however long it is."""
        self._unread += len(data)
        super().data_received(data)
        if self._unread > HEAD_BYTES and not self.transport.is_closing():
            self._too_large = True
            self.send_400_response("")

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read; 431 if there is too much of it."""
        if not self._too_large:
            super().send_400_response(msg)
            return
        says = TOO_LARGE % (HEAD_BYTES, HEAD_FIELDS)
        self.transport.write(
            b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"
            b"content-type: text/plain\r\ncontent-length: %d\r\n\r\n%b" % (len(says), says)
        )
        self.transport.close()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._head = self._fields = self._unread = 0
        self._expect(HEAD_SECONDS, self._close)

    def on_url(self, url: bytes) -> None:
        """A part of the first line arrived."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header arrived, or a trailer after the body."""
        self._fields += 1
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Its body begins."""
        super().on_headers_complete()
        self._arrived = 0
        self._expect(BODY_SECONDS, self._demand_progress)

    def on_body(self, body: bytes) -> None:
        """A part of the body arrived."""
        self._arrived += len(body)
        self._unread = 0
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

    def _count(self, size: int) -> None:
        self._unread = 0
        self._head += size
        if self._head > HEAD_BYTES or self._fields > HEAD_FIELDS:
            self._too_large = True
            raise _HeadTooLargeError  # ends the parser's work, too

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


class _HeadTooLargeError(Exception):
    pass
