"""States of agents, compared."""

from __future__ import annotations

import numpy as np

from tellback.roles import State


def same_state(one: State, other: State) -> bool:
    """Whether two states are equal to the last bit."""
    return one.keys() == other.keys() and all(
        _bits(value) == _bits(other[name]) for name, value in one.items()
    )


def _bits(value: object) -> tuple[str, tuple[int, ...], bytes]:
    array = np.asarray(value)
    return array.dtype.str, array.shape, array.tobytes()
