"""The approximate search: candidates from an index of inner products, scored exactly.

The optimistic score f . g + k |g| in Sigma^-1 is no inner product with g. But it is convex in g,
and for any c at least q(c) . g with q(c) = f + k Sigma^-1 c / |c| in Sigma^-1: its tangent at c,
which is exact where g is a multiple of c. So the responses with the largest q(c) . g are
good candidates if c is near the best response. The index keeps the responses in clusters. Those
whose centres score highest give the directions q(c), faiss finds the responses with the largest
inner products, and the best of all that were found is taken by its exact score.

The best response may be missed. So regret is not bounded as for the scan.
"""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array
from tellback.extras import demand_extra, from_extra
from tellback.models.ellipsoid import Ellipsoid
from tellback.models.search.found import Found, best_of
from tellback.responses import Listed

DIRECTIONS = 4
"""Clusters whose centres give a direction to search in. In each, faiss looks through as many: the
cluster that gave it is always among them, as q(c) . c is its score and q(c) . c' never above that
of c'."""

CANDIDATES = 8
"""Responses that are scored for each direction."""

CAVEAT = (
    "its search is approximate: a response with a higher upper bound may have been missed "
    '(Ridge(search="scan") looks at all)'
)
_WHAT = 'Ridge(search="approximate")'
_TINY = 1e-300  # the width of a centre at 0 is no divisor
_SAMPLE = 64  # responses a cluster from which its centre is learned


def demand_faiss() -> None:
    """Refuse to go on without faiss."""
    demand_extra("faiss", ["faiss"], _WHAT)


class Approximate:
    """Fixed responses in an index.

    Parameters
    ----------
    responses : Listed
        The responses. faiss keeps a copy of their features, in single precision.
    sigma : Ellipsoid
        Sigma.
    """

    def __init__(self, responses: Listed, sigma: Ellipsoid) -> None:
        faiss = from_extra("faiss", "faiss", _WHAT)
        self._columns, self._sigma = responses.columns, sigma
        features = np.ascontiguousarray(responses.columns.T, dtype=np.float32)
        clusters = max(1, round(len(features) ** 0.5))
        # The clusters only decide what is found, so that chance has a fixed seed.
        means = faiss.Kmeans(
            responses.dim, clusters, niter=10, seed=0, max_points_per_centroid=_SAMPLE
        )
        means.train(features)
        self._centres: Array = means.centroids.astype(np.float64)
        shape = responses.dim, clusters, faiss.METRIC_INNER_PRODUCT
        # Responses go to the nearest centre, and a direction to those with large products.
        self._index = faiss.IndexIVFFlat(means.index, *shape)
        self._index.add(features)
        self._by_product = faiss.IndexFlatIP(responses.dim)  # faiss keeps no reference
        self._by_product.add(means.centroids)
        self._index.quantizer = self._by_product
        self._index.nprobe = DIRECTIONS

    def best(self, f: Array, k: float, random: bool) -> Found:
        """Responses with a high f . g + k |g| in Sigma^-1: the best of some candidates."""
        inverse, columns = self._sigma.inverse, self._columns
        along = self._centres @ inverse
        widths = np.sqrt((along * self._centres).sum(axis=1))
        scores = self._centres @ f + k * widths
        top = np.argpartition(-scores, min(DIRECTIONS, len(scores)) - 1)[:DIRECTIONS]
        directions = f + k * along[top] / np.maximum(widths[top], _TINY)[:, None]
        _, found = self._index.search(directions.astype(np.float32), CANDIDATES)
        some = np.unique(found[found >= 0])
        among = np.ascontiguousarray(columns[:, some], dtype=np.float64)
        squares = ((inverse @ among) * among).sum(axis=0)
        best, *of_the_best = best_of(f @ among, squares, k, random)
        return Found(some[best], *of_the_best)
