"""Policies: whose reward is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tellback import Task, play
from tellback.agents import (
    EpsilonGreedy,
    Greedy,
    ModelAgent,
    Uniform,
)
from tellback.errors import SettingError
from tellback.off_policy import (
    AgentPolicy,
    Greedily,
    Log,
    inverse_propensity,
)
from tests.support.off_policy import Fixed, played, taught, world


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_an_agent_and_its_model_are_the_same_policy(epsilon: float) -> None:
    spec = EpsilonGreedy(epsilon=epsilon) if epsilon else Greedy()
    run = play(world(), spec, 30, seed=1)
    agent = run.agent
    assert isinstance(agent, ModelAgent)
    before = agent.state()
    of_model, of_agent = Greedily(agent.model, epsilon=epsilon), AgentPolicy(agent)
    for one in played(Uniform(), 20):
        np.testing.assert_allclose(
            of_agent.probabilities(one.task), of_model.probabilities(one.task), atol=1e-12
        )
    for name, value in agent.state().items():
        np.testing.assert_array_equal(value, before[name])


def test_shares_of_draws_come_close_to_the_probabilities() -> None:
    agent = play(world(), EpsilonGreedy(epsilon=0.4), 50).agent
    task = played(Uniform(), 1)[0].task
    shares = AgentPolicy(agent, draws=4000).probabilities(task)
    np.testing.assert_allclose(shares, AgentPolicy(agent).probabilities(task), atol=0.04)


def test_a_deterministic_agent_is_asked_once() -> None:
    agent = taught()
    asked = []

    class Counting:
        def respond(self, task: Task, rng: np.random.Generator) -> Any:
            asked.append(task)
            return agent.respond(task, rng)

        def learn(self, task: Task, choice: Any, description: Any) -> None:
            raise AssertionError("a policy teaches nobody")

    task = played(Uniform(), 1)[0].task
    for draws in (None, 50):
        asked.clear()
        assert AgentPolicy(Counting(), draws=draws).probabilities(task).max() == 1
        assert len(asked) == 1


def test_what_cannot_be_a_policy_is_refused() -> None:
    log = Log.of(played(Uniform(), 20))
    with pytest.raises(SettingError, match="live agent, not the spec"):
        AgentPolicy(Greedy())  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=r"AgentPolicy\(agent\) makes one"):
        inverse_propensity(log, taught())  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="sum 1"):
        inverse_propensity(log, Fixed(0.5, 0.5, 0.5, 0.5))
    with pytest.raises(SettingError, match="sum 1"):
        inverse_propensity(log, Fixed(np.nan, 0.5, 0.5, 0.0))
    with pytest.raises(SettingError, match="shape"):
        inverse_propensity(log, Fixed(0.5, 0.5))


def test_an_agent_without_propensities_needs_a_number_of_draws() -> None:
    agent = taught()

    class Silent:
        def respond(self, task: Task, rng: np.random.Generator) -> Any:
            return agent.respond(task, rng)._replace(propensity=None)

        def learn(self, task: Task, choice: Any, description: Any) -> None: ...

    task = played(Uniform(), 1)[0].task
    with pytest.raises(SettingError, match="draws=100"):
        AgentPolicy(Silent()).probabilities(task)
    assert AgentPolicy(Silent(), draws=3).probabilities(task).max() == 1
