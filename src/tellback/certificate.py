"""Bounds on regret without the truth: a running certificate, and its calibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tellback.arrays import Array
from tellback.theory import Interval, running_mean

MOSTLY = 0.95
"""Below this share of rounds in which the bounds held, the light is red."""

ROUNDING = 1e-9
"""Bounds may be missed by this: upper bounds that tie are equal up to it."""


def certified_regrets(estimates: Array, widths: Array, highest: Array) -> Array:
    """The most regret of each round, if the truth is within the widths: Lemma 1's good event.

    No response is better than the highest upper bound, and the chosen one is no worse than its
    lower bound: min(1, max_y upper(y) - lower(y_t)), bounds being probabilities. It needs no
    reward, and it does not matter how the response was chosen.

    Returns
    -------
    Array
        One entry a round; NaN where the agent stated no widths.
    """
    lower = np.maximum(estimates - widths, 0.0)
    upper = np.minimum(highest, 1.0)
    certified: Array = np.clip(upper - lower, 0.0, 1.0)
    return certified


@dataclass(frozen=True)
class Calibration:
    """Whether bounds were bounds.

    Attributes
    ----------
    held : float
        In a simulation, the share of rounds in which P <= P-hat + b held for the chosen
        response; NaN where nobody knows the truth.
    held_below : float
        The share in which P >= P-hat - b held for it, which the certificate needs.
    optimistic : float
        The share in which the best reward there was did not exceed the highest upper bound,
        which it needs too.
    light : str
        'green' if all three held in every round, 'amber' if each did in most, else 'red'. Without
        a truth, 'red' if matches contradict the bounds and 'grey' if they do not. 'dark' where
        nothing can be said.
    says : str
        Why.
    """

    held: float
    held_below: float
    optimistic: float
    light: str
    says: str

    def __str__(self) -> str:
        return f"{self.light}: {self.says}"


def calibrated(
    estimates: Array, widths: Array, highest: Array, rewards: Array, regrets: Array
) -> Calibration:
    """Calibration against the truth, as only a simulation has it.

    Parameters
    ----------
    estimates, widths, highest : Array
        The estimate of the chosen response in each round, how far it may be off, and the
        highest upper bound of any response.
    rewards, regrets : Array
        What the referee says.
    """
    if np.isnan(widths).any():
        return _dark("the agent states no widths")
    held = rewards <= estimates + widths + ROUNDING
    below = rewards >= estimates - widths - ROUNDING
    optimistic = rewards + regrets <= highest + ROUNDING
    shares = [float(np.mean(one)) for one in (held, below, optimistic)]
    light = "green" if min(shares) == 1 else "amber" if min(shares) >= MOSTLY else "red"
    n = len(rewards)
    says = (
        f"P <= P-hat + b held in {held.sum():,} and P >= P-hat - b in {below.sum():,} of {n:,} "
        f"rounds; the best reward was within the highest upper bound in {optimistic.sum():,}"
    )
    return Calibration(shares[0], shares[1], shares[2], light, says)


def calibrated_by_matches(
    estimates: Array,
    widths: Array,
    matches: Array,
    level: float = 0.95,
    behind: Callable[[Interval], Interval] | None = None,
) -> Calibration:
    """Calibration without the truth: matches are samples of the reward that is bounded.

    Only contradictions can be seen: if there are so many matches, or so few, that the mean reward
    must lie outside the mean of its bounds, some bound failed. No contradiction proves nothing.

    Parameters
    ----------
    estimates, widths, matches : Array
        For each described round, the estimate of the chosen response, how far it may be off,
        and 1[x' = x].
    level : float
        The probability with which sound bounds never turn the light red.
    behind : callable, optional
        What the share of matches says of the mean reward, where matches are wrong at times.
    """
    if not len(matches):
        return _dark("nothing was described")
    if np.isnan(widths).any():
        return _dark("the agent states no widths")
    seen = running_mean(matches, level)
    _, least, most = seen if behind is None else behind(seen)
    n = np.arange(1, len(matches) + 1)
    many = least > np.cumsum(np.minimum(estimates + widths, 1)) / n
    few = most < np.cumsum(np.maximum(estimates - widths, 0)) / n
    for broken, how in ((many, "more"), (few, "fewer")):
        if broken.any():
            first = int(broken.argmax()) + 1
            says = f"by description {first:,} {how} had matched than the bounds allow"
            return Calibration(np.nan, np.nan, np.nan, "red", says)
    says = f"{len(matches):,} descriptions do not contradict the bounds"
    return Calibration(np.nan, np.nan, np.nan, "grey", says)


def _dark(why: str) -> Calibration:
    return Calibration(np.nan, np.nan, np.nan, "dark", why)
