"""Sigma-hat with the ridge of Algorithm 1, lambda_t = 1/t, which changes every round."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array
from tellback.compiled import compiled
from tellback.errors import SettingError, whole
from tellback.models.states import demand_size, saved_array
from tellback.responses import Listed
from tellback.roles import State


class FadingEllipsoid:
    """Sigma = I / t + sum of g g', of which a triangular root of the sum is kept.

    No rank-one update of the inverse survives a change of the ridge, so widths are worked out
    anew in every round, exactly: O(d^3 + K d^2), compiled. What is kept is R with
    R'R = sum of g g', into which features and ridge are rotated: where no response has been
    described, Sigma is 1/t beside entries of the order of t, and a sum of squares would have
    rounded that away after some million rounds. For the same reason it takes features of any
    length: widths are right to 1e-9 where |g|^2 t is 1e15.

    Parameters
    ----------
    dim : int
        d.
    """

    def __init__(self, dim: int) -> None:
        self._root: Array = np.zeros((whole("dim", dim), dim))
        self.count = 0
        self._latest: tuple[int, Listed | None, Array] = (-1, None, np.empty(0))

    @property
    def lam(self) -> float:
        """lambda_t = 1/t, t - 1 being the number of descriptions so far."""
        return 1.0 / (self.count + 1)

    def add(self, features: Array) -> None:
        """Add g g' to Sigma."""
        demand_size(features, len(self._root))
        if not np.isfinite(features).all():
            raise SettingError(f"features must be finite, not {features}.")
        root = self._root.copy()
        _rotate_in(root, np.array(features, dtype=np.float64), 0)  # whole numbers cannot turn
        if not np.isfinite(root).all():
            raise SettingError(f"features must be smaller, not {features}.")
        self._root = root
        self.count += 1

    def squared_widths(self, responses: Listed, keep: bool) -> Array:
        """g' Sigma^-1 g for every listed response; with another ridge, none is worth keeping."""
        if responses.dim != len(self._root):
            raise SettingError(
                f"responses must have {len(self._root)} features each, not {responses.dim}."
            )
        count, latest, widths = self._latest
        if count != self.count or latest is not responses:  # may be asked for twice a round
            widths = _fading_widths(self._root, self.lam, responses.columns)
            self._latest = self.count, responses, widths
        return widths

    def state(self) -> State:
        """The root and the number of descriptions."""
        return {"root": self._root.copy(), "count": self.count}

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        root = saved_array(state, "root", self._root.shape)
        if np.tril(root, -1).any():
            raise SettingError("The saved root has numbers that are not possible.")
        self.count = whole("count", int(state["count"]), at_least=0)
        self._root = root
        self._latest = (-1, None, np.empty(0))


@compiled
def _rotate_in(root: Array, row: Array, first: int) -> None:
    """Givens rotations that take a row into a triangular root: R'R grows by row row'.

    The row is zero before ``first``, and its memory is used up.
    """
    dim = len(row)
    for i in range(first, dim):
        if row[i] == 0.0:
            continue
        length = np.hypot(root[i, i], row[i])
        cosine, sine = root[i, i] / length, row[i] / length
        root[i, i] = length
        for j in range(i + 1, dim):
            above, below = root[i, j], row[j]
            root[i, j] = cosine * above + sine * below
            row[j] = cosine * below - sine * above


@compiled
def _fading_widths(root: Array, lam: float, columns: Array) -> Array:
    """g' (R'R + lambda I)^-1 g for every column g: the squared length of z with U'z = g.

    U is R with the ridge rotated in.
    """
    dim, responses = columns.shape
    ridged = root.copy()
    for i in range(dim):
        row = np.zeros(dim)
        row[i] = np.sqrt(lam)
        _rotate_in(ridged, row, i)
    inverse = np.zeros((dim, dim))  # of the triangle, row by row from below, along memory
    for i in range(dim - 1, -1, -1):
        inverse[i, i] = 1.0
        for k in range(i + 1, dim):
            factor = ridged[i, k]
            for j in range(k, dim):
                inverse[i, j] -= factor * inverse[k, j]
        for j in range(i, dim):
            inverse[i, j] /= ridged[i, i]
    widths = np.zeros(responses)
    solution = np.empty(responses)
    for i in range(dim):
        solution[:] = 0.0
        for j in range(i + 1):
            factor = inverse[j, i]
            for y in range(responses):
                solution[y] += factor * columns[j, y]
        for y in range(responses):
            widths[y] += solution[y] * solution[y]
    return widths
