"""Random Fourier features: a linear model over them is a smooth function of the features."""

from __future__ import annotations

import math

import numpy as np

from tellback.arrays import AnyArray, Array
from tellback.compiled import compiled
from tellback.errors import SettingError
from tellback.models.states import saved_array
from tellback.roles import State

BIAS = 30.0
"""The constant feature: so large that the ridge hardly shrinks its coefficient."""

FAR = 100.0
"""Standardised features are clipped here, so that an outlier does not dominate."""


class Fourier:
    """A constant, the standardised features, and waves of random direction and phase.

    As the number of waves grows, the inner product of the waves of two points approaches
    exp(-|z - z'|^2 / (2 d length^2)), with z the standardised features (Rahimi and Recht 2007).

    Parameters
    ----------
    dim, waves : int
        The number of features, and of waves.
    length : float
        The length scale, in spreads of the features.
    rng : numpy.random.Generator
        For directions and phases.
    """

    def __init__(self, dim: int, waves: int, length: float, rng: np.random.Generator) -> None:
        self._dim = dim
        self._directions = rng.standard_normal((waves, dim)) / (length * math.sqrt(dim))
        self._phases = rng.uniform(0, 2 * math.pi, waves)
        self._centre, self._spread = np.zeros(dim), np.ones(dim)

    @property
    def size(self) -> int:
        """The number of Fourier features."""
        return 1 + self._dim + len(self._phases)

    def fit(self, features: AnyArray) -> None:
        """Set the mean and the scale for standardising to those of these features.

        Each feature is divided by its range, and all by one common spread. So units do not matter,
        and a token that few responses have is not blown up to the spread of a common one.
        """
        values = np.asarray(features, dtype=np.float64)
        extent = np.ptp(values, axis=0)
        extent = np.where(extent > 0, extent, 1.0)
        common = math.sqrt(float(np.var(values / extent, axis=0).mean()))
        self._centre = values.mean(axis=0)
        self._spread = extent * (common if common > 0 else 1.0)

    def __call__(self, features: AnyArray) -> Array:
        """The Fourier features of points, a row each."""
        rows = np.ascontiguousarray(features, dtype=np.float64)
        return _waves(rows, self._centre, self._spread, self._directions, self._phases)

    def state(self) -> State:
        """Directions, phases, mean and spread."""
        return {
            "directions": self._directions.copy(),
            "phases": self._phases.copy(),
            "centre": self._centre.copy(),
            "spread": self._spread.copy(),
        }

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        saved = {
            name: saved_array(state, name, np.shape(now)) for name, now in self.state().items()
        }
        if (saved["spread"] <= 0).any():
            raise SettingError("The saved spread must be positive.")
        self._directions, self._phases = saved["directions"], saved["phases"]
        self._centre, self._spread = saved["centre"], saved["spread"]


@compiled
def _waves(rows: Array, centre: Array, spread: Array, directions: Array, phases: Array) -> Array:
    count, dim = rows.shape
    waves = len(phases)
    out = np.empty((count, 1 + dim + waves))
    height = math.sqrt(2.0 / waves) if waves else 0.0
    for n in range(count):
        out[n, 0] = BIAS
        for i in range(dim):
            away = (rows[n, i] - centre[i]) / spread[i]
            out[n, 1 + i] = min(max(away, -FAR), FAR) / math.sqrt(dim)
        for k in range(waves):
            angle = phases[k]
            for i in range(dim):
                angle += directions[k, i] * out[n, 1 + i] * math.sqrt(dim)
            out[n, 1 + dim + k] = height * math.cos(angle)
    return out
