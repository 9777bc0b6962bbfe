"""Exams on held-out tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tellback import Simulation, Task, play
from tellback.agents import Uniform, recommended
from tellback.errors import SettingError
from tellback.streams import Streams
from tellback.worlds import House, Synthetic
from tellback.worlds.held_out import examine, learning_curve

SMALL = House(width=7, height=5, rooms=3, things=3, steps=7, synonyms=1)


def state_of(agent: Any) -> dict[str, Any]:
    return {name: np.array(value) for name, value in agent.state().items()}


def test_nothing_is_learned_in_an_exam_and_it_is_the_same_each_time() -> None:
    agent: Any = play(SMALL, recommended(SMALL), 30, seed=1).agent
    before = state_of(agent)
    first, second = (examine(SMALL, agent, 40, seed=5) for _ in range(2))
    assert first == second
    assert first.tasks == 40
    assert 0 <= first.success <= first.possible <= 1
    for name, value in state_of(agent).items():
        np.testing.assert_array_equal(value, before[name])


def test_a_curve_teaches_as_a_run_does() -> None:
    exams = list(learning_curve(SMALL, recommended(SMALL), (0, 20, 50), 30, seed=4))
    assert [exam.described for exam in exams] == [0, 20, 50]
    agent: Any = play(SMALL, recommended(SMALL), 50, seed=4).agent
    assert examine(SMALL, agent, 30, seed=4)._replace(described=50) == exams[-1]


def test_tasks_of_an_exam_are_not_those_of_the_run_with_its_seed() -> None:
    asked: list[Task] = []

    class Watched:
        def __init__(self, world: Any) -> None:
            self.world, self.facts = world, world.facts

        def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
            task: Task = self.world.task(t, history, rng)
            asked.append(task)
            return task

    built = SMALL.build(Streams(3).init("world"))
    watched = Simulation(Watched(built.world), built.teacher, built.truth)
    examine(watched, Uniform().build(SMALL.facts, np.random.default_rng(0)), 20, seed=3)
    stream = Streams(3).stream("world")
    met = [built.world.task(t, (), stream.at(t)).context for t in range(1, 21)]
    plans = {(plan.start, plan.rooms.tobytes(), plan.things.tobytes()) for plan in met}
    assert all(
        (one.context.start, one.context.rooms.tobytes(), one.context.things.tobytes()) not in plans
        for one in asked
    )


def test_a_truth_may_say_itself_what_a_success_is() -> None:
    built = SMALL.build(Streams(3).init("world"))

    class Strict:
        def __init__(self, truth: Any) -> None:
            self.reward, self.best = truth.reward, truth.best

        def succeeds(self, task: Task, response: str) -> bool:
            return False

    strict = Simulation(built.world, built.teacher, Strict(built.truth))
    agent = recommended(SMALL).build(SMALL.facts, np.random.default_rng(0))
    exam = examine(strict, agent, 20)
    assert exam.success == exam.possible == 0
    assert exam.of_best > 0


def test_listed_responses_have_no_candidates_and_a_world_without_truth_no_exam() -> None:
    world = Synthetic(instructions=4, responses=3, rank=2)
    built = world.build(np.random.default_rng(0))
    agent = Uniform().build(world.facts, np.random.default_rng(0))
    assert np.isnan(examine(built, agent, 10).possible)
    with pytest.raises(SettingError, match="truth"):
        examine(Simulation(built.world, built.teacher, None), agent)
