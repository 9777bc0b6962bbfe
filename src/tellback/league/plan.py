"""Where the league is played, and what the recommended agent shall save there."""

from __future__ import annotations

from dataclasses import dataclass

from tellback.agents import recommended
from tellback.lab.study import Study
from tellback.league.fields import (
    PAPER,
    RECOMMENDED,
    Field,
    in_any_words,
    in_tables,
    in_words,
    on_raw_features,
    without_g,
)
from tellback.paper.images import TUNING as FEW
from tellback.paper.synthetic import PRINTED, TRANSPOSED, TUNING
from tellback.roles import WorldSpec
from tellback.worlds import Images, OneHotFeatures, Paraphrases, RawFeatures, Synthetic

TITLE = "The league: mean regret, 95% intervals, settings tuned on other seeds"
FEWEST = 5
SLOW = 20
"""How many seeds are played where a run takes several seconds."""


@dataclass(frozen=True)
class Ground:
    """A world of the league.

    Parameters
    ----------
    name : str
        What it is called in tables.
    world : WorldSpec
        Where agents play.
    rounds : int
        For how long.
    agents : Field
        Who plays beside the recommended agent.
    rival : str
        Which of them the recommended agent is held against.
    bar : float
        The share of the rival's regret that it shall save.
    reported, contest : int
        How many seeds all agents play, and how many these two.
    first : int
        The first of those seeds.
    tuning : tuple of int
        The seeds on which settings are chosen.
    """

    name: str
    world: WorldSpec
    rounds: int
    agents: Field
    rival: str
    bar: float
    reported: int = 100
    contest: int = 100
    first: int = 0
    tuning: tuple[int, ...] = TUNING

    def studies(self, scale: float) -> tuple[Study, Study]:
        """The league's study, and that of the two alone, on more seeds."""
        best = {RECOMMENDED: (recommended(self.world),)}
        two = {self.rival: self.agents[self.rival]}
        return (
            self._study(self.name, best | self.agents, self.reported, scale),
            self._study(f"{self.name}: the bar", best | two, self.contest, scale),
        )

    def _study(self, name: str, agents: Field, seeds: int, scale: float) -> Study:
        return Study(
            name=name,
            world=self.world,
            agents=agents,
            rounds=max(100, round(self.rounds * scale)),
            tuning=self.tuning[: max(2, round(len(self.tuning) * scale))],
            reported=tuple(range(self.first, self.first + max(FEWEST, round(seeds * scale)))),
            everywhere=False,
        )


def grounds() -> tuple[Ground, ...]:
    """The worlds of the league."""
    fresh = Synthetic(instructions=10, responses=200, rank=10, contexts="fresh")
    withheld = OneHotFeatures(Synthetic(instructions=200, responses=100, rank=5))
    raw = RawFeatures(
        Synthetic(instructions=20, responses=20, rank=5, temperature=0.5, contexts="fresh"), dim=8
    )
    slow = SLOW, SLOW, 0, FEW
    return (
        Ground("printed", PRINTED, 10_000, in_tables(), PAPER, 0.04),
        Ground("transposed", TRANSPOSED, 2_000, in_tables(), PAPER, 0.10, contest=300),
        Ground("fresh contexts", fresh, 2_000, in_tables(), PAPER, 0.10, contest=300),
        Ground("g withheld", withheld, 10_000, without_g(), "one-hot LORIL", 0.25, tuning=FEW),
        Ground(
            "raw features",
            raw,
            2_000,
            on_raw_features(),
            "LORIL, ridge",
            0.25,
            first=100,  # on those from 0 on, the network was chosen
            tuning=FEW,
        ),
        *(
            Ground(f"images, {variant}", Images(variant), 1_000, in_words(), PAPER, bar, *slow)
            for variant, bar in (("canon", 0.60), ("jitter", 0.40))
        ),
        Ground(
            "free wordings",
            Paraphrases(),
            500,
            in_any_words(),
            "greedy, ridge on whole sentences",
            0.50,
            tuning=FEW,
        ),
    )
