"""The one place that knows how hot loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel to machine code on its first call, and keep the result on disk.

    No fast-math: a run must give the same bits in every process, and NaN must stay NaN.
    The interpreter's lock is not released: kernels take a microsecond, and so would that.
    """
    return cast(Kernel, numba.njit(cache=True, error_model="numpy")(function))
