"""Threads for kernels that work on many responses and release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

LEAST = 2**15
"""Parts of work for a thread. To start and await one takes as long as some of these."""


def threads() -> int:
    """How many threads a kernel may use: OMP_NUM_THREADS, or else all usable cores."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked):
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # here: few need it

    return ThreadPoolExecutor(thread_name_prefix="kernel")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a fork has no threads


def in_threads(
    kernel: Callable[..., Any], count: int, arguments: tuple[Any, ...], least: int = LEAST
) -> None:
    """Call ``kernel(*arguments, begin, end)`` for parts of 0 to ``count``, in several threads.

    The kernel must write different memory for each number, so that no result depends on the
    threads.
    """
    parts = max(1, min(threads(), count // least))
    edges = [count * part // parts for part in range(parts + 1)]
    others = [_pool().submit(kernel, *arguments, begin, end) for begin, end in pairwise(edges[1:])]
    try:
        kernel(*arguments, 0, edges[1])
    finally:
        for other in others:
            other.result()
