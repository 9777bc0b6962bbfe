"""Studies are data: which agents, in which world, for how long, on which seeds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tellback.errors import SettingError, whole
from tellback.protocol import VERSION as PROTOCOL_VERSION
from tellback.roles import AgentSpec, WorldSpec
from tellback.specs import Data, Spec

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
            "protocol": PROTOCOL_VERSION,
            "world": self.world.to_data(),
            "agent": self.agent.settled(self.world.facts).to_data(),
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
    everywhere : bool
        Whether every setting plays the reported seeds too, and not only the one chosen on
        the tuning seeds. It costs more, and changes nothing in the comparison.
    """

    name: str
    world: WorldSpec
    agents: Mapping[str, tuple[AgentSpec, ...]]
    rounds: int
    tuning: tuple[int, ...]
    reported: tuple[int, ...]
    everywhere: bool = True

    def __post_init__(self) -> None:
        _demand_specs("world", [self.world], WorldSpec)
        for name, settings in self.agents.items():
            _demand_specs(name, settings, AgentSpec)
        settle = object.__setattr__
        settle(self, "rounds", whole("rounds", self.rounds))
        for which in ("tuning", "reported"):
            seeds = tuple(whole(f"a {which} seed", s, at_least=0) for s in getattr(self, which))
            if len(set(seeds)) < len(seeds):
                raise SettingError(f"The {which} seeds of study {self.name!r} repeat themselves.")
            settle(self, which, seeds)
        if not self.agents or not self.reported:
            raise SettingError(f"Study {self.name!r} needs an agent and a reported seed.")
        listed = [agent for settings in self.agents.values() for agent in settings]
        for agent in listed:
            if listed.count(agent) > 1:
                raise SettingError(f"Study {self.name!r} lists {agent.label()} twice.")
        both = sorted(set(self.tuning) & set(self.reported))
        if both:
            raise SettingError(
                f"Study {self.name!r} tunes and reports on the same seeds {both}: a setting "
                "chosen on the runs that are reported looks better than it is."
            )

    def runs(self) -> Iterator[RunSpec]:
        """The runs that can be done at once: seed by seed, so that a stop leaves whole rows."""
        for seed in (*self.tuning, *self.reported):
            for settings in self.agents.values():
                if len(settings) == 1 or self.everywhere or seed in self.tuning:
                    for agent in settings:
                        yield self.run(agent, seed)

    def chosen_runs(self, chosen: Mapping[str, AgentSpec]) -> Iterator[RunSpec]:
        """The runs that wait for settings to be chosen: those of the chosen ones."""
        for seed in self.reported:
            for name, agent in chosen.items():
                if len(self.agents[name]) > 1 and not self.everywhere:
                    yield self.run(agent, seed)

    def planned(self) -> set[RunSpec]:
        """As many runs as there will be, a first setting standing for the one to be chosen."""
        first = {name: settings[0] for name, settings in self.agents.items()}
        return {*self.runs(), *self.chosen_runs(first)}

    def __len__(self) -> int:
        """How many runs there are in all."""
        return len(self.planned())

    def run(self, agent: AgentSpec, seed: int) -> RunSpec:
        """One run of the study."""
        return RunSpec(self.world, agent, self.rounds, seed)


def _demand_specs(name: str, given: Any, base: type[Spec]) -> None:
    """Refuse what is not a sequence of specs, and say why."""
    if not isinstance(given, Sequence) or not given:
        raise SettingError(f"{name} needs a sequence of {base.role} specs, not {given!r}.")
    for spec in given:
        if not isinstance(spec, base):
            raise SettingError(
                f"{name} has {spec!r}, which is not the spec of a {base.role}: a live object "
                "has no identity by which its results could be kept."
            )
