"""Thompson sampling follows the posterior, and says how often it does what."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tellback import Facts
from tellback.agents import (
    Certified,
    Greedy,
    ModelAgent,
    Thompson,
)
from tellback.agents.thompson import PosteriorSampling
from tellback.errors import SettingError
from tellback.models import FiniteClass, Posterior, Sentence
from tellback.models.mixture import MixtureModel
from tests.support.explorers import (
    Fixed,
    a_task,
    chosen,
    simplex_task,
    trained,
)


def test_a_model_that_cannot_draw_is_refused_with_the_way_out() -> None:
    for spec, facts in (
        (Thompson(model=Sentence()), Facts(3, None)),
        (Thompson(model=FiniteClass()), Facts(3, 5)),
        (Certified(Thompson(model=FiniteClass())), Facts(3, 5)),
    ):
        with pytest.raises(SettingError, match=r"draws\(\).*mixture, ridge"):
            spec.build(facts, np.random.default_rng(0))
    assert isinstance(MixtureModel(3, 2), Posterior)


@pytest.mark.parametrize("draws", [1, 12])
def test_thompson_follows_one_draw_of_the_posterior(draws: int) -> None:
    agent = ModelAgent(Fixed(0.9, 0.1, second=0.3), PosteriorSampling(1.0, draws, "random"))
    choices = chosen(agent, simplex_task(2), 4000)
    counts = np.bincount([choice.response for choice in choices])
    assert stats.chisquare(counts, [2800, 1200]).pvalue > 1e-3
    assert {choice.estimate for choice in choices} == {0.9, 0.1}


@pytest.mark.parametrize(("draws", "second"), [(2, 0.3), (5, 0.3), (5, 0.05), (50, 0.05)])
def test_inverse_propensity_weighting_loses_only_what_is_never_drawn(
    draws: int, second: float
) -> None:
    agent = ModelAgent(Fixed(0, 0, second=second), PosteriorSampling(1.0, draws, "first"))
    weights = [
        1 / choice.propensity if choice.response == 1 and choice.propensity else 0.0
        for choice in chosen(agent, simplex_task(2), 6000)
    ]
    error = np.std(weights) / np.sqrt(len(weights))
    assert np.mean(weights) == pytest.approx(1 - (1 - second) ** draws, abs=4 * error)


def test_with_one_draw_thompson_states_no_propensity() -> None:
    agent = trained(Thompson(draws=1))
    assert agent.propensities == "none are stated"
    assert {choice.propensity for choice in chosen(agent, a_task(), 20)} == {None}


def test_draws_that_are_not_stretched_at_all_are_greedy() -> None:
    agent = trained(Thompson(scale=0.0, draws=3))
    for x in range(5):
        estimates = agent.model.estimates(x, a_task().responses)
        for choice in chosen(agent, a_task(x), 10):
            assert choice.estimate == pytest.approx(estimates.max(), rel=1e-9)


def test_wider_draws_explore_more() -> None:
    model = trained(Greedy()).model
    means = []
    for scale in (0.0, 0.5, 2.0):
        agent = ModelAgent(model, PosteriorSampling(scale, 1, "random"))
        means.append(np.mean([choice.estimate for choice in chosen(agent, a_task(2), 500)]))
    assert means[0] > means[1] > means[2]
