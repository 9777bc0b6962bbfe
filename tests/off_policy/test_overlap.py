"""Whether a log can speak for a policy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellback.agents import (
    LORIL,
    AgentSpec,
    Greedy,
    Uniform,
)
from tellback.off_policy import (
    AgentPolicy,
    Log,
    OverlapError,
    Uniformly,
    demand_overlap,
    inverse_propensity,
    overlap,
    self_normalised,
)
from tests.support.off_policy import Fixed, a_log, played, taught


@pytest.mark.parametrize("logger", [LORIL(), Greedy(), Greedy(ties="first")])
def test_a_log_that_left_nothing_to_chance_is_refused(logger: AgentSpec) -> None:
    log = Log.of(played(logger, 100))
    for estimate in (inverse_propensity, self_normalised, demand_overlap):
        with pytest.raises(OverlapError, match=r"propensity 1.*EpsilonGreedy") as refused:
            estimate(log, Uniformly())
        assert "LORIL" in str(refused.value)
    assert overlap(log, Uniformly()).lost > 0.5


def test_a_deterministic_log_speaks_for_the_policy_that_did_the_same() -> None:
    agent = taught()
    done = [
        one._replace(choice=agent.respond(one.task, np.random.default_rng(0)))
        for one in played(Uniform(), 50)
    ]
    log = Log.of(done)
    assert set(log.propensities) == {1.0}
    found = inverse_propensity(log, AgentPolicy(agent))
    assert found.mean == log.matches.mean()
    assert found.effective_n == 50


def test_a_log_without_propensities_is_refused_and_told_whom_to_log_with() -> None:
    done = [
        one._replace(choice=one.choice._replace(propensity=None)) if one.t > 30 else one
        for one in played(Uniform(), 40)
    ]
    with pytest.raises(OverlapError, match=r"In 10 of 40 rounds.*Uniform\(\) or EpsilonGreedy"):
        inverse_propensity(Log.of(done), Uniformly())


def test_a_log_that_never_tries_what_the_policy_wants_is_refused_though_it_draws() -> None:
    # Two of four responses, each with a half: no propensity is 1, and yet half is missing.
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 2, 200).tolist()
    log = a_log(rng.integers(0, 2, 200).astype(float).tolist(), [0.5] * 200, drawn, count=4)
    with pytest.raises(OverlapError, match=r"mean 0\.500 .* no chance"):
        inverse_propensity(log, Uniformly())
    assert demand_overlap(log, Fixed(0.5, 0.5, 0.0, 0.0)).mean_weight == 1


def test_propensities_that_were_not_used_are_refused() -> None:
    log = Log.of(played(Uniform(), 200))
    for factor in (0.5, 2.0):
        wrong = Log(
            log.tasks,
            log.responses,
            log.propensities * factor,
            log.descriptions,
            log.matches,
            log.teacher_saw_request,
        )
        with pytest.raises(OverlapError, match="should have mean 1"):
            inverse_propensity(wrong, Fixed(0.7, 0.1, 0.1, 0.1))


def test_too_few_rounds_are_refused() -> None:
    with pytest.raises(OverlapError, match="1 usable"):
        inverse_propensity(a_log([1.0, np.nan], [0.5, 0.5]), Uniformly())


@given(st.lists(st.integers(0, 3), min_size=2, max_size=40), st.integers(0, 100))
def test_effective_rounds_are_no_more_than_rounds(responses: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(responses)
    log = a_log([1.0] * n, rng.uniform(0.05, 1, n).tolist(), responses, count=4)
    found = overlap(log, Uniformly())
    assert 1 <= found.effective_n <= n + 1e-9
    assert found.largest_weight <= 0.25 / log.propensities.min() + 1e-12
