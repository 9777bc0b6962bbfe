"""The contrast of a response with others, against the gradient by differences."""

from __future__ import annotations

import numpy as np

from tellback.models.contrast import RATE, Contrast
from tests.support.oracles import Floats


def data(seed: int, number: int = 12) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    points, others = rng.normal(size=(number, 4)), rng.normal(size=(5, 4))
    told = (rng.random((number, 6)) < 0.5).astype(np.float64)
    return points, told, rng.normal(size=(number, 6)), rng.uniform(0.1, 1, number), others


def log_probability(b: Floats, point: Floats, told: Floats, lifts: Floats, others: Floats) -> float:
    """Of the described response, among it and the others."""
    added = np.vstack([point, others]) @ (told @ b) / np.sqrt(told.sum())
    logs = lifts + added
    return float(logs[0] - np.log(np.exp(logs).sum()))


def test_a_step_goes_up_the_gradient_and_is_as_long_as_the_rate_says() -> None:
    points, told, lifts, weights, others = data(0)
    contrast = Contrast(4, 6)
    for n in range(12):
        before, squares = contrast.coefficients.copy(), contrast.squares.copy()
        gradient = np.zeros((6, 4))
        for w, i in np.ndindex(6, 4):
            shift = np.zeros((6, 4))
            shift[w, i] = 1e-5
            up, down = (
                log_probability(before + sign * shift, points[n], told[n], lifts[n], others)
                for sign in (1, -1)
            )
            gradient[w, i] = weights[n] * (up - down) / 2e-5
        contrast.learn(points[[n]], told[[n]], lifts[[n]], weights[[n]], others)
        squares += (gradient**2).sum(axis=1)
        np.testing.assert_allclose(contrast.squares, squares, rtol=1e-5)
        step = RATE * gradient / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None]
        np.testing.assert_allclose(contrast.coefficients - before, step, atol=1e-6)


def test_descriptions_together_are_learned_as_one_after_the_other() -> None:
    points, told, lifts, weights, others = data(1)
    together, alone = Contrast(4, 6), Contrast(4, 6)
    together.learn(points, told, lifts, weights, others)
    for n in range(12):
        alone.learn(points[[n]], told[[n]], lifts[[n]], weights[[n]], others)
    np.testing.assert_array_equal(together.coefficients, alone.coefficients)


def test_a_response_is_not_contrasted_with_itself() -> None:
    points, told, lifts, weights, _ = data(2)
    contrast = Contrast(4, 6)
    for n in range(12):
        one = points[[n]]
        contrast.learn(one, told[[n]], lifts[[n]], weights[[n]], np.repeat(one, 5, axis=0))
    assert not contrast.coefficients.any()
    assert not contrast.lifts(told[0], points).any()


def test_a_word_that_names_what_is_beside_comes_to_count_less() -> None:
    """Of a stand people say "stand bed", of a bed "bed": "bed" alone must not mislead."""
    bed, stand, lamp = np.eye(3)
    others = np.vstack([bed, stand, lamp])
    contrast = Contrast(3, 2)
    lifts = np.array([[0.0, 1.0, 0.0, 0.0]])  # by the regression, "stand bed" is rather of the bed
    for _ in range(50):
        contrast.learn(stand[None], np.ones((1, 2)), lifts, np.ones(1), others)
    found = lifts[0, 1:] + contrast.lifts(np.ones(2), others)
    assert found.argmax() == 1


def test_equal_points_have_equal_lifts_and_new_words_have_none() -> None:
    points, told, lifts, weights, others = data(3)
    contrast = Contrast(4, 6)
    contrast.learn(points, told, lifts, weights, others)
    found = contrast.lifts(told[0], np.vstack([points, points[::-1]]))
    np.testing.assert_array_equal(found[:12], found[12:][::-1])
    before = contrast.lifts(told[0], points)
    np.testing.assert_array_equal(contrast.lifts(np.append(told[0], 1.0), points), before)
    contrast.widen(7)
    np.testing.assert_array_equal(contrast.lifts(np.append(told[0], 0.0), points), before)
