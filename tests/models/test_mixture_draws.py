"""Draws from the posterior of a mixture."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tellback import Listed
from tellback.errors import SettingError
from tellback.models.mixture import MixtureModel
from tests.support.oracles import Floats, random_simplex


def taught_mixture(lessons: int = 60, smoothing: float = 0.0) -> tuple[MixtureModel, Floats]:
    """A mixture, and the features it was taught with."""
    rng = np.random.default_rng(4)
    features = random_simplex(rng, lessons, 3)
    model = MixtureModel(5, 3, smoothing=smoothing)
    for g in features:
        model.learn(g, int(rng.integers(4)))  # instruction 4 is never said
    return model, features


@pytest.mark.parametrize("smoothing", [0.0, 0.7])
@pytest.mark.parametrize("x", [0, 4])
def test_mixture_draws_are_beta_with_the_expected_counts(x: int, smoothing: float) -> None:
    model, _ = taught_mixture(smoothing=smoothing)
    state: Any = model.state()
    expected, totals = state["expected"][x], state["totals"]
    a = smoothing or 1 / 5
    units = Listed(np.eye(3))  # whose estimates are the components of f(x)
    draws = model.draws(x, units, 4000, np.random.default_rng(0))
    for i in range(3):
        beta = stats.beta(a + expected[i], 4 * a + totals[i] - expected[i])
        assert stats.kstest(draws[:, i], beta.cdf).pvalue > 1e-3
    together = np.corrcoef(draws[:, 0], draws[:, 1])[0, 1]
    assert -0.06 < together < 0.06


def test_mixture_draws_mix_the_components_of_a_response_and_change_nothing() -> None:
    model, _ = taught_mixture()
    before = copy.deepcopy(dict(model.state()))
    g = random_simplex(np.random.default_rng(1), 7, 3)
    units, mixed = (
        model.draws(1, Listed(rows), 5, np.random.default_rng(3)) for rows in (np.eye(3), g)
    )
    np.testing.assert_allclose(mixed, units @ g.T, rtol=1e-12)
    after: Any = model.state()
    for name, value in before.items():
        np.testing.assert_array_equal(value, after[name])


def test_draws_of_what_was_described_a_thousand_times_are_near_the_estimate() -> None:
    model = MixtureModel(3, 2)
    for n in range(2000):
        model.learn(np.eye(2)[n % 2], n % 3)
    corners = Listed(np.eye(2))
    draws = model.draws(0, corners, 500, np.random.default_rng(0))
    assert float(np.abs(draws - model.estimates(0, corners)).max()) < 0.1
    np.testing.assert_allclose(draws.std(axis=0), np.sqrt(2 / 9 / 1000), rtol=0.2)


def test_the_only_instruction_there_is_is_certain() -> None:
    model = MixtureModel(1, 2)
    assert (model.draws(0, Listed(np.eye(2)), 3, np.random.default_rng(0)) == 1).all()


def test_no_draws_are_refused() -> None:
    with pytest.raises(SettingError, match="count"):
        MixtureModel(3, 2).draws(0, Listed(np.eye(2)), 0, np.random.default_rng(0))
