"""Tasks, models and counts to try explorers with."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tellback import Choice, Listed, Task, play, rounds
from tellback.agents import AgentSpec, ModelAgent, Uniform
from tellback.roles import Instruction, State
from tellback.streams import Stream
from tellback.worlds import Synthetic
from tests.support.oracles import Floats, random_simplex

RESPONSES = 6
WORLD = Synthetic(instructions=5, responses=RESPONSES, rank=3, seed=2)


class Fixed:
    """A model that always estimates the same, and draws by the toss of a coin."""

    def __init__(self, *estimates: float, second: float = 0.0) -> None:
        self.values = np.array(estimates)
        self.second = second

    def estimates(self, instruction: Instruction, responses: Listed) -> Floats:
        return self.values

    def draws(
        self, instruction: Instruction, responses: Listed, count: int, rng: np.random.Generator
    ) -> Floats:
        best = (rng.random(count) < self.second).astype(int)
        corners: Floats = np.eye(len(responses))[best]
        return corners

    def learn(self, features: Floats, description: Instruction) -> None: ...

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None: ...


def trained(spec: AgentSpec, lessons: int = 40) -> ModelAgent:
    agent = play(WORLD, spec, lessons, seed=1).agent
    assert isinstance(agent, ModelAgent)
    return agent


def a_task(instruction: int = 0) -> Task:
    (first,) = islice(rounds(WORLD, Uniform()), 1)
    task: Task = first.task._replace(instruction=instruction)
    return task


def chosen(agent: Any, task: Task, times: int = 3000) -> list[Choice]:
    stream = Stream(77, "agent")
    return [agent.respond(task, stream.at(t)) for t in range(times)]


def simplex_task(responses: int, dim: int = 3, seed: int = 0) -> Task:
    return Task(0, 0, Listed(random_simplex(np.random.default_rng(seed), responses, dim)))


def check_propensities(choices: list[Choice], responses: int) -> Floats:
    """Each response has one propensity; they sum to 1, and are the frequencies."""
    stated = {choice.response: choice.propensity for choice in choices}
    assert all(stated[choice.response] == choice.propensity for choice in choices)
    propensity = np.array([stated.get(y, 0.0) for y in range(responses)], dtype=float)
    assert propensity.sum() == pytest.approx(1, rel=1e-12)
    counts = np.bincount([choice.response for choice in choices], minlength=responses)
    possible = propensity > 0
    if possible.sum() > 1:
        expected = propensity[possible] * counts.sum()
        assert stats.chisquare(counts[possible], expected).pvalue > 1e-3
    return propensity
