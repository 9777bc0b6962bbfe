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

    def sweep(self, sigma: Ellipsoid, f: Array, k: float, visited: Indices) -> None:
        """Bring some tiles up to date, and find the highest score of each."""
        changes = (sigma.inverse, sigma.log, sigma.changes)
        tiles = (self.columns, self.widths, self.starts, self.seen, self.scores, self.widest)
        in_threads(_sweep, len(visited), (*tiles, *changes, f, k, visited), TILES_A_THREAD)

    def found(self, f: Array, k: float, visited: Indices, random: bool) -> Found:
        """The best responses of tiles that were just swept."""
        highest = float(self.scores[visited].max())  # NaN if any is
        if not np.isfinite(highest):
            return NOTHING
        lowest = highest - TOLERANCE * abs(highest)
        holding = visited[self.scores[visited] >= lowest]
        return Found(
            *_collect(self.columns, self.widths, self.starts, f, k, holding, lowest, random)
        )


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
    begin: int,
    end: int,
) -> None:
    """Sweep the tiles ``visited[begin:end]``. A score that is not finite becomes NaN."""
    dim = len(columns)
    for tile in visited[begin:end]:
        first, last = starts[tile], starts[tile + 1]
        score = np.zeros(last - first)
        width = widths[first:last]
        pending = changes - seen[tile]
        if pending > len(log):
            _recompute(inverse, columns, first, width)
            pending = 0
        for n in range(changes - pending, changes - 1):
            u = log[n % len(log)]
            _update(columns, first, width, u, u[dim])
        if pending:
            u = log[(changes - 1) % len(log)]
            _update_and_score(columns, first, width, u, u[dim], f, score)
        else:
            _score(columns, first, f, score)
        seen[tile] = changes
        highest, wide = -np.inf, 0.0
        finite = True
        for y in range(last - first):
            value = score[y] + k * np.sqrt(width[y])
            finite &= np.isfinite(value)
            highest = max(highest, value)
            wide = max(wide, width[y])
        scores[tile] = highest if finite else np.nan
        widest[tile] = wide


@compiled
def _score(columns: Array, first: int, f: Array, score: Array) -> None:
    for i in range(len(f)):
        row = columns[i, first : first + len(score)]  # an index without a sum is vectorised
        factor = f[i]
        for y in range(len(score)):
            score[y] += factor * row[y]


@compiled
def _update(columns: Array, first: int, width: Array, u: Array, shrink: float) -> None:
    along = np.zeros(len(width))
    _score(columns, first, u[:-1], along)
    for y in range(len(width)):
        width[y] = max(width[y] - along[y] * along[y] * shrink, 0.0)


@compiled
def _update_and_score(
    columns: Array, first: int, width: Array, u: Array, shrink: float, f: Array, score: Array
) -> None:
    """Both at once: each feature is read once, and the sums are the same to the last bit."""
    along = np.zeros(len(width))
    for i in range(len(f)):
        row = columns[i, first : first + len(score)]
        one, other = u[i], f[i]
        for y in range(len(score)):
            along[y] += one * row[y]
            score[y] += other * row[y]
    for y in range(len(width)):
        width[y] = max(width[y] - along[y] * along[y] * shrink, 0.0)


@compiled
def _recompute(inverse: Array, columns: Array, first: int, width: Array) -> None:
    """g' Sigma^-1 g from the inverse."""
    half = np.empty(len(width))
    width[:] = 0.0
    for i in range(len(columns)):
        half[:] = 0.0
        _score(columns, first, inverse[i], half)
        row = columns[i, first : first + len(width)]
        for y in range(len(width)):
            width[y] += half[y] * row[y]
    for y in range(len(width)):
        width[y] = max(width[y], 0.0)


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
        score = np.zeros(starts[tile + 1] - first)
        _score(columns, first, f, score)
        for y in range(len(score)):
            if score[y] + k * np.sqrt(widths[first + y]) >= lowest and (random or not count):
                best[count], estimates[count] = first + y, score[y]
                count += 1
    best = best[:count].copy()
    return best, estimates[:count].copy(), widths[best]
