"""A claim of the paper beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """One line of the claims table.

    Parameters
    ----------
    setting : str
        Under which reading of the paper it was measured.
    claim : str
        What the paper says.
    measured : str
        What came out, with n and an interval; settings chosen on other seeds.
    verdict : str
        Who has less regret, and whether the paper's figure lies in the interval.
    paper_way : str
        What the paper's own way of choosing settings would have claimed.
    """

    setting: str
    claim: str
    measured: str
    verdict: str
    paper_way: str
