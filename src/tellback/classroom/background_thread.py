"""A thread that does a piece of work again and again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from tellback.errors import TellbackError

LOGGER = logging.getLogger(__name__)


class BackgroundThread:
    """Calls a function every so often, until it is stopped.

    A failure is logged, and the function is called again: the database may be away for a while, and
    a thread that ended would do nothing for the rest of the process. The failures ``passing`` are
    expected now and then: they are logged without a traceback.
    """

    def __init__(
        self,
        name: str,
        turn: Callable[[], object],
        seconds: float,
        passing: tuple[type[Exception], ...] = (),
    ) -> None:
        self._turn = turn
        self._seconds = seconds
        self._passing: tuple[type[Exception], ...] = (TellbackError, *passing)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def stopping(self) -> bool:
        """Whether a long turn should end early."""
        return self._stop.is_set()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, after its current turn."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            try:
                self._turn()
            except self._passing as error:
                LOGGER.warning("%s will be tried again: %s", self._thread.name, error)
            except Exception:
                LOGGER.exception("%s failed and will be tried again", self._thread.name)
