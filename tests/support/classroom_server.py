"""A classroom that answers over HTTP, for tests that reach it as people and programs do."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from tellback.classroom.settings import Settings
from tellback.classroom.web.app import create_app
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.security.connections import TimedProtocol


class Running:
    """A service in a thread of this process."""

    def __init__(self, settings: Settings) -> None:
        app = create_app(settings)
        self.classroom: Classroom = app.state.classroom
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            timeout_graceful_shutdown=0,  # pages leave connections open
            loop="asyncio",
            http=TimedProtocol,
        )
        self._server = uvicorn.Server(config)
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))

    def start(self) -> None:
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise RuntimeError("the service did not start")
            time.sleep(0.01)

    @property
    def connections(self) -> set[Any]:
        """The protocols of the open connections."""
        return set(self._server.server_state.connections)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


@contextmanager
def running_classroom(settings: Settings) -> Iterator[Running]:
    """A classroom at ``.url``, whose insides are at ``.classroom``."""
    running = Running(settings)
    running.start()
    try:
        yield running
    finally:
        running.stop()
