"""What a diagnosis is: findings in words, and a verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import fill

import polars

from tellback.lab.diagnose.readings import Readings

MARKS = {"good": "+", "bad": "!", "unknown": "?"}
WIDTH = 96


@dataclass(frozen=True)
class Finding:
    """One thing that was checked.

    Attributes
    ----------
    name : str
        What was checked.
    sentence : str
        What was found, with numbers.
    state : "good", "bad" or "unknown"
        Whether regret may come from there; unknown where it could not be told.
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
        What it is and what to do about it, in a sentence or two.
    findings : tuple of Finding
        All that was checked.
    readings : Readings
        What the instruments read in each round.
    """

    cause: str
    verdict: str
    findings: tuple[Finding, ...]
    readings: Readings = field(repr=False, compare=False)

    def table(self) -> polars.DataFrame:
        """What the instruments read, a row a round; null where something was not known."""
        return self.readings.table()

    def __str__(self) -> str:
        verdict = fill(f"{self.cause.capitalize()}. {self.verdict}", WIDTH)
        return "\n".join([verdict, "", *map(str, self.findings)])
