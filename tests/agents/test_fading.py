"""With the ridge 1/t, widths are those of the exact inverse, however long nothing was learned."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tellback import Choice, Facts, Listed, Simulation, rounds
from tellback.agents import LORIL, ModelAgent
from tellback.agents.explorers import Optimism
from tellback.agents.fading import FadingEllipsoid
from tellback.errors import SettingError
from tellback.models.ellipsoid import Ellipsoid
from tellback.worlds import Synthetic
from tests.support.oracles import Floats, precise_inverse, random_simplex


def precise_widths(counts: Any, described: Floats, asked: Floats) -> Floats:
    """g' (I / t + sum of n g g')^-1 g with t = 1 + the number of descriptions, to 30 digits."""
    with mpmath.workdps(45):
        ridge: Any = mpmath.mpf(1) / (1 + int(np.sum(counts)))
        inverse = precise_inverse(np.asarray(counts), described, ridge)
        g = np.array([[mpmath.mpf(v) for v in row] for row in asked.tolist()], dtype=object)
        widths: Floats = (g.dot(inverse) * g).sum(axis=1).astype(np.float64)
    return widths


def described(counts: list[int], features: Floats, seed: int = 0) -> FadingEllipsoid:
    """An ellipsoid after so many descriptions of each row, in a shuffled order."""
    ellipsoid = FadingEllipsoid(features.shape[1])
    order = np.repeat(np.arange(len(counts)), counts)
    np.random.default_rng(seed).shuffle(order)
    for y in order.tolist():
        ellipsoid.add(features[y])
    return ellipsoid


CASES: dict[str, tuple[Floats, list[int]]] = {
    "unit vectors": (np.eye(4), [30_000, 20_000, 1, 0]),
    "one direction of the simplex": (random_simplex(np.random.default_rng(1), 1, 5), [50_000]),
    "two near each other": (
        np.array([[0.5, 0.25, 0.25], [0.5 + 1e-6, 0.25 - 1e-6, 0.25]]),
        [20_000, 20_000],
    ),
    "as many as there are dimensions": (
        random_simplex(np.random.default_rng(2), 6, 6),
        [10_000, 10_000, 10_000, 5_000, 3, 1],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_widths_are_exact_after_many_rounds_also_where_nothing_was_described(case: str) -> None:
    features, counts = CASES[case]
    dim = features.shape[1]
    ellipsoid = described(counts, features)
    directions = [*features, *np.eye(dim), *np.random.default_rng(3).normal(size=(4, dim))]
    if len(features) < dim:  # at a right angle to all that was described
        directions += list(np.linalg.svd(features)[2][len(features) :])
    asked = np.array(directions)
    found = ellipsoid.squared_widths(Listed(asked), keep=False)
    np.testing.assert_allclose(found, precise_widths(counts, features, asked), rtol=1e-9)


def test_a_direction_never_described_is_as_wide_as_t_says() -> None:
    ellipsoid = described([50_000], np.array([[1.0, 0.0]]))
    widths = ellipsoid.squared_widths(Listed([[0, 1], [0, 3]]), keep=True)
    np.testing.assert_allclose(widths, [50_001, 9 * 50_001], rtol=1e-14)


numbers = st.floats(-10, 10, allow_subnormal=False).filter(lambda v: v == 0 or abs(v) > 1e-100)
some_features = st.integers(1, 5).flatmap(
    lambda dim: hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.just(dim)), elements=numbers)
)


@settings(max_examples=80, deadline=None)
@given(some_features, st.data())
def test_any_features_have_the_widths_of_the_exact_inverse(
    matrix: Floats, data: st.DataObject
) -> None:
    """Also where they span no more than a part of the space, or are zero."""
    counts = data.draw(st.lists(st.integers(0, 5), min_size=len(matrix), max_size=len(matrix)))
    found = described(counts, matrix).squared_widths(Listed(matrix), keep=False)
    expected = precise_widths(counts, matrix, matrix)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_before_anything_is_described_the_ridge_is_one() -> None:
    ellipsoid = FadingEllipsoid(3)
    assert (ellipsoid.count, ellipsoid.lam) == (0, 1.0)
    widths = ellipsoid.squared_widths(Listed([[1, 2, 2], [0, 0, 0]]), keep=False)
    np.testing.assert_allclose(widths, [9, 0], rtol=1e-15)


def test_features_of_zero_teach_nothing_but_that_time_passes() -> None:
    ellipsoid = FadingEllipsoid(2)
    for n in range(1, 8):
        ellipsoid.add(np.zeros(2))
        assert ellipsoid.lam == 1 / (n + 1)
        widths = ellipsoid.squared_widths(Listed([[1.0, 0.0], [0.0, 0.0]]), keep=False)
        np.testing.assert_allclose(widths, [n + 1, 0], rtol=1e-14)


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.float32])
def test_whole_numbers_are_features_like_others(kind: Any) -> None:
    rows = np.array([[3, 4, 0], [1, 2, 5], [0, 1, 1]])
    ellipsoid, plain = FadingEllipsoid(3), FadingEllipsoid(3)
    for row in rows:
        ellipsoid.add(row.astype(kind))
        plain.add(row.astype(np.float64))
    asked = Listed(np.eye(3))
    np.testing.assert_array_equal(
        ellipsoid.squared_widths(asked, keep=False), plain.squared_widths(asked, keep=False)
    )
    np.testing.assert_allclose(
        plain.squared_widths(asked, keep=False),
        precise_widths([1, 1, 1], rows.astype(np.float64), np.eye(3)),
        rtol=1e-13,
    )


def some() -> tuple[FadingEllipsoid, Listed]:
    responses = Listed(random_simplex(np.random.default_rng(5), 7, 4))
    return described([3, 1, 4, 1, 5, 9, 0], responses.matrix), responses


def plain(state: Any) -> dict[str, Any]:
    return {name: np.array(value) for name, value in state.items()}


def same(one: Any, other: Any) -> None:
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_asking_changes_nothing() -> None:
    asked, responses = some()
    left_alone, _ = some()
    before = plain(asked.state())
    first = asked.squared_widths(responses, keep=True).copy()
    others = Listed(np.eye(4))
    for keep in (True, False, True):
        asked.squared_widths(others, keep=keep)
    np.testing.assert_array_equal(asked.squared_widths(responses, keep=False), first)
    same(plain(asked.state()), before)
    for one in (asked, left_alone):
        one.add(responses.features(2))
    same(plain(asked.state()), plain(left_alone.state()))


def test_learning_leaves_the_features_that_were_given_as_they_were() -> None:
    ellipsoid, _ = some()
    given_ = np.array([0.1, 0.2, 0.3, 0.4])
    ellipsoid.add(given_)
    np.testing.assert_array_equal(given_, [0.1, 0.2, 0.3, 0.4])


def test_widths_follow_what_is_learned_though_the_responses_stay_the_same() -> None:
    ellipsoid, responses = some()
    before = ellipsoid.squared_widths(responses, keep=True).copy()
    ellipsoid.add(responses.features(6))
    counts = [3, 1, 4, 1, 5, 9, 1]
    after = ellipsoid.squared_widths(responses, keep=True)
    assert not np.array_equal(before, after)
    expected = precise_widths(counts, responses.matrix, responses.matrix)
    np.testing.assert_allclose(after, expected, rtol=1e-12)


def test_restored_from_its_state_it_goes_on_to_the_bit() -> None:
    ellipsoid, responses = some()
    other = FadingEllipsoid(4)
    other.squared_widths(responses, keep=True)  # of another past
    other.restore(ellipsoid.state())
    for y in (0, 6, 6, 2, 5):
        np.testing.assert_array_equal(
            ellipsoid.squared_widths(responses, keep=True),
            other.squared_widths(responses, keep=True),
        )
        assert ellipsoid.lam == other.lam
        for one in (ellipsoid, other):
            one.add(responses.features(y))
    same(plain(ellipsoid.state()), plain(other.state()))


def test_going_back_to_a_state_with_as_many_descriptions_forgets_the_widths_of_the_other() -> None:
    responses = Listed(np.eye(2))
    one, other = FadingEllipsoid(2), FadingEllipsoid(2)
    one.add(np.array([1.0, 0.0]))
    other.add(np.array([0.0, 1.0]))
    one.squared_widths(responses, keep=True)
    one.restore(other.state())
    np.testing.assert_allclose(one.squared_widths(responses, keep=True), [2, 2 / 3], rtol=1e-14)


def test_a_saved_state_does_not_follow_the_ellipsoid() -> None:
    ellipsoid, responses = some()
    state: Any = ellipsoid.state()
    before = plain(state)
    other = FadingEllipsoid(4)
    other.restore(state)
    for one in (ellipsoid, other):
        one.add(responses.features(0))
    same(plain(state), before)


BAD: dict[str, tuple[Callable[[FadingEllipsoid], object], str]] = {
    "too few features": (lambda e: e.add(np.ones(3)), "4 numbers"),
    "too many features": (lambda e: e.add(np.ones(5)), "4 numbers"),
    "a matrix": (lambda e: e.add(np.ones((4, 1))), r"\(4, 1\)"),
    "not a number": (lambda e: e.add(np.array([0, np.nan, 0, 0])), "finite"),
    "infinite": (lambda e: e.add(np.array([0, 0, 0, -np.inf])), "finite"),
    "too large together": (lambda e: e.add(np.full(4, 1.7e308)), "smaller"),
    "other responses": (lambda e: e.squared_widths(Listed(np.ones((2, 3))), keep=True), "4 feat"),
    "another size": (lambda e: e.restore(FadingEllipsoid(3).state()), r"\(3, 3\)"),
    "a full root": (lambda e: e.restore({"root": np.ones((4, 4)), "count": 1}), "not possible"),
    "a root of nothing": (
        lambda e: e.restore({"root": np.full((4, 4), np.nan), "count": 1}),
        "not possible",
    ),
    "fewer than none": (lambda e: e.restore({"root": np.eye(4), "count": -1}), "count"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_refused_and_changes_nothing(what: str) -> None:
    act, said = BAD[what]
    ellipsoid, _ = some()
    if what == "too large together":
        ellipsoid.add(np.full(4, 1.7e308))  # alone it fits
    before = plain(ellipsoid.state())
    with pytest.raises(SettingError, match=said):
        act(ellipsoid)
    same(plain(ellipsoid.state()), before)


@pytest.mark.parametrize("dim", [0, -1, 2.5])
def test_a_dimension_that_is_none_is_refused_by_name(dim: Any) -> None:
    with pytest.raises(SettingError, match="dim"):
        FadingEllipsoid(dim)


def test_agents_keep_the_ellipsoid_they_were_told_to() -> None:
    facts = Facts(dim=3, instructions=5, fixed_responses=True)
    assert isinstance(Optimism(facts, 1.0, "1/t", "first").ellipsoid, FadingEllipsoid)
    assert isinstance(Optimism(facts, 1.0, 0.5, "first").ellipsoid, Ellipsoid)


class Reticent:
    """Describes as a world's teacher does, but not every round."""

    def __init__(self, teacher: Any) -> None:
        self._teacher = teacher
        self.asked = 0

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> Any:
        self.asked += 1
        told = self._teacher.describe(context, response, rng)
        return told if self.asked % 3 else None


WORLD = Synthetic(instructions=4, responses=5, rank=3, seed=1)


def expected_bonus(past: list[Choice], choice: Choice) -> float:
    sigma = np.eye(3) / (len(past) + 1) + sum(np.outer(c.features, c.features) for c in past)
    return 0.5 * float(np.sqrt(choice.features @ np.linalg.inv(sigma) @ choice.features))


def test_rounds_that_nobody_describes_count_for_t_and_enter_sigma() -> None:
    simulation = WORLD.build(np.random.default_rng(0))
    quiet = Simulation(simulation.world, Reticent(simulation.teacher), simulation.truth)
    past: list[Choice] = []
    for r in islice(rounds(quiet, LORIL(k=0.5, lam="1/t"), seed=2), 60):
        assert r.choice.bonus == pytest.approx(expected_bonus(past, r.choice), rel=1e-9)
        past.append(r.choice)


def test_descriptions_count_for_t_when_they_arrive() -> None:
    facts = WORLD.facts
    agent = LORIL(k=0.5, lam="1/t").build(facts, np.random.default_rng(0))
    assert isinstance(agent, ModelAgent)
    made: dict[int, Choice] = {}
    for r in islice(rounds(WORLD, agent, seed=2, delay=lambda t, rng: t % 4), 60):
        arrived = [made[n] for n in made if n + n % 4 < r.t]
        assert r.choice.bonus == pytest.approx(expected_bonus(arrived, r.choice), rel=1e-9)
        made[r.t] = r.choice
