"""Barycentric spanners."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback.agents.spanner import barycentric_spanner
from tellback.errors import SettingError


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 10**6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_row_is_a_small_combination_of_the_spanner(
    rows: int, dim: int, seed: int, flat: bool
) -> None:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((rows, dim)) * np.exp(rng.standard_normal((rows, 1)))
    if flat:  # fewer directions than features
        features = features[:, :1] @ rng.standard_normal((1, dim))
    for C in (1.1, 2.0):
        members, coefficients = barycentric_spanner(features, C)
        assert len(set(members.tolist())) == np.linalg.matrix_rank(features) == len(members)
        solved = np.linalg.lstsq(features[members].T, features.T, rcond=None)[0]
        np.testing.assert_allclose(coefficients, solved, atol=1e-6)
        np.testing.assert_allclose(solved.T @ features[members], features, atol=1e-8)
        assert abs(solved).max() <= C * (1 + 1e-6)


def test_with_c_of_one_no_other_rows_span_more() -> None:
    features = np.random.default_rng(3).standard_normal((9, 3))
    members, _ = barycentric_spanner(features, C=1.0)
    own = abs(np.linalg.det(features[members]))
    for i, y in itertools.product(range(3), range(9)):
        swapped = features[members].copy()
        swapped[i] = features[y]
        assert abs(np.linalg.det(swapped)) <= own * (1 + 1e-6)


def test_no_features_have_no_spanner_and_c_is_at_least_one() -> None:
    members, coefficients = barycentric_spanner(np.zeros((3, 2)))
    assert len(members) == 0
    assert coefficients.shape == (0, 3)
    with pytest.raises(SettingError, match="C"):
        barycentric_spanner(np.eye(2), C=0.5)
