"""What a log is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tellback.agents import (
    EpsilonGreedy,
    Uniform,
)
from tellback.errors import SettingError
from tellback.off_policy import (
    Log,
    Uniformly,
    inverse_propensity,
)
from tests.support.off_policy import a_log, played


def test_a_log_says_what_was_played() -> None:
    done = played(EpsilonGreedy(epsilon=0.3), 50)
    log = Log.of(done)
    assert len(log) == 50
    for i, one in enumerate(done):
        assert log.tasks[i] == one.task
        assert log.responses[i] == one.choice.response
        assert log.propensities[i] == one.choice.propensity
        assert log.matches[i] == (one.description == one.task.instruction)


def test_what_counts_as_a_match_is_for_the_user_to_say() -> None:
    def near(asked: Any, told: Any) -> bool:
        return bool(abs(asked - told) <= 1)

    done = played(Uniform(), 50)
    log = Log.of(done, match=near)
    assert log.matches.tolist() == [
        float(abs(one.description - one.task.instruction) <= 1)  # type: ignore[operator]
        for one in done
    ]
    assert log.matches.sum() > Log.of(done).matches.sum()


def test_a_round_never_described_stays_missing_and_is_left_out() -> None:
    done = played(EpsilonGreedy(epsilon=0.5), 300)
    some = [one._replace(description=None) if one.t % 3 == 0 else one for one in done]
    log = Log.of(some)
    assert np.isnan(log.matches).sum() == 100
    assert len(log.usable) == 200
    rest = Log.of([one for one in done if one.t % 3])
    assert inverse_propensity(log, Uniformly()) == inverse_propensity(rest, Uniformly())


def test_a_round_whose_teacher_saw_the_request_is_left_out() -> None:
    done = played(EpsilonGreedy(epsilon=0.5), 300)
    # A teacher who has seen the request repeats it, which says nothing of the response.
    flattered = [
        one._replace(description=one.task.instruction) if one.t % 2 else one for one in done
    ]
    log = Log.of(flattered, teacher_saw_request=[bool(one.t % 2) for one in flattered])
    rest = Log.of([one for one in done if not one.t % 2])
    assert len(log.usable) == 150
    assert inverse_propensity(log, Uniformly()) == inverse_propensity(rest, Uniformly())
    assert len(Log.of(done, teacher_saw_request=True).usable) == 0
    with pytest.raises(ValueError, match="zip"):
        Log.of(done, teacher_saw_request=[True])


def test_an_impossible_log_is_refused() -> None:
    with pytest.raises(SettingError, match="above 0 and at most 1, not 2"):
        a_log([1.0], [2.0])
    with pytest.raises(SettingError, match=r"responses\[0\] must be from 0 to 1, not 2"):
        a_log([1.0], [0.5], [2])
    with pytest.raises(SettingError, match="matches must be 0, 1 or NaN"):
        a_log([0.5], [0.5])
    with pytest.raises(SettingError, match="propensities has 1 entries, and tasks has 2"):
        a_log([1.0, 1.0], [0.5])
