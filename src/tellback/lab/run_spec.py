"""Runs as data: one agent in one world with one seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled_run import ThinnedRun, is_compiled_in, play_thinned
from tellback.errors import SettingError, TellbackError, whole
from tellback.isolation import IsolatedAgent
from tellback.protocol import VERSION as PROTOCOL_VERSION
from tellback.protocol import play
from tellback.roles import AgentSpec, WorldSpec
from tellback.run import Run
from tellback.sources import Rooms, altered, edited_since, is_own, is_typed, rooms_of, source_of
from tellback.specs import Data, Spec, all_parts, spec_from_data

FORMAT = 2
"""The version of the result files: part of a run's identity."""

CURVE_POINTS = 200


@lru_cache(maxsize=16)  # thousands of runs have the same
def curve_rounds(rounds: int) -> Indices:
    """The rounds at which a regret curve is stored: evenly spaced, the last among them."""
    points = np.unique(np.linspace(1, rounds, min(rounds, CURVE_POINTS)).round()).astype(np.int64)
    points.flags.writeable = False
    return points


@dataclass(frozen=True)
class RunSpec:
    """One agent in one world with one seed.

    Its identity is the hash of its whole configuration: world and agent with all their
    settings and versions, rounds, seed, and the format of the result. For your own specs it
    includes their source.
    """

    _DATA: ClassVar = ("format", "protocol", "world", "agent", "rounds", "seed")

    world: WorldSpec
    agent: AgentSpec
    rounds: int
    seed: int

    def __post_init__(self) -> None:
        demand_specs("A run", [self.world], WorldSpec)
        demand_specs("A run", [self.agent], AgentSpec)
        object.__setattr__(self, "rounds", whole("rounds", self.rounds))
        object.__setattr__(self, "seed", whole("seed", self.seed, at_least=0))

    def to_data(self) -> Data:
        """The configuration as plain data."""
        return {
            "format": FORMAT,
            "protocol": PROTOCOL_VERSION,
            "world": self.world.to_data(),
            "agent": self.agent.resolved(self.world.facts).to_data(),
            "rounds": self.rounds,
            "seed": self.seed,
        }

    @classmethod
    def from_data(cls, data: Data) -> Self:
        """The run that ``to_data`` described; refused if this version would give another result."""
        lacking = [name for name in cls._DATA if name not in data]
        if lacking:
            raise TellbackError(f"The description of a run lacks its {', '.join(lacking)}.")
        world = spec_from_data(WorldSpec, data["world"])
        agent = spec_from_data(AgentSpec, data["agent"])
        run = cls(world, agent, data["rounds"], data["seed"])
        now = run.to_data()
        for part in ("format", "protocol"):
            if data[part] != now[part]:
                raise TellbackError(
                    f"The run has {part} version {data[part]}; this tellback has {now[part]}."
                )
        return run

    @property
    def identity(self) -> str:
        """The hash of the configuration.

        For your own specs it includes their source file as it is now, even if it was edited
        after the import.
        """
        sources = tuple(source_of(part) for part in self.own_classes)
        if self._identified is None or self._identified[0] != sources:
            object.__setattr__(self, "_identified", (sources, identity_of(self.to_data())))
        assert self._identified is not None
        return self._identified[1]

    def points(self) -> Indices:
        """The rounds to which the entries of its result belong."""
        return curve_rounds(self.rounds)

    def perform(
        self, progress: Callable[[int], object] | None = None, isolated: bool = False
    ) -> tuple[Array, Data]:
        """Play the run: its regret at ``points``, and what is noted beside the result."""
        how: Data = {"isolated": isolated}
        what = self.world, self.agent, self.rounds
        record: Run | ThinnedRun | None = None
        if not isolated:
            record = play_thinned(*what, self.seed, self.points(), progress)
        if record is None:
            record = play(*what, seed=self.seed, progress=progress, **how)
        checked = record.match_check
        if isinstance(record.agent, IsolatedAgent):
            record.agent.close()
        curve = record.regret[self.points() - 1] if isinstance(record, Run) else record.curve
        return curve, how | {"match_check": checked and checked.data()}

    def brief(self) -> str:
        """The first characters of its identity, the agent and the seed: a line of a list."""
        return f"{self.identity[:10]} {self.agent.label()}, seed {self.seed}"

    def rooms(self, hint: Rooms | None = None) -> Rooms:
        """The rooms of tellback that the run depends on, as they are now."""
        compiled = {ThinnedRun} if is_compiled_in(self.world) else set()
        return rooms_of(self.classes | compiled, hint)

    def edited(self, package: bool = True) -> list[str]:
        """The source files of the run that were edited after this process loaded them."""
        return edited_since(self.own_classes, package)

    def demand_importable(self) -> None:
        """Refuse classes that other processes cannot import."""
        for name in self.typed:
            raise SettingError(
                f"{name} was typed, and other processes cannot import it. Put it into a file and "
                'import it, or run the study on="inline", or on Ray.'
            )

    def demand_unedited(self) -> None:
        """Refuse to play a run whose source was edited after it was loaded: it is another run."""
        if edited := self.edited():
            raise TellbackError(
                f"{' and '.join(edited)} changed after being loaded: this process would play "
                "the old source. Start again."
            )

    def demand_unaltered(self) -> None:
        """Refuse constants that were set since they were loaded: they are in no identity."""
        found = [] if self.edited(package=False) else altered(self.own_classes)
        if found:
            raise SettingError(
                f"{'; '.join(found)}. A study plays what is in the files: write the value there, "
                "or make it a setting of the class (a keyword of __init__)."
            )

    @property
    def classes(self) -> frozenset[type]:
        """The classes of the run's specs."""
        return _classes(self.world, self.agent)

    @cached_property
    def typed(self) -> tuple[str, ...]:
        """The classes that are in no file, by name: typed in a notebook or at a prompt."""
        return tuple(one.__qualname__ for one in self.own_classes if is_typed(one))

    @cached_property
    def own_classes(self) -> tuple[type, ...]:
        """The classes of the run's specs that are the user's own."""
        return tuple(filter(is_own, sorted(self.classes, key=lambda one: one.__qualname__)))

    _identified: ClassVar[tuple[tuple[str | None, ...], str] | None] = None

    def __getstate__(self) -> Data:
        # Cached values are left out: another process computes them itself.
        return {field.name: self.__dict__[field.name] for field in fields(self)}


@lru_cache(maxsize=256)  # all seeds have the same
def _classes(world: WorldSpec, agent: AgentSpec) -> frozenset[type]:
    try:
        resolved = agent.resolved(world.facts)
    except NotImplementedError:  # the world states no facts before it is built
        resolved = agent
    return frozenset(type(one) for spec in (world, resolved) for one in all_parts(spec))


def identity_of(data: Data) -> str:
    """The hash of a configuration, given as plain data."""
    try:
        canonical = json.dumps(data, sort_keys=True, separators=(",", ":"))
    except TypeError as error:
        agent, world = data["agent"]["kind"], data["world"]["kind"]
        raise SettingError(
            f"{agent} in {world} has a setting that is no plain data ({error}): "
            "a live object has no identity under which results could be stored."
        ) from error
    return hashlib.sha256(canonical.encode()).hexdigest()[:40]


def demand_specs(name: str, given: Any, base: type[Spec]) -> None:
    """Refuse anything but a sequence of specs."""
    if not isinstance(given, Sequence) or not given:
        raise SettingError(f"{name} needs a sequence of {base.role} specs, not {given!r}.")
    for spec in given:
        if not isinstance(spec, base):
            raise SettingError(
                f"{name} has {spec!r}, which is not the spec of {base.an()}: a live object "
                "has no identity under which results could be stored. For a class of your own, "
                f"tellback.{base.role}(TheClass) makes a spec."
            )
