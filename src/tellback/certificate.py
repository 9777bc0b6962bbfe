"""What can be known of regret without the truth: a running certificate, and a check of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.arrays import Array
from tellback.theory import running_mean

MOSTLY = 0.95
"""Below this share of rounds in which the upper bounds held, the light is red."""


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
    """Whether upper bounds were upper bounds.

    Attributes
    ----------
    held : float
        In a simulation, the share of rounds in which P <= P-hat + b held for the chosen
        response; NaN where nobody knows the truth.
    optimistic : float
        The share in which the best reward there was did not exceed the highest upper bound.
    light : str
        'green', 'amber' or 'red'; 'dark' where nothing can be said.
    says : str
        Why.
    """

    held: float
    optimistic: float
    light: str
    says: str

    def __str__(self) -> str:
        return f"{self.light}: {self.says}"


def calibrated(uppers: Array, highest: Array, rewards: Array, regrets: Array) -> Calibration:
    """Calibration against the truth, as only a simulation has it.

    Parameters
    ----------
    uppers, highest : Array
        The upper bound of the chosen response in each round, and the highest of any.
    rewards, regrets : Array
        What the referee says.
    """
    if np.isnan(uppers).any():
        return Calibration(np.nan, np.nan, "dark", "the agent states no widths")
    slack = 1e-12  # of rounding
    held = float(np.mean(rewards <= uppers + slack))
    optimistic = float(np.mean(rewards + regrets <= highest + slack))
    least = min(held, optimistic)
    light = "green" if least == 1 else "amber" if least >= MOSTLY else "red"
    says = (
        f"P <= P-hat + b held in {held:.1%} of rounds, and the best response was not above the "
        f"highest upper bound in {optimistic:.1%}"
    )
    return Calibration(held, optimistic, light, says)


def calibrated_by_matches(uppers: Array, matches: Array, level: float = MOSTLY) -> Calibration:
    """Calibration without the truth: matches are samples of the reward that is bounded.

    Only a contradiction shows: where matches are so many that the mean reward must exceed the
    mean of its upper bounds, some bound was none.

    Parameters
    ----------
    uppers, matches : Array
        For each described round, the upper bound of the chosen response, and 1[x' = x].
    level : float
        The probability with which sound bounds never turn the light red.
    """
    if not len(uppers) or np.isnan(uppers).any():
        reason = "nothing was described" if not len(uppers) else "the agent states no widths"
        return Calibration(np.nan, np.nan, "dark", reason)
    least = running_mean(matches, level).low
    promised = np.cumsum(np.minimum(uppers, 1)) / np.arange(1, len(uppers) + 1)
    broken = least > promised
    says = (
        f"of {int(broken.argmax()) + 1} descriptions more matched than the bounds allow"
        if broken.any()
        else "no more descriptions matched than the bounds allow"
    )
    return Calibration(np.nan, np.nan, "red" if broken.any() else "green", says)
