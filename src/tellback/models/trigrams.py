"""A trigram language model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tellback.arrays import Array
from tellback.models.words import BEGIN, END


class Trigrams:
    """The probability of a word given the two words before it, from counts.

    Interpolated with the counts after one word, after none, and with the uniform distribution.
    Each gives the next the share of distinct words among its counts (Witten and Bell 1991).
    """

    def __init__(self) -> None:
        self._after: dict[tuple[int, ...], Counter[int]] = {}
        self._totals: Counter[tuple[int, ...]] = Counter()

    def add(self, sentence: Sequence[int]) -> None:
        """Count a sentence, given as rows of words."""
        rows = [BEGIN, BEGIN, *sentence, END]
        for i in range(2, len(rows)):
            for context in ((), (rows[i - 1],), (rows[i - 2], rows[i - 1])):
                self._after.setdefault(context, Counter())[rows[i]] += 1
                self._totals[context] += 1

    def following(self, before: Sequence[int], vocabulary: int) -> Array:
        """The probability of each word of the vocabulary after these."""
        probabilities = np.full(vocabulary, 1 / vocabulary)
        for counts, total in self._counts(before):
            kinds = len(counts)
            probabilities *= kinds / (total + kinds)
            for row, count in counts.items():
                probabilities[row] += count / (total + kinds)
        return probabilities

    def log_probability(self, sentence: Sequence[int], vocabulary: int) -> float:
        """The logarithm of the probability of a sentence with its end."""
        rows = [*sentence, END]
        logarithm = 0.0
        for i, row in enumerate(rows):
            probability = 1 / vocabulary
            for counts, total in self._counts(rows[max(0, i - 2) : i]):
                kinds = len(counts)
                probability = (kinds * probability + counts[row]) / (total + kinds)
            logarithm += math.log(probability)
        return logarithm

    def _counts(self, before: Sequence[int]) -> Iterator[tuple[Counter[int], int]]:
        """Counts of words after none, one and two of the words before, with their totals."""
        first, second = [BEGIN, BEGIN, *before][-2:]
        for context in ((), (second,), (first, second)):
            if counts := self._after.get(context):
                yield counts, self._totals[context]
