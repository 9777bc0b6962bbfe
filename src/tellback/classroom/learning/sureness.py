"""How sure an agent is of what it would do, and whether evidence or optimism drives it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.ties import maxima

CLEAR_MARGIN = 0.5
"""The best response is known if the next has at most half its estimate.

In the demonstration (seeds 0 to 4, 100 held-out requests each) 94% of the answers that it was
then sure of were right after 20 descriptions and 98% after 60, of all answers 71% and 91%. The
share was chosen on these same lessons, so others may show a little less.
"""


class Considered(NamedTuple):
    """What an agent thinks of every response to a request, without doing anything."""

    estimates: Array
    bonuses: Array
    learned: int
    version: int


class Verdict(NamedTuple):
    """What an agent would do with a request, and how sure it is.

    Attributes
    ----------
    best, second : int, int or None
        The response with the highest estimate, and the next.
    sure : bool
        Whether what it was told says so.
    says : str
        Why, in words.
    margin : float
        How far the best is ahead of the next, from 0 to 1.
    """

    best: int
    second: int | None
    sure: bool
    says: str
    margin: float


def verdict(considered: Considered) -> Verdict:
    """What an agent would do now if it did not explore."""
    estimates = considered.estimates
    order = np.argsort(-estimates, kind="stable")
    best = int(order[0])
    if len(order) == 1:
        return Verdict(best, None, True, "There is no other response.", 1.0)
    second = int(order[1])
    first, next_best = float(estimates[best]), max(float(estimates[second]), 0.0)
    margin = max(first - next_best, 0.0) / first if first > 0 else 0.0

    def unsure(why: str) -> Verdict:
        return Verdict(best, second, False, f"I don't know yet: {why}", margin)

    if considered.learned == 0:
        return unsure("nothing was described to me.")
    if margin < CLEAR_MARGIN:
        return unsure("what I was told hardly tells these apart.")
    if best not in maxima(estimates + np.nan_to_num(considered.bonuses), random=True):
        return unsure("I would rather try another one, to find out.")
    return Verdict(best, second, True, "What I was told says so.", margin)
