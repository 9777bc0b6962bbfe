"""How a lesson goes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.certificate import Calibration, calibrated_by_matches, certified_regrets
from tellback.classroom.learning.definition import Definition
from tellback.classroom.store.reports import Columns
from tellback.theory.shares import Share, share_of_counts


class Certificate(NamedTuple):
    """The most regret there can have been, if the agent's bounds are bounds."""

    regret: float | None
    rounds: int
    light: Calibration


def certificate(definition: Definition, columns: Columns) -> Certificate:
    """The regret certificate of a lesson and its calibration light."""
    counted = ~np.isnan(columns.matches)
    behind = getattr(getattr(definition.match, "errors", None), "reward", None)
    light = calibrated_by_matches(
        columns.estimates[counted],
        columns.widths[counted],
        columns.matches[counted],
        behind=behind,
    )
    each = certified_regrets(columns.estimates, columns.widths, columns.highest)
    known = len(each) > 0 and not np.isnan(each).any()
    return Certificate(float(each.sum()) if known else None, len(each), light)


def match_rate(columns: Columns) -> Share | None:
    """The share of descriptions that were what was asked for; None if none counts."""
    counted = columns.matches[~np.isnan(columns.matches)]
    return share_of_counts(int(counted.sum()), len(counted)) if len(counted) else None
