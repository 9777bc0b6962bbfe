"""Runs in processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tellback.errors import TellbackError, whole
from tellback.lab.engines.environment import SINGLE_THREAD, environment, usable_cores
from tellback.lab.engines.interrupts import interrupts_blocked, interrupts_noted
from tellback.lab.run_one import Failure, Order, Outcome, StoppedError, order, run_one
from tellback.lab.study import RunSpec

POLL_SECONDS = 0.1
PATIENCE_SECONDS = 2.0  # with a round that is under way when all is to stop
IN_FLIGHT = 3  # runs handed over for each worker: enough to keep it busy
DIED = (
    "The process that computed this run died, also when it was tried again alone: for want of "
    "memory perhaps, or in code that is not Python.\n"
)
NONE_LIVES = (
    "Worker processes die as soon as they begin. Has the program that starts them a line "
    'if __name__ == "__main__": before it does? Other processes import it.'
)


@dataclass(frozen=True)
class Processes:
    """Processes of this machine.

    A process that dies takes no result with it: what it was computing is tried again.

    Parameters
    ----------
    workers : int, optional
        How many; by default one for each core that this process may use.
    isolated : bool
        Whether agents run in processes of their own, beside those that hold the worlds.
    """

    workers: int | None = None
    isolated: bool = False

    def __post_init__(self) -> None:
        if self.workers is not None:
            whole("workers", self.workers)

    def outcomes(
        self, runs: Sequence[RunSpec], played: Callable[[int], object]
    ) -> Iterator[Outcome]:
        """What came of each run, as they end."""
        for run in runs:
            run.demand_importable()
        workers = min(len(runs), self.workers or usable_cores())
        left: Iterable[RunSpec] = runs
        with interrupts_noted() as raise_if_interrupted, environment(SINGLE_THREAD):
            while left:
                with _crew(workers, self.isolated) as crew:
                    suspects, left = yield from crew.outcomes(left, played, raise_if_interrupted)
                while suspects:  # one of them ended its worker: it does so again, alone
                    with _crew(1, self.isolated) as crew:
                        guilty, rest = yield from crew.outcomes(
                            suspects, played, raise_if_interrupted, at_once=1
                        )
                    yield from (Failure(run, DIED) for run in guilty)
                    suspects = list(rest)


class _Crew:
    """Some workers."""

    def __init__(self, size: int, isolated: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self._size = size
        self._isolated = isolated
        self._played, self._stopping = context.Value("q", 0), context.Event()
        self._begun = context.Event()
        self._pool = ProcessPoolExecutor(
            size,
            mp_context=context,
            initializer=_begin_worker,
            initargs=(os.getpid(), self._played, self._stopping, self._begun),
        )

    def outcomes(
        self,
        runs: Iterable[RunSpec],
        played: Callable[[int], object],
        raise_if_interrupted: Callable[[], None],
        at_once: int | None = None,
    ) -> Generator[Outcome, None, tuple[list[RunSpec], deque[RunSpec]]]:
        """Hand runs over a few at a time, or so many at once.

        Returns
        -------
        tuple
            If a worker died: the runs that had been handed over, and those that were not.
        """
        waiting, pending = deque(runs), dict[Future[Outcome], RunSpec]()
        suspects: list[RunSpec] = []
        broken = warm = False
        while (waiting and not broken) or pending:
            # The first round of all fills the cache of compiled code, which the others read.
            limit = at_once or IN_FLIGHT * self._size if warm else 1
            with interrupts_blocked():
                while waiting and len(pending) < limit and not broken:
                    try:
                        ordered = order(waiting[0])
                        future = self._pool.submit(compute_here, ordered, self._isolated)
                        pending[future] = waiting[0]
                        waiting.popleft()
                    except BrokenProcessPool:
                        broken = True
            done, _ = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            with self._played.get_lock():
                rounds, self._played.value = self._played.value, 0
            if rounds:
                warm = True
                played(rounds)
            for future in done:
                run = pending.pop(future)
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    suspects.append(run)
                    broken = True
                else:
                    warm = True
                    yield outcome
            raise_if_interrupted()
        if suspects and not self._begun.is_set():
            raise TellbackError(NONE_LIVES)
        return suspects, waiting

    def leave(self) -> None:
        """End when the work at hand is done."""
        self._pool.shutdown(wait=True)

    def stop(self) -> None:
        """End at once: after this round where rounds are short, or else by force."""
        self._stopping.set()
        # The executor has no public way to reach its processes before Python 3.14, nor to wait
        # after a shutdown that did not: it forgets its thread, which waits for them.
        processes = list((self._pool._processes or {}).values())
        manager: Any = self._pool._executor_manager_thread
        self._pool.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + PATIENCE_SECONDS
        for process in processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
        if manager is not None:
            manager.join()


@contextmanager
def _crew(size: int, isolated: bool) -> Iterator[_Crew]:
    crew = _Crew(size, isolated)
    try:
        yield crew
    except BaseException:
        crew.stop()
        raise
    crew.leave()


_worker: dict[str, Any] = {}


def _begin_worker(parent: int, played: Any, stopping: Any, begun: Any) -> None:
    begun.set()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _worker.update(played=played, stopping=stopping)


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone, killed without a chance to say so."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def compute_here(ordered: Order, isolated: bool = False) -> Outcome:
    """Compute a run in a worker, which tells how far it is and looks whether to stop."""
    return run_one(ordered, _tick, isolated)


def _tick(rounds: int) -> None:
    with _worker["played"].get_lock():
        _worker["played"].value += rounds
    if _worker["stopping"].is_set():
        raise StoppedError
