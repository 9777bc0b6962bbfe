"""Optimism by the Fisher information on the instruction."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

from tellback import Choice, Facts, Listed, Task, play, rounds
from tellback.agents import (
    LORIL,
    Fisher,
)
from tellback.errors import SettingError
from tellback.lab import RunSpec
from tellback.lab.diagnose import diagnose
from tellback.worlds import Synthetic
from tests.support.explorers import (
    WORLD,
    a_task,
    trained,
)
from tests.support.oracles import Floats


@pytest.mark.parametrize("contexts", [1, "fresh"])
def test_the_bonus_is_k_standard_errors_under_the_information_on_the_instruction(
    contexts: int | str,
) -> None:
    world = WORLD.with_settings({"contexts": contexts})
    facts = world.build(np.random.default_rng(0)).world.facts
    k, lam, floor = 0.7, 0.3, 0.08
    agent: Any = Fisher(k=k, lam=lam, floor=floor).build(facts, np.random.default_rng(0))
    f = agent.model.f
    described: list[Floats] = []
    for r in islice(rounds(world, agent, seed=3), 120):
        information = lam * np.eye(3)
        for g in described:  # one description after the other, nothing compressed
            p = float(f[r.task.instruction] @ g)
            information += np.outer(g, g) / max(p * (1 - p), floor)
        g = r.choice.features
        error = np.sqrt(g @ np.linalg.inv(information) @ g)
        assert r.choice.bonus == pytest.approx(k * error, rel=1e-9)
        f = agent.model.f
        described.append(g)


def test_where_every_description_counts_the_same_it_is_loril() -> None:
    world = Synthetic(instructions=5, responses=30, rank=4, seed=1)
    fisher = play(world, Fisher(k=0.8, lam=2.0, floor=0.25), 300, seed=4)
    loril = play(world, LORIL(k=0.4, lam=0.5), 300, seed=4)
    np.testing.assert_array_equal(fisher.responses, loril.responses)
    unequal = play(world, Fisher(k=0.8, lam=2.0, floor=0.01), 300, seed=4)
    assert not np.array_equal(unequal.responses, loril.responses)


def test_a_tiny_ridge_beside_a_million_descriptions_stays_a_number() -> None:
    agent: Any = Fisher(lam=1e-9, floor=1e-6).build(Facts(3, 2), np.random.default_rng(0))
    corner = Listed([[1.0, 0, 0], [0, 0, 1.0], [0.5, 0.5, 0]])
    agent.learn(Task(0, 0, corner), Choice(0, corner.features(0)), 1)
    state = dict(agent.state()) | {"explorer.counts": np.array([10**6])}
    agent.restore(state)
    choice = agent.respond(Task(0, 0, corner), np.random.default_rng(0))
    assert choice.response == 1
    assert choice.bonus == pytest.approx(1 / np.sqrt(1e-9))


@pytest.mark.parametrize(
    "damage",
    [
        {"explorer.counts": np.array([0])},
        {"explorer.counts": np.array([1, 1])},
        {"explorer.features": np.array([[np.nan, 0, 1]])},
        {"explorer.features": np.ones((1, 2))},
    ],
    ids=repr,
)
def test_descriptions_that_do_not_fit_are_refused(damage: dict[str, Any]) -> None:
    agent: Any = Fisher().build(Facts(3, 5), np.random.default_rng(0))
    task = a_task()
    agent.learn(task, Choice(0, task.responses.features(0)), 1)
    with pytest.raises(SettingError, match="saved"):
        agent.restore(dict(agent.state()) | damage)
    assert agent.state()["explorer.counts"].tolist() == [1]


def test_a_bonus_that_depends_on_the_instruction_can_be_diagnosed() -> None:
    assert np.isnan(trained(Fisher()).explorer.bonuses(a_task().responses)).all()
    assert str(diagnose(RunSpec(WORLD, Fisher(), rounds=60, seed=1)))
