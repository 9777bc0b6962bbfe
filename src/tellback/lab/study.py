"""Studies are data: which agents, in which world, for how long, on which seeds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tellback.errors import SettingError, whole
from tellback.roles import AgentSpec, WorldSpec
from tellback.specs import Data

FORMAT = 1
"""The version of the result files: part of a run's identity."""


@dataclass(frozen=True)
class RunSpec:
    """One agent in one world with one seed.

    Its identity is the hash of its whole configuration: world and agent with all their
    settings and versions, rounds, seed, and the format of the result.
    """

    world: WorldSpec
    agent: AgentSpec
    rounds: int
    seed: int

    def to_data(self) -> Data:
        """The configuration as plain data."""
        return {
            "format": FORMAT,
            "world": self.world.to_data(),
            "agent": self.agent.to_data(),
            "rounds": self.rounds,
            "seed": self.seed,
        }

    @cached_property
    def identity(self) -> str:
        """A name that no other configuration has."""
        canonical = json.dumps(self.to_data(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:40]


@dataclass(frozen=True)
class Study:
    """A comparison of agents in one world.

    Parameters
    ----------
    name : str
        What the study is called in tables and figures.
    world : WorldSpec
        Where the agents play.
    agents : mapping of str to sequence of AgentSpec
        The competitors, each with the settings among which it may be tuned.
    rounds : int
        The length of each run.
    tuning, reported : sequence of int
        The seeds on which settings are chosen, and the others on which agents are compared.
    """

    name: str
    world: WorldSpec
    agents: Mapping[str, tuple[AgentSpec, ...]]
    rounds: int
    tuning: tuple[int, ...]
    reported: tuple[int, ...]

    def __post_init__(self) -> None:
        whole("rounds", self.rounds)
        both = sorted(set(self.tuning) & set(self.reported))
        if both:
            raise SettingError(
                f"Study {self.name!r} tunes and reports on the same seeds {both}: a setting "
                "chosen on the runs that are reported looks better than it is."
            )

    def runs(self) -> Iterator[RunSpec]:
        """Every run of the study: seed by seed, so that an early stop leaves whole rows."""
        for seed in (*self.tuning, *self.reported):
            for settings in self.agents.values():
                for agent in settings:
                    yield self.run(agent, seed)

    def run(self, agent: AgentSpec, seed: int) -> RunSpec:
        """One run of the study."""
        return RunSpec(self.world, agent, self.rounds, seed)
