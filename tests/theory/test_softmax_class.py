"""The softmax class and its brackets."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import theory
from tests.support.theory import (
    ALMOST_ONE,
    DELTAS,
    RIDGES,
    SEEDS,
    Floats,
    apart,
    magnitudes,
    never_more_often,
    uneven_distributions,
)


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("instructions", [1, 2, 3])
def test_brackets_are_as_many_as_columns_rounded_down_can_be(
    rounds: int, instructions: int
) -> None:
    most = rounds * instructions
    columns = [
        column
        for column in itertools.product(range(most + 1), repeat=instructions)
        if sum(column) <= most
    ]
    for dim in (1, 2, 5):
        counted = dim * math.log(len(columns))
        assert theory.bracketing_log_size(rounds, instructions, dim) == pytest.approx(counted)


@given(rounds=magnitudes(0, 12), instructions=magnitudes(0, 4), dim=st.integers(1, 100))
def test_the_number_of_brackets_is_a_binomial_coefficient_at_any_size(
    rounds: int, instructions: int, dim: int
) -> None:
    most = rounds * instructions
    with mpmath.workdps(40):
        logarithm = (
            mpmath.loggamma(most + instructions + 1)
            - mpmath.loggamma(most + 1)
            - mpmath.loggamma(instructions + 1)
        )
    assert theory.bracketing_log_size(rounds, instructions, dim) == pytest.approx(
        dim * float(logarithm), rel=1e-9
    )


def brackets(f: Floats, rounds: int) -> Floats:
    """Every entry rounded down to a multiple of rho / |X|, and a step more."""
    step = 1 / (rounds * f.shape[0])
    upper: Floats = (np.floor(f / step) + 1) * step
    return upper


@given(
    seed=SEEDS,
    rounds=st.integers(1, 300),
    instructions=st.integers(1, 30),
    dim=st.integers(1, 5),
)
@settings(max_examples=150, deadline=None)
def test_a_bracket_covers_its_member_at_the_costs_that_the_radius_counts(
    seed: int, rounds: int, instructions: int, dim: int
) -> None:
    rng = np.random.default_rng(seed)
    rho = 1 / rounds
    f, truth = uneven_distributions(rng, (2, dim, instructions)).transpose(0, 2, 1)
    g = rng.dirichlet(np.ones(dim))
    upper = brackets(f, rounds)
    assert (upper >= f * (1 - 1e-12)).all()
    assert upper.sum(axis=0).max() <= 1 + rho + 1e-9
    covered, mass = upper @ g, float((upper @ g).sum())
    assert float(apart(covered / mass, f @ g)) <= rho + 1e-9
    distance = float(apart(covered / mass, truth @ g))
    affinity = float(np.sqrt(covered * (truth @ g)).sum())
    assert 2 * math.log(affinity) <= math.log1p(rho) - distance**2 + 1e-9


def test_random_members_need_no_more_brackets_than_counted() -> None:
    rng = np.random.default_rng(2)
    members = theory.softmax_class(20_000, 2, 2, 0.5, rng)
    used = {brackets(f, 2).tobytes() for f in members}
    # All that sum to between |X| and M + |X| steps, less corners that are hardly ever drawn.
    assert 10 <= len(used) <= math.exp(theory.bracketing_log_size(2, 2, 2))


@given(
    size=st.integers(1, 5),
    instructions=st.integers(1, 50),
    dim=st.integers(1, 9),
    temperature=st.floats(0.05, 20),
    seed=SEEDS,
)
@settings(deadline=None)
def test_members_of_the_softmax_class_are_distributions_within_their_bound(
    size: int, instructions: int, dim: int, temperature: float, seed: int
) -> None:
    members = theory.softmax_class(
        size, instructions, dim, temperature, np.random.default_rng(seed)
    )
    assert members.shape == (size, instructions, dim)
    assert np.allclose(members.sum(axis=1), 1)
    assert (members >= 0).all()
    assert np.linalg.norm(members, axis=2).max() <= theory.softmax_bound(dim) * ALMOST_ONE
    between = ((members[:1] - members) ** 2).sum(axis=2).max()
    assert between <= theory.SOFTMAX_SPREAD * dim
    # exp(z / temperature) in proportion.
    z = np.random.default_rng(seed).standard_normal((size, instructions, dim))
    logs = z / temperature - np.log(np.exp((z - z.max()) / temperature).sum(axis=1, keepdims=True))
    assert np.allclose(members, np.exp(logs - z.max() / temperature), rtol=1e-6, atol=1e-12)


def test_a_softmax_of_large_numbers_does_not_overflow() -> None:
    shares = theory.softmax(np.array([[1e300, 0.0], [0.0, 0.0]]), 1.0, axis=1)
    assert shares.tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert theory.softmax(np.array([[0.0, 3.0], [0.0, 0.0]]), 1.0, axis=0)[:, 0].tolist() == [
        0.5,
        0.5,
    ]


def test_the_shares_of_delta_that_epochs_have_sum_to_no_more_than_delta() -> None:
    instructions, dim, delta = 5, 3, 0.05
    shares = []
    for epoch in range(40):
        # The first round of an epoch, with what rounding costs taken off again.
        described = 2 ** (epoch - 1) if epoch else 0
        rho = 2.0**-epoch
        radius = theory.softmax_radius(described + 1, 0.0, instructions, dim, delta)
        told = (radius - math.sqrt(described) * rho) ** 2 - described * math.log1p(rho)
        log_size = theory.bracketing_log_size(2**epoch, instructions, dim)
        shares.append(math.exp(log_size - told / 2))
    assert sum(shares) <= delta * (1 + 1e-6)
    assert sum(shares) >= 0.97 * delta


@given(
    t=magnitudes(0, 15),
    lam=RIDGES,
    instructions=magnitudes(0, 3.5),
    dim=st.integers(1, 60),
    delta=DELTAS,
)
def test_the_softmax_radius_lies_between_that_of_as_many_members_and_the_printed_one(
    t: int, lam: float, instructions: int, dim: int, delta: float
) -> None:
    radius = theory.softmax_radius(t, lam, instructions, dim, delta)
    log_size = theory.bracketing_log_size(t, instructions, dim)
    # ||f - f'||^2 <= d here, where Assumption 2 alone would give (2 B)^2.
    finite = theory.repaired_radius(lam, log_size, delta, math.sqrt(dim) / 2)
    printed = theory.printed_radius(t, lam, log_size, delta, theory.softmax_bound(dim))
    assert finite <= radius <= printed


def test_the_softmax_ellipsoid_holds_the_truth_whatever_the_estimate() -> None:
    # Where the features are corners of the simplex, maximum likelihood is counting.
    rng = np.random.default_rng(3)
    runs, instructions, dim, delta = 50, 3, 2, 0.1
    missed, closest = 0, 0.0
    for _ in range(runs):
        truth = uneven_distributions(rng, (dim, instructions))
        guesses = rng.dirichlet(np.ones(instructions), (5, dim))
        counts = np.zeros((dim, instructions))
        held = True
        for t in range(1, 40):
            visits = counts.sum(axis=1)
            best = (counts + 1e-12) / (counts + 1e-12).sum(axis=1, keepdims=True)
            estimates = np.concatenate([best[None], guesses])
            likelihoods = (counts * np.log(estimates)).sum(axis=(1, 2))
            spreads = np.sqrt((visits * apart(estimates, truth) ** 2).sum(axis=1))
            for gap, spread in zip(likelihoods[0] - likelihoods, spreads, strict=True):
                radius = theory.softmax_radius(t, 0.0, instructions, dim, delta, max(gap, 0.0))
                held &= bool(spread <= radius)
                closest = max(closest, spread / radius)
            # The corner tried least, or the one of which the first instruction is likeliest.
            corner = int(visits.argmin() if rng.random() < 0.5 else best[:, 0].argmax())
            counts[corner, rng.choice(instructions, p=truth[corner])] += 1
        missed += not held
    assert never_more_often(missed, runs, delta)
    assert closest > 0.35  # so that a radius of a third would not do
