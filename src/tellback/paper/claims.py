"""A claim of the paper beside what was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.lab.compare import Difference, less_regret
from tellback.lab.results import Results

FEW = 5  # groups of seeds whose margins are listed one by one


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


@dataclass(frozen=True)
class Claimed:
    """How much less regret the paper gives LORIL than the next best baseline."""

    margin: float
    seeds: int


def claim(results: Results, claimed: Claimed) -> Claim:
    """LORIL against the next best baseline, tuned on other seeds and as the paper tuned."""
    measured, rival = _margin(results)
    who = {"less": "LORIL has less", "more": f"{rival} has less", "undecided": "undecided"}
    agrees = measured.low <= claimed.margin <= measured.high
    where = "in" if agrees else "not in"
    verdict = f"{who[measured.verdict]}; {claimed.margin:.1%} is {where} the interval"
    return Claim(
        setting=results.study.name,
        claim=f"LORIL has {claimed.margin:.1%} less regret than the next best baseline",
        measured=f"{measured} (next best: {rival})",
        verdict=verdict,
        paper_way=_paper_way(results, claimed.seeds),
    )


def _margin(results: Results) -> tuple[Difference, str]:
    """LORIL's margin over the baseline that did best on the tuning seeds."""
    tuned = {name: results.tuned(name) for name in results.study.agents}
    tuning = results.study.tuning
    rival = min(
        (name for name in tuned if name != "LORIL"),
        key=lambda name: float(results.final(tuned[name], tuning).mean()),
    )
    ours, theirs = results.final(tuned["LORIL"]), results.final(tuned[rival])
    return less_regret(ours, theirs), rival


def _paper_way(results: Results, at_a_time: int) -> str:
    """The margin when settings and rival are chosen on the very seeds that are reported."""
    seeds = results.study.reported if results.study.everywhere else results.study.tuning
    size = min(at_a_time, len(seeds))
    groups = [seeds[i : i + size] for i in range(0, len(seeds) - size + 1, size)]
    if len(groups) == 1:
        return f"{_margin_on(results, seeds):+.1%} on {len(seeds)} seeds"
    margins = [_margin_on(results, group) for group in groups]
    if len(margins) < FEW:
        spread = " and ".join(f"{margin:+.1%}" for margin in margins)
    else:
        low, high = np.quantile(margins, [0.1, 0.9])
        spread = f"{low:+.1%} to {high:+.1%} in four cases of five"
    wins = sum(margin > 0 for margin in margins)
    return (
        f"{_margin_on(results, seeds):+.1%} on all {len(seeds)}; on {size} seeds at a "
        f"time, {spread}, a win in {wins} of {len(margins)}"
    )


def _margin_on(results: Results, seeds: tuple[int, ...]) -> float:
    means = {
        name: float(results.final(results.tuned(name, seeds), seeds).mean())
        for name in results.study.agents
    }
    ours = means.pop("LORIL")
    return 1 - ours / min(means.values())
