"""The one place that knows how hot loops are compiled."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import cache, cached_property
from pathlib import Path
from time import thread_time
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.compiler_lock import global_compiler_lock
from numba.core.event import Listener, register

from tellback.folders import user_cache
from tellback.notebooks import in_notebook

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel to machine code on its first call, and keep the result on disk.

    No fast-math: a run must give the same bits in every process, and NaN must stay NaN.
    The interpreter's lock is not released: kernels take a microsecond, and so would that.
    """
    return _compiled(function, fastmath=False)


def compiled_lazily(function: Kernel) -> Kernel:
    """Compile a kernel as ``compiled`` does, but only when it is used enough to pay for that.

    Within ``briefly()`` Python interprets it until it has taken ``PATIENCE`` seconds, unless
    compiled code is on disk or an argument is large. The bits are the same: only for kernels of
    plain arithmetic and roots (exponentials and logarithms of NumPy have other last bits), whose
    divisors and integers are NumPy's, and whose loops are no longer than their arguments.
    """
    kernel: Any = compiled(function)
    kernel._compile_for_args = _AtFirst(kernel)
    return cast(Kernel, kernel)


def compiled_freely(function: Kernel) -> Kernel:
    """Compile a kernel whose sums may be reordered and whose products fused.

    Then they run on all lanes of the processor. The code is fixed when it is compiled: it
    gives the same bits in every process on one kind of processor, and NaN stays NaN.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


def compiled_for_threads(function: Kernel) -> Kernel:
    """Compile a kernel as ``compiled`` does, but release the interpreter's lock while it runs."""
    return _compiled(function, fastmath=False, nogil=True)


def _compiled(function: Kernel, fastmath: bool | set[str], nogil: bool = False) -> Kernel:
    compiler: Any = numba.njit(error_model="numpy", fastmath=fastmath, nogil=nogil)(function)
    folder = _cache_folder()
    if folder is not None:
        compiler._cache = _KernelCache(function)  # type: ignore[no-untyped-call]
        name = f"{function.__name__}-{function.__code__.co_firstlineno}.lock"
        compiler.compile = _one_at_a_time(compiler.compile, folder / function.__module__ / name)
    return cast(Kernel, compiler)


PATIENCE = 0.3
"""CPU seconds for which a kernel may be interpreted: about as long as it takes to compile it."""

LARGEST = 30_000
"""Numbers in an argument of a kernel that is interpreted, at most."""

_brief: ContextVar[bool] = ContextVar("brief", default=False)


@contextmanager
def briefly(short: bool = True) -> Iterator[None]:
    """What is called within this, if it is ``short``, need not be compiled at once."""
    before = _brief.set(short)
    try:
        yield
    finally:
        _brief.reset(before)


class _AtFirst:
    """What numba asks for a function to call where a kernel is not compiled yet."""

    def __init__(self, kernel: Any) -> None:
        self._kernel, self._compile = kernel, kernel._compile_for_args
        self._spent = 0.0

    def __call__(self, *given: Any) -> Any:
        if not _brief.get() or self._spent > PATIENCE or self._is_on_disk:
            return self._compile(*given)
        if any(one.size > LARGEST for one in given if isinstance(one, np.ndarray)):
            return self._compile(*given)
        return self._interpret

    def _interpret(self, *given: Any) -> Any:
        began = thread_time()
        with np.errstate(all="ignore"):  # as compiled code does
            result = self._kernel.py_func(*given)
        self._spent += thread_time() - began
        return result

    @cached_property
    def _is_on_disk(self) -> bool:
        file = getattr(self._kernel._cache, "_cache_file", None)
        return file is not None and Path(file._index_path).exists()


def _one_at_a_time(compile_it: Callable[[Any], Any], lock: Path) -> Callable[[Any], Any]:
    """Compile a kernel in one process while others wait: they find it on the disk then."""

    def alone(signature: Any) -> Any:
        # numba's lock comes first: who has it may wait for the file, never the reverse.
        with global_compiler_lock, _held(lock):
            return compile_it(signature)

    return alone


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    """Hold a lock between processes, where files can be locked; it ends with the process."""
    with ExitStack() as open_files:
        with suppress(ImportError, OSError):
            import fcntl

            lock.parent.mkdir(exist_ok=True)
            file = open_files.enter_context(lock.open("a"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


class _KernelPlace(_CacheLocator):
    """A place for compiled code by the name of its module, wherever the source lies.

    numba's own places depend on the path of the source: clones of the same source would compile
    the same kernels again.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._folder = str(_cache_folder() / function.__module__)  # type: ignore[operator]
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Callable[..., Any], _file: str) -> _KernelPlace:
        return cls(function)

    def get_cache_path(self) -> str:
        return self._folder

    def get_source_stamp(self) -> str:
        return ""  # the folder is named by the source

    def get_disambiguator(self) -> str:
        return str(self._line)


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_KernelPlace]  # type: ignore[list-item]  # noqa: RUF012


class _KernelCache(FunctionCache):
    _impl_class = _KernelCacheImpl


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


KEPT = 8
"""Folders of compiled code that are kept: those used last."""


@cache
def _cache_folder() -> Path | None:
    """A folder for compiled code that changes whenever any kernel might; None if there is none.

    numba compiles the kernels that a kernel calls, and the constants it reads, into it, but
    notices only when its own file changes. So the folder is named by all the source that has
    or may be read by kernels. It is in ``NUMBA_CACHE_DIR`` if that is set, else in the user's
    cache, where all clones of this source share it, else beside the package: the first of them
    that can be written to.
    """
    name = f"kernels-{source_digest(without=WITHOUT_KERNELS)}-numba-{numba.__version__}"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    usual = (user_cache(), Path(__file__).parent / "__pycache__")
    tried = (Path(chosen),) if chosen else usual
    for folder in tried:
        with suppress(OSError):
            is_new = not (folder / name).exists()
            (folder / name).mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder / name).close()
            os.utime(folder / name)
            if is_new:
                _remove_oldest(folder)
            return folder / name
    warnings.warn(
        f"Compiled code cannot be kept in {' or '.join(map(str, tried))}: every process compiles "
        "again. Set NUMBA_CACHE_DIR to a folder that can be written to.",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _remove_oldest(folder: Path) -> None:
    """Keep a few folders. A process that used a removed one compiles again."""
    with suppress(OSError):  # another process may be removing them, too
        used = sorted(folder.glob("kernels-*"), key=lambda path: path.stat().st_mtime)
        for path in used[:-KEPT]:
            shutil.rmtree(path, ignore_errors=True)


class _Announcement(Listener):
    """Says on a terminal or in a notebook, once a process, that kernels are being compiled."""

    said = False

    def on_start(self, event: Any) -> None:
        if not _Announcement.said and (sys.stderr.isatty() or in_notebook()):
            once = " (once: the result is kept)" if _cache_folder() else ""
            sys.stderr.write(f"Compiling{once} ...\n")
        _Announcement.said = True

    def on_end(self, event: Any) -> None:
        pass


register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]
