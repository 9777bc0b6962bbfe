"""A diagnosis: a cause, a verdict, and the checks behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import fill

import polars

from tellback.lab.diagnose.readings import Readings

MARKS = {"good": "+", "bad": "!", "unknown": "?"}
WIDTH = 96


@dataclass(frozen=True)
class Check:
    """One possible source of regret, checked.

    Attributes
    ----------
    name : str
        The name of the check.
    sentence : str
        Its result, with numbers.
    state : "good", "bad" or "unknown"
        Bad if regret may come from here; unknown if this could not be measured.
    """

    name: str
    sentence: str
    state: str

    def __str__(self) -> str:
        lead = f"{MARKS[self.state]} {self.name}: "
        return fill(lead + self.sentence, WIDTH, subsequent_indent="    ")


@dataclass(frozen=True)
class Diagnosis:
    """Why the regret of a run is what it is.

    Attributes
    ----------
    cause : str
        One of the causes in ``tellback.lab.diagnose.rules``, such as "over-exploration".
    verdict : str
        The cause explained, and what to do about it, in a sentence or two.
    checks : tuple of Check
        The results of all checks.
    readings : Readings
        The measurements of each round.
    """

    cause: str
    verdict: str
    checks: tuple[Check, ...]
    readings: Readings = field(repr=False, compare=False)

    def table(self) -> polars.DataFrame:
        """The measurements, a row a round; null where a value was not known."""
        return self.readings.table()

    def __str__(self) -> str:
        verdict = fill(f"{self.cause.capitalize()}. {self.verdict}", WIDTH)
        return "\n".join([verdict, "", *map(str, self.checks)])
