"""Theorem 2 and the running certificate, compared with the regret that they bound."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tellback import theory
from tellback.agents import LORIL, Certified, Greedy, SelfNormalized
from tellback.arrays import Array
from tellback.lab.bounds import Bound, regret_bounds
from tellback.lab.charts.certificate import draw_certificate
from tellback.lab.charts.picture import Picture
from tellback.lab.compare import Share, mean_regret, share_of
from tellback.lab.results import Results
from tellback.lab.wording import counted
from tellback.models import Ridge
from tellback.paper.claims import Claim
from tellback.paper.synthetic import PRINTED
from tellback.paper.theory.experiment import Experiment, Findings, promised_in, rounds
from tellback.paper.theory.known_class import KnownClass
from tellback.protocol import play
from tellback.roles import AgentSpec, WorldSpec
from tellback.run import Run
from tellback.worlds import Realizable

DELTA = 0.1
KNOWN = KnownClass(Realizable(), DELTA)
ROUNDS, RUNS = 10_000, 36
_BOUNDS = KNOWN.bounds()
LAM = 1 / PRINTED.rank
"""1 / B^2 for the softmax class with B = sqrt(d): known beforehand, and not tuned."""

BY_RIDGE: dict[str, AgentSpec] = {
    "LORIL": LORIL(k=SelfNormalized(DELTA), lam=LAM, model=Ridge(LAM)),
    "greedy": Certified(Greedy(model=Ridge(LAM)), k=SelfNormalized(DELTA), lam=LAM),
}
"""Agents with a proven certificate at the paper's printed sizes."""


def findings(found: Sequence[Results], scale: float) -> Findings:
    """Play in a world with a known class, and compare every bound with regret."""
    length, count = rounds(ROUNDS, scale), max(2, round(RUNS * scale))
    agents = KNOWN.agents()
    runs = _played(KNOWN.world, agents, length, count)
    by_ridge = _played(PRINTED, BY_RIDGE, length, count)

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, len(agents), sharey=True)
        for axis, (name, played) in zip(axes, runs.items(), strict=True):
            draw_certificate(axis, played[0], _BOUNDS if "LORIL" in name else {})
            axis.set_title(name, fontsize=9.5)

    picture = Picture(
        name="certificate",
        title="Regret, what can be certified of it, and what the theorem promises",
        says=f"One run of each agent (seed 0), on double logarithmic axes. |F| = "
        f"{KNOWN.world.size} known members, d = {KNOWN.world.rank}, delta = {DELTA:g}. The "
        "certificate needs no reward and holds for any agent; Theorem 2 is for LORIL alone. "
        "Above the dashed line, T itself, a bound says nothing.",
        draw=draw,
        width=11.5,
        height=5.0,
    )
    claims = [
        *_theorem(runs, length),
        _certificate(
            runs,
            "Beyond the paper: a running certificate bounds the regret of any agent",
            f"the same runs, T = {length:,}",
        ),
        _softmax(),
        _ridge(by_ridge["LORIL"]),
        _certificate(
            by_ridge,
            "Beyond the paper: a running certificate at the paper's printed sizes, by ridge",
            f"the same sizes and lambda, T = {length:,}",
            note=_possible(by_ridge["LORIL"]),
        ),
    ]
    return Findings(claims, [picture])


def _played(
    world: WorldSpec, agents: Mapping[str, AgentSpec], length: int, count: int
) -> dict[str, list[Run]]:
    """Runs of every agent, an entry a seed."""
    runs: dict[str, list[Run]] = {name: [] for name in agents}
    for seed in range(count):
        for name, agent in agents.items():
            run = play(world, agent, length, seed=seed)
            assert run.proof is not None, run.caveat
            runs[name].append(run)
    return runs


def _theorem(runs: Mapping[str, Sequence[Run]], length: int) -> list[Claim]:
    claims = []
    for form, name, promised in (
        ("printed", "LORIL as printed", 1 - 2 * DELTA),
        ("repaired", "LORIL repaired", 1 - DELTA),
    ):
        bound = _BOUNDS[f"Theorem 2, {form}"]
        held, finals = _held(bound, runs[name])
        radius = (
            "Algorithm 1's radius; the bound is for the appendix's, which is smaller. With widths "
            f"clipped at 1, Algorithm 1's gives {clipped_bound(length):,.0f}. "
        )
        claims.append(
            Claim(
                claim=f"Theorem 2, {form}: the regret of Algorithm 1 is below the bound",
                figure=f"{bound(length):,.0f} at T = {length:,}, with probability {promised:.0%}",
                reading=f"|F| = {KNOWN.world.size} known members, d = {KNOWN.world.rank}, "
                f"delta = {DELTA:g}",
                measured=f"regret {mean_regret(finals)}; below the bound at all times in {held}",
                verdict="vacuous" if bound(length) >= length else promised_in(held, promised),
                note=f"{radius if form == 'printed' else ''}The bound is "
                f"{bound(length) / finals.mean():,.0f} times the regret, and above T, where no "
                f"regret can be, until T = {theory.meaningful_from(bound):,}.",
            )
        )
    return claims


def _held(bound: Bound, runs: Sequence[Run]) -> tuple[Share, Array]:
    """The share of runs with regret below a bound at all times, and final regrets."""
    limits = np.array([bound(t) for t in range(1, len(runs[0]) + 1)])
    below = [bool((run.regret <= limits).all()) for run in runs]
    return share_of(np.array(below)), np.array([run.regret[-1] for run in runs])


def clipped_bound(length: int) -> float:
    """The regret that Algorithm 1's own radius allows, with widths clipped at 1.

    A round costs min(1, 2 r_t w_t) at most, and no r_t is below 1/2: Cauchy and Schwarz.
    """
    settings = KNOWN.log_size, DELTA, KNOWN.B
    radii = [theory.printed_radius(t, 1 / t, *settings) for t in range(1, length + 1)]
    widths = theory.clipped_potential_bound(length, KNOWN.world.rank, 1 / length, KNOWN.B)
    return 2 * float(np.linalg.norm(radii)) * widths / math.sqrt(length)


def _possible(runs: Sequence[Run]) -> str:
    """The largest possible regret in the worlds of some runs."""
    most = [float((run.rewards + run.regrets).sum()) for run in runs]
    return (
        f" No play can have more regret in these worlds than the sum of the best rewards, "
        f"{min(most):.3g} to {max(most):.3g}: probabilities are small there, which the "
        "certificate does not know."
    )


def _certificate(
    runs: Mapping[str, Sequence[Run]], claim: str, reading: str, note: str = ""
) -> Claim:
    every = [run for played in runs.values() for run in played]
    by_seed = zip(*runs.values(), strict=True)  # the agents of one seed share a world
    never_below = [
        all(bool((run.certificate >= run.regret).all()) for run in of_one) for of_one in by_seed
    ]
    held = share_of(np.array(never_below))
    sizes = "; ".join(
        f"{name} {np.mean([run.certificate[-1] for run in played]):,.0f} where regret is "
        f"{np.mean([run.regret[-1] for run in played]):.3g}"
        for name, played in runs.items()
    )
    lights = Counter(run.calibration().light for run in every)
    counted_lights = ", ".join(f"{light} in {counted(n, 'run')}" for light, n in lights.items())
    return Claim(
        claim=claim,
        figure=f"never below regret, with probability {1 - DELTA:.0%}",
        reading=reading,
        measured=f"never below, for all {len(runs)} agents, in {held}",
        verdict=promised_in(held, 1 - DELTA),
        note=f"Certified at most, after T rounds: {sizes}. Calibration: {counted_lights}.{note}",
    )


def _softmax() -> Claim:
    """The theorem, evaluated at the sizes of the paper's own experiment."""
    x, d = PRINTED.instructions, PRINTED.rank
    bounds = regret_bounds(PRINTED.facts, LORIL.as_repaired(DELTA))
    printed, repaired = bounds["Theorem 2, printed"], bounds["Theorem 2, repaired"]
    played, from_repaired, from_printed = 10_000, *map(theory.meaningful_from, (repaired, printed))
    return Claim(
        claim="Theorem 2 for the softmax class, at the paper's printed sizes: maximum likelihood",
        figure="O(sqrt(T d log(T|F|/delta) log(1 + TB)))",
        reading=f"|X| = {x:,}, d = {d}: brackets stand for |F|, log|F| = "
        f"{theory.bracketing_log_size(played, x, d):,.0f} at T = {played:,}",
        measured=f"printed {printed(played):,.0f}, repaired {repaired(played):,.0f} at "
        f"T = {played:,}",
        verdict="vacuous" if repaired(played) >= played else "not measured",
        note=f"Below T from T = {from_repaired:,} on (repaired; "
        f"printed: {from_printed:,}). It grows with |X| because of the argument (likelihood with "
        "brackets), not because of the class: see the next line.",
    )


def _ridge(runs: Sequence[Run]) -> Claim:
    """The analogue for ridge regression, by a self-normalised bound."""
    x, d, played = PRINTED.instructions, PRINTED.rank, 10_000
    agent = BY_RIDGE["LORIL"]
    (bound,) = regret_bounds(PRINTED.facts, agent).values()
    more = regret_bounds(replace(PRINTED, instructions=x**2).facts, agent).values()
    held, finals = _held(bound, runs)
    return Claim(
        claim="The analogue of Theorem 2 for ridge regression, at the paper's printed sizes",
        figure=f"{bound(played):,.0f} at T = {played:,}, with probability {1 - DELTA:.0%}",
        reading=f"|X| = {x:,}, d = {d}, B = sqrt(d), lambda = 1/B^2: a self-normalised bound for "
        "each x, and a union over X",
        measured=f"LORIL by ridge, T = {len(runs[0]):,}: regret {mean_regret(finals)}; below the "
        f"bound at all times in {held}",
        verdict="vacuous" if bound(played) >= played else promised_in(held, 1 - DELTA),
        note=f"Another estimate and another proof than the paper's. Below T from "
        f"T = {theory.meaningful_from(bound):,} on. With |X|^2 = {x**2:,} "
        f"instructions it would be {next(iter(more))(played):,.0f}: only the logarithm counts.",
    )


EXPERIMENT = Experiment(lambda scale: [], findings)
