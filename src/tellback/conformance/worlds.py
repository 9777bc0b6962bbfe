"""The promises of a world, its teacher and its truth."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from tellback.agents import Uniform
from tellback.conformance.report import Check, tried
from tellback.conformance.simulated import sample_tasks, simulated
from tellback.protocol import play
from tellback.responses import Listed, Sampled
from tellback.roles import Choice, Facts, Task, Teacher, Truth, World, missing
from tellback.streams import Stream

TRIAL_ROUNDS = 60
SAMPLED_TASKS = 10
DESCRIPTIONS = 3000
SIGNIFICANCE = 1e-6
DRAWS = 20  # of responses that cannot be listed


def world_checks(thing: Any) -> Iterator[tuple[str, Check]]:
    """The promises of a world, its teacher and its truth."""
    trials: list[_WorldTrial] = []
    yield "it can be made anew", partial(_build, trials, thing)
    if not trials:
        return
    trial = trials[0]
    yield "it has a world, a teacher and a truth", trial.has_its_parts
    if any(trial.has_its_parts()):
        return
    yield "its facts are Facts", trial.has_facts
    yield "its responses are Listed, or Sampled if they are too many", trial.responses_have_a_form
    if tried(trial.responses_have_a_form):
        return
    yield "its tasks are tasks, as its facts say", trial.tasks_fit_the_facts
    if trial.is_sampled:
        yield "responses can be drawn, told apart and put into features", trial.can_be_drawn
    yield "it presents the same task for the same round and random stream", trial.repeats_itself
    yield "its teacher is not told the instruction", trial.teacher_is_blind
    yield "its descriptions are instructions", trial.descriptions_fit_the_facts
    if trial.truth is not None:
        yield "rewards are probabilities, and the best is the largest", trial.rewards_are_sound
        if tried(trial.rewards_are_sound):  # the rest takes them for probabilities
            return
        yield "its teacher describes as the truth says", trial.teacher_is_true
        yield "its tasks survive an agent that writes into them", trial.tasks_survive
    yield f"an agent can play {TRIAL_ROUNDS} rounds in it", trial.can_be_played


def _build(trials: list[_WorldTrial], thing: Any) -> Iterable[str]:
    trials.append(_WorldTrial(thing))
    return ()


class _WorldTrial:
    """A world, and the promises it must keep."""

    def __init__(self, thing: Any) -> None:
        self._simulation = simulated(thing)
        self._world: Any = self._simulation.world
        self._teacher: Any = self._simulation.teacher
        self.truth: Any = self._simulation.truth

    @cached_property
    def _tasks(self) -> list[Task]:
        return sample_tasks(self._simulation, SAMPLED_TASKS)

    def has_its_parts(self) -> Iterator[str]:
        lacking = missing(self._world, World) + missing(self._teacher, Teacher)
        if self.truth is not None:
            lacking += missing(self.truth, Truth)
        if lacking:
            yield f"it lacks {', '.join(lacking)}"

    def has_facts(self) -> Iterator[str]:
        facts = self._world.facts
        if not isinstance(facts, Facts):
            yield f"they are {facts!r}"

    def responses_have_a_form(self) -> Iterator[str]:
        if not isinstance(self._first, Task):
            yield f"task 1 is {self._first!r}, not a Task"
        elif not isinstance(responses := self._first.responses, Listed | Sampled):
            yield (
                f"in task 1 they are of type {type(responses).__name__}: "
                "give Listed(features), with a row of features for each response"
            )

    def tasks_fit_the_facts(self) -> Iterator[str]:
        facts, seen = self._world.facts, []
        for t, task in enumerate(self._tasks, start=1):
            if not isinstance(task, Task):
                yield f"task {t} is {task!r}"
            if not facts.fits(task.instruction):
                yield f"task {t} asks for {task.instruction!r}, not for {facts.allowed}"
            if isinstance(task.responses, Listed | Sampled) and task.responses.dim != facts.dim:
                yield f"task {t} has features of size {task.responses.dim}, not {facts.dim}"
            seen.append(task.responses)
        if facts.fixed_responses and any(responses is not seen[0] for responses in seen):
            yield "its facts say that responses are fixed, but they are new objects each round"

    @property
    def is_sampled(self) -> bool:
        """Whether responses are too many to list; False also where there is no task to look at."""
        with suppress(Exception):
            return isinstance(self._first.responses, Sampled)
        return False

    @cached_property
    def _first(self) -> Task:
        """The first task, also where no agent can play in the world."""
        task: Task = copy.deepcopy(self._world).task(1, (), Stream(1, "world").at(1))
        return task

    def _numbered(self) -> Iterator[tuple[int, Task]]:
        yield 1, self._first
        yield from enumerate(self._tasks, start=1)

    def can_be_drawn(self) -> Iterator[str]:
        """Uninformed draws are responses, hashable, with a row of features each."""
        for t, task in self._numbered():
            drawn = _some_responses(task)
            hash(tuple(drawn))
            if foreign := [y for y in drawn if y not in task.responses]:
                yield f"in task {t} it drew {foreign[0]!r}, which it says is no response"
            if object() in task.responses:
                yield f"in task {t} it takes anything for a response"
            matrix = np.asarray(task.responses.matrix_of(drawn))
            if matrix.shape != (len(drawn), self._world.facts.dim):
                yield f"in task {t} matrix_of gave an array of shape {matrix.shape}"
            elif not np.isfinite(matrix).all():
                yield f"in task {t} features are not all finite"
            elif not np.array_equal(matrix[-1], task.responses.features(drawn[-1])):
                yield f"in task {t} features and matrix_of do not agree on {drawn[-1]!r}"

    def repeats_itself(self) -> Iterator[str]:
        again = sample_tasks(self._simulation, SAMPLED_TASKS)
        for t, (one, two) in enumerate(zip(self._tasks, again, strict=True), start=1):
            if one.instruction != two.instruction:
                yield f"in round {t} it asked {one.instruction!r}, then {two.instruction!r}"

    def teacher_is_blind(self) -> Iterator[str]:
        parameters = list(inspect.signature(self._teacher.describe).parameters)
        if len(parameters) != 3:
            yield f"describe takes {parameters}, not (context, response, rng)"

    def _describe(self, task: Task, response: Any, t: int) -> Any:
        return self._teacher.describe(task.context, response, Stream(3, "teacher").at(t))

    def descriptions_fit_the_facts(self) -> Iterator[str]:
        for t, task in enumerate(self._tasks, start=1):
            told = self._describe(task, _some_response(task), t)
            if told is not None and not self._world.facts.fits(told):
                yield f"it said {told!r}, not {self._world.facts.allowed}"

    def rewards_are_sound(self) -> Iterator[str]:
        for t, task in enumerate(self._tasks, start=1):
            best = self.truth.best(task)
            rewards = [self.truth.reward(task, y) for y in _some_responses(task)]
            if not all(0 <= reward <= 1 + 1e-9 for reward in [best, *rewards]):
                yield f"in task {t} rewards are {rewards} and the best {best}"
            highest = max(rewards)
            listed = isinstance(task.responses, Listed)
            if highest > best + 1e-9 or (listed and len(rewards) > 1 and highest < best - 1e-9):
                yield f"in task {t} the best is said to be {best}, and the highest is {highest}"

    def teacher_is_true(self) -> Iterator[str]:
        """Compare how often the teacher says x with P(x | y, s), by an exact binomial test.

        A truth by meaning must find everything true that the teacher says.
        """
        from scipy.stats import binomtest  # slow to import, and most commands do without

        task = self._tasks[0]
        stream = Stream(3, "teacher")
        response = self._response_that_is_described(task, stream)
        told = [
            self._teacher.describe(task.context, response, stream.at(t))
            for t in range(1, DESCRIPTIONS + 1)
        ]
        told = [x for x in told if x is not None]  # a teacher may keep silent
        if getattr(self.truth, "by_meaning", False):
            yield from self._finds_true(told, task, response)
            return
        for x in sorted(set(told), key=told.count, reverse=True)[:5]:
            chance = self.truth.reward(task._replace(instruction=x), response)
            often = told.count(x)
            if not 0 <= chance <= 1 + 1e-9:
                yield f"the truth gives {x!r} a probability of {chance:.4g}"
            elif binomtest(often, len(told), min(chance, 1.0)).pvalue < SIGNIFICANCE:
                yield (
                    f"it said {x!r} {often} times out of {len(told)}, "
                    f"and the truth gives that a probability of {chance:.4g}"
                )

    def _response_that_is_described(self, task: Task, stream: Stream) -> Any:
        """The last response to try of which the teacher has something to say, if there is one."""
        some = _some_responses(task)[::-1]
        describe = self._teacher.describe
        said = (y for y in some if describe(task.context, y, stream.at(1)) is not None)
        return next(said, some[0])

    def _finds_true(self, told: list[Any], task: Task, response: Any) -> Iterator[str]:
        for x in sorted(set(told)):
            reward = self.truth.reward(task._replace(instruction=x), response)
            if reward < 1:
                yield f"it said {x!r} of a response to which the truth gives {reward:.4g} for that"

    def tasks_survive(self) -> Iterator[str]:
        """Hold the rewards against those of an agent that chooses the same and writes nothing."""
        runs = [
            play(copy.deepcopy(self._simulation), agent, rounds=TRIAL_ROUNDS, seed=1)
            for agent in (_Idle(), _Vandal())
        ]
        honest, tampered = (zip(run.rewards, run.regrets, strict=True) for run in runs)
        for t, (one, other) in enumerate(zip(honest, tampered, strict=True), start=1):
            if one != other:
                yield (
                    f"in round {t} an agent that wrote into the task got a reward of "
                    f"{other[0]:.4g} instead of {one[0]:.4g}: make contexts of numbers, text, "
                    "arrays, tuples and dataclasses, of which agents are given copies, and give "
                    "responses that cannot be listed read-only arrays"
                )

    def can_be_played(self) -> Iterable[str]:
        play(copy.deepcopy(self._simulation), Uniform(), rounds=TRIAL_ROUNDS, seed=1)
        return ()


class _Idle:
    """Chooses some response, and learns nothing."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(_some_response(task))

    def learn(self, task: Task, choice: Choice, description: Any) -> None: ...


class _Vandal(_Idle):
    """Does the same, and sets to 0 every array that it can."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        choice = super().respond(task, rng)
        _erase(task.context, set())
        _erase(task.responses, set())
        return choice


def _erase(thing: Any, met: set[int]) -> None:
    if id(thing) in met or isinstance(thing, type | ModuleType | Listed):
        return
    met.add(id(thing))
    if isinstance(thing, np.ndarray) and not thing.dtype.hasobject:
        with suppress(ValueError, TypeError):
            thing[...] = np.zeros((), thing.dtype)
    elif isinstance(thing, dict):
        for value in thing.values():
            _erase(value, met)
    elif isinstance(thing, list | tuple | np.ndarray):
        for value in thing:
            _erase(value, met)
    elif not isinstance(thing, FunctionType):  # whose globals are everybody's
        own = getattr(thing, "__dict__", None)
        for name in [*(own if isinstance(own, dict) else ()), *_slots(type(thing))]:
            _erase(getattr(thing, name, None), met)


def _slots(kind: type) -> list[str]:
    """The names in the ``__slots__`` of a class, without what types in C keep for themselves."""
    return [
        name
        for base in kind.__mro__
        if "__slots__" in vars(base)
        for name, member in vars(base).items()
        if isinstance(member, MemberDescriptorType)
    ]


def _some_response(task: Task) -> Any:
    """A response to try: the last that is listed, or what the responses themselves offer."""
    return _some_responses(task)[-1]


def _some_responses(task: Task) -> list[Any]:
    """All that are listed, or a few uninformed draws."""
    if isinstance(task.responses, Listed):
        return list(range(len(task.responses)))
    return list(task.responses.draw(DRAWS, np.random.default_rng(0)))
