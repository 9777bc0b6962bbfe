"""EM reaches the maximum of the likelihood, and certifies how close it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from tellback.errors import SettingError
from tellback.models.mixture import MixtureModel
from tests.support.mixtures import CASES, Lessons, lessons, smoothings, some_lessons, taught
from tests.support.oracles import (
    Floats,
    gradient,
    log_likelihood,
    plain_em,
    random_simplex,
)


def penalised(f: Floats, sample: Lessons, smoothing: float) -> float:
    """The log-likelihood, and the log-prior of F up to a constant."""
    prior = smoothing * float(np.log(f).sum()) if smoothing else 0.0
    return log_likelihood(f, *sample) + prior


def by_scipy(sample: Lessons, instructions: int, smoothing: float = 0.0) -> float:
    """The maximum over theta, F being the softmax of its columns, by quasi-Newton steps."""
    rows, features = sample
    dim = features.shape[1]

    def f_of(theta: Floats) -> Floats:
        z = theta.reshape(instructions, dim)
        weights = np.exp(z - z.max(axis=0))
        f: Floats = weights / weights.sum(axis=0)
        return f

    def value_and_slope(theta: Floats) -> tuple[float, Floats]:
        f = f_of(theta)
        by_f = gradient(f, rows, features)
        if smoothing:
            by_f += smoothing / f
        slope = f * (by_f - (f * by_f).sum(axis=0))
        return -penalised(f, sample, smoothing), -slope.ravel()

    found = optimize.minimize(
        value_and_slope,
        np.zeros(instructions * dim),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-15, "gtol": 1e-10},
    )
    return -float(found.fun)


@pytest.mark.parametrize("name", CASES)
def test_the_fit_is_the_maximum_that_independent_solvers_find(name: str) -> None:
    sample, instructions = CASES[name]
    rows, features = sample
    model = taught(sample, instructions)
    assert model.fit(1e-9) <= 1e-9
    fitted = model.log_likelihood()
    em = log_likelihood(plain_em(rows, features, instructions, 2000), rows, features)
    best = max(em, by_scipy(sample, instructions))
    assert fitted == pytest.approx(best, rel=1e-6)
    assert fitted >= best - 1e-8
    assert fitted == pytest.approx(log_likelihood(model.f, rows, features), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(lessons(most=15), st.integers(1, 40))
def test_the_gap_bounds_how_much_higher_the_likelihood_can_be(
    case: tuple[Lessons, int], refresh: int
) -> None:
    (rows, features), instructions = case
    model = taught((rows, features), instructions, refresh)
    now, gap = model.log_likelihood(), model.gap()
    em = log_likelihood(plain_em(rows, features, instructions, 150), rows, features)
    assert em <= now + gap + 1e-9
    slope = gradient(model.f, rows, features)
    certificate = float(slope.max(axis=0).sum() - len(rows))
    assert gap == pytest.approx(max(0.0, certificate), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(lessons(), st.integers(1, 40))
def test_the_fit_reaches_its_gap_after_any_lessons(case: tuple[Lessons, int], refresh: int) -> None:
    sample, instructions = case
    model = taught(sample, instructions, refresh)
    before = model.log_likelihood()
    assert model.fit(1e-4) <= 1e-4
    assert model.log_likelihood() >= before - 1e-9


@settings(max_examples=100, deadline=None)
@given(lessons(), st.integers(1, 40))
def test_a_full_sweep_never_lowers_the_likelihood(case: tuple[Lessons, int], refresh: int) -> None:
    sample, instructions = case
    model = taught(sample, instructions, refresh)
    likelihood = model.log_likelihood()
    for _ in range(10):
        model.sweep()
        assert model.log_likelihood() >= likelihood - 1e-12 * (1 + abs(likelihood))
        np.testing.assert_allclose(model.f.sum(axis=0), 1, rtol=1e-12)
        likelihood = model.log_likelihood()


def test_a_sweep_is_the_textbook_step() -> None:
    (rows, features), instructions = CASES["few responses"]
    model = taught((rows, features), instructions)
    for _ in range(5):
        expected = model.f * gradient(model.f, rows, features)
        expected /= expected.sum(axis=0)
        model.sweep()
        np.testing.assert_allclose(model.f, expected, rtol=1e-12)


def test_the_order_of_lessons_does_not_matter_to_the_fit() -> None:
    (rows, features), instructions = CASES["few responses"]
    likelihoods = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(rows))
        model = taught(([rows[i] for i in order], features[order]), instructions, 1 + 10 * seed)
        model.fit(1e-9)
        likelihoods.append(model.log_likelihood())
    np.testing.assert_allclose(likelihoods, likelihoods[0], atol=1e-8)


def test_a_fit_that_gives_up_fell_short_and_says_by_how_much() -> None:
    sample = some_lessons(9, 60, 6, 4, 8)
    sweeps, refused = 0, True
    while refused:
        sweeps += 3
        assert sweeps < 1000
        model = taught(sample, 6, refresh=1)
        try:
            reached = model.fit(1e-5, sweeps=sweeps)
            refused, message = False, ""
        except SettingError as error:
            message = str(error)
        if refused:
            assert model.gap() > 1e-5, f"{sweeps} sweeps were enough, and yet: {message}"
            assert f"{model.gap():.3g}" in message
    assert reached <= 1e-5
    assert sweeps > 9


@pytest.mark.parametrize("gap", [0, -1, float("nan"), "small"])
def test_a_nonsensical_gap_is_refused(gap: Any) -> None:
    with pytest.raises(SettingError, match="gap"):
        MixtureModel(3, 2).fit(gap)


@pytest.mark.parametrize("smoothing", [1e-3, 0.1, 2.0])
@pytest.mark.parametrize("name", CASES)
def test_the_smoothed_fit_is_the_maximum_that_scipy_finds(name: str, smoothing: float) -> None:
    sample, instructions = CASES[name]
    model = taught(sample, instructions, smoothing=smoothing)
    assert model.fit(1e-9) <= 1e-9
    assert model.objective() == pytest.approx(penalised(model.f, sample, smoothing), rel=1e-12)
    best = by_scipy(sample, instructions, smoothing)
    assert model.objective() == pytest.approx(best, rel=1e-6)
    assert model.objective() >= best - 1e-7


@settings(max_examples=60, deadline=None)
@given(lessons(), st.integers(1, 40), smoothings)
def test_a_sweep_never_lowers_the_smoothed_objective(
    case: tuple[Lessons, int], refresh: int, smoothing: float
) -> None:
    sample, instructions = case
    model = taught(sample, instructions, refresh, smoothing)
    objective = model.objective()
    for _ in range(8):
        model.sweep()
        assert model.objective() >= objective - 1e-12 * (1 + abs(objective))
        objective = model.objective()
        assert objective == pytest.approx(penalised(model.f, sample, smoothing), rel=1e-12)


def test_a_smoothed_sweep_is_the_textbook_step() -> None:
    (rows, features), instructions = CASES["fresh features"]
    model = taught((rows, features), instructions, smoothing=0.3)
    for _ in range(5):
        expected = model.f * gradient(model.f, rows, features) + 0.3
        expected /= expected.sum(axis=0)
        model.sweep()
        np.testing.assert_allclose(model.f, expected, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(lessons(most=15), st.integers(1, 40), smoothings, st.integers(0, 2**32))
def test_the_gap_bounds_the_smoothed_objective(
    case: tuple[Lessons, int], refresh: int, smoothing: float, seed: int
) -> None:
    sample, instructions = case
    model = taught(sample, instructions, refresh, smoothing)
    most = model.objective() + model.gap() + 1e-9 * (1 + abs(model.objective()))
    other = taught(sample, instructions, 40, smoothing)
    other.fit(1e-5)
    assert other.objective() <= most
    assert other.objective() >= model.objective() - 1e-5
    rng = np.random.default_rng(seed)
    dim = sample[1].shape[1]
    for _ in range(5):
        anywhere = random_simplex(rng, dim, instructions).T
        assert penalised(np.maximum(anywhere, 1e-12), sample, smoothing) <= most


def test_less_and_less_smoothing_approaches_maximum_likelihood() -> None:
    sample, instructions = CASES["few responses"]
    exact = taught(sample, instructions)
    exact.fit(1e-9)
    missed = []
    for smoothing in (1.0, 0.1, 0.01, 1e-4):
        model = taught(sample, instructions, smoothing=smoothing)
        model.fit(1e-9)
        missed.append(exact.log_likelihood() - model.log_likelihood())
    assert missed[0] > missed[1] > missed[2] > missed[3] > -1e-8
    assert missed[3] < 1e-3
