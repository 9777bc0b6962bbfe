"""Maximum likelihood by EM, against solvers written apart from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import Facts, Listed
from tellback.errors import SettingError
from tellback.models import Mixture
from tellback.models.mixture import MixtureModel
from tests.support.mixtures import CASES, Lessons, lessons, smoothings, some_lessons, taught
from tests.support.oracles import (
    incremental_em,
    random_simplex,
)


@settings(max_examples=150, deadline=None)
@given(lessons(), st.integers(1, 40))
def test_columns_of_f_are_distributions_after_any_lessons(
    case: tuple[Lessons, int], refresh: int
) -> None:
    (rows, features), instructions = case
    model = MixtureModel(instructions, features.shape[1], refresh)
    for n, (x, g) in enumerate(zip(rows, features, strict=True), start=1):
        model.learn(g, x)
        assert model.described == n
        assert (model.f >= 0).all()
        np.testing.assert_allclose(model.f.sum(axis=0), 1, rtol=1e-9)
        assert np.isfinite(model.log_likelihood())


def test_before_any_data_every_instruction_is_as_likely() -> None:
    model = Mixture().build(Facts(dim=3, instructions=5), np.random.default_rng(0))
    np.testing.assert_array_equal(model.f, np.full((5, 3), 0.2))
    np.testing.assert_allclose(model.estimates(4, Listed(np.eye(3))), 0.2)
    assert model.log_likelihood() == 0
    assert model.gap() == 0
    assert model.fit() == 0


def test_one_instruction_described_once_takes_all() -> None:
    model = taught(([2], np.array([[0.2, 0.8]])), 4)
    np.testing.assert_allclose(model.f[2], 1)
    np.testing.assert_allclose(model.f[[0, 1, 3]], 0)


def test_a_first_seen_instruction_has_a_chance_at_once() -> None:
    g = np.array([0.3, 0.7])
    model = taught(([0] * 50, np.tile(g, (50, 1))), 3)
    model.fit()
    assert model.f[1] @ g == 0
    model.learn(g, 1)
    assert model.f[1] @ g > 0
    assert np.isfinite(model.log_likelihood())
    model.fit(1e-9)
    assert model.f[1] @ g == pytest.approx(1 / 51, rel=1e-4)


def test_repeated_descriptions_give_their_frequencies() -> None:
    g = np.array([0.3, 0.7])
    rows = [0] * 6 + [1] * 3 + [2]
    model = taught((rows, np.tile(g, (10, 1))), 4)
    model.fit(1e-10)
    np.testing.assert_allclose(model.f @ g, [0.6, 0.3, 0.1, 0.0], atol=1e-5)


def test_one_hot_features_give_a_frequency_a_component_and_leave_others_alone() -> None:
    rows = [0, 0, 1, 2]
    features = np.eye(4)[[0, 0, 0, 2]]
    model = taught((rows, features), 5)
    for _ in range(2):
        np.testing.assert_allclose(model.f[:, 0], [2 / 3, 1 / 3, 0, 0, 0], atol=1e-12)
        np.testing.assert_allclose(model.f[:, 2], [0, 0, 1, 0, 0], atol=1e-12)
        np.testing.assert_array_equal(model.f[:, [1, 3]], np.full((5, 2), 0.2))
        np.testing.assert_allclose(model.estimates(4, Listed(np.eye(4))), [0, 0.2, 0, 0.2])
        model.fit(1e-9)


def test_components_that_a_response_lacks_are_not_changed_by_it() -> None:
    model = taught(([0, 1, 1], np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0.4, 0.6]])), 3)
    before = model.f
    model.learn(np.array([0.0, 0.0, 1.0]), 2)
    assert (model.f[:, 0] == before[:, 0]).all() or np.allclose(model.f[:, 0].sum(), 1)
    assert model.f[2, 0] == 0
    assert model.f[2, 1] == 0
    assert model.f[2, 2] > 0


@pytest.mark.parametrize("tiny", [1e-20, 1e-160, 1e-300, 1e-309, 5e-324])
def test_features_next_to_zero_do_no_harm(tiny: float) -> None:
    rows = [0, 1, 2, 0, 1, 1, 0]
    features = np.array([[1.0, tiny, 0.0], [0.5, tiny, 0.5]])[[0, 1, 0, 1, 0, 1, 0]]
    model, without = MixtureModel(3, 3), MixtureModel(3, 3)
    for x, g in zip(rows, features, strict=True):
        model.learn(g, x)
        without.learn(np.where(g == tiny, 0.0, g), x)
        assert np.isfinite(model.f).all()
        np.testing.assert_allclose(model.f.sum(axis=0), 1, rtol=1e-6)
        np.testing.assert_allclose(model.f[:, [0, 2]], without.f[:, [0, 2]], rtol=1e-9)
    assert np.isfinite(model.estimates(0, Listed(features))).all()
    assert np.isfinite(model.log_likelihood())
    assert np.isfinite(model.gap())


@pytest.mark.parametrize(
    ("responses", "refresh"),
    [
        pytest.param(5, 32, id="as many refreshed as there are entries"),
        pytest.param(5, 8, id="fewer"),
        pytest.param(5, 4, id="fewer than an instruction has entries"),
        pytest.param(100, 32, id="many responses"),
        pytest.param(None, 32, id="fresh features"),
    ],
)
def test_incremental_estimates_approach_the_exact_fit(responses: int | None, refresh: int) -> None:
    rng = np.random.default_rng(6)
    truth = rng.dirichlet(np.ones(8), size=3).T
    asked = Listed(random_simplex(rng, responses or 50, 3))
    model = MixtureModel(8, 3, refresh)
    shortfalls, errors = [], []
    for n in range(1, 4001):
        if responses is None:
            g = random_simplex(rng, 1, 3)[0]
        else:
            g = asked.features(int(rng.integers(responses)))
        model.learn(g, int(rng.choice(8, p=truth @ g)))
        if n in (40, 4000):
            exact = MixtureModel(8, 3)
            exact.restore(model.state())
            exact.fit(1e-3)
            shortfalls.append((exact.log_likelihood() - model.log_likelihood()) / n)
            differences = [model.estimates(x, asked) - exact.estimates(x, asked) for x in range(8)]
            errors.append(np.abs(differences).max())
    assert shortfalls[1] < shortfalls[0] / 2
    assert shortfalls[1] < 1e-3, "in nats a description"
    assert errors[1] < errors[0]
    assert errors[1] < 0.02, "the truth itself is known to about 0.02 by now"


def test_a_higher_refresh_is_closer_to_the_maximum() -> None:
    sample = some_lessons(7, 600, 30, 5, 8)
    gaps = [taught(sample, 30, refresh).gap() for refresh in (1, 32, 10_000)]
    assert gaps[0] > gaps[1] > gaps[2]


def test_estimates_stay_accurate_over_a_long_history() -> None:
    rng = np.random.default_rng(8)
    responses = Listed(random_simplex(rng, 4, 3, 0.3))
    model = MixtureModel(5, 3)
    for x, y in zip(rng.integers(5, size=60_000), rng.integers(4, size=60_000), strict=True):
        model.learn(responses.features(int(y)), int(x))
    np.testing.assert_allclose(model.f.sum(axis=0), 1, rtol=1e-10)
    shares: Any = model.state()["entry_numbers"]
    expected: Any = model.state()["expected"]
    np.testing.assert_allclose(shares[:, 4:].sum(axis=0), expected.sum(axis=0), rtol=1e-10)


def test_estimates_are_f_times_g_and_change_nothing() -> None:
    sample, instructions = CASES["fresh features"]
    model = taught(sample, instructions)
    responses = Listed(random_simplex(np.random.default_rng(0), 7, 3))
    before: Any = model.state()
    for x in range(instructions):
        np.testing.assert_allclose(
            model.estimates(x, responses), responses.matrix @ model.f[x], rtol=1e-13
        )
    np.testing.assert_allclose(
        sum(model.estimates(x, responses) for x in range(instructions)), 1, rtol=1e-12
    )
    after: Any = model.state()
    for name, value in before.items():
        np.testing.assert_array_equal(value, after[name], err_msg=name)


@settings(max_examples=60, deadline=None)
@given(lessons(), st.data(), st.integers(1, 40))
def test_a_restored_model_goes_on_to_the_bit(
    case: tuple[Lessons, int], data: st.DataObject, refresh: int
) -> None:
    (rows, features), instructions = case
    cut = data.draw(st.integers(0, len(rows)))
    whole = taught((rows, features), instructions, refresh)
    first = taught((rows[:cut], features[:cut]), instructions, refresh)
    second = MixtureModel(instructions, features.shape[1], refresh)
    second.learn(features[0], rows[0])  # a past of its own, which it must forget
    second.restore(first.state())
    for x, g in zip(rows[cut:], features[cut:], strict=True):
        second.learn(g, x)
    states: Any = (second.state(), whole.state())
    assert states[0].keys() == states[1].keys()
    for name in states[0]:
        np.testing.assert_array_equal(states[0][name], states[1][name], err_msg=name)


def test_a_saved_state_does_not_follow_the_model() -> None:
    sample, instructions = CASES["few responses"]
    model = taught(sample, instructions)
    state: Any = model.state()
    before = {name: np.array(value) for name, value in state.items()}
    other = MixtureModel(instructions, 3)
    other.restore(state)
    for one in (model, other):
        one.learn(np.array([0.2, 0.3, 0.5]), 0)
        one.sweep()
    for name, value in before.items():
        np.testing.assert_array_equal(state[name], value, err_msg=name)


@pytest.mark.parametrize("shape", [(5, 3), (4, 2), (4, 4)])
def test_a_state_of_another_shape_is_refused(shape: tuple[int, int]) -> None:
    other = MixtureModel(*shape)
    other.learn(np.full(shape[1], 1 / shape[1]), 0)
    with pytest.raises(SettingError, match="shape"):
        MixtureModel(4, 3).restore(other.state())


@pytest.mark.parametrize("dim", [1, 2, 4, 50])
def test_responses_of_another_dimension_are_refused(dim: int) -> None:
    model = taught(([0], np.full((1, 3), 1 / 3)), 3)
    with pytest.raises(SettingError, match=rf"\b{dim}\b"):
        model.estimates(0, Listed(np.full((2, dim), 1 / dim)))


@pytest.mark.parametrize(
    "row", [[0.5, 0.6], [1.5, -0.5], [0.0, 0.0], [2.0, 2.0]], ids=lambda row: str(row)
)
def test_features_off_the_simplex_are_refused_with_the_reason(row: list[float]) -> None:
    model = MixtureModel(3, 2)
    with pytest.raises(SettingError, match=rf"response 1 sum to {sum(row):g}"):
        model.estimates(0, Listed([[0.5, 0.5], row]))


@pytest.mark.parametrize("x", [3, -1, "red", 1.0, True, None, np.int64(3), np.float64(0)])
def test_an_instruction_out_of_range_is_refused(x: Any) -> None:
    model = MixtureModel(3, 2)
    with pytest.raises(SettingError, match="from 0 to 2"):
        model.estimates(x, Listed(np.eye(2)))
    with pytest.raises(SettingError, match="from 0 to 2"):
        model.learn(np.array([0.5, 0.5]), x)
    assert model.described == 0


def test_numpy_integers_are_instructions() -> None:
    model = MixtureModel(3, 2)
    model.learn(np.array([0.5, 0.5]), np.int64(2))  # type: ignore[arg-type]
    np.testing.assert_allclose(model.f[2], 1)


def test_sentences_need_another_model() -> None:
    with pytest.raises(SettingError, match="sentences"):
        Mixture().build(Facts(dim=3, instructions=None), np.random.default_rng(0))


@settings(max_examples=60, deadline=None)
@given(lessons(), st.integers(1, 40))
def test_without_smoothing_each_step_is_to_the_bit_that_of_incremental_em(
    case: tuple[Lessons, int], refresh: int
) -> None:
    (rows, features), instructions = case
    expected = incremental_em(rows, features, instructions, refresh)
    for model in (
        taught((rows, features), instructions, refresh),
        taught((rows, features), instructions, refresh, smoothing=0.0),
    ):
        np.testing.assert_array_equal(model.state()["expected"], expected)


@settings(max_examples=60, deadline=None)
@given(lessons(), st.integers(1, 40), smoothings)
def test_smoothed_estimates_are_distributions_that_rule_nothing_out(
    case: tuple[Lessons, int], refresh: int, smoothing: float
) -> None:
    (rows, features), instructions = case
    model = taught((rows, features), instructions, refresh, smoothing)
    responses = Listed(features)
    for _ in range(2):
        estimates = np.array([model.estimates(x, responses) for x in range(instructions)])
        np.testing.assert_allclose(estimates, model.f @ features.T, rtol=1e-12)
        np.testing.assert_allclose(estimates.sum(axis=0), 1, rtol=1e-9)
        np.testing.assert_allclose(model.f.sum(axis=0), 1, rtol=1e-9)
        floor = smoothing / (len(rows) + smoothing * instructions)
        assert model.f.min() >= floor * (1 - 1e-9)
        model.fit(1e-3)


def test_one_hot_features_give_smoothed_frequencies() -> None:
    model = taught(([0, 0, 1, 2], np.eye(3)[[0, 0, 0, 1]]), 5, smoothing=0.5)
    np.testing.assert_allclose(model.f[:, 0], np.array([2.5, 1.5, 0.5, 0.5, 0.5]) / 5.5)
    np.testing.assert_allclose(model.f[:, 1], np.array([0.5, 0.5, 1.5, 0.5, 0.5]) / 3.5)
    np.testing.assert_allclose(model.f[:, 2], 0.2)
    assert model.gap() == pytest.approx(0, abs=1e-12)


def test_before_any_data_the_smoothed_estimate_is_uniform_and_the_best() -> None:
    model = MixtureModel(5, 3, smoothing=0.7)
    np.testing.assert_allclose(model.f, 0.2, rtol=1e-15)
    assert model.gap() == 0
    assert model.fit() == 0
    assert model.objective() == pytest.approx(0.7 * 15 * np.log(0.2))


def test_smoothed_draws_are_about_the_smoothed_estimates() -> None:
    sample, instructions = CASES["few responses"]
    model = taught(sample, instructions, smoothing=0.5)
    responses = Listed(np.eye(3))
    drawn = model.draws(1, responses, 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean(axis=0), model.estimates(1, responses), atol=0.01)


@settings(max_examples=30, deadline=None)
@given(lessons(), st.data(), smoothings)
def test_a_restored_smoothed_model_goes_on_to_the_bit(
    case: tuple[Lessons, int], data: st.DataObject, smoothing: float
) -> None:
    (rows, features), instructions = case
    cut = data.draw(st.integers(0, len(rows)))
    whole = taught((rows, features), instructions, 8, smoothing)
    first = taught((rows[:cut], features[:cut]), instructions, 8, smoothing)
    second = MixtureModel(instructions, features.shape[1], 8, smoothing)
    second.restore(first.state())
    for x, g in zip(rows[cut:], features[cut:], strict=True):
        second.learn(g, x)
    states: Any = (second.state(), whole.state())
    for name in states[0]:
        np.testing.assert_array_equal(states[0][name], states[1][name], err_msg=name)


@pytest.mark.parametrize("smoothing", [-0.1, float("nan"), float("inf"), "much", True])
def test_a_nonsensical_smoothing_is_refused(smoothing: Any) -> None:
    with pytest.raises(SettingError, match="smoothing"):
        Mixture(smoothing=smoothing)


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    model, good = (taught(CASES[name][0], 4) for name in ("few responses", "one response"))
    before: Any = model.state()
    state: Any = good.state()
    for name, wrong in [
        ("cursor", -1),
        ("expected", -state["expected"]),
        ("totals", state["totals"] + 1),
        ("entry_numbers", -state["entry_numbers"]),
        ("entry_instructions", state["entry_instructions"] + 4),
    ]:
        with pytest.raises(SettingError):
            model.restore({**state, name: wrong})
        after: Any = model.state()
        for key, value in before.items():
            np.testing.assert_array_equal(value, after[key], err_msg=f"{name}: {key}")
