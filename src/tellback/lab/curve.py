"""The rounds of a regret curve that are stored."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Indices

CURVE_POINTS = 200


def curve_rounds(rounds: int) -> Indices:
    """The rounds at which a regret curve is stored: evenly spaced, the last among them."""
    points: Indices = np.unique(np.linspace(1, rounds, min(rounds, CURVE_POINTS)).round())
    return points.astype(np.int64)
