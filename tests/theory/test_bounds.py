"""The theorems' bounds are what they are said to be, by oracles that know nothing of the code."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from tellback import theory
from tellback.errors import SettingError
from tellback.theory.matches import TUNINGS

Floats = NDArray[np.float64]

SEEDS = st.integers(0, 2**32 - 1)
DELTAS = st.floats(1e-12, 0.999)
LOG_SIZES = st.floats(0, 1e4)
LENGTHS = st.floats(1e-2, 1e2)
RIDGES = st.floats(1e-6, 1e3)
ALMOST_ONE = 1 + 1e-9
"""For sums of many floating-point numbers."""


def magnitudes(lowest: float, highest: float) -> st.SearchStrategy[int]:
    """Whole numbers, every power of 10 as likely as any other."""
    return st.floats(lowest, highest).map(lambda power: int(10**power))


def never_more_often(count: int, runs: int, delta: float) -> bool:
    """Whether an event of probability delta happens so often: by chance once in a million."""
    return count <= int(stats.binom.ppf(1 - 1e-6, runs, delta))


def uneven_distributions(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Along the last axis, from nearly uniform to nearly (or quite) degenerate."""
    spread = 10.0 ** rng.uniform(-3, 2)
    weights = rng.gamma(spread, size=shape) + 1e-300
    distributions: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return distributions


def apart(p: Floats, q: Floats) -> Floats:
    """The distance in total variation, along the last axis."""
    distance: Floats = np.abs(p - q).sum(axis=-1) / 2
    return distance


# --- The elliptic potential ----------------------------------------------------------------


def widths_of(vectors: Floats, ridges: Floats) -> Floats:
    """||v_t|| in the norm of the inverse of lambda_t I + the sum of the v v' before."""
    gram = np.zeros((vectors.shape[1], vectors.shape[1]))
    widths = []
    for v, lam in zip(vectors, ridges, strict=True):
        widths.append(math.sqrt(v @ np.linalg.solve(gram + lam * np.eye(len(v)), v)))
        gram += np.outer(v, v)
    return np.array(widths)


def in_turn(rounds: int, dim: int) -> Floats:
    return np.eye(dim)[np.arange(rounds) % dim]


def greedy(rng: np.random.Generator, rounds: int, dim: int, lam: float) -> Floats:
    """Always the widest of a pool, which is what optimism does where estimates are equal."""
    pool = rng.standard_normal((20, dim))
    pool /= np.linalg.norm(pool, axis=1, keepdims=True)
    sigma = lam * np.eye(dim)
    chosen = []
    for _ in range(rounds):
        widest = int(np.einsum("kd,dk->k", pool, np.linalg.solve(sigma, pool.T)).argmax())
        chosen.append(pool[widest])
        sigma += np.outer(pool[widest], pool[widest])
    return np.array(chosen)


def sequence(kind: str, rng: np.random.Generator, rounds: int, dim: int, lam: float) -> Floats:
    """Vectors of a length of 1 at most."""
    if kind == "in turn":
        return in_turn(rounds, dim)
    if kind == "greedy":
        return greedy(rng, rounds, dim, lam)
    if kind == "one":
        return in_turn(1, dim).repeat(rounds, axis=0)
    vectors = rng.standard_normal((rounds, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors *= rng.random((rounds, 1))
    return vectors


KINDS = ["in turn", "greedy", "one", "random"]


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


# --- Radii ---------------------------------------------------------------------------------


@given(log_size=LOG_SIZES, delta=DELTAS, t=magnitudes(0, 300))
@example(log_size=0.0, delta=0.999, t=1)
@example(log_size=0.0, delta=1 / 12, t=1)
def test_freedmans_constant_covers_the_union_bound_at_every_time(
    log_size: float, delta: float, t: int
) -> None:
    needed = math.log(12) + 2 * math.log(t) + log_size - math.log(delta)
    granted = theory.freedman_constant(log_size, delta) * (math.log(t) + log_size - math.log(delta))
    assert needed <= granted * (1 + 1e-12)


@given(log_size=LOG_SIZES, delta=DELTAS)
def test_freedmans_constant_is_the_least(log_size: float, delta: float) -> None:
    ratio = mpmath.mpf(log_size) - mpmath.log(delta)
    needed = [
        (mpmath.log(12) + 2 * power + ratio) / (power + ratio)
        for power in (mpmath.mpf(0), mpmath.mpf(10) ** 15)  # t = 1 and t = exp(10^15)
    ]
    assert theory.freedman_constant(log_size, delta) == pytest.approx(float(max(needed)), rel=1e-10)


def test_freedmans_constant_is_2_from_12_on() -> None:
    assert theory.freedman_constant(math.log(12), 1 - 1e-12) == pytest.approx(2)
    assert theory.freedman_constant(0.0, 1 / 13) == 2
    assert theory.freedman_constant(0.0, 1 / 11) > 2


@given(t=magnitudes(0, 30), lam=RIDGES, log_size=LOG_SIZES, delta=DELTAS, B=LENGTHS)
def test_each_radius_is_within_the_one_that_it_repairs(
    t: int, lam: float, log_size: float, delta: float, B: float
) -> None:
    printed = theory.printed_radius(t, lam, log_size, delta, B)
    appendix = theory.appendix_radius(t, lam, log_size, delta, B)
    repaired = theory.repaired_radius(lam, log_size, delta, B)
    assert printed >= appendix * (1 - 1e-12)
    assert appendix >= repaired


@given(log_size=LOG_SIZES, delta=DELTAS)
def test_the_printed_constant_is_the_larger_of_the_appendixs_two(
    log_size: float, delta: float
) -> None:
    # With lambda = 0 only the one term is left, and with t |F| / delta = 1 only the other.
    constant = theory.printed_constant(log_size, delta)
    logarithm = log_size - math.log(delta)
    first = theory.appendix_radius(1, 0.0, log_size, delta, 1.0) / math.sqrt(logarithm)
    second = theory.appendix_radius(1, 1.0, log_size, delta, 1.0) - first * math.sqrt(logarithm)
    assert second == pytest.approx(2, rel=1e-6)
    assert constant == pytest.approx(max(first, 2), rel=1e-9)
    assert first**4 == pytest.approx(32 * theory.freedman_constant(log_size, delta), rel=1e-9)


def test_the_repaired_radius_is_its_formula() -> None:
    # 2 log(100 / 0.05) + 3 + 4 * 0.5 * 2^2
    assert theory.repaired_radius(0.5, math.log(100), 0.05, 2.0, gap=3.0) ** 2 == pytest.approx(
        2 * math.log(2000) + 3 + 8
    )
    assert theory.printed_radius(7, 0.25, math.log(100), 0.05, 2.0) == pytest.approx(
        64**0.25 * (math.sqrt(math.log(7 * 2000)) + 0.5 * 2)
    )


@given(seed=SEEDS, size=st.integers(2, 30))
@settings(max_examples=200)
def test_total_variation_bounds_affinity_and_every_single_probability(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = uneven_distributions(rng, (2, size))
    distance, common = float(apart(p, q)), float(np.minimum(p, q).sum())
    affinity = float(np.sqrt(p * q).sum())
    # 1 - TV^2 without its cancellation, TV being 1 - common.
    assert affinity <= math.sqrt(common * (2 - common)) * ALMOST_ONE
    assert distance**2 / 2 <= -math.log(affinity) + 1e-12
    assert np.abs(p - q).max() <= distance + 1e-15


def test_the_supermartingale_exceeds_its_bound_about_as_often_as_delta_and_no_more() -> None:
    # Two descriptions with probabilities 1/2 +- e and the other way round: there the affinity
    # is sqrt(1 - TV^2), so that nothing is lost but the last step beyond the bound.
    rng = np.random.default_rng(0)
    runs, rounds, delta, e = 2000, 4000, 0.2, 0.05
    favours_truth = rng.random((rounds, runs), dtype=np.float32) < 0.5 + e
    ratio = math.log((0.5 - e) / (0.5 + e))
    sums = np.cumsum(np.where(favours_truth, ratio, -ratio) + (2 * e) ** 2, axis=0)
    allowed = theory.repaired_radius(0.0, 0.0, delta, 1.0) ** 2
    exceeded = int((sums.max(axis=0) > allowed).sum())
    assert never_more_often(exceeded, runs, delta)
    # 0.17 measured, with a standard error of 0.008; a bound smaller by a fifth would fail.
    assert exceeded >= 0.7 * delta * runs
    assert not never_more_often(int((sums.max(axis=0) > 0.8 * allowed).sum()), runs, delta)


@pytest.mark.parametrize("gap", [0.0, 2.0])
def test_the_ellipsoid_holds_the_truth_at_all_times_at_once_however_responses_are_chosen(
    gap: float,
) -> None:
    rng = np.random.default_rng(1)
    runs, rounds, size, instructions, dim, delta = 400, 120, 6, 4, 3, 0.1
    members = rng.dirichlet(np.full(instructions, 0.5), (size, dim)).transpose(0, 2, 1)
    responses = rng.dirichlet(np.ones(dim), 8)
    probabilities = members @ responses.T  # (member, instruction, response)
    truth = np.arange(runs) % size
    likelihoods = np.zeros((runs, size))
    gram = np.zeros((runs, dim, dim))
    missed = np.zeros(runs, dtype=bool)
    closest = 0.0
    for t in range(1, rounds + 1):
        # The farthest member whose likelihood is within the gap.
        error = members[None] - members[truth][:, None]
        norms = np.einsum("rmxd,rde,rmxe->rmx", error, gram + np.eye(dim) / t, error)
        likely = likelihoods >= likelihoods.max(axis=1, keepdims=True) - gap
        farthest = np.where(likely, norms.max(axis=2), -1.0)
        radius = theory.repaired_radius(1 / t, math.log(size), delta, math.sqrt(dim), gap)
        missed |= farthest.max(axis=1) > radius**2
        closest = max(closest, math.sqrt(farthest.max()) / radius)
        # Responses in which that member is nearest to the truth, so that it is not found out.
        estimate = farthest.argmax(axis=1)
        between = np.abs(probabilities[estimate] - probabilities[truth]).sum(axis=1)
        resolved = estimate == truth
        between[resolved] = rng.random((resolved.sum(), len(responses)))
        chosen = between.argmin(axis=1)
        cumulated = probabilities[truth, :, chosen].cumsum(axis=1)
        described = (rng.random((runs, 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)
        likelihoods += np.log(probabilities[:, described, chosen]).T
        g = responses[chosen]
        gram += g[:, :, None] * g[:, None, :]
    assert never_more_often(int(missed.sum()), runs, delta)
    assert closest > 0.5  # so that a radius of half the size would not do


def test_the_self_normalized_radius_is_its_formula() -> None:
    radius = theory.self_normalized_radius(3.0, 0.25, 7, 0.1, 2.0)
    assert radius == pytest.approx(0.5 * math.sqrt(3 + 2 * math.log(70)) + 0.5 * 2)
    one = theory.self_normalized_radius(0.0, 1.0, 1, math.exp(-2), 1.0)
    assert one == pytest.approx(2)


@pytest.mark.parametrize("lam", [0.1, 2.0])
def test_ridge_regression_is_within_its_radius_for_all_words_and_times_at_once(lam: float) -> None:
    """Responses are chosen against it: in the direction of its largest error, or at random."""
    rng = np.random.default_rng(3)
    runs, rounds, instructions, dim, delta = 400, 150, 3, 2, 0.1
    truth = rng.dirichlet(np.full(instructions, 0.7), (runs, dim)).transpose(0, 2, 1)
    responses = np.vstack([np.eye(dim), rng.dirichlet(np.ones(dim), 4)])
    lengths = np.linalg.norm(truth, axis=2).max(axis=1)
    sigma = np.tile(lam * np.eye(dim), (runs, 1, 1))
    sums = np.zeros((runs, instructions, dim))
    missed, largest = np.zeros(runs, dtype=bool), np.zeros(runs)
    for _ in range(rounds):
        error = np.linalg.solve(sigma[:, None], sums[..., None])[..., 0] - truth
        norms = np.sqrt(np.einsum("rxd,rde,rxe->rx", error, sigma, error).max(axis=1))
        log_det = np.linalg.slogdet(sigma / lam)[1]
        radii = np.array(
            [
                theory.self_normalized_radius(max(det, 0.0), lam, instructions, delta, B)
                for det, B in zip(log_det, lengths, strict=True)
            ]
        )
        missed |= norms > radii
        largest = np.maximum(largest, norms / radii)
        along = np.abs(error @ responses.T).max(axis=1)
        chosen = np.where(
            np.arange(runs) % 2, along.argmax(axis=1), rng.integers(len(responses), size=runs)
        )
        g = responses[chosen]
        cumulated = np.einsum("rxd,rd->rx", truth, g).cumsum(axis=1)
        said = (rng.random((runs, 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)
        sums[np.arange(runs), said] += g
        sigma += g[:, :, None] * g[:, None, :]
    assert never_more_often(int(missed.sum()), runs, delta)
    # Of half the size it would not do.
    assert not never_more_often(int((largest > 0.5).sum()), runs, delta)


@pytest.mark.parametrize("kind", KINDS)
def test_the_regret_bound_by_ridge_covers_what_all_rounds_can_cost(kind: str) -> None:
    for rounds, dim, lam in ((1, 1, 1.0), (60, 4, 0.1), (200, 3, 0.5), (200, 3, 20.0)):
        vectors = sequence(kind, np.random.default_rng(0), rounds, dim, lam)
        sigma, total = lam * np.eye(dim), 0.0
        for g in vectors:
            log_det = max(0.0, float(np.linalg.slogdet(sigma / lam)[1]))
            radius = theory.self_normalized_radius(log_det, lam, 5, 0.2, 1.5)
            total += min(1.0, 2 * radius * math.sqrt(g @ np.linalg.solve(sigma, g)))
            sigma += np.outer(g, g)
        log_det = float(np.linalg.slogdet(sigma / lam)[1])
        assert log_det <= theory.most_log_det(rounds, dim, lam, 1.0) * ALMOST_ONE
        bound = theory.self_normalized_regret_bound(rounds, 5, dim, 0.2, 1.5, lam)
        assert total <= bound * ALMOST_ONE


def test_by_ridge_the_bound_at_the_papers_sizes_grows_with_the_logarithm_of_x_alone() -> None:
    def bound(rounds: int, instructions: int = 2000) -> float:
        return theory.self_normalized_regret_bound(
            rounds, instructions, 10, 0.1, theory.softmax_bound(10)
        )

    # lambda = 1/10: log det is 10 log(1 + 10,000), the ridge adds 1 to the radius.
    log_det = 10 * math.log(10_001)
    radius = 0.5 * math.sqrt(log_det + 2 * math.log(20_000)) + 1
    assert bound(10_000) == pytest.approx(2 * radius * math.sqrt(1e4 * log_det / math.log(2)))
    assert round(bound(10_000)) == 14_500
    first = theory.meaningful_from(bound)
    assert first == 24_644
    assert bound(first) < first
    assert bound(first - 1) >= first - 1
    assert round(bound(10_000, 2000**2)) == 15_302
    by_brackets = [theory.softmax_regret_bound(10_000, x, 10, 0.1) for x in (2000, 4000)]
    assert by_brackets[1] > 1.4 * by_brackets[0]
    assert bound(10_000) < by_brackets[0] / 130


# --- The softmax class ---------------------------------------------------------------------


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


# --- Theorem 2 -----------------------------------------------------------------------------


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


# --- Theorem 1 -----------------------------------------------------------------------------

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


# --- Matches -------------------------------------------------------------------------------


@given(
    s=st.sampled_from([float(s) for s in TUNINGS]),
    guess=st.floats(0, 1),
    ends=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    share=st.floats(0, 1),
    sign=st.sampled_from([1, -1]),
)
@settings(max_examples=300)
def test_fans_inequality_holds_for_every_guess_and_on_both_sides(
    s: float, guess: float, ends: tuple[float, float], share: float, sign: int
) -> None:
    # Distributions on two points are the extreme ones with a given mean.
    x, shares = np.array(ends), np.array([share, 1 - share])
    mean = float(shares @ x)
    psi = -math.log1p(-s) - s
    moment = float(shares @ np.exp(sign * s * (x - mean) - psi * (x - guess) ** 2))
    assert moment <= 1 + 1e-12


def drifting(rng: np.random.Generator, past: Floats, m: int, runs: int) -> Floats:
    chances: Floats = np.full(runs, 0.5 + 0.45 * math.sin(m / 150))
    return chances


def rare(rng: np.random.Generator, past: Floats, m: int, runs: int) -> Floats:
    chances: Floats = np.full(runs, 0.004 + 0.01 * (m % 7 == 0))
    return chances


def spiteful(rng: np.random.Generator, past: Floats, m: int, runs: int) -> Floats:
    """Higher after many matches, lower after few."""
    chances: Floats = np.where(past > 0, 0.8, 0.2)
    return chances


@pytest.mark.parametrize("expected", [drifting, rare, spiteful])
def test_all_intervals_hold_together_whatever_was_expected(
    expected: Callable[[np.random.Generator, Floats, int, int], Floats],
) -> None:
    rng = np.random.default_rng(4)
    runs, rounds, level = 400, 2000, 0.8
    chances, matches = np.empty((rounds, runs)), np.empty((rounds, runs))
    past = np.zeros(runs)
    for m in range(rounds):
        chances[m] = expected(rng, past, m, runs)
        matches[m] = rng.random(runs) < chances[m]
        past += matches[m] - chances[m]
    n = np.arange(1, rounds + 1)[:, None]
    truth = chances.cumsum(axis=0) / n
    # Normal intervals for one moment each, with the true variance.
    halves = stats.norm.ppf(0.9) * np.sqrt((chances * (1 - chances)).cumsum(axis=0)) / n
    missed = pointwise = 0
    widest = 0.0
    for run in range(runs):
        mean, low, high = theory.running_mean(matches[:, run], level)
        missed += not ((low <= truth[:, run]) & (truth[:, run] <= high)).all()
        pointwise += bool((np.abs(mean - truth[:, run]) > halves[:, run])[100:].any())
        widest = max(widest, float((high - low)[-1] / (2 * halves[-1, run])))
    assert never_more_often(missed, runs, 1 - level)
    assert not never_more_often(pointwise, runs, 1 - level)
    assert widest <= 5  # 3.2 to 4.4 measured: what it costs to hold at all times


def by_hand(observed: list[float], level: float) -> tuple[float, float]:
    """The interval after the last observation, from the definition, in forty digits."""
    with mpmath.workdps(40):
        total, variation = mpmath.mpf(0), mpmath.mpf(0)
        for m, x in enumerate(observed):
            variation += (x - (total + mpmath.mpf("0.5")) / (m + 1)) ** 2
            total += x
        share = (1 - mpmath.mpf(level)) / 15
        half = min(
            ((-mpmath.log(1 - s) - s) * variation + mpmath.log(2 / share)) / s
            for s in (mpmath.mpf(2) ** -power for power in range(1, 16))
        )
        n = len(observed)
        return float(max((total - half) / n, 0)), float(min((total + half) / n, 1))


@given(
    observed=st.lists(st.floats(0, 1), min_size=1, max_size=60),
    level=st.floats(0.01, 0.999),
    times=st.sampled_from([1, 7]),
)
@settings(max_examples=40, deadline=None)
def test_intervals_are_those_of_their_definition_in_forty_digits(
    observed: list[float], level: float, times: int
) -> None:
    mean, low, high = theory.running_mean(np.array(observed * times), level)
    expected = by_hand(observed * times, level)
    assert (low[-1], high[-1]) == pytest.approx(expected, rel=1e-8, abs=1e-10)
    assert mean[-1] == pytest.approx(np.mean(observed))


@given(observed=st.lists(st.floats(0, 1), max_size=200), levels=st.tuples(DELTAS, DELTAS))
@settings(max_examples=60, deadline=None)
def test_intervals_hold_the_mean_mirror_each_other_and_widen_with_the_level(
    observed: list[float], levels: tuple[float, float]
) -> None:
    matches = np.array(observed)
    narrow = theory.running_mean(matches, min(levels))
    wide = theory.running_mean(matches, max(levels))
    assert (wide.low <= narrow.low).all()
    assert (wide.high >= narrow.high).all()
    assert ((narrow.low <= narrow.mean + 1e-12) & (narrow.mean <= narrow.high + 1e-12)).all()
    assert ((wide.low >= 0) & (wide.high <= 1)).all()
    mirrored = theory.running_mean(1 - matches, min(levels))
    assert np.allclose(mirrored.low, 1 - narrow.high)
    assert np.allclose(mirrored.high, 1 - narrow.low)


@pytest.mark.parametrize("always", [0.0, 1.0])
def test_an_unbroken_row_of_equal_matches_narrows_to_them(always: float) -> None:
    mean, low, high = theory.running_mean(np.full(100_000, always))
    assert (mean == always).all()
    assert ((low <= always) & (always <= high)).all()
    assert (np.diff(high - low) <= 1e-15).all()
    # Nearly log(2 * 15 / 0.05) / s / n with s = 1/2, far less than 1 / sqrt(n).
    assert (high - low)[-1] == pytest.approx(2 * math.log(600) / 100_000, rel=0.02)


def test_one_match_says_next_to_nothing_and_none_nothing() -> None:
    one = theory.running_mean(np.array([1.0]))
    assert [bounds.tolist() for bounds in one] == [[1.0], [0.0], [1.0]]
    assert all(len(bounds) == 0 for bounds in theory.running_mean(np.array([])))


def test_the_past_of_an_interval_does_not_change() -> None:
    matches = (np.random.default_rng(5).random(500) < 0.3).astype(np.float64)
    whole, part = theory.running_mean(matches), theory.running_mean(matches[:200])
    for all_of_it, some in zip(whole, part, strict=True):
        assert np.array_equal(all_of_it[:200], some)


# --- What cannot be asked ------------------------------------------------------------------

RNG = np.random.default_rng(0)
ONE = np.ones(1)


@pytest.mark.parametrize(
    ("field", "ask"),
    [
        ("delta", lambda: theory.freedman_constant(1.0, 0.0)),
        ("delta", lambda: theory.freedman_constant(1.0, 1.0)),
        ("delta", lambda: theory.printed_constant(1.0, math.nan)),
        ("log_class_size", lambda: theory.freedman_constant(-1.0, 0.1)),
        ("log_class_size", lambda: theory.printed_constant(math.inf, 0.1)),
        ("t", lambda: theory.printed_radius(0, 1.0, 1.0, 0.1, 1.0)),
        ("lam", lambda: theory.printed_radius(1, -1.0, 1.0, 0.1, 1.0)),
        ("B", lambda: theory.printed_radius(1, 1.0, 1.0, 0.1, 0.0)),
        ("t", lambda: theory.appendix_radius(0, 1.0, 1.0, 0.1, 1.0)),
        ("lam", lambda: theory.appendix_radius(1, math.nan, 1.0, 0.1, 1.0)),
        ("B", lambda: theory.appendix_radius(1, 1.0, 1.0, 0.1, -1.0)),
        ("delta", lambda: theory.repaired_radius(1.0, 1.0, 2.0, 1.0)),
        ("lam", lambda: theory.repaired_radius(-1.0, 1.0, 0.1, 1.0)),
        ("B", lambda: theory.repaired_radius(1.0, 1.0, 0.1, 0.0)),
        ("gap", lambda: theory.repaired_radius(1.0, 1.0, 0.1, 1.0, gap=-1.0)),
        ("t", lambda: theory.softmax_radius(0, 1.0, 2, 2, 0.1)),
        ("lam", lambda: theory.softmax_radius(1, -1.0, 2, 2, 0.1)),
        ("instructions", lambda: theory.softmax_radius(1, 1.0, 0, 2, 0.1)),
        ("dim", lambda: theory.softmax_radius(1, 1.0, 2, 0, 0.1)),
        ("delta", lambda: theory.softmax_radius(1, 1.0, 2, 2, 0.0)),
        ("gap", lambda: theory.softmax_radius(1, 1.0, 2, 2, 0.1, gap=math.nan)),
        ("dim", lambda: theory.softmax_bound(0)),
        ("rounds", lambda: theory.bracketing_log_size(0, 2, 2)),
        ("instructions", lambda: theory.bracketing_log_size(2, 0, 2)),
        ("dim", lambda: theory.bracketing_log_size(2, 2, 0)),
        ("temperature", lambda: theory.softmax(ONE, 0.0, axis=0)),
        ("size", lambda: theory.softmax_class(0, 2, 2, 1.0, RNG)),
        ("instructions", lambda: theory.softmax_class(2, 0, 2, 1.0, RNG)),
        ("dim", lambda: theory.softmax_class(2, 2, 0, 1.0, RNG)),
        ("temperature", lambda: theory.softmax_class(2, 2, 2, -1.0, RNG)),
        ("rounds", lambda: theory.printed_potential_bound(0, 2, 1.0, 1.0)),
        ("dim", lambda: theory.printed_potential_bound(2, 0, 1.0, 1.0)),
        ("lam", lambda: theory.clipped_potential_bound(2, 2, 0.0, 1.0)),
        ("length", lambda: theory.clipped_potential_bound(2, 2, 1.0, 0.0)),
        ("rounds", lambda: theory.printed_regret_bound(0, 2, 1.0, 1.0, 0.1)),
        ("dim", lambda: theory.printed_regret_bound(2, 0, 1.0, 1.0, 0.1)),
        ("B", lambda: theory.printed_regret_bound(2, 2, 0.0, 1.0, 0.1)),
        ("delta", lambda: theory.printed_regret_bound(2, 2, 1.0, 1.0, 1.0)),
        ("rounds", lambda: theory.repaired_regret_bound(0, 2, 1.0, 1.0, 0.1)),
        ("dim", lambda: theory.repaired_regret_bound(2, 0, 1.0, 1.0, 0.1)),
        ("B", lambda: theory.repaired_regret_bound(2, 2, -1.0, 1.0, 0.1)),
        ("log_class_size", lambda: theory.repaired_regret_bound(2, 2, 1.0, -1.0, 0.1)),
        ("rounds", lambda: theory.softmax_regret_bound(0, 2, 2, 0.1)),
        ("instructions", lambda: theory.softmax_regret_bound(2, 0, 2, 0.1)),
        ("delta", lambda: theory.softmax_regret_bound(2, 2, 2, 0.0)),
        ("responses", lambda: theory.hard_gap(0, 2)),
        ("rounds", lambda: theory.hard_gap(2, 0)),
        ("form", lambda: theory.hard_gap(2, 2, "repared")),
        ("form", lambda: theory.demand_conditions(22, 434, "paper")),
        ("rounds", lambda: theory.lower_bound(2, 0)),
        ("form", lambda: theory.lower_probability(22, 434, "")),
        ("responses", lambda: theory.information(0, 2, 0.1)),
        ("rounds", lambda: theory.information(2, 0, 0.1)),
        ("gap", lambda: theory.information(2, 2, 0.51)),
        ("gap", lambda: theory.information(2, 2, -0.1)),
        ("gap", lambda: theory.information(2, 2, math.nan)),
        ("level", lambda: theory.running_mean(ONE, 1.0)),
        ("level", lambda: theory.running_mean(ONE, 0.0)),
        ("level", lambda: theory.running_mean(ONE, 95)),
        ("observed", lambda: theory.running_mean(np.array([0.5, 1.1]))),
        ("observed", lambda: theory.running_mean(np.array([-0.1]))),
        ("observed", lambda: theory.running_mean(np.array([math.nan]))),
        ("observed", lambda: theory.running_mean(np.ones((1, 3)))),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(field: str, ask: Callable[[], object]) -> None:
    with pytest.raises(SettingError, match=f"^{field} must be"):
        ask()
