"""Random Fourier features approach a Gaussian kernel."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tellback.arrays import Array
from tellback.models.fourier import BIAS, FAR, Fourier


def scaled(rows: Array) -> Array:
    """Each feature in its range, and all in one common spread."""
    ranged = (rows - rows.mean(axis=0)) / (rows.max(axis=0) - rows.min(axis=0))
    result: Array = ranged / np.sqrt((ranged**2).mean())
    return result


@pytest.mark.parametrize("length", [0.5, 2.0])
def test_inner_products_of_waves_approach_a_gaussian_kernel(length: float) -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(3.0, 2.0, size=(12, 4))
    fourier = Fourier(4, 40_000, length, rng)
    fourier.fit(rows)
    waves = fourier(rows)[:, 5:]
    z = scaled(rows)
    squared = ((z[:, None] - z[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(waves @ waves.T, np.exp(-squared / (2 * 4 * length**2)), atol=0.03)


def test_the_rest_is_a_constant_and_the_features_in_their_scales() -> None:
    rng = np.random.default_rng(6)
    rows = np.column_stack([rng.normal(5, 3, 40), np.full(40, 7.0)])
    fourier = Fourier(2, 3, 1.0, rng)
    fourier.fit(rows)
    out = fourier(rows)
    assert out.shape == (40, fourier.size) == (40, 6)
    np.testing.assert_array_equal(out[:, 0], BIAS)
    np.testing.assert_allclose(out[:, 1], (rows[:, 0] - rows[:, 0].mean()) / rows[:, 0].std())
    np.testing.assert_array_equal(out[:, 2], 0)
    far = fourier(np.array([[1e300, 7.0], [1e250, 7.0]]))
    np.testing.assert_array_equal(far[0], far[1])
    assert far[0, 1] == FAR / math.sqrt(2)
