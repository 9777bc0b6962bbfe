"""Theorem 1: the regret of every agent where responses have no structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tellback import theory
from tellback.agents import EpsilonGreedy, Greedy, OneHotLORIL, RewardOnly, Uniform
from tellback.arrays import Array
from tellback.lab.charts.chart import colours
from tellback.lab.charts.picture import Picture
from tellback.lab.compare import mean_regret, share_of
from tellback.lab.results import Results
from tellback.lab.study import Study
from tellback.paper.claims import NOT_CONTRADICTED, Claim
from tellback.paper.theory.experiment import (
    Experiment,
    Findings,
    Sweep,
    draw_sweep,
    seeds,
    tuning,
)
from tellback.roles import AgentSpec
from tellback.worlds import Hard

K, T = 24, 1_024
MANY_K, FIXED_T = (24, 48, 96, 192, 384), 4_096
MANY_T, FIXED_K = (512, 1_024, 2_048, 4_096, 8_192, 16_384), 48
DRAWN_WORLDS = 200

ALIKE: dict[str, tuple[AgentSpec, ...]] = {
    "LORIL": (OneHotLORIL(k=0.3),),  # the same as LORIL, bit for bit, where features are one-hot
    "epsilon-greedy": (EpsilonGreedy(0.1),),
    "greedy": (Greedy(),),
    "reward only": (RewardOnly(k=0.3),),
    "random": (Uniform(),),
}
"""Agents that treat all responses alike: all worlds of the family are equally hard for them."""

PARTIAL: dict[str, tuple[AgentSpec, ...]] = {"greedy, ties to the first": (Greedy(ties="first"),)}
"""An agent that does not: its worst world must be searched for."""


def family_studies(scale: float) -> list[Study]:
    """Agents in worlds drawn from the family, or in all of them, for both gaps."""
    drawn = [
        Study(
            name=f"W, K = {K}, T = {T:,}, {form} gap",
            world=Hard(K, T, gap=form),
            agents=ALIKE,
            rounds=T,
            tuning=(),
            reported=seeds(scale, DRAWN_WORLDS),
        )
        for form in theory.FORMS
    ]
    each = [
        Study(
            name=f"W_{i}, K = {K}, T = {T:,}, {form} gap",
            world=Hard(K, T, better=i, gap=form),
            agents=PARTIAL,
            rounds=T,
            tuning=tuning(scale),
            reported=seeds(scale),
        )
        for form in theory.FORMS
        for i in _worlds(scale)
    ]
    return drawn + each


def _worlds(scale: float) -> range:
    """The worlds W_i that are played one by one."""
    return range(0, K, 1 if scale == 1 else 8)


def family_findings(found: Sequence[Results], scale: float) -> Findings:
    """How often the bound is exceeded in the world that is worst for each agent."""
    drawn, each = found[: len(theory.FORMS)], found[len(theory.FORMS) :]
    count = len(_worlds(scale))
    regrets: dict[str, dict[str, Array]] = {}
    for i, form in enumerate(theory.FORMS):
        regrets[form] = {name: drawn[i].final(drawn[i].tuned(name)) for name in ALIKE}
        regrets[form] |= {name: _worst(name, each[i * count : (i + 1) * count]) for name in PARTIAL}

    def draw(figure: Any) -> None:
        for axis, form in zip(figure.subplots(1, 2), theory.FORMS, strict=True):
            colour_of = colours(regrets[form])
            for name, finals in regrets[form].items():
                above = np.concatenate([[0.0], np.sort(finals)])
                left = np.linspace(1, 0, len(above))
                axis.step(above, left, where="post", color=colour_of[name], label=name)
            axis.axvline(theory.lower_bound(K, T, form), color="black", lw=1, ls=":")
            axis.axhline(theory.lower_probability(K, T, form), color="black", lw=1, ls=":")
            axis.set_title(f"{form} gap: the theorem's corner is dotted", fontsize=9)
            axis.set(xlabel="regret", ylabel="share of runs with at least as much")
            axis.set_xlim(left=0)
            axis.legend(fontsize=7, edgecolor="none")

    picture = Picture(
        name="lower-bound",
        title="Theorem 1, in the world that is worst for each agent",
        says=f"K = {K} responses, T = {T:,} rounds. The theorem says that for every agent there is "
        "a world in which its curve passes above the dotted corner. Agents that treat responses "
        "alike have the same curve in all worlds. For the agent that does not, the worst world was "
        "searched for on tuning seeds. Agents lie far above the corner because the theorem's "
        "constants are small.",
        draw=draw,
    )
    return Findings([_family_claim(form, regrets[form]) for form in theory.FORMS], [picture])


def _worst(name: str, found: Sequence[Results]) -> Array:
    """Regrets on the reported seeds, in the world with the most on the tuning seeds."""

    def on_tuning_seeds(one: Results) -> float:
        return float(one.final(one.tuned(name), one.study.tuning).mean())

    worst = max(found, key=on_tuning_seeds)
    return worst.final(worst.tuned(name))


def _family_claim(form: str, regrets: Mapping[str, Array]) -> Claim:
    bound, promised = theory.lower_bound(K, T, form), theory.lower_probability(K, T, form)
    shares = {name: share_of(finals >= bound) for name, finals in regrets.items()}
    least = min(shares.values(), key=lambda share: share.low)
    told = theory.information(K, T, theory.hard_gap(K, T, form))
    follows = "does not follow from" if form == "printed" else "follows from"
    return Claim(
        claim=f"Theorem 1, {form}: every algorithm has a world that costs it "
        f"sqrt(KT)/{8 if form == 'printed' else 32}",
        figure=f"regret {bound:.3g} with probability {promised:.3g} or more",
        reading=f"the worst world of the family for each agent, K = {K}, T = {T:,}",
        measured="; ".join(f"{name} {share}" for name, share in shares.items()),
        verdict=NOT_CONTRADICTED if least.low >= promised else "undecided",
        note=f"At this gap a run tells up to {told:.2g} nats, and the statement {follows} the "
        f"argument. No setting is tuned. {len(regrets)} agents were played; the theorem is about "
        "all.",
    )


def scaling_studies(scale: float) -> list[Study]:
    """Regret as K and T grow, in worlds drawn from the family."""
    return [
        Study(
            name=f"W, K = {k}, T = {t:,}, repaired gap",
            world=Hard(k, t),
            agents={name: ALIKE[name] for name in ("LORIL", "greedy", "random")},
            rounds=t,
            tuning=(),
            reported=seeds(scale),
        )
        for k, t in _scaled(scale)
    ]


def _scaled(scale: float) -> list[tuple[int, int]]:
    """All sizes, once each; those of the sweep over K come first."""
    both = [(k, FIXED_T) for k in _few(MANY_K, scale)] + [(FIXED_K, t) for t in _few(MANY_T, scale)]
    return list(dict.fromkeys(both))


def _few(sizes: tuple[int, ...], scale: float) -> tuple[int, ...]:
    return sizes if scale == 1 else sizes[:2]


def scaling_findings(found: Sequence[Results], scale: float) -> Findings:
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
        f"K = {FIXED_K}. The gap shrinks as sqrt(K/T), so every agent's regret is of the order of "
        "sqrt(KT), power 1/2 in both: random play's exactly, and no agent can do much better.",
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
        verdict=NOT_CONTRADICTED if within else "undecided",
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


FAMILY_EXPERIMENT = Experiment(family_studies, family_findings)
SCALING_EXPERIMENT = Experiment(scaling_studies, scaling_findings)
