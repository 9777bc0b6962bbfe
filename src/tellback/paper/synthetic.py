"""The paper's first experiment: its figure 2, and the claim that goes with it.

Two things that the paper leaves open decide the outcome, so both readings of each are run:
how ties are broken, and whether |X| = 2000 and |Y| = 10 are printed the right way round.
"""

from __future__ import annotations

import numpy as np

from tellback.agents import LORIL, EpsilonGreedy, Greedy, Uniform
from tellback.lab.compare import Difference, less_regret
from tellback.lab.plots import Line, Panel
from tellback.lab.results import Results
from tellback.lab.study import Study
from tellback.paper.claims import Claim
from tellback.roles import AgentSpec
from tellback.worlds import Synthetic

EPSILONS = (0.05, 0.1, 0.2, 0.3)  # table 1
LAMBDAS = (0.05, 0.1, 1.0)
KS = (0.1, 1.0, 10.0)
CLAIMED = 0.123  # "12.3% smaller than the next best baseline"
PAPER_SEEDS = 3
TITLE = "Figure 2 of the paper, run here: mean regret and 95% band; settings tuned on other seeds"

PRINTED = Synthetic(instructions=2000, responses=10, rank=10, temperature=0.75)
TRANSPOSED = Synthetic(instructions=10, responses=2000, rank=10, temperature=0.75)
TUNING = tuple(range(1000, 1020))
TIES = {"random": "ties at random", "first": "ties to the first"}


def agents(ties: str) -> dict[str, tuple[AgentSpec, ...]]:
    """The four agents with the paper's grids."""
    return {
        "LORIL": tuple(LORIL(k=k, lam=lam, ties=ties) for k in KS for lam in LAMBDAS),
        "epsilon-greedy": tuple(EpsilonGreedy(epsilon, ties=ties) for epsilon in EPSILONS),
        "greedy": (Greedy(ties=ties),),
        "random": (Uniform(),),
    }


def studies(scale: float = 1.0) -> list[Study]:
    """The four studies; a scale below 1 shortens runs and takes fewer seeds, for a trial."""
    sizes = (
        ("|X| = 2000, |Y| = 10 as printed", PRINTED, 10_000, 40),
        ("|X| = 10, |Y| = 2000 transposed", TRANSPOSED, 2_000, 100),
    )
    return [
        Study(
            name=f"{name}, {tied}",
            world=world,
            agents=agents(ties),
            rounds=max(100, round(rounds * scale)),
            tuning=TUNING[: max(2, round(len(TUNING) * scale))],
            reported=tuple(range(max(PAPER_SEEDS, round(seeds * scale)))),
        )
        for name, world, rounds, seeds in sizes
        for ties, tied in TIES.items()
    ]


def panel(results: Results) -> Panel:
    """The plot of one study: every agent with its tuned setting, on the reported seeds."""
    lines = []
    for name in results.study.agents:
        agent = results.tuned(name)
        line = Line(name, _legend(name, agent), results.t, results.curves(agent))
        lines.append(line)
    return Panel(results.study.name, lines)


def _legend(name: str, agent: AgentSpec) -> str:
    if isinstance(agent, LORIL):
        return f"{name} (k = {agent.k:g}, lambda = {agent.lam:g})"
    if isinstance(agent, EpsilonGreedy):
        return f"{name} ({agent.epsilon:g})"
    return name


def claim(results: Results) -> Claim:
    """LORIL against the next best baseline, tuned on other seeds and as the paper tuned."""
    measured, rival = _margin(results)
    who = {"less": "LORIL has less", "more": f"{rival} has less", "undecided": "undecided"}
    agrees = measured.low <= CLAIMED <= measured.high
    verdict = f"{who[measured.verdict]}; {CLAIMED:.1%} is {'' if agrees else 'not '}in the interval"
    return Claim(
        setting=results.study.name,
        claim=f"LORIL has {CLAIMED:.1%} less regret than the next best baseline",
        measured=f"{measured} (next best: {rival})",
        verdict=verdict,
        paper_way=_paper_way(results),
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


def _paper_way(results: Results) -> str:
    """The margin when settings and rival are chosen on the very seeds that are reported."""
    seeds = results.study.reported
    triples = [
        seeds[i : i + PAPER_SEEDS] for i in range(0, len(seeds) - PAPER_SEEDS + 1, PAPER_SEEDS)
    ]
    margins = [_margin_on(results, triple) for triple in triples]
    low, high = np.quantile(margins, [0.1, 0.9])
    wins = sum(margin > 0 for margin in margins)
    return (
        f"{_margin_on(results, seeds):+.1%} on all {len(seeds)}; on {PAPER_SEEDS} seeds at a "
        f"time, {low:+.1%} to {high:+.1%} in four cases of five, "
        f"a win in {wins} of {len(margins)}"
    )


def _margin_on(results: Results, seeds: tuple[int, ...]) -> float:
    means = {
        name: float(results.final(results.tuned(name, seeds), seeds).mean())
        for name in results.study.agents
    }
    ours = means.pop("LORIL")
    return 1 - ours / min(means.values())
