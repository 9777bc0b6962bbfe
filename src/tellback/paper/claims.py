"""The paper's claims, beside the measurements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.lab.compare import Difference
from tellback.lab.report import Section
from tellback.lab.results import Results

FEW = 5  # fewer groups of seeds than this are listed one by one
NOT_CONTRADICTED = "not contradicted"
VERDICTS = {"less": "holds", "more": "does not hold", "undecided": "undecided"}


@dataclass(frozen=True)
class Claim:
    """One line of the claims table.

    A verdict is 'holds', 'does not hold' or 'undecided'; 'not contradicted' for a statement about
    all agents, or about the theorem's radius, tried with a few agents or a chosen k; 'vacuous' for
    a bound that nothing can exceed; 'steeper here' for a growth that a loose bound allows.
    """

    claim: str  # the paper's statement
    figure: str  # the paper's figure for it
    reading: str  # the reading of the paper under which it was measured
    measured: str  # with n and an interval; settings chosen on other seeds
    verdict: str
    note: str


@dataclass(frozen=True)
class ClaimedMargin:
    """The share by which LORIL's regret is below the next best baseline's, as the paper says."""

    experiment: str
    margin: float
    seeds: int


def claim(results: Results, claimed: ClaimedMargin) -> Claim:
    """LORIL compared with the next best baseline, tuned on other seeds and as in the paper."""
    measured, rival = _margin(results)
    agrees = measured.low <= claimed.margin <= measured.high
    where = "lies in" if agrees else "is not in"
    return Claim(
        claim=f"{claimed.experiment}: LORIL has less regret than the next best baseline",
        figure=f"{claimed.margin:.1%} less",
        reading=results.study.name,
        measured=f"{measured} (next best: {rival})",
        verdict=VERDICTS[measured.verdict],
        note=f"{claimed.margin:.1%} {where} the interval. Settings chosen on the seeds they are "
        f"judged by, as in the paper: {_paper_way(results, claimed.seeds)}",
    )


def claims_section(claims: list[Claim]) -> Section:
    """The claims table."""
    headers = ("the paper's claim", "its figure", "read as", "measured here", "verdict", "note")
    rows = [(c.claim, c.figure, c.reading, c.measured, c.verdict, c.note) for c in claims]
    return Section("The paper's claims", headers, rows)


def _margin(results: Results) -> tuple[Difference, str]:
    """LORIL's margin over the baseline that did best on the tuning seeds."""
    study = results.study
    rival = min(
        (name for name in study.agents if name != "LORIL"),
        key=lambda name: float(results.final(results.tuned(name), study.tuning_seeds(name)).mean()),
    )
    return results.difference("LORIL", rival), rival


def _paper_way(results: Results, at_a_time: int) -> str:
    """The margin when settings and rival are chosen on the same seeds that judge them.

    The reported seeds, or the tuning seeds if only chosen settings played the reported ones.
    """
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
