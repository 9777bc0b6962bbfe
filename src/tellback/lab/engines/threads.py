"""One thread of linear algebra in each worker: the runs themselves are what is parallel."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

SINGLE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@contextmanager
def single_threaded() -> Iterator[None]:
    """Processes that begin within this inherit one thread each."""
    before = {name: os.environ.get(name) for name in SINGLE_THREAD}
    os.environ.update(SINGLE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
