"""The one place that knows how hot loops are compiled."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.event import Listener, register

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
    folder = _cache_folder()
    # numba looks at this setting when a function is decorated.
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(folder or "")
    try:
        compiler = numba.njit(cache=folder is not None, error_model="numpy", fastmath=fastmath)
        return cast(Kernel, compiler(function))
    finally:
        settings.CACHE_DIR = before


WITHOUT_KERNELS = ("classroom", "cli", "lab", "league", "paper", "sources")
"""Rooms that compile nothing, and whose constants no kernel reads."""


@cache
def source_digest(without: tuple[str, ...] = ()) -> str:
    """A digest of tellback's source, without some rooms."""
    package = Path(__file__).parent
    source = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in without:
            source.update(path.read_bytes())
    return source.hexdigest()[:16]


@cache
def _cache_folder() -> Path | None:
    """A folder for compiled code that changes whenever any kernel might; None if there is none.

    numba compiles the kernels that a kernel calls, and the constants it reads, into it, but
    notices only when its own file changes. So the folder is named by all the source that has
    or may be read by kernels. It is in ``NUMBA_CACHE_DIR`` if that is set, else beside the
    package, else in the user's cache: the first of them that can be written to.
    """
    name = f"kernels-{source_digest(without=WITHOUT_KERNELS)}"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    usual = (Path(__file__).parent / "__pycache__", user_cache())
    tried = (Path(chosen),) if chosen else usual
    for folder in tried:
        with suppress(OSError):
            (folder / name).mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder / name).close()
            return folder / name
    warnings.warn(
        f"Compiled code cannot be kept in {' or '.join(map(str, tried))}: every process compiles "
        "again. Set NUMBA_CACHE_DIR to a folder that can be written to.",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


class _Announcement(Listener):
    """Says on a terminal, once a process, that kernels are being compiled."""

    said = False

    def on_start(self, event: Any) -> None:
        if not _Announcement.said and sys.stderr.isatty():
            once = " (once: the result is kept)" if _cache_folder() else ""
            sys.stderr.write(f"Compiling{once} ...\n")
        _Announcement.said = True

    def on_end(self, event: Any) -> None:
        pass


register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]
