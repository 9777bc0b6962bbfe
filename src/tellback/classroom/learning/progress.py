"""Progress of a lesson: certificate and match rate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.certificate import Calibration, calibrated_by_matches, certified_regrets
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.verdicts import JudgedBy
from tellback.classroom.store.reports import Columns
from tellback.matching import ErrorRates
from tellback.theory.matches import Interval, running_share
from tellback.theory.shares import Share


class Certificate(NamedTuple):
    """An upper bound on the regret, if the agent's bounds hold."""

    regret: float | None
    light: Calibration


BY_MEANING = "verdicts here are by meaning, and its bounds are on the probability of the words"


def certificate(definition: Definition, columns: Columns, by: JudgedBy) -> Certificate:
    """The regret certificate of a lesson and its calibration light."""
    each = certified_regrets(columns.estimates, columns.widths, columns.highest)
    known = len(each) > 0 and not np.isnan(each).any()
    return Certificate(float(each.sum()) if known else None, _light(definition, columns, by))


def _light(definition: Definition, columns: Columns, by: JudgedBy) -> Calibration:
    if by in (JudgedBy.TRUTH, JudgedBy.RECORDING, JudgedBy.PEOPLE):
        return Calibration(np.nan, np.nan, np.nan, "dark", BY_MEANING)
    counted = ~np.isnan(columns.matches)
    behind = getattr(getattr(definition.match, "errors", None), "reward", None)
    return calibrated_by_matches(
        columns.estimates[counted],
        columns.widths[counted],
        columns.matches[counted],
        behind=behind,
    )


def match_rate(columns: Columns, errors: ErrorRates | None = None) -> Share | None:
    """The share of descriptions that match the request; None if none counts.

    The page shows it after every event, so its interval must hold at all times: it is the running
    interval of matches in the order of the descriptions. If the match is wrong at times, its
    measured error rates widen the interval.
    """
    counted = ~np.isnan(columns.matches)
    in_order = np.argsort(columns.described[counted], kind="stable")
    seen = running(columns.matches[counted][in_order])
    if seen is None or errors is None:
        return seen
    found = errors.reward(Interval(*(np.array([x]) for x in (seen.share, seen.low, seen.high))))
    share, low, high = (float(x[0]) for x in found)
    return Share(share, low, high, seen.n) if low <= share <= high else None


def met_share(columns: Columns) -> Share | None:
    """The share of requests met where the truth is known of every round: no interval is needed."""
    counted = ~np.isnan(columns.matches)
    if not counted.any():
        return None
    share = float(columns.matches[counted].mean())
    return Share(share, share, share, int(counted.sum()))


def running(true: Array | list[bool]) -> Share | None:
    """A share with an interval that holds at all times; None if there is nothing yet."""
    return running_share(np.asarray(true, dtype=np.float64)) if len(true) else None
