"""The first experiment with the paper's optimiser: Adam on theta at a rate of 0.001.

The paper does not say how many steps follow a description, nor how theta is initialised. Ties go
to the first here, as in an argmax. Exact ties are a matter of EM, which starts with uniform
columns; with Adam they vanish within a few rounds.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from tellback.agents import Greedy
from tellback.lab.plan import Plan
from tellback.lab.results import Results
from tellback.lab.study import Study
from tellback.lab.wording import counted
from tellback.models import MixtureByAdam
from tellback.paper.claims import Claim, claim
from tellback.paper.grids import agents
from tellback.paper.synthetic import CLAIMED, PRINTED, TRANSPOSED, TUNING
from tellback.protocol import play
from tellback.roles import WorldSpec

TITLE = "The first experiment with the paper's optimiser: mean regret, 95% bands"
STARTS = {0.0: "theta = 0", 1.0: "theta normal"}
STEPS = (1, 5, 20)
SHORTER = 4_000  # rounds, where a run of 10,000 would take half a minute
FIRST_ROUNDS = 10  # searched for the first round in which greedy leaves response 0


def plan(scale: float = 1.0, full: bool = False) -> Plan:
    """All numbers of steps, both starts; at the printed sizes one of each, unless ``full``."""
    return Plan(TITLE, tuple(studies(scale, full)))


def studies(scale: float = 1.0, full: bool = False) -> list[Study]:
    """The studies, the printed sizes first."""
    printed = [(one, PRINTED, 10_000 if one[0] < STEPS[-1] else SHORTER, 20) for one in _ways(full)]
    transposed = [(one, TRANSPOSED, 2_000, 40) for one in _ways(True)]
    if scale < 1 and not full:  # a trial
        transposed = [transposed[0], transposed[-1]]
    return [
        Study(
            name=f"{'as printed' if world == PRINTED else 'transposed'}, by Adam, "
            f"{counted(steps, 'step')} a round, {STARTS[start]}, "
            f"T = {max(100, round(rounds * scale)):,}",
            world=world,
            agents=agents("first", MixtureByAdam(steps=steps, start=start)),
            rounds=max(100, round(rounds * scale)),
            tuning=TUNING[: max(2, round(4 * scale))],
            reported=tuple(range(max(CLAIMED.seeds, round(seeds * scale)))),
            everywhere=False,
        )
        for (steps, start), world, rounds, seeds in printed + transposed
    ]


def claims(found: list[Results]) -> list[Claim]:
    """The paper's claim under each, and when greedy left the first response."""
    return [_claim(results) for results in found]


def _claim(results: Results) -> Claim:
    greedy, study = results.tuned("greedy"), results.study
    assert isinstance(greedy, Greedy)
    left = [_left_first(study.world, greedy, seed) for seed in study.reported]
    when = [round_ for round_ in left if round_ is not None]
    freed = f"by round {max(when)} at the latest" if when else "soon"
    found = claim(results, CLAIMED)
    stated = "; ".join(f"{name} {results.stated(name)}" for name in study.agents)
    return replace(
        found,
        note=f"{found.note}. Final regret: {stated}. With ties to the first, greedy did something "
        f"else than the first response {freed} in {len(when)} of {len(left)} runs.",
    )


def _left_first(world: WorldSpec, greedy: Greedy, seed: int) -> int | None:
    """The first round in which greedy did not choose response 0; None if there is none soon."""
    run = play(world, greedy, FIRST_ROUNDS, seed=seed)
    return next((t for t, y in enumerate(run.responses, start=1) if y != 0), None)


def _ways(full: bool) -> list[tuple[int, float]]:
    """Steps and starts."""
    return list(product(STEPS, STARTS)) if full else [(STEPS[0], 0.0)]
