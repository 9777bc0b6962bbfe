"""Forecasts use only the past, and an average loses little against the best of them."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.lab.diagnose.forecasts import averaged, frequencies, hedged, tabulated


def test_averaged_forecasts_lose_hardly_more_than_the_best_of_them() -> None:
    chances = np.random.default_rng(0).uniform(0.01, 1, size=(500, 4)) ** [1, 2, 3, 4]
    loss = -np.log(averaged(chances)).sum()
    best = (-np.log(chances)).sum(axis=0).min()
    assert best - 1e-9 <= loss <= best + np.log(4) + 1e-9


def test_forecasts_of_a_description_use_only_what_came_before_it() -> None:
    rng = np.random.default_rng(1)
    told, about = rng.integers(5, size=60).tolist(), rng.integers(3, size=60).tolist()
    known = frequencies(told, 5)
    table = tabulated(about, told, known)
    own = hedged(rng.uniform(size=60), known)
    for i in (0, 7, 59):
        total = [frequencies([*told[:i], x], 5)[i] for x in range(5)]
        assert sum(total) == pytest.approx(1)
        each = [
            tabulated(about[: i + 1], [*told[:i], x], frequencies([*told[:i], x], 5))[i]
            for x in range(5)
        ]
        assert sum(each) == pytest.approx(1)
        assert table[i] == pytest.approx(each[told[i]])
    assert (own > 0).all()
