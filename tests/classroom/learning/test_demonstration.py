"""The demonstration in the house: paths that are described by a person who reads the drawing."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tellback.classroom.learning.demonstration import demonstration
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.store.active import ActiveDescription
from tellback.classroom.store.database import Database
from tellback.classroom.store.rounds import Drawn
from tests.support.classroom_lessons import new_lesson
from tests.support.house_reader import looked_at, told
from tests.support.states import same_state


@pytest.mark.parametrize("seed", [1, 2])
def test_thirty_descriptions_of_paths_lift_held_out_requests_far_above_chance(
    database: Database, seed: int
) -> None:
    learner = Learner(database, new_lesson(database, demonstration("house", seed)))
    rng = np.random.default_rng([seed, 1])
    before = learner.examined()[1].right
    for _ in range(30):
        claimed = learner.claim("ann", time.time() + 600)
        assert claimed is not None
        assert claimed.task.drawing is not None
        learner.describe(claimed.task.round, "ann", told(looked_at(claimed.task.drawing), rng))
    assert before <= 25  # of 100; a path at random meets 9
    assert learner.examined()[1].right >= 30  # the lowest of 20 lessons (seeds 0 to 19) has 31


def test_a_path_that_its_world_no_longer_has_teaches_by_its_features_alone() -> None:
    definition = demonstration("house")
    agent, other = LessonAgent(definition), LessonAgent(definition)
    task = agent.world_task(1)
    choice = agent.choose(1, task)
    one = ActiveDescription(1, 1, task.instruction, choice, "to the hall")
    agent.add(one._replace(drawn=Drawn(1, "N" * 99)))
    assert agent.learned == 1
    other.add(one)
    assert same_state(agent.state(), other.state())
