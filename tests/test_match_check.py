"""Every simulated run holds its matches against its rewards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tellback import Choice, Simulation, Task, play
from tellback.agents import LORIL, Greedy, Uniform
from tellback.encoders import Thumbnail
from tellback.match_check import FALSE_ALARMS, match_check
from tellback.matching import ErrorRates
from tellback.models import Ridge
from tellback.streams import Stream
from tellback.theory.matches import match_evidence
from tellback.theory.shares import share_of_counts
from tellback.worlds import (
    Adversarial,
    Demonstrations,
    Hard,
    Images,
    OneHotFeatures,
    Paraphrases,
    RawFeatures,
    Realizable,
    Synthetic,
)

SMALL = Synthetic(instructions=4, responses=6, rank=3, seed=1)
PICTURES = Thumbnail(cells=2)
WORLDS = [
    SMALL,
    Synthetic(instructions=20, contexts="fresh", asks="marginal"),
    Adversarial(SMALL),
    Demonstrations(SMALL),
    OneHotFeatures(SMALL),
    RawFeatures(),
    Hard(),
    Realizable(),
    Images(encoder=PICTURES),
    pytest.param(Paraphrases(encoder=PICTURES), marks=pytest.mark.slow),  # its match is long
]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.kind)
def test_honest_runs_raise_no_alarm(world: Any) -> None:
    for seed, agent in enumerate([Uniform(), Greedy(model=Ridge())]):
        check = play(world, agent, 400, seed=seed).match_check
        assert check is not None
        assert not check.differs, check


class Flatterer:
    """Knows the seed, so that it knows what the teacher will say of each response."""

    def __init__(self, teacher: Any, seed: int) -> None:
        self.teacher = teacher
        self.stream = Stream(seed, "teacher")
        self.t = 0

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        self.t += 1
        wanted = [
            y
            for y in range(len(task.responses))
            if self.teacher.describe(task.context, y, self.stream.at(self.t)) == task.instruction
        ]
        return task.choose(wanted[0] if wanted else 0)

    def learn(self, task: Task, choice: Choice, description: Any) -> None: ...


def flattered(rounds: int) -> Any:
    simulation = SMALL.build(np.random.default_rng(0))
    return play(simulation, Flatterer(simulation.teacher, 9), rounds, seed=9)


def test_an_agent_that_flatters_is_noticed() -> None:
    run = flattered(500)
    check = run.match_check
    assert check.differs
    assert check.matched > check.rewarded + 0.1
    assert next(iter(run.summary())) == "WARNING"
    assert "honest run" in str(run.summary())
    assert "WARNING" not in play(SMALL, LORIL(), 500, seed=9).summary()


def test_without_a_truth_there_is_nothing_to_compare() -> None:
    simulation = SMALL.build(np.random.default_rng(0))
    run = play(Simulation(simulation.world, simulation.teacher, None), Uniform(), 20, seed=1)
    assert run.match_check is None


def test_alarms_are_as_rare_as_they_are_said_to_be() -> None:
    """At a hundredth: of 400 honest runs, watched after every tenth round, about 4."""
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(400):
        p = rng.random(200) * rng.random()
        m = (rng.random(200) < p).astype(float)
        alarms += any(match_evidence(m[:n], p[:n], p[:n]) > np.log(100) for n in range(10, 201, 10))
    assert alarms <= 8  # 4 are allowed on average, and 9 or more with a probability of 2%


@pytest.mark.parametrize("p", [0.001, 0.05, 0.5, 0.95])
def test_a_difference_is_found_in_time(p: float) -> None:
    """Half as many matches again, or half of the misses gone."""
    n = int(400 / min(p, 1 - p))
    more = p + min(p, 1 - p) / 2
    m = np.zeros(n)
    m[: round(more * n)] = 1
    check = match_check(m, np.full(n, p))
    assert check is not None
    assert check.differs
    honest = np.zeros(n)
    honest[: round(p * n)] = 1
    assert not match_check(honest, np.full(n, p)).differs  # type: ignore[union-attr]
    assert check.evidence > -np.log(FALSE_ALARMS)


class Wrong:
    """A match that is wrong at times."""

    says = "wrong at times"
    errors = ErrorRates(share_of_counts(10, 100), share_of_counts(10, 100))

    def __call__(self, asked: Any, told: Any) -> bool:
        return bool(asked == told)


def test_error_rates_of_a_match_are_allowed_for() -> None:
    m, rewards = np.ones(5000), np.ones(5000)
    m[:500] = 0
    assert match_check(m, rewards).differs  # type: ignore[union-attr]
    assert not match_check(m, rewards, Wrong()).differs  # type: ignore[union-attr]
    m[:2000] = 0
    assert match_check(m, rewards, Wrong()).differs  # type: ignore[union-attr]
    near = np.zeros(5000)  # an agent that errs by little, which such a match does not notice
    assert not match_check(np.ones(5000), near, Wrong()).differs  # type: ignore[union-attr]


def test_words_are_said_less_often_than_they_are_true() -> None:
    m, rewards = np.zeros(1000), np.full(1000, 0.5)
    assert match_check(m, rewards).differs  # type: ignore[union-attr]
    assert not match_check(m, rewards, by_meaning=True).differs  # type: ignore[union-attr]


def test_a_match_whose_errors_nobody_knows_is_not_held_against_rewards() -> None:
    class Vague:
        says = "who knows"

        def __call__(self, asked: Any, told: Any) -> bool:
            return True

    assert match_check(np.ones(10), np.zeros(10), Vague()) is None
