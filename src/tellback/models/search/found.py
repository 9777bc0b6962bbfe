"""What a search finds, and the search among few responses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled_lazily
from tellback.ties import maxima


class Found(NamedTuple):
    """The responses with the highest optimistic estimate.

    Parameters
    ----------
    best : Indices
        All that tie, or the first of them only. None if a number was not finite.
    estimates, squared_widths : Array
        Those of the best.
    """

    best: Indices
    estimates: Array
    squared_widths: Array


NOTHING = Found(np.empty(0, np.int64), np.empty(0), np.empty(0))


@compiled_lazily
def best_of(
    estimates: Array, widths: Array, k: float, random: bool
) -> tuple[Indices, Array, Array]:
    """``Found`` among responses with these estimates and squared widths."""
    upper = np.empty(len(estimates))
    for y in range(len(estimates)):
        upper[y] = estimates[y] + k * np.sqrt(widths[y])
    best = maxima(upper, random)
    theirs, squared = np.empty(len(best)), np.empty(len(best))
    for n in range(len(best)):
        theirs[n], squared[n] = estimates[best[n]], widths[best[n]]
    return best, theirs, squared
