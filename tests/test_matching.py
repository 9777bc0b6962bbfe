"""A match is defined once, says how often it is wrong, and everything follows it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellback import Choice, Simulation, Task, play
from tellback.agents import Uniform
from tellback.errors import ProtocolError
from tellback.matching import ErrorRates, Same
from tellback.run import Run
from tellback.theory import Interval, running_mean
from tellback.theory.shares import Share, share_of_counts
from tellback.worlds import Synthetic
from tests.support.spoken import COLOURS, Spoken, calibrated


@given(st.one_of(st.integers(), st.text()), st.one_of(st.integers(), st.text(), st.none()))
def test_same_is_equality(asked: int | str, told: int | str | None) -> None:
    assert Same()(asked, told) is (asked == told)
    assert Same()(asked, asked)


def test_same_is_exact_and_says_so() -> None:
    assert Same().errors is None
    assert "exact" in Same().says


def test_playing_loads_no_encoder() -> None:
    """Only sentences in free words need encoders; a table of integers does not."""
    code = "import sys, tellback.run; from tellback import play; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "tellback.protocol" in loaded
    assert not [name for name in loaded if name.startswith("tellback.encoders")]


# --- the reward behind matches ---------------------------------------------------------------

rates = st.floats(0, 0.4)


@given(reward=st.floats(0, 1), yes=rates, no=rates)
def test_the_reward_behind_matches_is_found_again(reward: float, yes: float, no: float) -> None:
    seen = np.array([reward * (1 - no) + (1 - reward) * yes])
    errors = ErrorRates(Share(yes, yes, yes, 10), Share(no, no, no, 10))
    for part in errors.reward(Interval(seen, seen, seen)):
        assert part[0] == pytest.approx(reward, abs=1e-9)


@given(
    reward=st.floats(0, 1),
    yes=rates,
    no=rates,
    wrong=st.tuples(st.integers(0, 40), st.integers(0, 40)),
)
def test_bounds_hold_the_reward_where_the_intervals_hold_theirs(
    reward: float, yes: float, no: float, wrong: tuple[int, int]
) -> None:
    errors = ErrorRates(share_of_counts(wrong[0], 100), share_of_counts(wrong[1], 100))
    if not (errors[0].low <= yes <= errors[0].high and errors[1].low <= no <= errors[1].high):
        return
    seen = reward * (1 - no) + (1 - reward) * yes
    around = Interval(*(np.array([x]) for x in (seen, max(seen - 0.05, 0), min(seen + 0.05, 1))))
    _, low, high = errors.reward(around)
    assert low[0] <= reward + 1e-9
    assert high[0] >= reward - 1e-9


def test_a_match_no_better_than_a_coin_says_nothing_of_the_reward() -> None:
    errors = ErrorRates(Share(0.5, 0.4, 0.6, 20), Share(0.5, 0.4, 0.6, 20))
    mean, low, high = errors.reward(Interval(*(np.array([0.5]) for _ in range(3))))
    assert np.isnan(mean[0])
    assert (low[0], high[0]) == (0, 1)


# --- runs --------------------------------------------------------------------------------------


def test_a_world_without_a_match_is_judged_by_equality() -> None:
    assert play(Synthetic(), Uniform(), rounds=20).match == Same()
    run = play(Spoken(), Uniform(), rounds=50)
    assert run.match == Same()
    assert not run.matches.any()


def test_a_run_follows_the_match_of_its_world() -> None:
    match = calibrated()
    run = play(Spoken(match), Uniform(), rounds=300, seed=2)
    assert run.match is match
    told = run.described.astype(bool)
    assert 0 < told.sum() < 300
    assert not run.matches[~told].any()
    expected = [match(a, t) for a, t in zip(run.instructions, run.descriptions, strict=True)]
    assert run.matches.tolist() == expected
    # It is right mostly, and where it says yes or no wrongly the estimate allows for it.
    assert (run.matches == run.rewards)[told].mean() > 0.9
    assert match.errors is not None
    allowed = match.errors.reward(running_mean(run.matches[told]))
    for one, other in zip(run.reward_estimate(), allowed, strict=True):
        np.testing.assert_array_equal(one, other)
    _, low, high = run.reward_estimate()
    assert low[-1] <= run.rewards[told].mean() <= high[-1]
    summary = run.summary()["descriptions that matched"]
    assert match.says in summary
    assert f"{run.matches[told].mean():.2%}" in summary


def test_an_exact_match_is_not_spoken_of() -> None:
    run = play(Synthetic(), Uniform(), rounds=50)
    assert "by" not in run.summary()["descriptions that matched"]


class Sure:
    """Does what is asked, and says so: a reward of 0.9, give or take 0.1."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        y = COLOURS.index(next(c for c in COLOURS if c in str(task.instruction)))
        return task.choose(y, estimate=0.9)._replace(width=0.1, highest=1.0)

    def learn(self, task: Task, choice: Choice, description: Any) -> None: ...


def always_right(match: Any) -> Run:
    return play(Spoken(match), Sure(), rounds=2000, seed=1)


def test_calibration_by_matches_does_not_blame_the_agent_for_the_match() -> None:
    """An agent that is always right, as it says, judged by a match that misses one in three."""

    class Missing:
        says = "a coin"
        errors = None

        def __call__(self, asked: Any, told: Any) -> bool:
            right = any(c in str(asked) and c in str(told) for c in COLOURS)
            return right and len(str(told)) % 3 != 0

    class Honest(Missing):
        errors: Any = None

    run = always_right(Missing())
    missed = 1 - run.matches[run.described].mean()
    assert missed > 0.2
    assert run.calibration(truth=False).light == "red"
    Honest.errors = ErrorRates(
        share_of_counts(0, 10_000), share_of_counts(round(1e4 * missed), 10_000)
    )
    assert always_right(Honest()).calibration(truth=False).light == "grey"


@pytest.mark.parametrize("wrong", [lambda asked, told: True, "equal", Same])
def test_what_cannot_be_a_match_is_refused(wrong: Any) -> None:
    with pytest.raises(ProtocolError, match="cannot be used as a match"):
        play(Spoken(wrong), Uniform(), rounds=5)


def test_a_simulation_has_the_match_of_its_world() -> None:
    world = Spoken(calibrated())
    run = play(Simulation(world, world, None), Uniform(), rounds=30)
    assert run.match == calibrated()
