"""A process that works beside the runs: training, simulations, reports.

While runs are played, their process only hands them over and stores them. Work there would keep
workers waiting, and work before or after them would leave cores idle.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar

from tellback.lab.engines.environment import SINGLE_THREAD, environment
from tellback.lab.engines.processes import end_with

Done = TypeVar("Done")


class Beside:
    """Does one piece of work after another, in the order in which they were given.

    Parameters
    ----------
    inline : bool
        Whether to work in this process instead, at once.
    """

    def __init__(self, inline: bool = False) -> None:
        self._pool: ProcessPoolExecutor | None = None
        if not inline:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, context, _start, (os.getpid(),))

    def submit(self, work: Callable[..., Done], *arguments: Any) -> Future[Done]:
        """Do some work; its outcome, later. The function and its arguments must be picklable."""
        if self._pool is not None:
            with environment(SINGLE_THREAD):  # the first call starts the process
                return self._pool.submit(work, *arguments)
        outcome: Future[Done] = Future()
        outcome.set_result(work(*arguments))
        return outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End; after an error by force, whatever is being done."""
        if self._pool is None:
            return
        if error is not None:
            for process in list((self._pool._processes or {}).values()):
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _start(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
