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
from tellback.lab.run_one import Failure, Job, Outcome, StoppedError, job_of, run_one
from tellback.lab.run_spec import RunSpec

POLL_SECONDS = 0.1
PATIENCE_SECONDS = 2.0  # for the current round to end after a stop
IN_FLIGHT = 3  # runs handed over for each worker: enough to keep it busy
DIED = (
    "The process of this run died, also when it was tried again alone. Perhaps it ran out of "
    "memory, or crashed in code that is not Python.\n"
)
NO_WORKER_STARTS = (
    "Worker processes die as soon as they start. They import your program: put the lines that "
    'run studies below if __name__ == "__main__":.'
)


@dataclass(frozen=True)
class Processes:
    """Processes of this machine.

    If a process dies, its run is tried again.

    Parameters
    ----------
    workers : int, optional
        How many processes; by default one for each core that this process may use.
    isolated : bool
        Whether each agent runs in a process of its own, apart from its world.
    """

    workers: int | None = None
    isolated: bool = False

    def __post_init__(self) -> None:
        if self.workers is not None:
            whole("workers", self.workers)

    def run_all(
        self, runs: Sequence[RunSpec], progress: Callable[[int], object]
    ) -> Iterator[Outcome]:
        """The outcome of each run, as they end."""
        for run in runs:
            run.demand_importable()
        workers = min(len(runs), self.workers or usable_cores())
        left: Iterable[RunSpec] = runs
        with interrupts_noted() as raise_if_interrupted, environment(SINGLE_THREAD):
            while left:
                with _worker_pool(workers, self.isolated) as pool:
                    suspects, left = yield from pool.run_all(left, progress, raise_if_interrupted)
                while suspects:  # one of them killed its worker: played alone, it does so again
                    with _worker_pool(1, self.isolated) as pool:
                        guilty, rest = yield from pool.run_all(
                            suspects, progress, raise_if_interrupted, at_once=1
                        )
                    yield from (Failure(run, DIED) for run in guilty)
                    suspects = list(rest)


class _WorkerPool:
    """A pool of worker processes that report rounds and can be stopped."""

    def __init__(self, size: int, isolated: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self._size = size
        self._isolated = isolated
        self._played, self._stopping = context.Value("q", 0), context.Event()
        self._started = context.Event()
        self._pool = ProcessPoolExecutor(
            size,
            mp_context=context,
            initializer=_start_worker,
            initargs=(os.getpid(), self._played, self._stopping, self._started),
        )

    def run_all(
        self,
        runs: Iterable[RunSpec],
        progress: Callable[[int], object],
        raise_if_interrupted: Callable[[], None],
        at_once: int | None = None,
    ) -> Generator[Outcome, None, tuple[list[RunSpec], deque[RunSpec]]]:
        """Hand over a few runs at a time, or ``at_once``.

        Returns, if a worker died, the runs that were handed over, and those that were not.
        """
        waiting, pending = deque(runs), dict[Future[Outcome], RunSpec]()
        suspects: list[RunSpec] = []
        broken = warm = False
        while (waiting and not broken) or pending:
            # The first run fills the cache of compiled code, from which the others load.
            limit = at_once or IN_FLIGHT * self._size if warm else 1
            with interrupts_blocked():
                while waiting and len(pending) < limit and not broken:
                    try:
                        job = job_of(waiting[0])
                        future = self._pool.submit(run_in_worker, job, self._isolated)
                        pending[future] = waiting[0]
                        waiting.popleft()
                    except BrokenProcessPool:
                        broken = True
            done, _ = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            with self._played.get_lock():
                rounds, self._played.value = self._played.value, 0
            if rounds:
                warm = True
                progress(rounds)
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
        if suspects and not self._started.is_set():
            raise TellbackError(NO_WORKER_STARTS)
        return suspects, waiting

    def close(self) -> None:
        """End when all runs are done."""
        self._pool.shutdown(wait=True)

    def stop(self) -> None:
        """End after the current round, or by force if that takes too long."""
        self._stopping.set()
        # Before Python 3.14 the executor has no public access to its processes, and after
        # shutdown(wait=False) it drops its manager thread, for which we must wait.
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
def _worker_pool(size: int, isolated: bool) -> Iterator[_WorkerPool]:
    pool = _WorkerPool(size, isolated)
    try:
        yield pool
    except BaseException:
        pool.stop()
        raise
    pool.close()


_worker: dict[str, Any] = {}


def _start_worker(parent: int, played: Any, stopping: Any, started: Any) -> None:
    started.set()
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    _worker.update(played=played, stopping=stopping)


def end_with(parent: int) -> None:
    """End this worker when its parent is gone: a killed parent cannot stop its workers."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def run_in_worker(job: Job, isolated: bool = False) -> Outcome:
    """Play a run in a worker; count its rounds, and stop if told to."""
    return run_one(job, _tick, isolated)


def _tick(rounds: int) -> None:
    with _worker["played"].get_lock():
        _worker["played"].value += rounds
    if _worker["stopping"].is_set():
        raise StoppedError
