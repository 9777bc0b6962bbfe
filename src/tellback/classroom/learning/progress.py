"""Progress of a lesson: certificate and match rate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.certificate import Calibration, calibrated_by_matches, certified_regrets
from tellback.classroom.learning.definition import Definition
from tellback.classroom.store.reports import Columns
from tellback.theory.matches import running_share
from tellback.theory.shares import Share


class Certificate(NamedTuple):
    """An upper bound on the regret, if the agent's bounds hold."""

    regret: float | None
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
    return Certificate(float(each.sum()) if known else None, light)


def match_rate(columns: Columns) -> Share | None:
    """The share of descriptions that match the request; None if none counts.

    The page shows it after every event, so its interval must hold at all times: it is the running
    interval of matches in the order of the descriptions.
    """
    counted = ~np.isnan(columns.matches)
    in_order = np.argsort(columns.described[counted], kind="stable")
    return running(columns.matches[counted][in_order])


def running(true: Array | list[bool]) -> Share | None:
    """A share with an interval that holds at all times; None if there is nothing yet."""
    return running_share(np.asarray(true, dtype=np.float64)) if len(true) else None
