"""Trigrams are counted as Witten and Bell do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback.models.trigrams import Trigrams
from tellback.models.words import END
from tests.support.oracles import Floats

# Trigrams


def witten_bell(corpus: list[list[int]], before: list[int], size: int) -> Floats:
    """Recursion over shorter and shorter contexts, counted anew from the sentences."""
    padded = [[0, 0, *said, END] for said in corpus]

    def given_context(context: list[int]) -> Floats:
        lower = given_context(context[1:]) if context else np.full(size, 1 / size)
        k = len(context)
        after = [s[i] for s in padded for i in range(2, len(s)) if s[i - k : i] == context]
        if not after:
            return lower
        counts = np.bincount(after, minlength=size)
        kinds = np.count_nonzero(counts)
        mixed: Floats = (counts + kinds * lower) / (len(after) + kinds)
        return mixed

    return given_context([0, 0, *before][-2:])


corpora = st.lists(st.lists(st.integers(2, 6), max_size=6), max_size=8)


@settings(max_examples=80, deadline=None)
@given(corpora, st.lists(st.integers(2, 9), max_size=6))
def test_trigrams_are_counted_as_witten_and_bell_do(
    corpus: list[list[int]], sentence: list[int]
) -> None:
    trigrams = Trigrams()
    for said in corpus:
        trigrams.add(said)
    product = 1.0
    for i, row in enumerate([*sentence, END]):
        following = trigrams.following(sentence[:i], 10)
        np.testing.assert_allclose(following, witten_bell(corpus, sentence[:i], 10), rtol=1e-12)
        assert following.sum() == pytest.approx(1, rel=1e-12)
        product *= following[row]
    assert trigrams.log_probability(sentence, 10) == pytest.approx(math.log(product), rel=1e-12)


def test_all_sentences_together_are_certain() -> None:
    trigrams = Trigrams()
    for said in ([2, 3], [2], [3, 3, 2], []):
        trigrams.add(said)
    mass, alive = 0.0, list[tuple[tuple[int, ...], float]]([((), 1.0)])
    for _ in range(12):
        grown: list[tuple[tuple[int, ...], float]] = []
        for before, chance in alive:
            following = trigrams.following(before, 4)
            mass += chance * following[END]
            grown += [((*before, row), chance * following[row]) for row in (0, 2, 3)]
        alive = [one for one in grown if one[1] > 1e-5]
    assert mass == pytest.approx(1, abs=0.02)


def test_a_long_sentence_has_a_logarithm_though_its_probability_is_nothing() -> None:
    trigrams = Trigrams()
    trigrams.add([2, 3])
    assert -1e6 < trigrams.log_probability([2] * 5000, 10) < -745
