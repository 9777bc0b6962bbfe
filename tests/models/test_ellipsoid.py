"""Sigma's inverse stays accurate over a million descriptions."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tellback import Listed
from tellback.errors import SettingError
from tellback.models.ellipsoid import Ellipsoid
from tests.support.oracles import Floats, precise_inverse, random_simplex

MILLION = 1_000_000


def features_of(kind: str, dim: int) -> Floats:
    rng = np.random.default_rng(dim)
    if kind == "random":
        return random_simplex(rng, dim + 10, dim)
    # Nearly degenerate: all responses within a millionth of a line between two of them.
    ends = random_simplex(rng, 2, dim)
    along = rng.random((20, 1))
    line = along * ends[0] + (1 - along) * ends[1]
    near: Floats = (1 - 1e-6) * line + 1e-6 * random_simplex(rng, 20, dim)
    return near


def a_million_updates(ellipsoid: Ellipsoid, responses: Listed, seed: int) -> Any:
    drawn = np.random.default_rng(seed).integers(len(responses), size=MILLION)
    rows = [responses.features(y) for y in range(len(responses))]
    add = ellipsoid.add
    for y in drawn.tolist():
        add(rows[y])
    return np.bincount(drawn, minlength=len(responses))


def test_the_reference_inverse_is_exact() -> None:
    features, counts = features_of("nearly degenerate", 10), np.arange(1, 21) * 50_000
    inverse = precise_inverse(counts, features, 0.05)
    with mpmath.workdps(60):
        product = mpmath.mpf(0.05) * mpmath.matrix(inverse.tolist())
        for n, g in zip(counts.tolist(), features.tolist(), strict=True):
            column = mpmath.matrix(g)
            product += n * column * (column.T * mpmath.matrix(inverse.tolist()))
        assert mpmath.norm(product - mpmath.eye(10), 2) < mpmath.mpf("1e-30")


@pytest.mark.parametrize(
    ("dim", "kind", "lam"),
    [
        (10, "random", 0.05),
        (10, "random", 1.0),
        (10, "nearly degenerate", 0.05),
        (10, "nearly degenerate", 1.0),
        pytest.param(64, "random", 0.05, marks=pytest.mark.slow),
        pytest.param(64, "nearly degenerate", 1.0, marks=pytest.mark.slow),
    ],
)
def test_a_million_updates_stay_with_the_exact_inverse(dim: int, kind: str, lam: float) -> None:
    responses = Listed(features_of(kind, dim))
    ellipsoid = Ellipsoid(dim, lam)
    ellipsoid.squared_widths(responses, keep=True)
    counts = a_million_updates(ellipsoid, responses, seed=dim)
    exact = precise_inverse(counts, responses.matrix, lam)
    rounded = exact.astype(np.float64)
    error = np.linalg.norm(ellipsoid.inverse - rounded)
    assert error <= 1e-8 * np.linalg.norm(rounded)
    np.testing.assert_array_equal(ellipsoid.inverse, ellipsoid.inverse.T)
    np.linalg.cholesky(ellipsoid.inverse)
    assert np.linalg.eigvalsh(ellipsoid.inverse).min() > 0
    assert ellipsoid.count == MILLION
    g = responses.matrix.astype(object)
    with mpmath.workdps(45):
        widths = (g.dot(exact) * g).sum(axis=1).astype(np.float64)
    kept = ellipsoid.squared_widths(responses, keep=True)
    # Kept widths begin at g'g / lam and are only ever subtracted from: what they lose is a
    # share of what they began with, however small they have become.
    began = (responses.matrix**2).sum(axis=1) / lam
    np.testing.assert_array_less(np.abs(kept - widths), 1e-13 * began)
    if kind == "random":
        np.testing.assert_allclose(kept, widths, rtol=1e-8)


any_features = st.integers(1, 6).flatmap(
    lambda dim: hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 8), st.just(dim)),
        elements=st.floats(-10, 10, allow_subnormal=False),
    )
)


@settings(max_examples=150, deadline=None)
@given(any_features, st.floats(0.01, 100), st.data())
def test_any_features_give_the_inverse_that_numpy_gives(
    matrix: Floats, lam: float, data: st.DataObject
) -> None:
    responses = Listed(matrix)
    order = data.draw(st.lists(st.integers(0, len(responses) - 1), max_size=20))
    keep_from = data.draw(st.integers(0, len(order)))
    ellipsoid = Ellipsoid(responses.dim, lam)
    for n, y in enumerate(order):
        if n == keep_from:
            ellipsoid.squared_widths(responses, keep=True)
        ellipsoid.add(responses.features(y))
    sigma = lam * np.eye(responses.dim) + matrix[order].T @ matrix[order]
    expected = np.linalg.inv(sigma)
    scale = float(np.linalg.norm(expected))
    assert np.linalg.norm(ellipsoid.inverse - expected) <= 1e-8 * scale
    widths = np.einsum("yi,ij,yj->y", matrix, expected, matrix)
    for keep in (False, True):
        np.testing.assert_allclose(
            ellipsoid.squared_widths(responses, keep=keep),
            widths,
            atol=1e-8 * scale * max(1.0, float((matrix**2).sum())),
        )


def two_ellipsoids() -> tuple[Ellipsoid, Listed]:
    rng = np.random.default_rng(3)
    responses = Listed(random_simplex(rng, 9, 4))
    ellipsoid = Ellipsoid(4, 0.3)
    ellipsoid.squared_widths(responses, keep=True)
    for y in rng.integers(9, size=500).tolist():
        ellipsoid.add(responses.features(y))
    return ellipsoid, responses


def restored(ellipsoid: Ellipsoid) -> Ellipsoid:
    other = Ellipsoid(4, 0.3)
    other.restore(ellipsoid.state())
    return other


def exact_widths(ellipsoid: Ellipsoid, responses: Listed) -> Floats:
    g = responses.matrix
    widths: Floats = np.einsum("yi,ij,yj->y", g, ellipsoid.inverse, g)
    return widths


def test_kept_widths_are_restored_to_the_bit_for_the_same_features() -> None:
    ellipsoid, responses = two_ellipsoids()
    kept = ellipsoid.squared_widths(responses, keep=True).copy()
    again = restored(ellipsoid).squared_widths(Listed(responses.matrix), keep=True)
    np.testing.assert_array_equal(kept, again)
    anew = Ellipsoid(4, 0.3)
    anew.inverse = ellipsoid.inverse.copy()
    fresh = anew.squared_widths(responses, keep=False)
    assert not np.array_equal(kept, fresh), "else this test could not fail"


def test_restored_widths_are_not_taken_for_those_of_other_features() -> None:
    ellipsoid, responses = two_ellipsoids()
    matrix = responses.matrix.copy()
    matrix[0, 0] += 1e-9
    turned = responses.matrix[::-1]
    for other in (Listed(matrix), Listed(turned), Listed(responses.matrix[:5])):
        found = restored(ellipsoid).squared_widths(other, keep=True)
        anew = Ellipsoid(4, 0.3)
        anew.inverse = ellipsoid.inverse.copy()
        np.testing.assert_array_equal(found, anew.squared_widths(other, keep=False))


def test_widths_are_right_when_something_is_learned_before_anything_is_asked() -> None:
    """A description that was on its way while the agent was saved."""
    ellipsoid, responses = two_ellipsoids()
    other = restored(ellipsoid)
    for y in (3, 5, 3):
        ellipsoid.add(responses.features(y))
        other.add(responses.features(y))
    np.testing.assert_array_equal(other.inverse, ellipsoid.inverse)
    for keep in (False, True):
        np.testing.assert_allclose(
            other.squared_widths(responses, keep=keep),
            exact_widths(other, responses),
            rtol=1e-9,
        )


def test_widths_of_a_state_saved_again_before_anything_was_asked_are_the_same() -> None:
    ellipsoid, responses = two_ellipsoids()
    kept = ellipsoid.squared_widths(responses, keep=True).copy()
    twice = restored(restored(ellipsoid))
    np.testing.assert_array_equal(twice.squared_widths(responses, keep=True), kept)


def test_restored_widths_are_kept_up_to_date() -> None:
    ellipsoid, responses = two_ellipsoids()
    other = restored(ellipsoid)
    other.squared_widths(responses, keep=True)
    for y in (3, 5, 3):
        other.add(responses.features(y))
    np.testing.assert_allclose(
        other.squared_widths(responses, keep=True), exact_widths(other, responses), rtol=1e-9
    )


def test_looking_at_other_responses_leaves_the_kept_ones_right() -> None:
    ellipsoid, responses = two_ellipsoids()
    others = Listed(random_simplex(np.random.default_rng(4), 3, 4))
    np.testing.assert_allclose(
        ellipsoid.squared_widths(others, keep=False), exact_widths(ellipsoid, others), rtol=1e-9
    )
    ellipsoid.add(others.features(1))
    np.testing.assert_allclose(
        ellipsoid.squared_widths(responses, keep=True),
        exact_widths(ellipsoid, responses),
        rtol=1e-9,
    )
    ellipsoid.squared_widths(others, keep=True)
    ellipsoid.add(others.features(2))
    for either in (responses, others):
        np.testing.assert_allclose(
            ellipsoid.squared_widths(either, keep=True),
            exact_widths(ellipsoid, either),
            rtol=1e-9,
        )


def test_a_saved_state_does_not_follow_the_ellipsoid() -> None:
    ellipsoid, responses = two_ellipsoids()
    state: Any = ellipsoid.state()
    before = {name: np.array(value) for name, value in state.items()}
    other = restored(ellipsoid)
    other.restore(state)
    for one in (ellipsoid, other):
        one.squared_widths(responses, keep=True)
        one.add(responses.features(0))
    for name, value in before.items():
        np.testing.assert_array_equal(state[name], value, err_msg=name)


def test_a_state_of_another_dimension_is_refused() -> None:
    with pytest.raises(SettingError, match=r"shape \(4, 4\), not \(3, 3\)"):
        Ellipsoid(4, 1.0).restore(Ellipsoid(3, 1.0).state())


@pytest.mark.parametrize("dim", [1, 3, 5, 40])
def test_responses_of_another_dimension_are_refused(dim: int) -> None:
    with pytest.raises(SettingError, match=rf"\b{dim}\b"):
        Ellipsoid(4, 1.0).squared_widths(Listed(np.ones((2, dim))), keep=False)


@pytest.mark.parametrize("dim", [1, 3])  # more would be written beyond the end of the inverse
def test_features_of_another_dimension_are_refused(dim: int) -> None:
    ellipsoid = Ellipsoid(4, 1.0)
    with pytest.raises(SettingError, match=rf"\b{dim}\b"):
        ellipsoid.add(np.ones(dim))
    np.testing.assert_array_equal(ellipsoid.inverse, np.eye(4))
    assert ellipsoid.count == 0


@pytest.mark.parametrize(("dim", "lam"), [(0, 1.0), (2, 0.0), (2, -1.0), (2, float("nan"))])
def test_nonsense_is_refused_by_name(dim: int, lam: float) -> None:
    with pytest.raises(SettingError, match="dim" if dim == 0 else "lam"):
        Ellipsoid(dim, lam)


def test_features_that_no_ridge_allows_get_no_advice_on_the_ridge() -> None:
    for length, advised in ((1e6, True), (1e200, False)):
        with pytest.raises(SettingError, match="Divide all features by") as refused:
            Ellipsoid(2, 1.0).add(np.array([length, 0.0]))
        assert ("or set lam to" in str(refused.value)) is advised
        assert "inf" not in str(refused.value)
