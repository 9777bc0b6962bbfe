"""The environment that workers inherit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_THREADS = ("OMP", "OPENBLAS", "MKL")
SINGLE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _THREADS} | {
    "VECLIB_MAXIMUM_THREADS": "1"
}
"""One thread of linear algebra in each worker: runs are parallel already."""


def usable_cores() -> int:
    """How many cores this process may use; a container or a batch system may allow only some."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # systems without affinity


@contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment, and restore them afterwards."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
