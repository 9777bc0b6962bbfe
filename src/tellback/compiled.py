"""The one place that knows how hot loops are compiled."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from tellback.folders import user_cache

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel to machine code on its first call, and keep the result on disk.

    No fast-math: a run must give the same bits in every process, and NaN must stay NaN.
    The interpreter's lock is not released: kernels take a microsecond, and so would that.
    """
    return _compiled(function, fastmath=False)


def compiled_freely(function: Kernel) -> Kernel:
    """Compile a kernel whose sums may be reordered and whose products fused.

    Then they run on all lanes of the processor. The code is fixed when it is compiled: it
    gives the same bits in every process on one kind of processor, and NaN stays NaN.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


def _compiled(function: Kernel, fastmath: bool | set[str]) -> Kernel:
    # numba looks at this setting when a function is decorated.
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(_cache_folder())
    try:
        compiler = numba.njit(cache=True, error_model="numpy", fastmath=fastmath)
        return cast(Kernel, compiler(function))
    finally:
        settings.CACHE_DIR = before


WITHOUT_KERNELS = ("classroom", "cli", "lab", "league", "paper")
"""Rooms that compile nothing, and whose constants no kernel reads: they are above all that do."""


@cache
def source_digest(without: tuple[str, ...] = ()) -> str:
    """A name for the source of tellback, but for some rooms, that no other source has."""
    package = Path(__file__).parent
    source = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in without:
            source.update(path.read_bytes())
    return source.hexdigest()[:16]


@cache
def _cache_folder() -> Path:
    """A folder for compiled code that changes whenever any kernel might.

    numba compiles the kernels that a kernel calls, and the constants it reads, into it, but
    notices only when its own file changes. So the folder is named by all the source that has
    or may be read by kernels.
    """
    package = Path(__file__).parent
    name = f"kernels-{source_digest(without=WITHOUT_KERNELS)}"
    beside = package / "__pycache__"
    if os.access(beside if beside.exists() else package, os.W_OK):
        return beside / name
    return user_cache() / name
