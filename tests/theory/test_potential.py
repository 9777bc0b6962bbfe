"""The elliptic potential."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import theory
from tests.support.theory import (
    ALMOST_ONE,
    KINDS,
    LENGTHS,
    RIDGES,
    SEEDS,
    in_turn,
    sequence,
    widths_of,
)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEEDS, rounds=st.integers(1, 50), dim=st.integers(1, 8), lam=RIDGES, length=LENGTHS)
@settings(max_examples=25, deadline=None)
def test_clipped_widths_sum_to_less_than_their_bound_for_every_ridge(
    kind: str, seed: int, rounds: int, dim: int, lam: float, length: float
) -> None:
    rng = np.random.default_rng(seed)
    vectors = length * sequence(kind, rng, rounds, dim, lam / length**2)
    total = np.minimum(widths_of(vectors, np.full(rounds, lam)), 1).sum()
    assert total <= theory.clipped_potential_bound(rounds, dim, lam, length) * ALMOST_ONE


def test_the_clipped_bound_is_met_by_one_vector_of_width_one() -> None:
    for length in (0.1, 1.0, 7.0):
        bound = theory.clipped_potential_bound(1, 1, length**2, length)
        assert bound == pytest.approx(1, rel=1e-12)


def test_the_printed_potential_bound_is_false_for_small_ridges() -> None:
    rounds, dim = 1000, 64
    # With unit vectors in turn, Sigma is diagonal: lambda + the visits so far.
    visits = np.arange(rounds) // dim
    total = (1 / np.sqrt(1 / rounds + visits)).sum()
    assert round(total) == 2428
    assert widths_of(in_turn(rounds, dim), np.full(rounds, 1 / rounds)).sum() == pytest.approx(
        total
    )
    bound = theory.printed_potential_bound(rounds, dim, 1 / rounds, 1.0)
    assert round(bound) == 1330
    assert bound == pytest.approx(math.sqrt(2 * 1000 * 64 * math.log(1 + 1000 * 1000)))


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=SEEDS,
    rounds=st.integers(1, 40),
    dim=st.integers(1, 6),
    length=LENGTHS,
    more=st.floats(1, 100),
)
@settings(max_examples=20, deadline=None)
def test_the_printed_potential_bound_holds_where_no_width_exceeds_one(
    kind: str, seed: int, rounds: int, dim: int, length: float, more: float
) -> None:
    lam = more * length**2
    vectors = length * sequence(kind, np.random.default_rng(seed), rounds, dim, more)
    widths = widths_of(vectors, np.full(rounds, lam))
    assert widths.max() <= ALMOST_ONE
    assert widths.sum() <= theory.printed_potential_bound(rounds, dim, lam, length) * ALMOST_ONE
