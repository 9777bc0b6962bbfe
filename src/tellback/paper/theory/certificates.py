"""Theorem 2 and the running certificate, beside the regret that they bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tellback import theory
from tellback.lab.charts.certificate import draw_certificate
from tellback.lab.charts.picture import Picture
from tellback.lab.compare import mean_regret, share_of
from tellback.lab.results import Results
from tellback.paper.claims import Claim
from tellback.paper.synthetic import PRINTED
from tellback.paper.theory.experiment import Experiment, Findings, rounds
from tellback.paper.theory.known_class import DELTA, KnownClass
from tellback.protocol import play
from tellback.roles import Preparing
from tellback.run import Run
from tellback.worlds import Realizable

KNOWN = KnownClass(Realizable())
ROUNDS, RUNS = 20_000, 8
_BOUNDS = {"Theorem 2, printed": KNOWN.printed_bound, "Theorem 2, repaired": KNOWN.repaired_bound}


def findings(found: Sequence[Results], scale: float, progress: Preparing | None) -> Findings:
    """Play in a world with a known class, and hold every bound against regret."""
    length, count = rounds(ROUNDS, scale), max(2, round(RUNS * scale))
    agents = KNOWN.agents()
    runs: dict[str, list[Run]] = {name: [] for name in agents}
    for seed in range(count):
        for i, (name, agent) in enumerate(agents.items()):
            runs[name].append(play(KNOWN.world, agent, length, seed=seed))
            if progress is not None:
                progress("Certificates, runs", seed * len(agents) + i + 1, count * len(agents))

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
    return Findings([*_theorem(runs, length), _certificate(runs, length), _softmax()], [picture])


def _theorem(runs: Mapping[str, Sequence[Run]], length: int) -> list[Claim]:
    claims = []
    for form, name, bound in (
        ("printed", "LORIL as printed", KNOWN.printed_bound),
        ("repaired", "LORIL repaired", KNOWN.repaired_bound),
    ):
        finals = np.array([run.regret[-1] for run in runs[name]])
        t = np.arange(1, length + 1)
        limit = np.array([bound(int(one)) for one in t[:: max(1, length // 200)]])
        curves = [run.regret[:: max(1, length // 200)] for run in runs[name]]
        held = share_of(np.array([bool((curve <= limit).all()) for curve in curves]))
        says_from = theory.meaningful_from(bound)
        claims.append(
            Claim(
                claim=f"Theorem 2, {form}: the regret of Algorithm 1 is below the bound",
                figure=f"{bound(length):,.0f} at T = {length:,}",
                reading=f"|F| = {KNOWN.world.size} known members, d = {KNOWN.world.rank}, "
                f"delta = {DELTA:g}",
                measured=f"regret {mean_regret(finals)}; below the bound at all times in {held}",
                verdict="holds" if held.share == 1 else "does not hold",
                note=f"The bound is {bound(length) / finals.mean():,.0f} times the regret, and "
                f"vacuous, above T, until T = {says_from:,}.",
            )
        )
    return claims


def _certificate(runs: Mapping[str, Sequence[Run]], length: int) -> Claim:
    every = [run for played in runs.values() for run in played]
    by_seed = zip(*runs.values(), strict=True)  # the agents of one seed share a world
    held = share_of(np.array([all(map(_never_below, of_one)) for of_one in by_seed]))
    sizes = "; ".join(
        f"{name} {np.mean([run.certificate[-1] for run in played]):,.0f} where regret is "
        f"{np.mean([run.regret[-1] for run in played]):.3g}"
        for name, played in runs.items()
    )
    lights = sorted({run.calibration().light for run in every})
    return Claim(
        claim="Beyond the paper: a running certificate bounds the regret of any agent",
        figure=f"never below regret, with probability {1 - DELTA:.0%}",
        reading=f"the same runs, T = {length:,}",
        measured=f"never below, for all three agents, in {held}",
        verdict="holds" if held.share == 1 else "undecided",
        note=f"Certified after T rounds: {sizes}. Calibration: {', '.join(lights)}.",
    )


def _never_below(run: Run) -> bool:
    return bool((run.certificate >= run.regret).all())


def _softmax() -> Claim:
    """What the theorem says of the paper's own experiment."""
    x, d = PRINTED.instructions, PRINTED.rank

    def printed(rounds: int) -> float:
        covered = theory.bracketing_log_size(rounds, x, d)
        return theory.printed_regret_bound(rounds, d, theory.softmax_bound(d), covered, DELTA)

    def repaired(rounds: int) -> float:
        return theory.softmax_regret_bound(rounds, x, d, DELTA)

    played, from_repaired, from_printed = 10_000, *map(theory.meaningful_from, (repaired, printed))
    return Claim(
        claim="Theorem 2 for the softmax class, at the paper's printed sizes",
        figure="O(sqrt(T d log(T|F|/delta) log(1 + TB)))",
        reading=f"|X| = {x:,}, d = {d}: brackets stand for |F|, log|F| = "
        f"{theory.bracketing_log_size(played, x, d):,.0f} at T = {played:,}",
        measured=f"printed {printed(played):,.0f}, repaired {repaired(played):,.0f} at "
        f"T = {played:,}",
        verdict="vacuous",
        note=f"Below T from T = {from_repaired:,} on (repaired; "
        f"printed: {from_printed:,}). Random play costs about 5.4 in "
        "10,000 rounds there. Because log|F| grows with |X|, so does the bound.",
    )


EXPERIMENT = Experiment("certificates", lambda scale: [], findings)
