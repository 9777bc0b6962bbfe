"""The exact search that looks only at clusters which may hold the best response.

No response of a cluster with centre c and radius r scores more than f . c + |f| r + k w, where w
is the largest width in the cluster when it was last looked at: widths only shrink, until a
description is taken back. A cluster that is skipped for some rounds is brought up to date when it
is looked at again, by the updates it has missed or from the inverse, whichever is less work. So all
rounds together take no more work than the scan's, but for the bounds.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tellback.arrays import Array
from tellback.models.ellipsoid import Ellipsoid
from tellback.models.search.clusters import clustered
from tellback.models.search.found import Found
from tellback.models.search.tiles import Tiles
from tellback.responses import Listed
from tellback.ties import TOLERANCE

FIRST = 8
"""Clusters that are looked at before the others are compared with the best of them."""

_ROUNDING = 1e-10  # of a bound, relative to its parts


class Pruned:
    """Fixed responses in clusters, with what is known of their widths.

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
        self._order, starts = clustered(responses.columns)
        columns = np.ascontiguousarray(responses.columns[:, self._order])
        count = len(starts) - 1
        behind = np.full(count, sigma.changes - len(sigma.log) - 1)  # widths are yet to come
        scores, widest = np.empty((2, count))
        self._tiles = Tiles(columns, np.empty(len(responses)), starts, behind, scores, widest)
        spheres = [_sphere(columns[:, a:b]) for a, b in pairwise(starts)]
        self._centres = np.array([centre for centre, _ in spheres])
        self._radii = np.array([radius for _, radius in spheres])
        self._longest = np.linalg.norm(self._centres, axis=1) + self._radii
        self._growths = -1  # no cluster has been looked at

    def best(self, f: Array, k: float, random: bool) -> Found:
        """The responses with the highest f . g + k |g| in Sigma^-1."""
        tiles, length = self._tiles, float(np.linalg.norm(f))
        if self._growths != self._sigma.growths:
            tiles.widest[:] = np.inf
            self._growths = self._sigma.growths
        bonus = k * np.sqrt(tiles.widest) if k else np.zeros(len(self._radii))
        bounds = self._centres @ f + length * self._radii + bonus
        bounds += _ROUNDING * (length * self._longest + bonus)
        first = np.sort(np.argsort(-bounds, kind="stable")[:FIRST])
        tiles.sweep(self._sigma, f, k, first)
        highest = float(tiles.scores[first].max())
        with np.errstate(invalid="ignore"):  # a score that is not a number prunes nothing
            others = ~(bounds < highest - TOLERANCE * abs(highest))
        others[first] = False
        rest = np.flatnonzero(others)
        tiles.sweep(self._sigma, f, k, rest)
        found = tiles.found(f, k, np.concatenate([first, rest]), True)
        best = self._order[found.best]
        ranked = np.argsort(best)[: None if random else 1]  # as the scan gives them
        return Found(best[ranked], found.estimates[ranked], found.squared_widths[ranked])


def _sphere(columns: Array) -> tuple[Array, float]:
    """A sphere that holds every column."""
    centre = columns.mean(axis=1, dtype=np.float64)
    radius = float(np.sqrt(((columns - centre[:, None]) ** 2).sum(axis=0).max()))
    return centre, radius * (1 + 1e-12)
