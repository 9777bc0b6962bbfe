"""Studies as data: agents, a world, the number of rounds, and seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import count, islice
from types import MappingProxyType
from typing import Any

from tellback.errors import FieldError, SettingError, unknown_name, whole
from tellback.lab.run_spec import RunSpec, demand_specs
from tellback.lab.sequential import MIN_PAIRS
from tellback.lab.wording import counted
from tellback.roles import AgentSpec, WorldSpec
from tellback.specs import all_parts


@dataclass(frozen=True)
class Decide:
    """Add seeds until the comparison of two agents is decided, or a budget is spent.

    This is valid because the intervals of such a study are a confidence sequence, which holds
    after every seed.

    Parameters
    ----------
    between : pair of str
        The names of the two agents.
    at_most : int
        The largest number of reported seeds, ten or more: fewer decide nothing.
    batch : int
        The number of seeds added at a time.
    """

    between: tuple[str, str]
    at_most: int
    batch: int = 10

    def __post_init__(self) -> None:
        given: Any = self.between
        if not isinstance(given, tuple | list) or len(given) != 2 or given[0] == given[1]:
            raise FieldError("between", f"between must name two agents, not {given!r}.")
        object.__setattr__(self, "between", tuple(map(str, given)))
        object.__setattr__(self, "at_most", whole("at_most", self.at_most, at_least=MIN_PAIRS))
        object.__setattr__(self, "batch", whole("batch", self.batch))


@dataclass(frozen=True, repr=False)
class Study:
    """A comparison of agents in one world.

    Parameters
    ----------
    name : str
        Its name in tables and figures.
    world : WorldSpec
        The world in which the agents play.
    agents : mapping of str to sequence of AgentSpec
        The competitors, each with the settings among which it may be tuned.
    rounds : int
        The length of each run.
    tuning, reported : sequence of int
        The seeds on which settings are chosen, and other seeds on which agents are compared.
    everywhere : bool
        Whether every setting plays the reported seeds, not only the chosen one. It costs more,
        and changes nothing in the comparison.
    tuning_runs : int, optional
        The number of tuning runs of every agent with several settings, divided evenly among
        them: with 36, nine settings play 4 tuning seeds each, and four settings 9. By default
        every setting plays every tuning seed, as in the paper, so the agent with the largest
        grid is tuned with the most runs. Agents with one setting play tuning seeds too: the next
        best baseline can then be chosen without the reported seeds.
    decide : Decide, optional
        Add reported seeds until a comparison is decided.
    """

    name: str
    world: WorldSpec
    agents: Mapping[str, tuple[AgentSpec, ...]]
    rounds: int
    tuning: tuple[int, ...]
    reported: tuple[int, ...]
    everywhere: bool = True
    tuning_runs: int | None = None
    decide: Decide | None = None

    def __post_init__(self) -> None:
        demand_specs("world", [self.world], WorldSpec)
        for name, settings in self.agents.items():
            demand_specs(name, settings, AgentSpec)
        set_field = object.__setattr__
        grids = {name: tuple(settings) for name, settings in self.agents.items()}
        set_field(self, "agents", MappingProxyType(grids))
        set_field(self, "rounds", whole("rounds", self.rounds))
        for which in ("tuning", "reported"):
            seeds = tuple(_seed(which, seed) for seed in getattr(self, which))
            if len(set(seeds)) < len(seeds):
                raise FieldError(
                    which, f"The {which} seeds of study {self.name!r} have duplicates."
                )
            set_field(self, which, seeds)
        if not self.agents:
            raise FieldError("agents", f"Study {self.name!r} needs an agent.")
        if not self.reported:
            raise FieldError("reported", f"Study {self.name!r} needs a reported seed.")
        facts = self.world.facts
        listed = [agent.resolved(facts) for grid in self.agents.values() for agent in grid]
        for agent in listed:
            if listed.count(agent) > 1:
                same = f"{agent.label()} twice; with the same settings it would be the same runs"
                raise FieldError("agents", f"Study {self.name!r} lists {same}.")
        for name, settings in self.agents.items():
            if len(settings) > 1 and not self.tuning:
                raise FieldError(
                    "agents",
                    f"Study {self.name!r} has no seeds to tune {name} on: give tuning seeds, or "
                    "one setting.",
                )
        both = sorted(set(self.tuning) & set(self.reported))
        if both:
            raise FieldError(
                "reported",
                f"Study {self.name!r} tunes and reports on the same seeds {both}: a setting "
                "chosen on the runs that are reported looks better than it is.",
            )
        if self.tuning_runs is not None:
            self._demand_equal_shares(whole("tuning_runs", self.tuning_runs))
        if self.decide is not None:
            self._demand_decidable(self.decide)

    def _demand_equal_shares(self, tuning_runs: int) -> None:
        for name, settings in self.agents.items():
            share, rest = divmod(tuning_runs, len(settings))
            if rest:
                raise FieldError(
                    "tuning_runs",
                    f"tuning_runs = {tuning_runs} cannot be shared out evenly among the "
                    f"{len(settings)} settings of {name}.",
                )
            if len(settings) > 1 and share > len(self.tuning):
                raise FieldError(
                    "tuning_runs",
                    f"tuning_runs = {tuning_runs} needs {share} tuning seeds for each of the "
                    f"{len(settings)} settings of {name}; study {self.name!r} has "
                    f"{len(self.tuning)}.",
                )

    def _demand_decidable(self, decide: Decide) -> None:
        for name in decide.between:
            if name not in self.agents:
                unknown = unknown_name(f"agent in study {self.name!r} named", name, self.agents)
                raise FieldError("decide", str(unknown))
        if decide.at_most < len(self.reported):
            raise FieldError(
                "decide",
                f"Study {self.name!r} begins with {len(self.reported)} reported seeds, which "
                f"is more than at_most = {decide.at_most}.",
            )

    def shared_truth(self) -> str:
        """A warning if settings are chosen in the same truth that is reported; else empty."""
        worlds = [part for part in all_parts(self.world) if isinstance(part, WorldSpec)]
        whys = [why for why in map(_one_truth, worlds) if why]
        if not whys or all(len(grid) == 1 for grid in self.agents.values()):
            return ""
        return (
            f"In study {self.name!r} settings are chosen in the truth that is reported: {whys[0]} "
            "to report on other truths."
        )

    def tuning_seeds(self, name: str) -> tuple[int, ...]:
        """The tuning seeds that each setting of an agent plays."""
        if self.tuning_runs is None:
            return self.tuning
        return self.tuning[: self.tuning_runs // len(self.agents[name])]

    def varied(self, name: str) -> list[str]:
        """The settings in which the grid of an agent varies."""
        grid = self.agents[name]
        return [
            setting
            for setting in grid[0].settings()
            if len({getattr(agent, setting, None) for agent in grid}) > 1
        ]

    def with_more_seeds(self) -> Study:
        """The study with the next batch of reported seeds; only for a study with ``decide``."""
        assert self.decide is not None
        wanted = min(self.decide.batch, self.decide.at_most - len(self.reported))
        fresh = (seed for seed in count(max(self.reported) + 1) if seed not in self.tuning)
        return replace(self, reported=(*self.reported, *islice(fresh, wanted)))

    def runs(self) -> Iterator[RunSpec]:
        """The runs that need no chosen settings, seed by seed: a stop leaves whole seeds."""
        tunes = {name: set(self.tuning_seeds(name)) for name in self.agents}
        reported = set(self.reported)
        for seed in (*self.tuning, *self.reported):
            for name, settings in self.agents.items():
                at_once = len(settings) == 1 or self.everywhere
                if seed in tunes[name] or (at_once and seed in reported):
                    for agent in settings:
                        yield self.run(agent, seed)

    def chosen_runs(self, chosen: Mapping[str, AgentSpec]) -> Iterator[RunSpec]:
        """The runs of the chosen settings, which wait for the tuning runs."""
        for seed in self.reported:
            for name, agent in chosen.items():
                if len(self.agents[name]) > 1 and not self.everywhere:
                    yield self.run(agent, seed)

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping that cannot be changed cannot be pickled: another process builds it anew.
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return _study, (given | {"agents": dict(self.agents)},)

    @property
    def needs_no_choice(self) -> bool:
        """Whether no run waits for the tuning runs."""
        return self.everywhere or all(len(settings) == 1 for settings in self.agents.values())

    def planned(self) -> set[RunSpec]:
        """All runs; the first setting of an agent stands for the one that will be chosen."""
        first = {name: settings[0] for name, settings in self.agents.items()}
        return {*self.runs(), *self.chosen_runs(first)}

    def __repr__(self) -> str:
        return (
            f"<Study {self.name!r}: {', '.join(self.agents)} in {self.world.kind}, "
            f"{self.rounds:,} rounds, {counted(len(self.reported), 'reported seed')}>"
        )

    def _repr_html_(self) -> str:
        from tellback.lab.report.tables import study_html

        return study_html(self)

    def __len__(self) -> int:
        """The total number of runs."""
        return len(self.planned())

    def run(self, agent: AgentSpec, seed: int) -> RunSpec:
        """One run of the study."""
        run = self._runs.get((agent, seed))
        if run is None:
            run = self._runs[agent, seed] = RunSpec(self.world, agent, self.rounds, seed)
        return run

    @cached_property
    def _runs(self) -> dict[tuple[AgentSpec, int], RunSpec]:
        """A cache of runs, so that each computes its identity once."""
        return {}


def _seed(which: str, value: object) -> int:
    try:
        return whole(f"a {which} seed", value, at_least=0)
    except SettingError as error:
        raise FieldError(which, str(error)) from None


def _study(given: dict[str, Any]) -> Study:
    return Study(**given)


def _one_truth(world: WorldSpec) -> str:
    """Why all seeds have the same truth, and what would change that; empty if it is not known."""
    seed = getattr(world, "seed", None)
    if seed is not None:
        return (
            f"{world.kind} has a seed of its own ({seed}), so all seeds of the study share one "
            "truth. Leave it out"
        )
    if not getattr(world, "takes_rng", True):
        return (
            f"{world.kind} takes no rng, so all seeds of the study share one truth. Draw the truth "
            "from a parameter rng of __init__"
        )
    return ""
