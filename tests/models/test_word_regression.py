"""The Bayesian regression of words, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.models.word_regression import Expected, WordRegression
from tests.support.oracles import Floats


def data(seed: int, number: int = 40) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    points = np.hstack([np.full((number, 1), 30.0), rng.normal(size=(number, 4))])
    told = (rng.random((number, 6)) < 0.2 + 0.6 * (points[:, 1:2] > 0)).astype(np.float64)
    return points, told, rng.uniform(0.1, 1.0, number)


def fitted(points: Floats, told: Floats, weights: Floats) -> WordRegression:
    regression = WordRegression(points.shape[1], 0.5, 2.0)
    regression.widen(told.shape[1])
    regression.fit(points, told, weights)
    return regression


@pytest.mark.parametrize("order", [1, -1])
def test_one_by_one_in_any_order_is_as_all_at_once(order: int) -> None:
    points, told, weights = data(0)
    one_by_one = WordRegression(points.shape[1], 0.5, 2.0)
    one_by_one.widen(told.shape[1])
    for point, x, weight in zip(points[::order], told[::order], weights[::order], strict=True):
        one_by_one.learn(point, x, weight)
    at_once = fitted(points, told, weights)
    for name in ("inverse", "coefficients", "metric", "counts", "weight"):
        np.testing.assert_allclose(
            getattr(one_by_one, name), getattr(at_once, name), rtol=1e-8, atol=1e-10
        )


def test_left_out_is_as_if_each_had_never_been_learned() -> None:
    points, told, weights = data(1)
    regression = fitted(points, told, weights)
    fits = regression.left_out(points, told, weights, 8)
    assert fits.shape == (40, 9)
    for n in range(40):
        rest = np.arange(40) != n
        without = fitted(points[rest], told[rest], weights[rest])
        # What is usual, and how much was learned in all, is still by all descriptions.
        likely = points[[n]] @ without.coefficients.T - regression.usual
        x = told[n] - regression.usual
        product = (likely @ without.metric @ x)[0]
        squares = (likely @ without.metric @ likely.T)[0, 0]
        own = np.sqrt(regression.weight / squares) * product
        np.testing.assert_allclose(fits[n, 0], own, rtol=1e-6)
        assert fits[n, 1 + n % 8] == fits[n, 0]


def test_words_that_were_never_told_change_nothing() -> None:
    points, told, weights = data(2)
    narrow, wide = fitted(points, told, weights), fitted(points, told, weights)
    wide.widen(9)
    rng = np.random.default_rng(3)
    for _ in range(5):
        point, x = np.append(30.0, rng.normal(size=4)), (rng.random(6) < 0.5).astype(np.float64)
        narrow.learn(point, x, 1.0)
        wide.learn(point, np.append(x, np.zeros(3)), 1.0)
    likely: list[Expected] = [one.expected(points[:7]) for one in (narrow, wide)]
    fits = [
        narrow.fits(told[0], likely[0]),
        wide.fits(np.append(told[0], np.zeros(3)), likely[1]),
        wide.fits(np.append(told[0], np.zeros(3)), likely[0]),
    ]
    np.testing.assert_allclose(fits[1], fits[0], rtol=1e-9)
    np.testing.assert_allclose(fits[2], fits[0], rtol=1e-9)


def test_equal_points_have_equal_fits_to_the_bit() -> None:
    points, told, weights = data(4)
    regression = fitted(points, told, weights)
    expected = regression.expected(np.vstack([points, points[::-1]]))
    fits = regression.fits(told[0], expected)
    np.testing.assert_array_equal(fits[:40], fits[40:][::-1])


def test_the_latest_point_takes_the_place_of_the_first() -> None:
    points, told, weights = data(5)
    regression = fitted(points, told, weights)
    before = regression.expected(points[:7])
    regression.widen(9)
    shifted = before.with_latest(regression.expected(points[7:8]))
    for one, other in zip(shifted, regression.expected(points[1:8]), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
