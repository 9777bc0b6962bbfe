"""The worlds of the league, and the share of regret the recommended agent must save in each."""

from __future__ import annotations

from dataclasses import dataclass

from tellback.agents import recommended
from tellback.lab.study import Study
from tellback.league.agents import (
    PAPER,
    RECOMMENDED,
    AgentGrids,
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
"""The number of seeds where a run takes several seconds."""


@dataclass(frozen=True)
class LeagueWorld:
    """A world of the league."""

    name: str
    world: WorldSpec
    rounds: int
    agents: AgentGrids  # beside the recommended one
    rival: str  # the agent among them with which the recommended one is compared
    bar: float  # the share of the rival's regret that the recommended agent must save
    reported: int = 100  # seeds for all agents
    versus_rival: int = 100  # seeds for the recommended agent and its rival
    first: int = 0  # the first of those seeds
    tuning: tuple[int, ...] = TUNING

    def studies(self, scale: float) -> tuple[Study, Study]:
        """The study of all agents, and that of the recommended agent and its rival."""
        best = {RECOMMENDED: (recommended(self.world),)}
        two = {self.rival: self.agents[self.rival]}
        return (
            self._study(self.name, best | self.agents, self.reported, scale),
            self._study(f"{self.name}: the bar", best | two, self.versus_rival, scale),
        )

    def _study(self, name: str, agents: AgentGrids, seeds: int, scale: float) -> Study:
        return Study(
            name=name,
            world=self.world,
            agents=agents,
            rounds=max(100, round(self.rounds * scale)),
            tuning=self.tuning[: max(2, round(len(self.tuning) * scale))],
            reported=tuple(range(self.first, self.first + max(FEWEST, round(seeds * scale)))),
            everywhere=False,
        )


def league_worlds() -> tuple[LeagueWorld, ...]:
    """The worlds of the league."""
    fresh = Synthetic(instructions=10, responses=200, rank=10, contexts="fresh")
    withheld = OneHotFeatures(Synthetic(instructions=200, responses=100, rank=5))
    raw = RawFeatures(
        Synthetic(instructions=20, responses=20, rank=5, temperature=0.5, contexts="fresh"), dim=8
    )
    slow = SLOW, SLOW, 0, FEW
    return (
        LeagueWorld("printed", PRINTED, 10_000, in_tables(), PAPER, 0.04),
        LeagueWorld("transposed", TRANSPOSED, 2_000, in_tables(), PAPER, 0.10, versus_rival=300),
        LeagueWorld("fresh contexts", fresh, 2_000, in_tables(), PAPER, 0.10, versus_rival=300),
        LeagueWorld("g withheld", withheld, 10_000, without_g(), "one-hot LORIL", 0.25, tuning=FEW),
        LeagueWorld(
            "raw features",
            raw,
            2_000,
            on_raw_features(),
            "LORIL, ridge",
            0.25,
            first=100,  # the network was chosen on seeds from 0 on
            tuning=FEW,
        ),
        *(
            LeagueWorld(f"images, {variant}", Images(variant), 1_000, in_words(), PAPER, bar, *slow)
            for variant, bar in (("canon", 0.60), ("jitter", 0.40))
        ),
        LeagueWorld(
            "free wordings",
            Paraphrases(),
            500,
            in_any_words(),
            "greedy, ridge on whole sentences",
            0.50,
            tuning=FEW,
        ),
    )
