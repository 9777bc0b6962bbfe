"""A history is compressed to counts, which take only features on the simplex."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tellback.errors import SettingError
from tellback.models.mixture import MixtureModel
from tests.support.mixtures import Lessons, lessons, taught
from tests.support.oracles import (
    log_likelihood,
)


@settings(max_examples=60, deadline=None)
@given(lessons())
def test_the_history_may_be_compressed_to_counts(case: tuple[Lessons, int]) -> None:
    (rows, features), instructions = case
    model = taught((rows, features), instructions)
    assert model.log_likelihood() == pytest.approx(
        log_likelihood(model.f, rows, features), rel=1e-12, abs=1e-12
    )
    entries: Any = model.state()["entry_instructions"]
    distinct = {(x, g.tobytes()) for x, g in zip(rows, features, strict=True)}
    assert len(entries) == len(distinct)


def test_a_history_that_does_not_fit_is_refused() -> None:
    model = taught(([0, 3], np.full((2, 3), 1 / 3)), 4)
    state: Any = model.state()
    for name, wrong in [
        ("entry_instructions", np.array([0, 4])),
        ("entry_instructions", np.array([0, -1])),
        ("entry_instructions", np.array([0])),
        ("entry_numbers", np.zeros((2, 6))),
    ]:
        with pytest.raises(SettingError, match="history does not fit"):
            MixtureModel(4, 3).restore({**state, name: wrong})


@pytest.mark.parametrize(
    "features",
    [
        np.array([0.5, 0.5]),
        np.array([0.25, 0.25, 0.25, 0.25]),
        np.array([[0.5, 0.25, 0.25]]),
        np.array(1.0),
        np.array([1, 0, 0]),
        np.array([0.5, 0.25, 0.25], dtype=np.float32),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_features_of_the_wrong_shape_or_kind_are_not_learned(features: Any) -> None:
    model = MixtureModel(3, 3)
    with pytest.raises(SettingError, match="features must be 3 real numbers"):
        model.learn(features, 0)
    assert model.described == 0


def test_the_wrong_shape_is_refused_even_when_its_bytes_are_known() -> None:
    g = np.array([0.5, 0.25, 0.25])
    model = taught(([0], g[None]), 3)
    with pytest.raises(SettingError, match="features"):
        model.learn(g[None], 0)
    with pytest.raises(SettingError, match="features"):
        model.learn(g.view(np.int64), 0)
    assert model.described == 1


@pytest.mark.parametrize(
    "row", [[0.5, 0.6], [1.5, -0.5], [0.0, 0.0], [2.0, 2.0]], ids=lambda row: str(row)
)
def test_features_off_the_simplex_are_not_learned_either(row: list[float]) -> None:
    model = MixtureModel(3, 2)
    with pytest.raises(SettingError, match="sum to 1"):
        model.learn(np.array(row), 0)
    assert model.described == 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_features_that_are_not_finite_are_not_learned(bad: float) -> None:
    model = MixtureModel(3, 2)
    with pytest.raises(SettingError, match="finite"):
        model.learn(np.array([bad, 0.5]), 0)
    assert model.described == 0
