"""Sigma-hat, its inverse, and how uncertain each response is (Algorithm 1, line 4)."""

from __future__ import annotations

import hashlib

import numpy as np

from tellback.arrays import Array
from tellback.compiled import compiled
from tellback.errors import SettingError, real, whole
from tellback.responses import Listed
from tellback.roles import State


class Ellipsoid:
    """The inverse of Sigma = lambda I + sum of g g', kept by rank-one updates.

    For responses that stay the same it also keeps g' Sigma^-1 g of every response, at the
    cost of one pass over their features a description.

    The inverse is never refreshed from a running Sigma: rank-one updates of a positive
    definite inverse are more accurate over millions of rounds than a sum that is refactored.

    Parameters
    ----------
    dim : int
        d.
    lam : float
        lambda, a constant.
    """

    def __init__(self, dim: int, lam: float) -> None:
        self.inverse: Array = np.eye(whole("dim", dim)) / real("lam", lam, above=0)
        self.count = 0
        self._tracked: Listed | None = None
        self._widths: Array = np.empty(0)
        self._digest: bytes | None = None  # of restored widths that no response has claimed yet

    def add(self, features: Array) -> None:
        """Add g g' to Sigma."""
        columns = _NO_COLUMNS if self._tracked is None else self._tracked.columns
        _rank_one(self.inverse, features, columns, self._widths)
        self.count += 1

    def squared_widths(self, responses: Listed, keep: bool) -> Array:
        """g' Sigma^-1 g for every listed response.

        Parameters
        ----------
        responses : Listed
            The responses.
        keep : bool
            Whether they will come again, so that their widths are worth keeping up to date.
        """
        if responses is self._tracked:
            return self._widths
        widths = (
            self._widths
            if self._has_widths_of(responses)
            else _quadratic_forms(self.inverse, responses.columns)
        )
        if keep:
            self._tracked, self._widths, self._digest = responses, widths, None
        return widths

    def _has_widths_of(self, responses: Listed) -> bool:
        """Whether the widths kept are those of responses with just these features."""
        if self._tracked is not None:
            return np.array_equal(self._tracked.matrix, responses.matrix)
        return self._digest is not None and self._digest == _digest(responses)

    def state(self) -> State:
        """The inverse and the widths that are kept, with the digest of their features."""
        digest = self._digest if self._tracked is None else _digest(self._tracked)
        return {
            "inverse": self.inverse.copy(),
            "count": self.count,
            "widths": self._widths.copy(),
            "widths_of": np.frombuffer(digest or b"", dtype=np.uint8).copy(),
        }

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave.

        Widths kept by updates differ in their last bits from widths computed anew, so they
        are part of the state; they are taken up again by the first responses whose features
        are the same to the bit.
        """
        inverse = np.array(state["inverse"], dtype=np.float64)
        if inverse.shape != self.inverse.shape:
            raise SettingError(
                f"The saved inverse is of shape {inverse.shape}, and this agent's is "
                f"{self.inverse.shape}."
            )
        self.inverse = inverse
        self.count = whole("count", int(state["count"]), at_least=0)
        self._tracked = None
        self._widths = np.array(state["widths"], dtype=np.float64)
        self._digest = bytes(np.asarray(state["widths_of"], dtype=np.uint8)) or None


_NO_COLUMNS = Listed(np.zeros((1, 1))).columns[:, :0]


def _digest(responses: Listed) -> bytes:
    return hashlib.sha256(responses.columns.tobytes()).digest()


@compiled
def _quadratic_forms(inverse: Array, columns: Array) -> Array:
    """g' Sigma^-1 g for every column g."""
    dim, responses = columns.shape
    forms = np.zeros(responses)
    half = np.empty(responses)
    for i in range(dim):
        half[:] = 0.0
        for j in range(dim):
            for y in range(responses):
                half[y] += inverse[i, j] * columns[j, y]
        for y in range(responses):
            forms[y] += half[y] * columns[i, y]
    return forms


@compiled
def _rank_one(inverse: Array, g: Array, columns: Array, widths: Array) -> None:
    """Sherman and Morrison: Sigma^-1 -= u u' / (1 + g'u) with u = Sigma^-1 g, and the widths."""
    dim = len(g)
    u = np.empty(dim)
    grown = 1.0
    for i in range(dim):
        product = 0.0
        for j in range(dim):
            product += inverse[i, j] * g[j]
        u[i] = product
        grown += g[i] * product
    shrink = 1.0 / grown
    for i in range(dim):
        for j in range(i + 1):  # one triangle, mirrored: stays symmetric to the bit
            inverse[i, j] -= u[i] * (u[j] * shrink)
            inverse[j, i] = inverse[i, j]
    responses = len(widths)
    if responses:
        along = np.zeros(responses)
        for i in range(dim):
            for y in range(responses):
                along[y] += u[i] * columns[i, y]
        for y in range(responses):
            widths[y] = max(widths[y] - along[y] * along[y] * shrink, 0.0)
