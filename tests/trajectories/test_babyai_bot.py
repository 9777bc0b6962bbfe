"""minigrid's bot, the upper bound in BabyAI."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.trajectories.babyai_bot import Bot
from tellback.worlds.babyai import HELD_OUT, BabyAI
from tests.support.babyai_env import started, steps_needed


@pytest.mark.parametrize("level", ["GoToLocal", "PickupLoc", "PutNextLocal", "GoToSeqS5R2"])
def test_the_bot_plays_from_what_agents_see_and_minigrid_rewards_it(level: str) -> None:
    world = BabyAI(level).for_exams()
    bot = Bot(level).build(world.facts, np.random.default_rng(0))
    for number in range(8):
        task = world.mission(number)
        response = bot.respond(task, np.random.default_rng(0)).response
        assert response in task.responses
        assert steps_needed(started(level, HELD_OUT + number), response) == len(response)


def test_the_bot_does_something_where_it_does_not_know_the_language() -> None:
    world = BabyAI("GoToLocal")
    task = world.mission(0)._replace(instruction="sing")
    bot = Bot("GoToLocal").build(world.facts, np.random.default_rng(0))
    assert bot.respond(task, np.random.default_rng(0)).response in task.responses
