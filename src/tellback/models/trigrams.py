"""How sentences are put together, whatever they are about: counts of words after words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tellback.arrays import Array
from tellback.models.words import BEGIN, END


class Trigrams:
    """The probability of a word given the two before it, counted from what was said.

    What was never said after two words is left to what was said after one, then to what was
    said at all, then to chance: each passes on the share that new words had among what it has
    heard (Witten and Bell 1991).
    """

    def __init__(self) -> None:
        self._after: dict[tuple[int, ...], Counter[int]] = {}
        self._totals: Counter[tuple[int, ...]] = Counter()

    def add(self, sentence: Sequence[int]) -> None:
        """Count a sentence, given as rows of words."""
        rows = [BEGIN, BEGIN, *sentence, END]
        for i in range(2, len(rows)):
            for known in ((), (rows[i - 1],), (rows[i - 2], rows[i - 1])):
                self._after.setdefault(known, Counter())[rows[i]] += 1
                self._totals[known] += 1

    def following(self, before: Sequence[int], vocabulary: int) -> Array:
        """The probability of each of so many words after these."""
        chances = np.full(vocabulary, 1 / vocabulary)
        for counts, total in self._heard(before):
            kinds = len(counts)
            chances *= kinds / (total + kinds)
            for row, count in counts.items():
                chances[row] += count / (total + kinds)
        return chances

    def probability(self, sentence: Sequence[int], vocabulary: int) -> float:
        """The probability that a sentence is these words, its end among them."""
        return math.exp(self.log_probability(sentence, vocabulary))

    def log_probability(self, sentence: Sequence[int], vocabulary: int) -> float:
        """Its logarithm, which a long sentence has too where the probability rounds to 0."""
        rows = [*sentence, END]
        logarithm = 0.0
        for i, row in enumerate(rows):
            chance = 1 / vocabulary
            for counts, total in self._heard(rows[max(0, i - 2) : i]):
                kinds = len(counts)
                chance = (kinds * chance + counts[row]) / (total + kinds)
            logarithm += math.log(chance)
        return logarithm

    def _heard(self, before: Sequence[int]) -> Iterator[tuple[Counter[int], int]]:
        """What was heard after none, one and two of the words before, with the total of each."""
        first, second = [BEGIN, BEGIN, *before][-2:]
        for known in ((), (second,), (first, second)):
            if counts := self._after.get(known):
                yield counts, self._totals[known]
