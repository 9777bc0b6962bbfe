"""One pass over the features of many responses: new widths, scores and their maxima.

The responses are in tiles, of which each fits into a cache. A tile is read from memory once: its
widths are brought up to date, its estimates are summed, and the highest score is written down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled, compiled_for_threads
from tellback.models.ellipsoid import Ellipsoid
from tellback.models.search.found import NOTHING, Found
from tellback.models.threads import in_threads
from tellback.ties import TOLERANCE

TILES_A_THREAD = 16
"""The least work for which a thread is worth its start."""


@dataclass(frozen=True)
class Tiles:
    """Responses in tiles, with what is known of each tile.

    Parameters
    ----------
    columns : Array
        The features, a column a response.
    widths : Array
        The squared width of every response, after the updates that its tile has seen.
    starts : Indices
        Where each tile starts, and where the last one ends.
    seen : Indices
        How many updates of Sigma the widths of each tile have seen.
    scores : Array
        The highest score of each tile in this round.
    widest : Array
        The largest squared width of each tile when it was last looked at.
    """

    columns: Array
    widths: Array
    starts: Indices
    seen: Indices
    scores: Array
    widest: Array

    def sweep(
        self,
        sigma: Ellipsoid,
        f: Array,
        k: float,
        visited: Indices,
        least: float = -np.inf,
        raised: bool = False,
    ) -> None:
        """Bring some tiles up to date, and find the highest score of each.

        Where it is certainly below ``least``, a bound is enough: roots take time. ``raised``
        raises ``least`` to the highest so far, so that the bounds depend on the threads.
        """
        changes = (sigma.inverse, sigma.log, sigma.changes)
        tiles = (self.columns, self.widths, self.starts, self.seen, self.scores, self.widest)
        asked = (f, k, visited, least, raised)
        in_threads(_sweep, len(visited), (*tiles, *changes, *asked), TILES_A_THREAD)

    def found(self, f: Array, k: float, visited: Indices, random: bool) -> Found:
        """The best responses of tiles that were just swept."""
        highest = float(self.scores[visited].max())  # NaN if any is
        if not np.isfinite(highest):
            return NOTHING
        lowest = about(highest)
        holding = visited[self.scores[visited] >= lowest]
        return Found(
            *_collect(self.columns, self.widths, self.starts, f, k, holding, lowest, random)
        )


@compiled
def about(score: float) -> float:
    """The lowest score that ties with a score."""
    return score - TOLERANCE * abs(score)


@compiled_for_threads
def _sweep(
    columns: Array,
    widths: Array,
    starts: Indices,
    seen: Indices,
    scores: Array,
    widest: Array,
    inverse: Array,
    log: Array,
    changes: int,
    f: Array,
    k: float,
    visited: Indices,
    least: float,
    raised: bool,
    begin: int,
    end: int,
) -> None:
    """Sweep the tiles ``visited[begin:end]``. A score that is not finite becomes NaN."""
    dim, room = len(columns), 0
    for n in range(begin, end):
        room = max(room, starts[visited[n] + 1] - starts[visited[n]])
    one, other = np.empty(room), np.empty(room)
    lanes = np.empty((3, _LANES))
    for n in range(begin, end):
        tile = visited[n]
        first, last = starts[tile], starts[tile + 1]
        width = widths[first:last]
        along, score = one[: last - first], other[: last - first]
        pending = changes - seen[tile]
        if pending > len(log):
            _recompute(inverse, columns, first, width, along, score)
            pending = 0
        for m in range(changes - pending, changes - 1, 2):  # two at a time read the features once
            u, v = log[m % len(log)], log[(m + 1) % len(log)]
            _project(columns, first, u, v, along, score)
            _shrink(width, along, u[dim])
            _shrink(width, score, v[dim])
        factor = 0.0
        if pending % 2:
            u = log[(changes - 1) % len(log)]
            _project(columns, first, u, f, along, score)
            factor = u[dim]
        else:
            _project(columns, first, f, f, along, score)
        highest, wide = _finish(width, along, factor, score, lanes)
        seen[tile], widest[tile] = changes, wide
        bound = highest + k * np.sqrt(wide)
        if bound >= least:
            bound = _highest(score, width, k, lanes[0])
            if raised:
                least = max(least, about(bound))
        scores[tile] = bound


_AT_ONCE, _LANES = 8, 32  # rows that are read together; maxima that are kept side by side


@compiled
def _project(columns: Array, first: int, u: Array, v: Array, one: Array, other: Array) -> None:
    """u . g and v . g of some responses, each summed in the order of the features.

    Eight rows at a time: the sums are read and written once for them, and the memory is read in
    long runs.
    """
    dim, count = len(columns), len(one)
    last = first + count
    for y in range(count):
        one[y] = other[y] = 0.0
    whole = dim - dim % _AT_ONCE
    for i in range(0, whole, _AT_ONCE):
        g0, g1 = columns[i, first:last], columns[i + 1, first:last]
        g2, g3 = columns[i + 2, first:last], columns[i + 3, first:last]
        g4, g5 = columns[i + 4, first:last], columns[i + 5, first:last]
        g6, g7 = columns[i + 6, first:last], columns[i + 7, first:last]
        u0, u1, u2, u3, u4, u5, u6, u7 = _eight(u, i)
        v0, v1, v2, v3, v4, v5, v6, v7 = _eight(v, i)
        for y in range(count):
            a, b = one[y] + u0 * g0[y], other[y] + v0 * g0[y]
            a, b = a + u1 * g1[y], b + v1 * g1[y]
            a, b = a + u2 * g2[y], b + v2 * g2[y]
            a, b = a + u3 * g3[y], b + v3 * g3[y]
            a, b = a + u4 * g4[y], b + v4 * g4[y]
            a, b = a + u5 * g5[y], b + v5 * g5[y]
            a, b = a + u6 * g6[y], b + v6 * g6[y]
            a, b = a + u7 * g7[y], b + v7 * g7[y]
            one[y], other[y] = a, b
    for i in range(whole, dim):
        row, ui, vi = columns[i, first:last], u[i], v[i]
        for y in range(count):
            one[y] += ui * row[y]
            other[y] += vi * row[y]


@compiled
def _eight(u: Array, i: int) -> tuple[float, float, float, float, float, float, float, float]:
    return u[i], u[i + 1], u[i + 2], u[i + 3], u[i + 4], u[i + 5], u[i + 6], u[i + 7]


@compiled
def _shrink(width: Array, along: Array, factor: float) -> None:
    for y in range(len(width)):
        shrunk = width[y] - along[y] * along[y] * factor
        width[y] = 0.0 if shrunk < 0.0 else shrunk


@compiled
def _finish(
    width: Array, along: Array, factor: float, score: Array, lanes: Array
) -> tuple[float, float]:
    """Shrink the widths; the highest estimate, NaN if a number is not finite, and width.

    Lanes are maxima side by side: a single one would not be vectorised, as NaN has no order.
    """
    high, wide, odd = lanes
    for j in range(_LANES):
        high[j], wide[j], odd[j] = -np.inf, 0.0, 0.0
    whole = len(width) - len(width) % _LANES
    for first in range(0, whole, _LANES):
        w, a, s = width[first:], along[first:], score[first:]
        for j in range(_LANES):
            shrunk = w[j] - a[j] * a[j] * factor
            w[j] = shrunk = 0.0 if shrunk < 0.0 else shrunk
            high[j] = s[j] if s[j] > high[j] else high[j]
            wide[j] = shrunk if shrunk > wide[j] else wide[j]
            odd[j] += (s[j] + shrunk) - (s[j] + shrunk)
    for y in range(whole, len(width)):
        shrunk = width[y] - along[y] * along[y] * factor
        width[y] = shrunk = 0.0 if shrunk < 0.0 else shrunk
        high[0], wide[0] = max(high[0], score[y]), max(wide[0], shrunk)
        odd[0] += (score[y] + shrunk) - (score[y] + shrunk)
    highest, widest, none = high[0], wide[0], odd[0]
    for j in range(1, _LANES):
        highest, widest, none = max(highest, high[j]), max(widest, wide[j]), none + odd[j]
    return highest + none, widest  # none is 0, or NaN


@compiled
def _highest(score: Array, width: Array, k: float, high: Array) -> float:
    """The highest score plus k times the width. No number is odd here but an infinite bound."""
    for j in range(_LANES):
        high[j] = -np.inf
    whole = len(width) - len(width) % _LANES
    for first in range(0, whole, _LANES):
        w, s = width[first:], score[first:]
        for j in range(_LANES):
            value = s[j] + k * np.sqrt(w[j])
            high[j] = value if value > high[j] else high[j]
    for y in range(whole, len(width)):
        high[0] = max(high[0], score[y] + k * np.sqrt(width[y]))
    highest: float = high[0]
    for j in range(1, _LANES):
        highest = max(highest, high[j])
    return highest


@compiled
def _recompute(
    inverse: Array, columns: Array, first: int, width: Array, one: Array, other: Array
) -> None:
    """g' Sigma^-1 g from the inverse, two rows of it at a time."""
    dim, last = len(columns), first + len(width)
    for y in range(len(width)):
        width[y] = 0.0
    for i in range(0, dim, 2):
        j = min(i + 1, dim - 1)
        _project(columns, first, inverse[i], inverse[j], one, other)
        g, h = columns[i, first:last], columns[j, first:last]
        for y in range(len(width)):
            width[y] += one[y] * g[y]
        if j > i:
            for y in range(len(width)):
                width[y] += other[y] * h[y]
    for y in range(len(width)):
        width[y] = 0.0 if width[y] < 0.0 else width[y]


@compiled
def _collect(
    columns: Array,
    widths: Array,
    starts: Indices,
    f: Array,
    k: float,
    tiles: Indices,
    lowest: float,
    random: bool,
) -> tuple[Indices, Array, Array]:
    """The responses of some tiles with a score of at least ``lowest``, or the first of them."""
    room = 0
    for tile in tiles:
        room += starts[tile + 1] - starts[tile]
    best, estimates = np.empty(room, np.int64), np.empty(room)
    count = 0
    for tile in tiles:
        first = starts[tile]
        score, again = np.empty((2, starts[tile + 1] - first))
        _project(columns, first, f, f, score, again)
        for y in range(len(score)):
            if score[y] + k * np.sqrt(widths[first + y]) >= lowest and (random or not count):
                best[count], estimates[count] = first + y, score[y]
                count += 1
    best = best[:count].copy()
    return best, estimates[:count].copy(), widths[best]
