"""Theorem 1: the lower bound."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats

from tellback import theory
from tellback.errors import SettingError
from tests.support.theory import ALMOST_ONE, SEEDS, magnitudes, uneven_distributions

ALLOWED = st.tuples(magnitudes(1.343, 7), st.floats(0, 6)).map(
    lambda sizes: (sizes[0], max(434, int(sizes[0] * 10 ** sizes[1])))
)
"""K of 22 and more, with T of 434 and more and not below K."""


@given(gap=st.floats(1e-9, 0.499999), responses=magnitudes(0, 6), rounds=magnitudes(0, 9))
def test_information_is_that_of_two_rounds_in_k_by_scipy_and_by_forty_digits(
    gap: float, responses: int, rounds: int
) -> None:
    told = theory.information(responses, rounds, gap)
    with mpmath.workdps(40):
        half, more = mpmath.mpf(1) / 2, mpmath.mpf(1) / 2 + mpmath.mpf(gap)
        exact = (mpmath.log(half / more) + mpmath.log(half / (1 - more))) / 2
    assert told == pytest.approx(float(2 * rounds * exact / responses), rel=1e-9)
    if gap > 1e-3:
        for sign in (1, -1):
            entropy = stats.entropy([0.5, 0.5], [0.5 + sign * gap, 0.5 - sign * gap])
            assert told == pytest.approx(2 * rounds / responses * float(entropy), rel=1e-6)


def test_no_gap_tells_nothing_and_a_certain_description_everything() -> None:
    assert theory.information(22, 434, 0.0) == 0
    assert theory.information(22, 434, 0.5) == math.inf


@given(counts=st.lists(st.integers(0, 50), min_size=2, max_size=40))
def test_half_of_all_responses_are_tried_in_two_rounds_of_k_or_less(counts: list[int]) -> None:
    neglected = sorted(counts)[: len(counts) // 2]
    assert all(len(counts) * count <= 2 * sum(counts) for count in neglected)


@given(sizes=ALLOWED)
def test_the_printed_gap_tells_4_nats_or_more_so_that_its_constants_do_not_follow(
    sizes: tuple[int, int],
) -> None:
    responses, rounds = sizes
    assume(rounds > 4 * responses)
    gap = theory.hard_gap(responses, rounds, "printed")
    told = theory.information(responses, rounds, gap)
    assert told >= 4 * (1 - 1e-9)
    assert math.exp(-told) / 2 <= 0.00916  # where the paper has 1 / e


def test_the_printed_chain_gives_at_best_nine_in_a_thousand() -> None:
    responses, rounds = 22, 10**12
    gap = theory.hard_gap(responses, rounds, "printed")
    share = math.exp(-theory.information(responses, rounds, gap)) / 2
    assert share == pytest.approx(math.exp(-4) / 2, rel=1e-6)
    assert round(share, 3) == 0.009
    assert theory.lower_probability(responses, rounds, "printed") == 1 / (4 * math.e)


@given(sizes=ALLOWED)
@example(sizes=(22, 434))
@example(sizes=(434, 434))
@example(sizes=(10**7, 10**7))
def test_the_repaired_probability_is_at_least_the_printed_one_for_all_allowed_sizes(
    sizes: tuple[int, int],
) -> None:
    responses, rounds = sizes
    theory.demand_conditions(responses, rounds)
    gap = theory.hard_gap(responses, rounds)
    assert gap <= 0.25
    assert theory.information(responses, rounds, gap) <= math.log(4 / 3) * ALMOST_ONE
    with mpmath.workdps(30):
        told = -mpmath.log(1 - mpmath.mpf(responses) / (4 * rounds)) * rounds / responses
        expected = mpmath.exp(-told) / 2 - mpmath.exp(-mpmath.mpf(rounds) / 32)
        expected -= mpmath.mpf(1) / math.floor(responses / 2)
    probability = theory.lower_probability(responses, rounds)
    assert probability == pytest.approx(float(expected), rel=1e-9)
    assert probability >= 1 / (4 * math.e)
    assert probability < 0.5


@given(rounds=st.integers(434, 10_000))
def test_b_is_asked_for_in_five_rounds_of_eight_as_seldom_as_hoeffding_says(rounds: int) -> None:
    assert stats.binom.sf(math.floor(5 * rounds / 8), rounds, 0.5) <= math.exp(-rounds / 32)


@given(seed=SEEDS, size=st.integers(2, 12))
def test_bretagnolle_and_huber_hold_with_their_half(seed: int, size: int) -> None:
    p, q = uneven_distributions(np.random.default_rng(seed), (2, size))
    # The least of P(E) + Q(not E) over all events E.
    least = np.minimum(p, q).sum()
    assert least >= math.exp(-stats.entropy(p, q)) / 2 * (1 - 1e-9)


def test_without_their_half_bretagnolle_and_huber_would_be_wrong() -> None:
    p, q = np.array([0.5, 0.5]), np.array([0.55, 0.45])
    assert np.minimum(p, q).sum() < math.exp(-stats.entropy(p, q))


@given(responses=magnitudes(0, 6), rounds=magnitudes(0, 9))
def test_the_lower_bound_is_an_eighth_or_a_32nd_of_the_root_of_kt(
    responses: int, rounds: int
) -> None:
    root = math.sqrt(responses * rounds)
    assert theory.lower_bound(responses, rounds, "printed") == pytest.approx(root / 8)
    assert theory.lower_bound(responses, rounds) == pytest.approx(root / 32)


@pytest.mark.parametrize("tries", [0, 1, 10, 19])
def test_agents_that_explore_and_then_commit_do_cost_the_lower_bound(tries: int) -> None:
    responses, rounds, runs = 22, 434, 2000
    rng = np.random.default_rng(tries)
    gap = theory.hard_gap(responses, rounds)
    # Response 0 is the better one; all are tried as often, so that any other would do as well.
    chances = np.where(np.arange(responses) == 0, 0.5 + gap, 0.5)
    described = rng.binomial(tries, chances, (runs, responses))
    best = (described + rng.random((runs, responses))).argmax(axis=1)  # ties at random
    wrong = rng.binomial(tries, 0.5, (runs, responses)).sum(axis=1)
    # Then the best for A, and any other for B; if it is not the better one, A costs the gap,
    # and B where by chance the better one is taken: never, at best.
    left = rounds - responses * tries
    wrong += np.where(best == 0, 0, rng.binomial(left, 0.5, runs))
    costly = int((gap * wrong >= theory.lower_bound(responses, rounds)).sum())
    least = theory.lower_probability(responses, rounds)
    assert costly >= stats.binom.ppf(1e-6, runs, least)


@pytest.mark.parametrize("form", theory.FORMS)
def test_theorem_1_says_nothing_of_fewer_than_22_responses_or_434_rounds(form: str) -> None:
    theory.demand_conditions(22, 434, form)
    with pytest.raises(SettingError, match=r"responses must be at least 8e, which is 22.*not 21"):
        theory.demand_conditions(21, 434, form)
    with pytest.raises(SettingError, match=r"rounds must be at least 256 log\(2e\).*434.*not 433"):
        theory.demand_conditions(22, 433, form)
    assert math.ceil(8 * math.e) == 22
    assert math.ceil(256 * math.log(2 * math.e)) == 434


def test_the_printed_gap_needs_four_rounds_a_response_and_the_repaired_one() -> None:
    theory.demand_conditions(1000, 4000, "printed")
    assert theory.hard_gap(1000, 4000, "printed") == 0.5
    with pytest.raises(SettingError, match=r"rounds must be at least 4 times the 1000 .*not 3999"):
        theory.demand_conditions(1000, 3999, "printed")
    theory.demand_conditions(1000, 1000)
    assert theory.hard_gap(1000, 1000) == 0.25
    with pytest.raises(SettingError, match=r"rounds must be at least the 1000 .*not 999"):
        theory.demand_conditions(1000, 999)
    for form, rounds in [("printed", 3999), ("repaired", 999)]:
        with pytest.raises(SettingError, match="rounds must be at least"):
            theory.lower_probability(1000, rounds, form)
