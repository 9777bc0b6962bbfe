"""Ctrl-C, raised only at safe points."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_noted() -> Iterator[Callable[[], None]]:
    """Note Ctrl-C instead of raising at once; yields a function that raises it at a safe point.

    The end of the block is such a point: a Ctrl-C after the last call is not lost.
    """
    noted = threading.Event()

    def raise_if_interrupted() -> None:
        if noted.is_set():
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield raise_if_interrupted
        return
    before = signal.signal(signal.SIGINT, lambda *_: noted.set())
    try:
        yield raise_if_interrupted
    finally:
        signal.signal(signal.SIGINT, before)
    raise_if_interrupted()


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C, so that workers started here inherit the block; the parent handles it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
