"""The promises of an agent."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from tellback.conformance.report import Check, raised, tried
from tellback.conformance.simulated import sample_tasks, simulated, values_in
from tellback.encoders import Thumbnail
from tellback.errors import SettingError
from tellback.protocol import play
from tellback.roles import AgentSpec, Choice, Facts, Task, WorldSpec, missing
from tellback.streams import Streams
from tellback.worlds import Images, Synthetic

TRIAL_ROUNDS = 60
LAST_ROUND = 80
CONTEXTS_TRIED = 3
OF_SIZES = re.compile(
    r"shape|\bsize\b|dimension|here are \d|sentence|\btable\b|'(int|str)' object"
    r"|from 0 to \d+, not \d+\.$"
)
"""What errors say where an agent was made for other features, responses or instructions."""


def agent_checks(make: Callable[[], Any], world: Any = None) -> Iterator[tuple[str, Check]]:
    """The promises of an agent, tried in the given world or in two small ones."""
    same, fresh = _trial_worlds(make) if world is None else (world, world)
    untaught = _first_choices(same, make)  # before any other has learned
    if world is None:
        yield "it plays where responses stay the same", partial(_plays_in_trial, same, make)
        yield "it plays where responses change every round", partial(_plays_in_trial, fresh, make)
    else:
        yield "it plays in the given world", partial(_plays_in, world, make)
    trials: list[_AgentTrial] = []
    yield "it can be made anew", partial(_build, trials, same, make)
    if not trials:
        return
    trial = trials[0]
    yield "a choice is a possible response with its own features", trial.features_belong
    if tried(trial.features_belong):  # and all else fails for that reason
        return
    yield (
        "an estimate is finite or NaN (not known), a bonus finite, a propensity a probability",
        trial.account_is_sound,
    )
    yield "it responds alike to the same task and the same random stream", trial.repeats_itself
    yield "responding changes nothing in it", trial.responding_changes_nothing
    yield "it learns late and out of order", trial.learns_out_of_order
    yield "a new one knows nothing that others learned", partial(_is_new, same, make, untaught)
    yield "it leaves the context as it is", partial(_leaves_contexts, same, fresh, make)
    if not missing(trial.agent, _Restorable):
        yield "its state is arrays and numbers", trial.state_is_plain
        yield "restored from its state, it goes on as before", trial.restores


def _first_choices(world: Any, make: Callable[[], Any]) -> list[Any]:
    """The choices of a new agent that learns nothing; none if it cannot choose."""
    with suppress(Exception):  # the trials will report it
        trial = _AgentTrial(world, make)
        return [trial._respond(trial.agent, t).response for t in range(1, LAST_ROUND + 1)]
    return []


def _is_new(world: Any, make: Callable[[], Any], untaught: list[Any]) -> Iterator[str]:
    for t, (one, other) in enumerate(zip(untaught, _first_choices(world, make), strict=False), 1):
        if one != other:
            yield (
                f"after others had learned, a new one chose {other!r} instead of {one!r} in round "
                f"{t}. What it learns must be in itself: not in its class, a default or a global"
            )


def _trial_worlds(make: Callable[[], Any]) -> tuple[WorldSpec, WorldSpec]:
    """Two small worlds: with a table of instructions, or in words if the agent needs words."""
    tables = Synthetic(instructions=7, responses=4, rank=3)
    in_words = Images(responses=4, colours=("red", "blue", "grey"), encoder=Thumbnail(cells=2))
    with suppress(Exception):  # the trials will report it
        agent = make()
        if isinstance(agent, AgentSpec) and not _fits(agent, tables) and _fits(agent, in_words):
            return in_words, in_words.with_settings({"variant": "jitter"})
    return tables, tables.with_settings({"contexts": "fresh"})


def _fits(agent: AgentSpec, world: WorldSpec) -> bool:
    try:
        agent.build(world.facts, Streams(2).init("agent"))
    except SettingError:
        return False
    return True


def _build(trials: list[_AgentTrial], world: Any, make: Callable[[], Any]) -> Iterable[str]:
    trials.append(_AgentTrial(world, make))
    return ()


class _Restorable:
    state: Any
    restore: Any


def _plays_in(world: Any, make: Callable[[], Any]) -> Iterable[str]:
    play(copy.deepcopy(world), make(), rounds=TRIAL_ROUNDS, seed=1)
    return ()


def _plays_in_trial(world: WorldSpec, make: Callable[[], Any]) -> Iterator[str]:
    try:
        _plays_in(world, make)
    except Exception as error:
        said = raised(error)
        if _may_come_of_sizes(error):
            said = f"{said.rstrip('.')}. {_sizes_of(world.facts)}"
        yield said


def _may_come_of_sizes(error: Exception) -> bool:
    return isinstance(error, LookupError | AssertionError) or bool(OF_SIZES.search(str(error)))


def _sizes_of(facts: Facts) -> str:
    asks = "sentences" if facts.language else f"{facts.instructions} instructions by number"
    return (
        f"This world has {facts.dim} features and {asks}. Is the agent made for another? Then "
        "give its world: check(agent, world=...), or --world on the command line. A class may "
        "have a parameter named facts instead, which has dim and instructions."
    )


def _leaves_contexts(same: Any, fresh: Any, make: Callable[[], Any]) -> Iterator[str]:
    """Give it contexts that it can write into, and look whether it did."""
    for world in (same, fresh):
        trial = _AgentTrial(world, make)
        for t in range(1, CONTEXTS_TRIED + 1):
            yield from trial.writes_into(t)


class _AgentTrial:
    """An agent in a small world, and the promises it must keep there."""

    def __init__(self, world: Any, make: Callable[[], Any]) -> None:
        streams = Streams(2)
        self._make = make
        simulation = simulated(world)
        self._facts, self._teacher = simulation.world.facts, simulation.teacher
        self._tasks = sample_tasks(simulation, LAST_ROUND)
        self._descriptions = streams.stream("teacher")
        self._choices = streams.stream("agent")
        self.agent = self._new()

    def _new(self) -> Any:
        agent = self._make()
        if isinstance(agent, AgentSpec):
            return agent.build(self._facts, Streams(2).init("agent"))
        return agent

    def _task(self, t: int) -> Task:
        return self._tasks[t - 1]

    def _respond(self, agent: Any, t: int) -> Choice:
        choice: Choice = agent.respond(self._task(t), self._choices.at(t))
        return choice

    def _teach(self, agent: Any, first: int, last: int) -> list[Choice]:
        choices = []
        for t in range(first, last + 1):
            choice = self._respond(agent, t)
            self._tell(agent, t, self._task(t), choice)
            choices.append(choice)
        return choices

    def _tell(self, agent: Any, t: int, task: Task, choice: Choice) -> None:
        context = self._task(t).context
        told = self._teacher.describe(context, choice.response, self._descriptions.at(t))
        if told is not None:
            agent.learn(task, choice, told)

    def features_belong(self) -> Iterator[str]:
        for t in range(1, 6):
            task, choice = self._task(t), self._respond(self.agent, t)
            if not isinstance(choice, Choice):
                yield f"respond returned {choice!r}, not a Choice: try task.choose(y)"
            if choice.response not in task.responses:
                yield f"it chose {choice.response!r} out of {task.responses!r}"
            features = task.responses.features(choice.response)
            if not np.array_equal(choice.features, features):
                yield f"response {choice.response!r} has features {features}, not those given"

    def account_is_sound(self) -> Iterator[str]:
        for choice in self._teach(self._new(), 1, TRIAL_ROUNDS):
            if math.isinf(choice.estimate):
                yield f"an estimate was {choice.estimate!r}"
            if not math.isfinite(choice.bonus):
                yield f"a bonus was {choice.bonus!r}"
            if choice.propensity is not None and not 0 < choice.propensity <= 1:
                yield f"a propensity was {choice.propensity!r}"

    def repeats_itself(self) -> Iterator[str]:
        for t in range(1, LAST_ROUND + 1):
            first, second = self._respond(self.agent, t), self._respond(self.agent, t)
            if first.response != second.response:
                yield f"it chose {first.response!r}, then {second.response!r}"

    def responding_changes_nothing(self) -> Iterator[str]:
        asked, spared = self._new(), self._new()
        self._teach(asked, 1, 20)
        self._teach(spared, 1, 20)
        for t in range(LAST_ROUND - 16, LAST_ROUND + 1):
            self._respond(asked, t)
        pairs = zip(self._teach(asked, 21, 50), self._teach(spared, 21, 50), strict=True)
        for t, (one, other) in enumerate(pairs, start=21):
            if one.response != other.response:
                yield f"asked more often in between, it chose otherwise in round {t}"

    def learns_out_of_order(self) -> Iterable[str]:
        agent = self._new()
        choices = [(t, self._respond(agent, t)) for t in range(1, 11)]
        for t, choice in reversed(choices):
            self._tell(agent, t, self._task(t), choice)
        self._respond(agent, 11)
        return ()

    def writes_into(self, t: int) -> Iterator[str]:
        """What it did to a context that can be changed, if anything."""
        original = self._task(t)
        task = original._replace(context=copy.deepcopy(original.context))
        before = values_in(task.context)
        choice = self.agent.respond(task, self._choices.at(t))
        self._tell(self.agent, t, task, choice)
        if values_in(task.context) != before:
            yield (
                f"it changed the context of task {t}. In a run contexts are read-only: "
                "work on a copy, such as context.copy()"
            )

    def state_is_plain(self) -> Iterator[str]:
        self._teach(self.agent, 1, 10)
        for name, value in self.agent.state().items():
            if np.asarray(value).dtype.kind not in "biuf":
                yield f"{name} is {type(value).__name__}"

    def restores(self) -> Iterator[str]:
        agent, other = self._new(), self._new()
        self._teach(agent, 1, 30)
        other.restore(copy.deepcopy(dict(agent.state())))
        pairs = zip(self._teach(agent, 31, 60), self._teach(other, 31, 60), strict=True)
        for t, (one, two) in enumerate(pairs, start=31):
            if one.response != two.response:
                yield f"in round {t} it chose {two.response!r} instead of {one.response!r}"
