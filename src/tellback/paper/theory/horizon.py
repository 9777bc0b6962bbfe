"""How regret grows with T, if instructions are drawn, or picked by an adversary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tellback.agents import Greedy, Uniform
from tellback.lab.charts.growth import draw_growth
from tellback.lab.charts.picture import Picture
from tellback.lab.power_law import as_power, power_of_t
from tellback.lab.results import Results
from tellback.lab.study import Study
from tellback.paper.claims import Claim
from tellback.paper.theory.experiment import Experiment, Findings, not_above, tuned_study
from tellback.paper.theory.sizes import LORILS, TUNED
from tellback.roles import WorldSpec
from tellback.worlds import Adversarial, Synthetic

WORLD = Synthetic(instructions=10, responses=1_000, rank=5)
WORLDS: dict[str, WorldSpec] = {
    "instructions drawn": WORLD,
    "instructions picked against the agent": Adversarial(WORLD),
    "contexts and instructions picked": Adversarial(
        WORLD.with_settings({"contexts": 5}), picks="both"
    ),
}
"""The adversary of Protocol 1 picks contexts too; the last world has several."""


def studies(scale: float) -> list[Study]:
    """The same agents where tasks are drawn, and where an adversary picks them."""
    return [
        tuned_study(
            name,
            world,
            {
                "LORIL": LORILS,
                "greedy": (Greedy(),),
                "random": (Uniform(),),
            },
            20_000,
            scale,
        )
        for name, world in WORLDS.items()
    ]


def findings(found: Sequence[Results], scale: float) -> Findings:
    """The power of T."""

    def draw(figure: Any) -> None:
        for part, results in zip(figure.subfigures(1, len(found)), found, strict=True):
            draw_growth(part, results)
            part.suptitle(results.study.name, fontsize=9.5)

    picture = Picture(
        name="growth",
        title="Regret against T",
        says="Cumulative regret on double logarithmic axes, with the power of t fitted to the last "
        "nine tenths of each seed's curve. Left: instructions are drawn uniformly. Middle: an "
        "adversary that knows the truth asks for the instruction that cost the agent most when it "
        "was last asked. Right: it picks among five contexts too. There agents meet different "
        "tasks, and pairs share only their world. The power 1/2 is for the worst world; in a world "
        "that stays fixed while T grows, regret may grow more slowly.",
        draw=draw,
        width=12.5,
        height=4.6,
    )
    return Findings([_claim(results) for results in found], [picture])


def _claim(results: Results) -> Claim:
    powers = {
        n: power_of_t(results.t, results.curves(results.tuned(n))) for n in results.study.agents
    }
    ours, n = powers["LORIL"], len(results.study.reported)
    said = ", ".join(f"{name}: {as_power('T', power)}" for name, power in powers.items())
    versus = results.difference("LORIL", "greedy")
    return Claim(
        claim="Theorem 2: regret grows no faster than sqrt(T), whatever the world asks",
        figure="T^0.5 at most, but for logarithms",
        reading=f"{results.study.name}, T = {results.study.rounds:,}",
        measured=f"{said}; n = {n}",
        verdict=not_above(0.5, ours),
        note=f"{TUNED} Chosen: {results.label('LORIL')}. Final regret: LORIL "
        f"{results.stated('LORIL')}; against greedy, {versus} less.",
    )


EXPERIMENT = Experiment(studies, findings, reported=True)
