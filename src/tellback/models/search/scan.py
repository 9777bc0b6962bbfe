"""The exact scan: one pass over the features of all responses a round, in threads."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array
from tellback.models.ellipsoid import Ellipsoid
from tellback.models.search.found import Found
from tellback.models.search.tiles import Tiles
from tellback.responses import Listed

_TILE = 4096


def scan(sigma: Ellipsoid, f: Array, k: float, responses: Listed, random: bool) -> Found:
    """The best of many responses whose widths Sigma caches."""
    widths, seen = sigma.claim_updates(responses)
    tiles = -(-len(responses) // _TILE)
    starts = np.minimum(_TILE * np.arange(tiles + 1), len(responses))
    every = np.arange(tiles)
    scores, widest = np.empty((2, tiles))
    pass_ = Tiles(responses.columns, widths, starts, np.full(tiles, seen), scores, widest)
    pass_.sweep(sigma, f, k, every)
    return pass_.found(f, k, every, random)
