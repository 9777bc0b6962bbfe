"""Runs in parallel processes, each result kept as soon as it is there."""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tellback.errors import TellbackError, whole
from tellback.lab.store import Store
from tellback.lab.study import RunSpec
from tellback.protocol import play
from tellback.roles import AgentSpec, Preparing, WorldSpec
from tellback.streams import Streams

POLL_SECONDS = 0.1
IN_FLIGHT = 3  # runs handed over for each worker: enough to keep it busy
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
    preparing: Preparing | None = None,
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
    preparing : callable, optional
        Told how far a world's preparation is, such as the training of an encoder.

    Returns
    -------
    list of Failure
        The runs that raised an error; the others are done.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, after the workers have stopped. What is finished is kept.
    """
    count = os.cpu_count() or 1 if workers is None else whole("workers", workers)
    report = progress or (lambda rounds: None)
    todo = []
    for run in dict.fromkeys(runs):
        if store.has(run):
            report(run.rounds)
        else:
            todo.append(run)
    if not todo:
        return []
    for world, agent in dict.fromkeys((run.world, run.agent) for run in todo):
        _demand_fit(world, agent)
    store.prepare()
    for world in dict.fromkeys(run.world for run in todo):
        world.prepare(preparing)  # once, here, and not in every worker
    context = multiprocessing.get_context("spawn")
    counter, stopping = context.Value("q", 0), context.Event()
    pool = ProcessPoolExecutor(
        min(len(todo), count),
        mp_context=context,
        initializer=_begin_worker,
        initargs=(os.getpid(), store, counter, stopping),
    )
    failures = []
    with _interrupts_noted() as interrupted, _single_threaded(), pool:
        try:
            # The first run alone fills the cache of compiled code, which all then read.
            for some, in_flight in ((todo[:1], 1), (todo[1:], IN_FLIGHT * count)):
                for failure in _outcomes(pool, some, in_flight, counter, report):
                    if failure is not None:
                        failures.append(failure)
                    if interrupted():
                        raise KeyboardInterrupt
        except BrokenProcessPool as error:
            raise TellbackError(
                "A worker process died, for want of memory perhaps. What is finished is kept."
            ) from error
        except BaseException:
            stopping.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return failures


def _demand_fit(world: WorldSpec, agent: AgentSpec) -> None:
    """Refuse an agent that is not made for a world before any work starts."""
    try:
        agent.begin(world.facts, Streams(0).birth("agent"))
    except TellbackError:
        raise
    except Exception:  # its runs will report this, and the others go on
        return


def _outcomes(
    pool: ProcessPoolExecutor,
    runs: list[RunSpec],
    in_flight: int,
    counter: Any,
    report: Callable[[int], object],
) -> Iterator[Failure | None]:
    """Hand runs over a few at a time; yields what came of each, and None now and then."""
    waiting = iter(runs)
    pending: set[Future[Failure | None]] = set()
    while True:
        with _interrupts_blocked():
            some = islice(waiting, in_flight - len(pending))
            pending |= {pool.submit(_compute, run) for run in some}
        if not pending:
            return
        done, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        with counter.get_lock():
            rounds, counter.value = counter.value, 0
        if rounds:
            report(rounds)
        yield None
        for future in done:
            yield future.result()


@contextmanager
def _interrupts_noted() -> Iterator[Callable[[], bool]]:
    """Note Ctrl-C, to be acted upon where nothing is half done, instead of raising at once."""
    noted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield noted.is_set
        return
    before = signal.signal(signal.SIGINT, lambda *_: noted.set())
    try:
        yield noted.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Begin workers that Ctrl-C does not reach: it is the parent's, and waits for it here."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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


_worker: dict[str, Any] = {}


def _begin_worker(parent: int, store: Store, counter: Any, stopping: Any) -> None:
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
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
    """What a result may depend on beside its configuration, in the last bits."""
    libraries: list[str] = ["numpy", "numba", "torch"]
    versions = {name: sys.modules[name].__version__ for name in libraries if name in sys.modules}
    return {"python": platform.python_version(), "machine": platform.platform(), **versions}
