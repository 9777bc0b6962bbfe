"""Runs in parallel processes, each result kept as soon as it is there."""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tellback.errors import whole
from tellback.files import remove_leftovers
from tellback.lab.store import Store
from tellback.lab.study import RunSpec
from tellback.protocol import play

POLL_SECONDS = 0.1
_SINGLE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Failure:
    """A run that raised an error."""

    run: RunSpec
    traceback: str


class StoppedError(Exception):
    """Raised within a run when its study is stopped."""


def execute(
    runs: Iterable[RunSpec],
    store: Store,
    *,
    workers: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[Failure]:
    """Compute the runs that the store does not have yet.

    Parameters
    ----------
    runs : iterable of RunSpec
        What to run; equal runs are computed once.
    store : Store
        Where results are looked for and kept.
    workers : int, optional
        How many processes; by default one for each core.
    progress : callable, optional
        Called with the number of rounds done since its last call, those found done first.

    Returns
    -------
    list of Failure
        The runs that raised an error; the others are done.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, after the workers have stopped. What is finished is kept.
    """
    report = progress or (lambda rounds: None)
    remove_leftovers(store.folder)
    wanted = list(dict.fromkeys(runs))
    todo = []
    for run in wanted:
        if store.has(run):
            report(run.rounds)
        else:
            todo.append(run)
    if not todo:
        return []
    count = min(len(todo), whole("workers", workers or os.cpu_count() or 1))
    context = multiprocessing.get_context("spawn")
    counter, stopping = context.Value("q", 0), context.Event()
    pool = ProcessPoolExecutor(
        count, mp_context=context, initializer=_begin_worker, initargs=(store, counter, stopping)
    )
    with _single_threaded(), pool:
        try:
            # The first run alone fills the cache of compiled code, which all then read.
            with _interrupts_ignored():
                futures = [pool.submit(_compute, todo[0])]
            _await(futures, counter, report)
            with _interrupts_ignored():
                futures += [pool.submit(_compute, run) for run in todo[1:]]
            _await(futures, counter, report)
        except BaseException:
            stopping.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    failures = (future.result() for future in futures)
    return [failure for failure in failures if failure is not None]


def _await(
    futures: list[Future[Failure | None]], counter: Any, report: Callable[[int], object]
) -> None:
    """Wait for all futures, reporting the rounds that workers have counted meanwhile."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=POLL_SECONDS)
        for future in done:
            future.result()  # a worker that died is an error now, not when all have waited
        with counter.get_lock():
            rounds, counter.value = counter.value, 0
        if rounds:
            report(rounds)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """One thread of linear algebra in each worker: they inherit the environment."""
    before = {name: os.environ.get(name) for name in _SINGLE_THREAD}
    os.environ.update(dict.fromkeys(_SINGLE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Begin workers that ignore Ctrl-C from their first moment: it is the parent's to handle."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_worker: dict[str, Any] = {}


def _begin_worker(store: Store, counter: Any, stopping: Any) -> None:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _worker.update(store=store, counter=counter, stopping=stopping)


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone, killed without a chance to say so."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _tick(rounds: int) -> None:
    with _worker["counter"].get_lock():
        _worker["counter"].value += rounds
    if _worker["stopping"].is_set():
        raise StoppedError


def _compute(run: RunSpec) -> Failure | None:
    began = time.time()
    try:
        record = play(run.world, run.agent, run.rounds, seed=run.seed, progress=_tick)
        about = {"began": began, "seconds": time.time() - began, **_machine()}
        _worker["store"].write(run, record, about)
    except Exception:
        return Failure(run, traceback.format_exc())
    return None


def _machine() -> dict[str, str]:
    return {"python": platform.python_version(), "machine": platform.platform()}
