"""The exact search that looks only at clusters which may hold the best response.

No response of a cluster with centre c and radius r scores more than f . c + |f| r + k w, where w
is the largest width in the cluster when it was last looked at: widths only shrink, until a
description is taken back. For the same reason none scores more than p + (f - e) . c + |f - e| r,
where p was the highest score when the cluster was last looked at, with the estimate e. That is the
tighter bound once estimates change little. It is kept for a few estimates, as each instruction has
its own. A cluster that is skipped for some rounds is brought up to date when it
is looked at again, by the updates it has missed or from the inverse, whichever is less work. So all
rounds together take no more work than the scan's, but for the bounds.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled_freely
from tellback.models.ellipsoid import Ellipsoid
from tellback.models.register_sums import LANES
from tellback.models.search.clusters import clustered
from tellback.models.search.found import Found
from tellback.models.search.tiles import Tiles, about
from tellback.responses import Listed

PRUNE_FROM = 2**20
"""Numbers in a matrix of features from which on clusters are worth their bounds. With fewer, a scan
is about as quick as these."""

UNCHECKED = (
    "its search is pruned, and what that keeps of the clusters cannot be compared with the agent's "
    'spec (Ridge(search="scan") keeps none; Certified(...) around the agent lists all responses)'
)

FIRST, GROWTH = 1, 2
"""Clusters that are looked at before the others are compared with the best of them, and how many
times as many after each comparison."""

SLOTS = 8
"""Estimates for which the highest scores of clusters are kept."""

_ROUNDING = 1e-10  # of a bound, relative to its parts


class Pruned:
    """Fixed responses in clusters, with what is known of their widths and scores.

    Parameters
    ----------
    responses : Listed
        The responses. Their features are copied in the order of the clusters.
    sigma : Ellipsoid
        Sigma, which keeps a log of its updates from now on.
    """

    def __init__(self, responses: Listed, sigma: Ellipsoid) -> None:
        sigma.keep_log()
        self._sigma = sigma
        self._order, starts = _padded(*clustered(responses.columns))
        columns = np.ascontiguousarray(responses.columns[:, self._order])
        count = len(starts) - 1
        behind = np.full(count, sigma.changes - len(sigma.log) - 1)  # widths are yet to come
        scores, widest = np.empty((2, count))
        self._tiles = Tiles(columns, np.empty(len(self._order)), starts, behind, scores, widest)
        spheres = [_sphere(columns[:, a:b]) for a, b in pairwise(starts)]
        self._centres = np.array([centre for centre, _ in spheres])
        self._radii = np.array([radius for _, radius in spheres])
        self._growths = -1  # no cluster has been looked at
        self._asked = np.zeros((SLOTS, responses.dim))  # the latest estimate of each slot
        self._past_f = np.zeros((SLOTS, count, responses.dim))  # where a cluster was looked at
        self._past_k = np.zeros((SLOTS, count))
        self._past_scores = np.empty((SLOTS, count))

    def best(self, f: Array, k: float, random: bool) -> Found:
        """The responses with the highest f . g + k |g| in Sigma^-1."""
        tiles = self._tiles
        if self._growths != self._sigma.growths:
            tiles.widest[:] = self._past_scores[:] = np.inf
            self._growths = self._sigma.growths
        slot = int(((self._asked - f) ** 2).sum(axis=1).argmin())
        past = self._past_f[slot], self._past_k[slot], self._past_scores[slot]
        bounds = _bounds(f, k, self._centres, self._radii, tiles.widest, *past)
        visited = self._visit(f, k, bounds)
        found = tiles.found(f, k, visited, True)
        self._asked[slot] = past[0][visited] = f
        past[1][visited], past[2][visited] = k, tiles.scores[visited]
        best, each = np.unique(self._order[found.best], return_index=True)  # as the scan gives them
        some = slice(None if random else 1)
        return Found(best[some], found.estimates[each][some], found.squared_widths[each][some])

    def _visit(self, f: Array, k: float, bounds: Array) -> Indices:
        """Look at the clusters that may hold the best, the most promising first."""
        tiles, visited, waiting = self._tiles, [], np.argsort(-bounds)
        size, least = FIRST, -np.inf
        while len(waiting):
            some, waiting = np.sort(waiting[:size]), waiting[size:]
            tiles.sweep(self._sigma, f, k, some, least)
            visited.append(some)
            least = max(least, about(float(tiles.scores[some].max())))
            waiting = waiting[~(bounds[waiting] < least)]
            size *= GROWTH
        return np.concatenate(visited)


def _padded(order: Indices, starts: Indices) -> tuple[Indices, Indices]:
    """The clusters with the last response of each again, until its size fits the lanes."""
    sizes = np.diff(starts)
    rooms = -(-sizes // LANES) * LANES
    edges = np.concatenate([[0], np.cumsum(rooms)])
    within = np.arange(edges[-1]) - np.repeat(edges[:-1], rooms)
    places = np.repeat(starts[:-1], rooms) + np.minimum(within, np.repeat(sizes - 1, rooms))
    return order[places], edges


@compiled_freely
def _bounds(
    f: Array,
    k: float,
    centres: Array,
    radii: Array,
    widest: Array,
    past_f: Array,
    past_k: Array,
    past_scores: Array,
) -> Array:
    """What no response of each cluster can exceed."""
    length = np.sqrt(_squared(f))
    bounds = np.empty(len(radii))
    for n in range(len(radii)):
        along = moved = distance = squares = 0.0
        for i in range(len(f)):
            change = f[i] - past_f[n, i]
            along += f[i] * centres[n, i]
            moved += change * centres[n, i]
            distance += change * change
            squares += centres[n, i] * centres[n, i]
        distance = np.sqrt(distance)
        wide = np.sqrt(widest[n]) if k else 0.0
        new = along + length * radii[n] + k * wide
        more = (k - past_k[n]) * wide if k > past_k[n] else 0.0
        old = past_scores[n] + moved + distance * radii[n] + more
        parts = (2 * length + distance) * (np.sqrt(squares) + radii[n]) + (k + past_k[n]) * wide
        bounds[n] = (old if old < new else new) + _ROUNDING * parts
    return bounds


@compiled_freely
def _squared(f: Array) -> float:
    total = 0.0
    for i in range(len(f)):
        total += f[i] * f[i]
    return total


def _sphere(columns: Array) -> tuple[Array, float]:
    """A sphere that holds every column."""
    centre = columns.mean(axis=1, dtype=np.float64)
    radius = float(np.sqrt(((columns - centre[:, None]) ** 2).sum(axis=0).max()))
    return centre, radius * (1 + 1e-12)
