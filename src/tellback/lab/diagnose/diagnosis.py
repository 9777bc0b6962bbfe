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
    """One possible source of regret, checked."""

    name: str
    sentence: str  # the result, with numbers
    state: str  # "good"; "bad" if regret may come from here; "unknown" if it was not measured

    def __str__(self) -> str:
        lead = f"{MARKS[self.state]} {self.name}: "
        return fill(lead + self.sentence, WIDTH, subsequent_indent="    ")


@dataclass(frozen=True)
class Diagnosis:
    """Why the regret of a run is what it is."""

    cause: str  # one of ``tellback.lab.diagnose.rules.CAUSES``, such as "over-exploration"
    verdict: str  # the cause explained, and what to do about it, in a sentence or two
    checks: tuple[Check, ...]
    readings: Readings = field(repr=False, compare=False)

    def table(self) -> polars.DataFrame:
        """The measurements, a row a round; null where a value was not known."""
        return self.readings.table()

    def __str__(self) -> str:
        verdict = fill(f"{self.cause.capitalize()}. {self.verdict}", WIDTH)
        return "\n".join([verdict, "", *map(str, self.checks)])
