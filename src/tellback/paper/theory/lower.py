"""Theorem 1: what every agent pays where responses have no structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tellback import theory
from tellback.agents import EpsilonGreedy, Greedy, OneHotLORIL, RewardOnly, Uniform
from tellback.lab.charts.colours import colours
from tellback.lab.charts.picture import Picture
from tellback.lab.compare import Share, mean_regret, share_of
from tellback.lab.results import Results
from tellback.lab.study import Study
from tellback.paper.claims import Claim
from tellback.paper.theory.experiment import (
    Experiment,
    Findings,
    Sweep,
    draw_sweep,
    seeds,
    tuning,
)
from tellback.roles import AgentSpec, Preparing
from tellback.worlds import Hard

K, T = 24, 1_024
MANY_K, FIXED_T = (24, 48, 96, 192, 384), 4_096
MANY_T, FIXED_K = (512, 1_024, 2_048, 4_096, 8_192, 16_384), 48
EACH_WORLD = 20  # reported seeds in each world of the family

AGENTS: dict[str, tuple[AgentSpec, ...]] = {
    "LORIL": (OneHotLORIL(k=0.3),),  # LORIL itself, where features are one-hot: to the bit
    "epsilon-greedy": (EpsilonGreedy(0.1),),
    "greedy": (Greedy(),),
    "reward only": (RewardOnly(k=0.3),),
    "random": (Uniform(),),
}


def family_studies(scale: float) -> list[Study]:
    """Every agent on every world of the family, for both gaps."""
    few = 1 if scale == 1 else 12
    return [
        Study(
            name=f"W_{i}, K = {K}, T = {T:,}, {form} gap",
            world=Hard(K, T, better=i, gap=form),
            agents=AGENTS,
            rounds=T,
            tuning=tuning(scale),
            reported=seeds(scale, EACH_WORLD),
        )
        for form in theory.FORMS
        for i in range(0, K, few)
    ]


def family_findings(found: Sequence[Results], scale: float, progress: Preparing | None) -> Findings:
    """How often the bound is exceeded in the world that is worst for each agent."""
    half = len(found) // 2
    by_form = dict(zip(theory.FORMS, (found[:half], found[half:]), strict=True))
    shares = {
        form: {name: _worst(name, results, form) for name in AGENTS}
        for form, results in by_form.items()
    }

    def draw(figure: Any) -> None:
        colour_of = colours(AGENTS)
        for axis, form in zip(figure.subplots(1, 2), theory.FORMS, strict=True):
            for name in AGENTS:
                _, regrets = _worst_world(name, by_form[form])
                above = np.concatenate([[0.0], np.sort(regrets)])
                left = np.linspace(1, 0, len(above))
                axis.step(above, left, where="post", color=colour_of[name], label=name)
            axis.axvline(theory.lower_bound(K, T, form), color="black", lw=1, ls=":")
            axis.axhline(theory.lower_probability(K, T, form), color="black", lw=1, ls=":")
            axis.set_title(f"{form}: curves must pass above the dotted corner", fontsize=9)
            axis.set_xlabel("regret")
            axis.set_ylabel("share of runs with at least as much")
            axis.set_xlim(left=0)
            axis.legend(fontsize=7, edgecolor="none")

    picture = Picture(
        name="lower-bound",
        title="Theorem 1, in the world that is worst for each agent",
        says=f"K = {K} responses, T = {T:,} rounds; the worst world of the family, found on tuning "
        "seeds. The theorem says that some world puts every agent above the dotted corner. That "
        "agents lie far above it says little: the constants are small.",
        draw=draw,
    )
    claims = [_family_claim(form, shares[form]) for form in theory.FORMS]
    return Findings(claims, [picture])


def _worst_world(name: str, found: Sequence[Results]) -> tuple[Results, Any]:
    """The world with the most regret on the tuning seeds, and the regrets on the others."""

    def on_tuning_seeds(one: Results) -> float:
        return float(one.final(one.tuned(name), one.study.tuning).mean())

    worst = max(found, key=on_tuning_seeds)
    return worst, worst.final(worst.tuned(name))


def _worst(name: str, found: Sequence[Results], form: str) -> Share:
    _, regrets = _worst_world(name, found)
    return share_of(regrets >= theory.lower_bound(K, T, form))


def _family_claim(form: str, shares: dict[str, Share]) -> Claim:
    bound, promised = theory.lower_bound(K, T, form), theory.lower_probability(K, T, form)
    least = min(shares.values(), key=lambda share: share.low)
    told = theory.information(K, T, theory.hard_gap(K, T, form))
    divisor = 8 if form == "printed" else 32
    note = (
        f"At this gap a run tells up to {told:.1f} nats and the argument's constants do not "
        "follow; the statement may hold nevertheless, and here it does."
        if form == "printed"
        else f"At this gap a run tells at most {told:.2f} nats, and the argument holds."
    )
    verdict = "undecided"
    if least.low >= promised:
        verdict = "holds"
    elif least.high < promised:
        verdict = "does not hold"
    return Claim(
        claim=f"Theorem 1, {form}: some world costs any algorithm sqrt(KT)/{divisor}",
        figure=f"regret {bound:.3g} with probability {promised:.3g} or more",
        reading=f"worst of the family for each agent, K = {K}, T = {T:,}",
        measured="; ".join(f"{name} {share}" for name, share in shares.items()),
        verdict=verdict,
        note=note,
    )


def scaling_studies(scale: float) -> list[Study]:
    """Regret as K and T grow, in worlds drawn from the family."""
    return [
        Study(
            name=f"W, K = {k}, T = {t:,}, repaired gap",
            world=Hard(k, t),
            agents={name: AGENTS[name] for name in ("LORIL", "greedy", "random")},
            rounds=t,
            tuning=(),
            reported=seeds(scale),
        )
        for k, t in _scaled(scale)
    ]


def _scaled(scale: float) -> list[tuple[int, int]]:
    """All sizes, once each, those of the sweep over K first."""
    both = [(k, FIXED_T) for k in _few(MANY_K, scale)] + [(FIXED_K, t) for t in _few(MANY_T, scale)]
    return list(dict.fromkeys(both))


def _few(sizes: tuple[int, ...], scale: float) -> tuple[int, ...]:
    return sizes if scale == 1 else sizes[:2]


def scaling_findings(
    found: Sequence[Results], scale: float, progress: Preparing | None
) -> Findings:
    """Whether regret grows as sqrt(KT)."""
    by_size = dict(zip(_scaled(scale), found, strict=True))
    ks, ts = _few(MANY_K, scale), _few(MANY_T, scale)
    over_k = Sweep(ks, [by_size[k, FIXED_T] for k in ks])
    over_t = Sweep(ts, [by_size[FIXED_K, t] for t in ts])

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        for axis, sweep, size, sizes in (
            (left, over_k, "K", [(k, FIXED_T) for k in ks]),
            (right, over_t, "T", [(FIXED_K, t) for t in ts]),
        ):
            draw_sweep(axis, sweep, size)
            bounds = [theory.lower_bound(k, t) for k, t in sizes]
            axis.plot(sweep.sizes, bounds, ":", color="black", label="the bound, sqrt(KT)/32")
            axis.legend(fontsize=7, edgecolor="none")

    picture = Picture(
        name="hard-worlds",
        title="Regret against K and T in the hard worlds",
        says=f"Worlds drawn from the family with the repaired gap; K at T = {FIXED_T:,}, T at "
        f"K = {FIXED_K}. The gap shrinks as sqrt(K/T), so that every agent's regret is of the "
        "order of sqrt(KT), power 1/2 in both: random play's exactly, and nobody can do much "
        "better.",
        draw=draw,
    )
    constants = np.array([_constant(one, size) for size, one in by_size.items()])
    promised = [theory.lower_probability(*size) / 32 for size in by_size]
    within = bool((constants[:, 0] >= promised).all())
    claim = Claim(
        claim="Corollary 1: expected regret is of the order of sqrt(KT) in the worst worlds",
        figure="at least sqrt(KT)/32 times the probability of Theorem 1",
        reading=f"worlds drawn from the family, K to {over_k.sizes[-1]}, T to "
        f"{over_t.sizes[-1]:,}, repaired gap",
        measured=f"LORIL has {constants[:, 1].min():.3f} to {constants[:, 1].max():.3f} times "
        f"sqrt(KT), at least {min(promised):.3f} to {max(promised):.3f} promised; "
        f"{over_k.said('LORIL', 'K')}, {over_t.said('LORIL', 'T')}; n = {over_k.n} a size",
        verdict="holds" if within else "undecided",
        note=f"Of random play's regret, LORIL has {over_k.ratio('LORIL').min():.0%} to "
        f"{over_k.ratio('LORIL').max():.0%} as K grows. The average over worlds is no more than "
        "the worst world's.",
    )
    return Findings([claim], [picture])


def _constant(results: Results, size: tuple[int, int]) -> tuple[float, float]:
    """LORIL's mean regret in units of sqrt(KT): the lower end of its interval, and itself."""
    found = mean_regret(results.final(results.tuned("LORIL")))
    unit = float(np.sqrt(size[0] * size[1]))
    return found.low / unit, found.mean / unit


FAMILY_EXPERIMENT = Experiment("lower bound", family_studies, family_findings)
SCALING_EXPERIMENT = Experiment("hard worlds", scaling_studies, scaling_findings)
