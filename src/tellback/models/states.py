"""The states of models: saved arrays, checked before a model takes them."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.roles import State


def saved_array(state: State, name: str, shape: tuple[int, ...], least: float = -np.inf) -> Array:
    """The saved array of that name; an error if its shape or a number in it is not possible."""
    values = np.array(state[name], dtype=np.float64)
    if values.shape != shape:
        raise SettingError(f"The saved {name} must be of shape {shape}, not {values.shape}.")
    if not np.isfinite(values).all() or (values < least).any():
        raise SettingError(f"The saved {name} has numbers that are not possible.")
    return values


class NothingLearned:
    """The state of what learns nothing."""

    def state(self) -> State:
        """Nothing to save."""
        return {}

    def restore(self, state: State) -> None:
        """Nothing to restore."""


def demand_size(features: Array, dim: int) -> None:
    """Refuse features of another size."""
    if features.shape != (dim,):
        raise SettingError(f"features must be {dim} numbers, not of shape {features.shape}.")
