"""The paper's headline: regret depends on d, and not on the number of responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tellback.agents import LORIL, OneHotLORIL, Uniform
from tellback.lab.charts.picture import Picture
from tellback.lab.results import Results
from tellback.lab.study import Study
from tellback.paper.claims import Claim
from tellback.paper.theory.experiment import (
    Experiment,
    Findings,
    Sweep,
    draw_ratios,
    draw_sweep,
    not_above,
    tuned_study,
)
from tellback.theory import softmax_regret_bound
from tellback.worlds import Synthetic

KS = (0.03, 0.1, 0.3, 1.0, 3.0)
LORILS = tuple(LORIL(k=k) for k in KS)
ONE_HOT_KS = (0.0, 0.003, 0.01, 0.03, 0.1)  # one-hot LORIL does best with little or no bonus
FLAT = 0.05  # a smaller power of |Y| counts as none: from |Y| = 10 to 100,000 a factor of 1.6
RESPONSES = (10, 100, 1_000, 10_000, 100_000)
RANKS = (2, 4, 8, 16, 32, 64)
KINDS: dict[str, int | str] = {"one context": 1, "five contexts": 5, "fresh contexts": "fresh"}
FRESH_AT_MOST = 1_000  # drawing features of more responses every round would dominate the time


TUNED = "With a constant k chosen on tuning seeds, not with the theorem's radius."
AT_EACH_SIZE = "k is chosen again at each size."


def response_sizes(kind: str, scale: float) -> tuple[int, ...]:
    """Every |Y| that is played."""
    most = FRESH_AT_MOST if kind == "fresh contexts" else RESPONSES[-1]
    return tuple(size for size in RESPONSES if size <= (most if scale == 1 else 1_000))


def response_studies(scale: float) -> list[Study]:
    """LORIL with the world's features and with one-hot ones, at every |Y|."""
    return [
        tuned_study(
            f"|Y| = {size:,}, {kind}",
            Synthetic(instructions=10, responses=size, rank=5, contexts=contexts),
            {
                "LORIL": LORILS,
                "one-hot LORIL": tuple(OneHotLORIL(k=k) for k in ONE_HOT_KS),
                "random": (Uniform(),),
            },
            1_000,
            scale,
        )
        for kind, contexts in KINDS.items()
        for size in response_sizes(kind, scale)
    ]


def response_findings(found: Sequence[Results], scale: float) -> Findings:
    """Whether regret grows with |Y|."""
    left = list(found)
    sweeps = {}
    for kind in KINDS:
        sizes = response_sizes(kind, scale)
        sweeps[kind] = Sweep(sizes, [left.pop(0) for _ in sizes])

    def draw(figure: Any) -> None:
        axes = figure.subplots(2, len(sweeps))
        for (kind, sweep), above, below in zip(sweeps.items(), *axes, strict=True):
            draw_sweep(above, sweep, "|Y|")
            above.set_title(kind, fontsize=9.5)
            draw_ratios(below, sweep, "|Y|")

    picture = Picture(
        name="responses",
        title="Regret against the number of responses",
        says="Final regret at d = 5 and |X| = 10, mean and 95% interval; below, as a share of "
        "random play's, because random play becomes harder with |Y| too. With one-hot features "
        "the same agent has no structure: it must try every response, and where contexts are "
        "fresh it can learn nothing. Other worlds and sizes may differ.",
        draw=draw,
        width=11.5,
        height=6.6,
    )
    return Findings([_free_of_responses(*item) for item in sweeps.items()], [picture])


def _free_of_responses(kind: str, sweep: Sweep) -> Claim:
    names = "LORIL", "one-hot LORIL"
    ratios = {name: sweep.ratio(name) for name in names}
    shares = "; ".join(f"{name} {r[0]:.0%} to {r[-1]:.0%}" for name, r in ratios.items())
    return sweep_claim(
        sweep,
        "|Y|",
        reading=f"{kind}, |Y| from {sweep.sizes[0]:,} to {sweep.sizes[-1]:,}, d = 5",
        note=f"{TUNED} {AT_EACH_SIZE} Of random play's regret, from the smallest |Y| to the "
        f"largest: {shares}.",
        names=names,
    )


def sweep_claim(
    sweep: Sweep,
    size: str,
    reading: str,
    note: str,
    names: Sequence[str] = ("LORIL",),
    how: str = "",
) -> Claim:
    """Theorem 2 on |Y| or d, tested by a sweep over that size."""
    power = sweep.power("LORIL")
    if size == "d":
        claim = "Theorem 2: regret grows with d, as sqrt(d log|F|): at most as d, if log|F| does"
        figure = "d^1 at most, but for logarithms, with log|F| proportional to d"
        verdict = "steeper here" if power and power.low > 1 else not_above(1, power)
    else:
        claim = "Theorem 2: regret does not depend on |Y|"
        figure = f"|Y|^0 (taken as {FLAT:g} at most)"
        verdict = not_above(FLAT, power)
    measured = ", ".join(sweep.said(name, size) for name in names)
    return Claim(claim + how, figure, reading, f"{measured}, n = {sweep.n}", verdict, note)


def rank_studies(scale: float) -> list[Study]:
    """LORIL at every d."""
    return [
        tuned_study(
            f"d = {rank}, |Y| = 1,000",
            Synthetic(instructions=10, responses=1_000, rank=rank),
            {"LORIL": LORILS, "random": (Uniform(),)},
            2_000,
            scale,
        )
        for rank in rank_sizes(scale)
    ]


def rank_sizes(scale: float) -> tuple[int, ...]:
    """Every d that is played."""
    return RANKS if scale == 1 else RANKS[:4]


def rank_findings(found: Sequence[Results], scale: float) -> Findings:
    """How regret grows with d."""
    sweep = Sweep(rank_sizes(scale), found)

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        draw_sweep(left, sweep, "d")
        draw_ratios(right, sweep, "d")

    share = sweep.ratio("LORIL")
    played = found[0].study.rounds
    above = min(
        softmax_regret_bound(played, 10, rank, 0.05) / mean
        for rank, mean in zip(sweep.sizes, sweep.finals("LORIL").mean(axis=0), strict=True)
    )
    claim = sweep_claim(
        sweep,
        "d",
        reading=f"|Y| = 1,000, |X| = 10, d from {sweep.sizes[0]} to {sweep.sizes[-1]}",
        note=f"{TUNED} {AT_EACH_SIZE} Of random play's regret: {share[0]:.0%} at the smallest d, "
        f"{share[-1]:.0%} at the largest. The bound is at least {above:,.0f} times the regret at "
        "every d, so nothing here can contradict it. A small d is learned within the run, and a "
        "large one is not.",
    )
    picture = Picture(
        name="rank",
        title="Regret against d",
        says="Final regret at |Y| = 1,000 and |X| = 10, mean and 95% interval, and as a share of "
        "random play's. Soft-maxes of more components are closer to uniform, so responses differ "
        "less: the share shows the price of d, the regret itself does not.",
        draw=draw,
    )
    return Findings([claim], [picture])


RESPONSES_EXPERIMENT = Experiment(response_studies, response_findings)
RANK_EXPERIMENT = Experiment(rank_studies, rank_findings)
