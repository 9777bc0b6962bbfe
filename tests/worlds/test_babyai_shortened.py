"""Trajectories in BabyAI without their detours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tellback.worlds.babyai import BabyAI
from tellback.worlds.babyai_grid import things_of
from tellback.worlds.babyai_levels import scene_of
from tellback.worlds.babyai_trajectories import Trajectories
from tests.support.babyai_env import small_room
from tests.worlds.test_babyai_grid import responses


@pytest.mark.parametrize("level", ["GoToLocal", "PickupLoc", "PutNextLocal", "GoToSeqS5R2"])
def test_a_shortened_trajectory_is_described_in_the_same_way(level: str) -> None:
    spec = BabyAI(level, steps=40)
    teacher: Any = spec.build(np.random.default_rng(0)).teacher
    before = after = 0
    for number in range(6):
        task = spec.mission(number)
        for response in responses(things_of(task.context), number):
            shorter = task.responses.shortened(response)
            assert shorter in task.responses
            features = task.responses.matrix_of([response, shorter])
            np.testing.assert_array_equal(features[0], features[1])
            said = (teacher.probabilities(task.context, one) for one in (response, shorter))
            assert next(said) == next(said)
            assert len(shorter) <= len(response)
            before, after = before + len(response), after + len(shorter)
    assert after < 0.7 * before


def test_what_has_nothing_to_do_with_the_events_is_left_out() -> None:
    env = small_room({(2, 1): "red ball", (2, 2): "blue box", (1, 2): "grey key"})
    things = things_of(scene_of(env))

    def shortened(level: str, response: str) -> str:
        return str(Trajectories(things, BabyAI(level).summary, 30).shortened(response))

    assert shortened("Pickup", "rlpdrplr") == "rp"
    assert shortened("Pickup", "rrrrpd.ll") == "p"
    assert shortened("GoToLocal", "lrrl.r.l.") == "."
    assert shortened("PutNextLocal", "llllplrdpd.ll") == "pd"
