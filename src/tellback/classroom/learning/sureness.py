"""How sure an agent is of its answer to a request."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.ties import maxima

CLEAR_MARGIN = 0.5
"""The agent is sure if the second best response has at most half the best one's estimate.

In the demonstration (seeds 0 to 29, 100 held-out requests each), 91% of its sure answers were right
after 20 descriptions and 99% after 60; of all answers, 72% and 95%. How estimates depend on the fit
was chosen on other seeds.
"""


class Considered(NamedTuple):
    """An agent's estimates and bonuses of every response to a request."""

    estimates: Array
    bonuses: Array
    learned: int
    version: int


class Verdict(NamedTuple):
    """An agent's answer to a request, and how sure it is."""

    best: int  # the response with the highest estimate
    second: int | None  # the next
    sure: bool  # whether the descriptions tell the best response from the next
    says: str  # the reason, in words
    margin: float  # how far the best is ahead of the next, from 0 to 1


def verdict(considered: Considered) -> Verdict:
    """An agent's answer now, without exploring."""
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
