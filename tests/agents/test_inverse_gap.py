"""Inverse-gap weighting: the printed probabilities, exactly stated."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import Facts, Listed, Task
from tellback.agents import (
    InverseGap,
    ModelAgent,
)
from tellback.agents.inverse_gap import GapWeights, SpannerWeights
from tests.support.explorers import (
    RESPONSES,
    Fixed,
    a_task,
    check_propensities,
    chosen,
    simplex_task,
    trained,
)


@pytest.mark.parametrize("tried", ["all", "spanner"])
@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize("lessons", [0, 40])
def test_inverse_gap_states_the_frequencies(tried: str, ties: str, lessons: int) -> None:
    spec = InverseGap(scale=1.0, tried=tried, ties=ties)
    facts = Facts(dim=3, instructions=5, fixed_responses=True)
    agent: Any = spec.build(facts, np.random.default_rng(0)) if not lessons else trained(spec)
    propensity = check_propensities(chosen(agent, a_task()), RESPONSES)
    assert (propensity > 0).all() or tried == "spanner"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 50), st.integers(0, 30))
@settings(max_examples=50, deadline=None)
def test_square_cb_is_the_printed_formula(
    estimates: list[float], scale: float, described: int
) -> None:
    explorer = GapWeights(scale, "first")
    for _ in range(described):
        explorer.learn(np.ones(1))
    K, gamma = len(estimates), scale * np.sqrt(len(estimates) * (described + 1))
    task = Task(0, 0, Listed(np.ones((K, 1))))
    _, probabilities = explorer.probabilities(task, Fixed(*estimates), np.random.default_rng(0))
    highest = max(estimates)
    best = next(y for y in range(K) if estimates[y] >= highest * (1 - 1e-9))
    for y in range(K):
        if y != best:
            assert probabilities[y] == pytest.approx(1 / (K + gamma * (highest - estimates[y])))
    assert probabilities.sum() == pytest.approx(1, rel=1e-12)
    assert (probabilities > 0).all()


def test_equally_good_responses_share_the_rest() -> None:
    task = Task(0, 0, Listed(np.ones((4, 1))))
    model = Fixed(0.5, 0.2, 0.5, 0.5)
    agent = ModelAgent(model, GapWeights(2.0, "random"))
    propensity = check_propensities(chosen(agent, task), 4)
    assert propensity[1] == pytest.approx(1 / (4 + 2 * 2 * 0.3))
    np.testing.assert_allclose(propensity[[0, 2, 3]], (1 - propensity[1]) / 3)


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_tried_spans_the_features_with_gaps(scale: float, seed: int) -> None:
    task = simplex_task(40, dim=4, seed=seed)
    g = task.responses.matrix
    estimates = g @ np.random.default_rng(seed).random(4)
    explorer = SpannerWeights(scale, "first")
    for _ in range(8):
        explorer.learn(g[0])
    _, probabilities = explorer.probabilities(task, Fixed(*estimates), np.random.default_rng(0))
    eta, gaps = scale * np.sqrt(9 / 4), estimates.max() - estimates
    tried = np.flatnonzero(probabilities)
    best = int(estimates.argmax())
    for y in tried:
        if y != best:
            assert probabilities[y] == pytest.approx(1 / (8 * (1 + eta * gaps[y])))
    assert probabilities[best] >= 0.5
    assert probabilities.sum() == pytest.approx(1, rel=1e-12)
    shrunk = g / np.sqrt(1 + eta * gaps)[:, None]
    # The best has a share whether it is a member or not: four of the rows are the spanner.
    assert any(
        abs(np.linalg.solve(shrunk[list(four)].T, shrunk.T)).max() <= 2 + 1e-6
        for four in itertools.combinations(tried, 4)
    )


def test_a_spanner_that_is_kept_is_the_one_that_is_found_anew() -> None:
    agent = trained(InverseGap(scale=3.0, tried="spanner"))
    for x in range(5):
        task = a_task(x)
        copied = task._replace(responses=Listed(task.responses.matrix))
        for one, other in zip(chosen(agent, task, 30), chosen(agent, copied, 30), strict=True):
            assert (one.response, one.propensity) == (other.response, other.propensity)
