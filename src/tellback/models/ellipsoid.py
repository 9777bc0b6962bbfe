"""Sigma-hat, its inverse, and the widths of responses (Algorithm 1, line 4)."""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated, Protocol

import numpy as np

from tellback.arrays import Array
from tellback.compiled import compiled_for_threads, compiled_lazily
from tellback.errors import SettingError, real, whole
from tellback.models.quadratic_forms import quadratic_forms_in_threads
from tellback.models.states import demand_size, saved_array
from tellback.models.threads import in_threads
from tellback.responses import TILE, Listed
from tellback.roles import State

EPSILON = float(np.finfo(np.float64).eps)

LOWEST_RIDGE = 1e-9
"""Below this, rounding errors in the inverse would outweigh the data."""

Lambda = Annotated[float, partial(real, at_least=LOWEST_RIDGE)]
"""A setting that is a ridge."""

LARGEST_RATIO = 1e9
"""The largest |g|^2 / lambda. The inverse starts at 1 / lambda, and its errors stay at EPSILON
times this ratio: up to 1e-7 here (measured against 45 digits), but 1e-3 at 1e14, where the widths
of later rounds are meaningless. With features of length 1 it is the limit of ``LOWEST_RIDGE``."""

_SLACK = 1 + 1e-6  # for rounding of a length of 1

MOST_LOST = 1e-11
"""The largest relative error of the inverse after a removal, about. Beyond it, it is refused."""


LAZY = 2**16
"""Numbers in a matrix of features from which on an update of their cached widths waits until they
are needed. Then it costs no pass over the features of its own."""


class Widths(Protocol):
    """Computes the widths of responses, from any form of Sigma."""

    count: int

    @property
    def lam(self) -> float:
        """The ridge now."""

    def add(self, features: Array) -> None:
        """Add g g' to Sigma."""

    def squared_widths(self, responses: Listed, keep: bool) -> Array:
        """g' Sigma^-1 g for every listed response."""

    def state(self) -> State:
        """Everything learned, in arrays and numbers."""

    def restore(self, state: State) -> None:
        """Restore such a state."""


class Ellipsoid:
    """The inverse of Sigma = lambda I + sum of g g', by rank-one updates.

    For fixed responses it also caches g' Sigma^-1 g of every response, and updates it with one
    pass over their features per description: at once, or, if they are many, when they are needed.

    The inverse is never recomputed from Sigma: over millions of rounds, rank-one updates of a
    positive definite inverse are more accurate than inverting a running sum.

    Parameters
    ----------
    dim : int
        d.
    lam : float
        lambda, a constant.

    Attributes
    ----------
    inverse : Array
        Sigma^-1.
    count : int
        The number of features in Sigma.
    log : Array
        The latest rank-one updates, a row each: u, and its factor. Update n is in row n modulo the
        number of rows. Without rows until somebody asks for it (``keep_log``).
    changes : int
        The number of updates so far.
    growths : int
        How often widths may have grown: removals and restored states.
    """

    def __init__(self, dim: int, lam: float) -> None:
        self.lam = real("lam", lam, at_least=LOWEST_RIDGE)
        self.inverse: Array = np.eye(whole("dim", dim)) / self.lam
        self.count = 0
        self._shape = (dim,)
        self._cached: Listed | None = None
        self._columns = _NO_COLUMNS  # those of the cached responses
        self._widths = _NO_WIDTHS
        self._updated = False  # whether the cached widths were updated since they were computed
        self._seen = 0  # updates that are in the cached widths
        self.log: Array = np.empty((0, dim + 1))
        self.changes = self.growths = 0

    @property
    def log_det(self) -> float:
        """log det(Sigma / lambda): 0 at first, and never less."""
        _, logarithm = np.linalg.slogdet(self.lam * self.inverse)
        return max(0.0, -float(logarithm))

    def add(self, features: Array) -> None:
        """Add g g' to Sigma."""
        if not self._change(features, 1.0, 0.0, LARGEST_RATIO * self.lam * _SLACK):
            if not np.isfinite(features).all():
                raise SettingError(f"features must be finite, not {features}.")
            raise too_long(features, self.lam)
        self.count += 1

    def remove(self, features: Array) -> None:
        """Subtract g g' from Sigma, as if it had never been added.

        Refused, without any change, if Sigma would no longer be positive definite: then g was
        never added. Also refused if the ridge is so small, and other data in the direction of g
        so scarce, that rounding errors would show.
        """
        # The inverse started at 1 / lam and has errors of EPSILON / lam since then. A removal
        # divides them by 1 - g' Sigma^-1 g.
        if not self.count or not self._change(
            features, -1.0, EPSILON / MOST_LOST / self.lam, np.inf
        ):
            raise SettingError(
                f"These features cannot be removed: they were never added, or a ridge of "
                f"{self.lam:g} is too small to remove them exactly: {features}."
            )
        self.count -= 1
        self.growths += 1

    def keep_log(self) -> None:
        """Keep the latest updates from now on, as many as there are dimensions."""
        if not len(self.log):
            self.log = np.empty((max(16, self._shape[0]), self._shape[0] + 1))

    def _change(self, features: Array, sign: float, lost: float, longest: float) -> bool:
        demand_size(features, self._shape[0])
        if self._columns.size >= LAZY:
            if self.changes - self._seen == len(self.log):  # the next would overwrite one
                self._catch_up()
            columns, widths = _NO_COLUMNS, _NO_WIDTHS
        else:
            columns, widths = self._columns, self._widths
        self._updated = True
        row = self.changes % len(self.log) if len(self.log) else 0
        if not rank_one(
            self.inverse, features, sign, lost, longest, columns, widths, self.log, row
        ):
            return False
        self.changes += 1
        return True

    def _catch_up(self) -> None:
        if self._columns.size >= LAZY:
            in_threads(
                _update_all,
                len(self._widths),
                (self._columns, self._widths, self.log, self._seen, self.changes),
            )
        self._seen = self.changes

    def claim_updates(self, responses: Listed) -> tuple[Array, int]:
        """The widths of many fixed responses, and the number of updates that they have seen.

        The caller must bring them up to date at once.
        """
        if responses is not self._cached:
            self.squared_widths(responses, keep=True)
        seen, self._seen = self._seen, self.changes
        return self._widths, seen

    def squared_widths(self, responses: Listed, keep: bool) -> Array:
        """g' Sigma^-1 g for every listed response.

        Parameters
        ----------
        responses : Listed
            The responses.
        keep : bool
            Whether to cache the widths, for responses that come again.
        """
        if responses is self._cached:
            if self._seen != self.changes:
                self._catch_up()
            return self._widths
        if responses.dim != self._shape[0]:
            raise SettingError(
                f"responses must have {self._shape[0]} features each, not {responses.dim}."
            )
        demand_short(responses, self.lam)
        # Updated widths differ in their last bits from recomputed ones. So equal responses, in
        # another run or after a restore, get the cached widths.
        if self._cached is not None and np.array_equal(self._cached.matrix, responses.matrix):
            self._catch_up()
            widths = self._widths
        else:
            widths = quadratic_forms_in_threads(self.inverse, responses.columns)
            if keep:
                self._updated = False
        if keep:
            self._cache(responses, widths)
        return widths

    def _cache(self, responses: Listed, widths: Array) -> None:
        self._cached, self._columns, self._widths = responses, responses.columns, widths
        self._seen = self.changes
        if self._columns.size >= LAZY:
            self.keep_log()

    def for_kernels(self, responses: Listed | None) -> tuple[Array, Array, float]:
        """The inverse, the widths of responses that come again, if any, and the longest g squared.

        Who changes them by ``rank_one`` counts.
        """
        if responses is not None:
            self.squared_widths(responses, keep=True)
        self._updated = True
        self.changes += len(self.log) + 1  # the log will not have these updates
        self._seen = self.changes
        return self.inverse, self._widths, LARGEST_RATIO * self.lam * _SLACK

    def state(self) -> State:
        """The inverse, and the cached widths unless the inverse gives the same bits."""
        state: State = {"inverse": self.inverse.copy(), "count": self.count}
        if self._cached is None or not self._updated:
            return {**state, "kept": np.empty((0, *self._shape)), "widths": np.empty(0)}
        self._catch_up()
        return {**state, "kept": self._cached.matrix.copy(), "widths": self._widths.copy()}

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        inverse = saved_array(state, "inverse", 2 * self._shape)
        widths = saved_array(state, "widths", np.shape(state["widths"])[:1], least=0)
        cached = saved_array(state, "kept", (len(widths), *self._shape))
        self.count = whole("count", int(state["count"]), at_least=0)
        self.inverse = inverse
        self.changes += len(self.log) + 1  # no width of before can be updated to this
        self.growths += 1
        self._cached, self._columns, self._widths = None, _NO_COLUMNS, _NO_WIDTHS
        if len(cached):
            self._cache(Listed(cached), widths)
            self._updated = True


def demand_short(responses: Listed, lam: float) -> None:
    """Refuse responses with features that are too long for a ridge."""
    longest = responses.longer_than(LARGEST_RATIO * lam * _SLACK)
    if longest is not None:
        raise too_long(responses.features(longest), lam, f" of response {longest}")


def too_long(features: Array, lam: float, whose: str = "") -> SettingError:
    """The error for features that are too long for a ridge."""
    length, allowed = math.hypot(*features), math.sqrt(LARGEST_RATIO * lam)
    enough = length * (length / LARGEST_RATIO)
    other = f", or set lam to {enough:.2g} or more" if enough < np.inf else ""
    return SettingError(
        f"The features{whose} have a length of {length:.3g}; with lam={lam:g} rounding spoils "
        f"Sigma beyond {allowed:.3g}. Divide all features by {length / allowed:.2g} or "
        f"more{other}."
    )


_NO_COLUMNS = np.frombuffer(bytes(8)).reshape(1, 1)[:, :0]  # of the type of a Listed's columns
_NO_WIDTHS = np.empty(0)


@compiled_lazily
def rank_one(
    inverse: Array,
    g: Array,
    sign: float,
    lost: float,
    longest: float,
    columns: Array,
    widths: Array,
    log: Array,
    row: int,
) -> bool:
    """Sherman and Morrison: Sigma^-1 -= u u' / (1 + g'u) with u = Sigma^-1 g, and the widths.

    A sign of -1 removes g g'. Returns False, without any change, if Sigma would no longer be
    positive definite by more than ``lost`` times g'g (rounding), if a feature is not finite, or
    if g'g is above ``longest``. u and its factor are written to a row of the log, if it has rows.
    """
    dim = len(g)
    u = np.zeros(dim)
    for j in range(dim):  # the inverse is symmetric: along its rows, all sums at once
        along, factor = inverse[j], g[j]
        for i in range(dim):
            u[i] += along[i] * factor
    grown, length = 1.0, 0.0
    for i in range(dim):
        grown += sign * g[i] * u[i]
        length += g[i] * g[i]
    if not (np.isfinite(grown) and grown > lost * length and length <= longest):
        return False
    shrink = sign / grown
    if len(log):
        for i in range(dim):  # assigning to a slice takes half a second to compile
            log[row, i] = u[i]
        log[row, dim] = shrink
    v = u * shrink
    for i in range(dim):  # the same number on both sides of the diagonal: it stays symmetric
        along, one, other = inverse[i], u[i], v[i]
        for j in range(i + 1):
            along[j] -= one * v[j]
        for j in range(i + 1, dim):
            along[j] -= u[j] * other
    for first in range(0, len(widths), TILE):
        _update(columns, widths, u, shrink, first, min(first + TILE, len(widths)))
    return True


@compiled_lazily
def _update(columns: Array, widths: Array, u: Array, shrink: float, first: int, end: int) -> None:
    """Update the widths of some responses for a new Sigma."""
    along = np.zeros(end - first)
    for i in range(len(columns)):
        row = columns[i, first:end]  # an index without a sum is vectorised
        factor = u[i]
        for y in range(len(along)):
            along[y] += factor * row[y]
    part = widths[first:end]
    for y in range(len(along)):
        shrunk = part[y] - along[y] * along[y] * shrink
        part[y] = 0.0 if shrunk < 0.0 else shrunk


@compiled_for_threads
def _update_all(
    columns: Array, widths: Array, log: Array, seen: int, changes: int, begin: int, end: int
) -> None:
    """Update the widths of some responses by the log, a tile at a time."""
    for first in range(begin, end, TILE):
        for n in range(seen, changes):
            u = log[n % len(log)]
            _update(columns, widths, u, u[-1], first, min(first + TILE, end))
