"""Intervals by random samples hold with their level, for every true number."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

import numpy as np
import pytest
from scipy.stats import binomtest, hypergeom

from tellback.audit.order import EACH_RANDOM, Order
from tellback.audit.planted import Planted
from tellback.audit.sampling import number_wrong
from tests.support.audits import answered, audited, case


@pytest.mark.parametrize(("of", "sampled"), [(7, 3), (30, 12), (60, 60), (60, 1), (5, 0)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_holds_for_every_number_of_wrong_ones(
    of: int, sampled: int, level: float
) -> None:
    intervals = [number_wrong(of, sampled, found, level) for found in range(sampled + 1)]
    for wrong in range(of + 1):
        chance = hypergeom.pmf(np.arange(sampled + 1), of, wrong, sampled)
        held = sum(
            p for p, (low, high) in zip(chance, intervals, strict=True) if low <= wrong <= high
        )
        assert held >= level - 1e-12


def test_it_is_clopper_and_pearsons_for_a_small_sample_of_many() -> None:
    low, high = number_wrong(10**7, 100, 3)
    exact = binomtest(3, 100).proportion_ci(0.95, "exact")
    assert low / 10**7 == pytest.approx(exact.low, rel=1e-3)
    assert high / 10**7 == pytest.approx(exact.high, rel=1e-3)


def test_all_asked_leave_nothing_open() -> None:
    assert number_wrong(40, 40, 7) == (7, 7)


def test_every_fifth_question_is_random_and_the_rest_by_value() -> None:
    right = np.random.default_rng(0).random(1000) ** 0.2
    order = Order(right, 0.9, seed=1)
    assert sorted(order.questions.tolist()) == list(range(1000))
    first = order.questions[:100]
    by_value = set(order.by_value[:80].tolist())
    assert by_value <= set(order.by_value[:81].tolist())
    assert len(by_value & set(first.tolist())) >= 79
    drawn = set(order.drawn[: 100 // EACH_RANDOM].tolist())
    assert drawn <= set(first.tolist())
    worth = np.minimum(0.9 * (1 - right), 0.1 * right)
    assert (np.diff(worth[order.by_value]) <= 0).all()


def test_the_sample_is_random_whatever_was_asked_by_value() -> None:
    """Each description of the part is in the sample equally often, over draws."""
    right = np.linspace(0.8, 1, 40)
    counts, parts = np.zeros(40), np.zeros(40)
    for seed in range(4000):
        order = Order(right, 0.9, seed)
        part, sample = order.sample(frozenset(order.questions[:25].tolist()))
        counts[sample] += 1 / max(len(sample), 1)
        parts[part] += 1 / len(part)
    inside = parts > 1000 / 40
    assert inside.sum() > 10
    # By chance a count differs from its share by some 1/sqrt(4000 / 40) = 10%.
    assert np.allclose(counts[inside] / parts[inside], 1, atol=0.45)
    correlation = np.corrcoef(np.flatnonzero(inside), counts[inside] / parts[inside])[0, 1]
    assert abs(correlation) < 0.5


def test_answers_given_in_another_order_still_give_a_random_sample() -> None:
    order = Order(np.full(50, 0.99), 0.9, seed=2)
    chosen = set(order.drawn[10:20].tolist())  # not the first of the draw: chosen by somebody
    part, sample = order.sample(frozenset(chosen))
    assert len(sample) == 0
    assert len(part) == 40
    part, sample = order.sample(frozenset(chosen | set(order.drawn[:5].tolist())))
    assert set(sample.tolist()) <= set(order.drawn[:5].tolist())
    assert chosen.isdisjoint(part.tolist())


@pytest.mark.parametrize("honest", [True, False])
def test_the_share_still_wrong_is_in_its_interval_whatever_the_model_thinks(honest: bool) -> None:
    """In 120 simulations at most 16 misses: of 6 expected, more come once in 7,000 times."""
    found, held = audited(), 0
    n = len(found.sentences)
    for i in range(120):
        rng = np.random.default_rng(i)
        right = rng.beta(9, 1, n)
        wrong = rng.random(n) < (1 - right if honest else rng.choice([0.01, 0.1, 0.4]))
        truth = Planted(
            found.recording, frozenset(compress(found.sentences.places, wrong)), frozenset()
        )
        thought = replace(found, doubts=found.doubts._replace(right=right), sure=0.9, seed=i)
        asked = answered(thought, truth, int(rng.integers(50, 300)))
        still = asked.still_wrong(0.95)
        assert still.asked > 5
        held += still.low <= len(asked.kept & truth.wrong) / len(asked.kept) <= still.high
    assert held >= 104


def test_skipped_questions_widen_the_interval() -> None:
    found, truth = audited(), case()
    asked = found.questions(100)
    known = found.answer({one.place: one.place not in truth.wrong for one in asked})
    unknown = found.answer({one.place: None for one in asked})
    assert unknown.still_wrong().low == 0
    assert unknown.still_wrong().high > known.still_wrong().high
    assert {one.place for one in asked}.isdisjoint(unknown.kept)
