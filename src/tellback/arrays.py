"""Names for the arrays that pass between the rooms."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Real numbers: a vector of estimates, a matrix of features."""

Indices = NDArray[np.int64]
"""Whole numbers: responses, table instructions, positions."""

AnyArray = NDArray[Any]


def immutable(array: AnyArray) -> AnyArray:
    """The array over immutable bytes, which no holder can make writable.

    The array itself if it is immutable already, else a copy with the same memory layout.
    """
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            break
        owner = owner.base
    if type(owner) is bytes:
        return array
    order: Literal["C", "F"] = (
        "C" if array.flags.c_contiguous or not array.flags.f_contiguous else "F"
    )
    values = np.frombuffer(array.tobytes(order), dtype=array.dtype, count=array.size)
    return values.reshape(array.shape, order=order)
