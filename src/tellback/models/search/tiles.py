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
from tellback.models.quadratic_forms import quadratic_forms
from tellback.models.register_sums import LANES, ROWS, add_rows, add_two, score_rows, score_two
from tellback.models.search.found import NOTHING, Found
from tellback.models.threads import in_threads
from tellback.ties import TOLERANCE

TILES_A_THREAD = 16
"""The least work for which a thread is worth its start."""

_GROUP, _AHEAD = (
    16,
    512,
)  # features that are read side by side; bytes of them that are asked for early


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
    ) -> None:
        """Bring some tiles up to date, and find the highest score of each.

        A tile that is some updates behind is left so if fewer are enough to know that no score
        reaches ``least``: then its score is a bound.
        """
        changes = (sigma.inverse, sigma.log, sigma.changes)
        tiles = (self.columns, self.widths, self.starts, self.seen, self.scores, self.widest)
        asked = (f, k, visited, least)
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
    begin: int,
    end: int,
) -> None:
    """Sweep the tiles ``visited[begin:end]``. A score that is not finite becomes NaN."""
    dim = len(columns)
    most = np.empty((3, LANES))
    weights, factors = np.empty((ROWS, dim)), np.empty(ROWS - 1)
    for i in range(dim):
        weights[0, i] = f[i]
    for n in range(begin, end):
        tile = visited[n]
        first, last = starts[tile], starts[tile + 1]
        done = seen[tile]
        enough = least if widest[tile] < np.inf else -np.inf
        if changes - done >= ROWS and enough > -np.inf:
            _take_updates(log, 0, 0, weights, factors)
            _score(columns, first, last, weights, factors, 0, widths, k, most)
            scores[tile], _ = _most(most)
            if scores[tile] < enough:  # by widths that have shrunk since then
                continue
        if changes - done > len(log):
            anew, done = quadratic_forms(inverse, columns[:, first:last]), changes
            for y in range(last - first):
                widths[first + y] = anew[y]
        while True:  # some updates at a time: the features are read once for them
            count = min(changes - done, len(factors))
            _take_updates(log, done, count, weights, factors)
            _score(columns, first, last, weights, factors, count, widths, k, most)
            done += count
            scores[tile], widest[tile] = _most(most)
            if done == changes or scores[tile] < enough:
                break
        seen[tile] = done


@compiled
def _take_updates(log: Array, since: int, count: int, weights: Array, factors: Array) -> None:
    """Write some updates below the first row of weights, and nothing to the rows that are left."""
    dim = weights.shape[1]
    for p in range(len(factors)):
        u = log[(since + p) % len(log)]
        factors[p] = u[dim] if p < count else 0.0
        for i in range(dim):
            weights[1 + p, i] = u[i] if p < count else 0.0


@compiled
def _score(
    columns: Array,
    first: int,
    last: int,
    weights: Array,
    factors: Array,
    updates: int,
    widths: Array,
    k: float,
    most: Array,
) -> None:
    """Update the widths of some responses; their highest score and largest width, in lanes."""
    for y in range(LANES):
        most[0, y], most[1, y], most[2, y] = -np.inf, 0.0, 0.0
    dim = len(columns)
    end = last - (last - first) % LANES
    before = (dim - 1) // _GROUP * _GROUP  # features that are summed before the last group
    sums = np.zeros((ROWS, end - first if before else LANES))
    ahead = max(_AHEAD // min(dim, _GROUP) // columns.itemsize, 1) * LANES
    rest = factors, widths, k, most, ahead
    few = updates < 2
    for i in range(0, before, _GROUP):
        for y in range(first, end, LANES):
            if few:
                add_two(columns, y, weights, i, i + _GROUP, sums, y - first, *rest)
            else:
                add_rows(columns, y, weights, i, i + _GROUP, sums, y - first, *rest)
    for y in range(first, end, LANES):
        to = y - first if before else 0
        if few:
            score_two(columns, y, weights, before, dim, sums, to, *rest)
        else:
            score_rows(columns, y, weights, before, dim, sums, to, *rest)
    if end < last:  # fewer than there are lanes: the last one in all that are left
        block, width = np.empty((dim, LANES)), np.empty(LANES)
        for y in range(LANES):
            at = min(end + y, last - 1)
            width[y] = widths[at]
            for i in range(dim):
                block[i, y] = columns[i, at]
        nothing = np.zeros((ROWS, LANES))
        score_rows(block, 0, weights, 0, dim, nothing, 0, factors, width, k, most, 0)
        for y in range(last - end):
            widths[end + y] = width[y]


@compiled
def _most(most: Array) -> tuple[float, float]:
    """The highest estimate, NaN if a number is not finite, and the largest squared width."""
    highest, widest, odd = most[0, 0], most[1, 0], most[2, 0]
    for y in range(1, LANES):
        highest, widest = max(highest, most[0, y]), max(widest, most[1, y])
        odd += most[2, y]
    return highest + odd, widest


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
        first, last = starts[tile], starts[tile + 1]
        estimate = np.zeros(last - first)
        for i in range(len(columns)):
            row, factor = columns[i, first:last], f[i]
            for y in range(len(estimate)):
                estimate[y] += factor * row[y]
        for y in range(len(estimate)):
            upper = estimate[y] + k * np.sqrt(widths[first + y])
            if upper >= lowest and (random or not count):
                best[count], estimates[count] = first + y, estimate[y]
                count += 1
    best = best[:count].copy()
    return best, estimates[:count].copy(), widths[best]
