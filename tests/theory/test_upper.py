"""Theorem 2: upper bounds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tellback import theory
from tellback.errors import SettingError
from tests.support.theory import (
    ALMOST_ONE,
    DELTAS,
    KINDS,
    LENGTHS,
    LOG_SIZES,
    SEEDS,
    magnitudes,
    sequence,
    uneven_distributions,
    widths_of,
)


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=SEEDS,
    rounds=st.integers(1, 50),
    dim=st.integers(1, 8),
    B=LENGTHS,
    log_size=st.floats(0, 20),
    delta=DELTAS,
)
@example(seed=0, rounds=1, dim=1, B=0.01, log_size=0.0, delta=0.999)
@settings(max_examples=25, deadline=None)
def test_rounds_cost_no_more_than_the_repaired_bound_with_a_fading_ridge(
    kind: str, seed: int, rounds: int, dim: int, B: float, log_size: float, delta: float
) -> None:
    t = np.arange(1, rounds + 1)
    vectors = B * sequence(kind, np.random.default_rng(seed), rounds, dim, 1 / B**2)
    widths = widths_of(vectors, 1 / t)
    radii = np.sqrt(2 * (log_size - math.log(delta)) + 4 * B**2 / t)
    costs = np.minimum(1, 2 * radii * widths)
    bound = theory.repaired_regret_bound(rounds, dim, B, log_size, delta)
    assert costs.sum() <= bound * ALMOST_ONE


@given(rounds=st.integers(1, 3000), dim=magnitudes(0, 3), B=LENGTHS, log_size=st.floats(0.7, 20))
@settings(deadline=None)
def test_the_repaired_bound_is_cauchy_and_schwarzs_but_for_the_harmonic_sum(
    rounds: int, dim: int, B: float, log_size: float
) -> None:
    harmonic = (1 / np.arange(1, rounds + 1)).sum()
    widths = dim * math.log2(1 + (rounds * B) ** 2 / dim)
    least, most = (
        2 * math.sqrt((2 * (log_size + math.log(20)) * rounds + 4 * B**2 * fading) * widths)
        for fading in (harmonic, harmonic + 0.43)  # 1 - Euler's constant is 0.423
    )
    bound = theory.repaired_regret_bound(rounds, dim, B, log_size, 0.05)
    assert least <= bound * ALMOST_ONE
    assert bound <= most


def test_a_radius_below_one_half_is_taken_for_one_half() -> None:
    # A new direction in every round has width B sqrt(t), far above 1, and next to no radius:
    # 2 r_t w_t is 4 B^2, which is more than 2 r_t.
    rounds, B, delta = 10_000, 0.2, 1 - 1e-9
    t = np.arange(1, rounds + 1)
    radii = np.sqrt(-2 * math.log(delta) + 4 * B**2 / t)
    costs = np.minimum(1, 2 * radii * B * np.sqrt(t))
    assert costs.sum() == pytest.approx(4 * B**2 * rounds, rel=1e-3)
    widths = theory.clipped_potential_bound(rounds, rounds, 1 / rounds, B)
    assert 2 * math.sqrt((radii**2).mean()) * widths < costs.sum()
    assert theory.repaired_regret_bound(rounds, rounds, B, 0.0, delta) >= costs.sum()


@pytest.mark.parametrize("dim", [1, 3, 16])
def test_unit_vectors_in_turn_come_near_the_repaired_bound(dim: int) -> None:
    # Widths 1 / sqrt(visits) sum to 2 sqrt(d T), and the bound has sqrt(d T log(1 + T^2 / d)).
    rounds, delta = 20_000, 0.05
    t = np.arange(1, rounds + 1)
    widths = 1 / np.sqrt(1 / t + (t - 1) // dim)
    radii = np.sqrt(2 * math.log(2 / delta) + 4 / t)
    costs = np.minimum(1, 2 * radii * widths).sum()
    bound = theory.repaired_regret_bound(rounds, dim, 1.0, math.log(2), delta)
    assert 0.3 * bound <= costs <= bound


@given(
    seed=SEEDS,
    rounds=st.integers(1, 60),
    instructions=st.integers(1, 40),
    dim=st.integers(1, 6),
    delta=DELTAS,
)
@settings(max_examples=30, deadline=None)
def test_rounds_cost_no_more_than_the_softmax_bound_whatever_the_responses(
    seed: int, rounds: int, instructions: int, dim: int, delta: float
) -> None:
    rng = np.random.default_rng(seed)
    responses = uneven_distributions(rng, (rounds, dim))
    ridges = 1 / np.arange(1, rounds + 1)
    radii = [
        theory.softmax_radius(t, lam, instructions, dim, delta)
        for t, lam in enumerate(ridges, start=1)
    ]
    costs = np.minimum(1, 2 * np.array(radii) * widths_of(responses, ridges)).sum()
    bound = theory.softmax_regret_bound(rounds, instructions, dim, delta)
    assert costs <= bound * ALMOST_ONE
    # The largest radius of any round with lambda = 1, sought one by one.
    largest = max(
        theory.softmax_radius(t, 1.0, instructions, dim, delta) for t in range(1, rounds + 1)
    )
    widths = math.sqrt(rounds * dim * math.log2(1 + rounds**2 / dim))
    assert bound == pytest.approx(2 * largest * widths)


@given(rounds=magnitudes(0, 12), dim=magnitudes(0, 4), B=LENGTHS, log_size=LOG_SIZES, delta=DELTAS)
def test_the_printed_bound_is_the_line_before_it_but_for_one_logarithm(
    rounds: int, dim: int, B: float, log_size: float, delta: float
) -> None:
    constant = (32 * theory.freedman_constant(log_size, delta)) ** 0.25
    logarithm = math.log(rounds) + log_size - math.log(delta)
    factor = 2 * (constant * math.sqrt(logarithm) + 2 * B)
    before = factor * math.sqrt(2 * rounds * dim * math.log1p((rounds * B) ** 2))
    after = factor * math.sqrt(4 * rounds * dim * math.log1p(rounds * B))
    printed = theory.printed_regret_bound(rounds, dim, B, log_size, delta)
    assert printed == pytest.approx(after, rel=1e-9)
    assert before <= printed * ALMOST_ONE


@given(
    rounds=magnitudes(0, 12),
    dim=magnitudes(0, 4),
    B=LENGTHS,
    log_size=st.floats(math.log(2), 1e4),
    delta=DELTAS,
)
def test_the_printed_bound_is_true_though_the_potential_it_sums_by_is_not(
    rounds: int, dim: int, B: float, log_size: float, delta: float
) -> None:
    # With widths clipped at 1, the appendix's radius gives no more; nor does the repaired one.
    printed = theory.printed_regret_bound(rounds, dim, B, log_size, delta)
    logarithm = math.log(rounds) + log_size - math.log(delta)
    largest = (32 * theory.freedman_constant(log_size, delta)) ** 0.25 * math.sqrt(logarithm)
    largest += 2 * B
    assert 2 * largest >= 1
    clipped = theory.clipped_potential_bound(rounds, dim, 1 / rounds, B)
    assert 2 * largest * clipped <= printed * ALMOST_ONE
    assert theory.repaired_regret_bound(rounds, dim, B, log_size, delta) <= printed * ALMOST_ONE


@given(constant=st.floats(0.01, 1e12))
@example(constant=1.0)
@example(constant=math.sqrt(2))
def test_a_bound_of_c_roots_of_rounds_says_something_from_c_squared_on(constant: float) -> None:
    first = theory.meaningful_from(lambda rounds: constant * math.sqrt(rounds))
    assert constant * math.sqrt(first) < first
    assert first == 1 or constant * math.sqrt(first - 1) >= first - 1
    assert first == pytest.approx(max(constant**2, 1), rel=1e-9, abs=1)


def repaired_at(dim: int, B: float) -> Callable[[int], float]:
    return lambda rounds: theory.repaired_regret_bound(rounds, dim, B, math.log(64), 0.05)


def softmax_at(instructions: int, dim: int) -> Callable[[int], float]:
    return lambda rounds: theory.softmax_regret_bound(rounds, instructions, dim, 0.05)


@pytest.mark.parametrize(
    "bound",
    [
        repaired_at(4, 1.0),
        repaired_at(1, 30.0),
        repaired_at(64, 0.1),  # below T at T = 1, and then above
        lambda rounds: theory.printed_regret_bound(rounds, 4, 2.0, math.log(64), 0.05),
        softmax_at(3, 1),  # below T from 7858 to 8192, and then above again
    ],
)
def test_from_the_first_meaningful_round_on_a_bound_is_below_the_rounds(
    bound: Callable[[int], float],
) -> None:
    first = theory.meaningful_from(bound)
    assert first > 1
    assert bound(first - 1) >= first - 1
    later = {int(first * 1.05**step) for step in range(150)}
    later |= {2**power + 1 for power in range(first.bit_length() - 1, 30) if 2**power >= first}
    assert all(bound(rounds) < rounds for rounds in later | {first})


def test_a_bound_that_never_says_anything_has_no_first_round() -> None:
    with pytest.raises(SettingError, match="not below T at any T"):
        theory.meaningful_from(lambda rounds: float(rounds))
