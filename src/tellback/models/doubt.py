"""How far to believe each description: some are of another response, or of none.

A description counts with the probability that it is of its response. By Bayes' rule that is

    1 / (1 + (q / (1 - q)) exp(-lift)),

where the lift is the logarithm of how much more likely the description is for its own response
than for the responses of others, and q is the share of wrong descriptions. The share is estimated
by EM from lifts that are each computed without the description itself.
"""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array

LEAST_WRONG, MOST_WRONG = 0.001, 0.9
"""Limits of the share of wrong descriptions. At the lower one hardly any description is doubted."""

STEPS = 30
"""Of EM, which converges much faster than that."""

SHARPNESS = 2.0
"""How much a standard deviation of fit adds to the logarithm of a probability."""

LARGEST = 30.0
"""Of a lift: no description is as sure as that."""


def lifts(fits: Array) -> Array:
    """How much more likely each description is for its own response than for others, as a log.

    Parameters
    ----------
    fits : Array
        A row a description: its fit to its own response, then to the others.
    """
    own, others = SHARPNESS * fits[:, 0], SHARPNESS * fits[:, 1:]
    highest = others.max(axis=1)
    mean = np.exp(others - highest[:, None]).mean(axis=1)
    compared: Array = np.clip(own - highest - np.log(mean), -LARGEST, LARGEST)
    return compared


def believed(lift: Array, wrong: float) -> Array:
    """The probability that each description is of its response."""
    probability: Array = 1 / (1 + wrong / (1 - wrong) * np.exp(-lift))
    return probability


def share_wrong(lift: Array, wrong: float) -> float:
    """The most likely share of wrong descriptions, by EM from a first guess."""
    for _ in range(STEPS):
        wrong = float(np.clip(1 - believed(lift, wrong).mean(), LEAST_WRONG, MOST_WRONG))
    return wrong
