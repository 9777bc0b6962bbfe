"""In which order people are asked about descriptions.

Four questions in five are those whose answers improve the cleaned set most. Each fifth question is
drawn at random from the descriptions that would be kept: these give the interval of
the share still wrong, which holds whatever the model thinks.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tellback.arrays import Array, Indices

EACH_RANDOM = 5
"""Each so-manieth question is drawn at random."""


class Order:
    """The order of all questions.

    Parameters
    ----------
    right : Array
        The probability that each description is right; NaN if that cannot be told.
    sure : float
        From which probability on a description is kept.
    seed : int
        Of the random draw.
    """

    def __init__(self, right: Array, sure: float, seed: int) -> None:
        self._right, self._sure, self._seed = right, sure, seed

    @cached_property
    def kept(self) -> Indices:
        """The descriptions to be kept if nobody is asked."""
        return np.flatnonzero(~(self._right < self._sure))

    @cached_property
    def drawn(self) -> Indices:
        """The same in random order."""
        return np.random.default_rng(self._seed).permutation(self.kept)

    @cached_property
    def by_value(self) -> Indices:
        """All, by what an answer is worth.

        To keep a wrong description costs ``sure``, to drop a right one ``1 - sure``. An answer
        spares the expected cost of what would be done without it.
        """
        right = np.nan_to_num(self._right, nan=1.0)
        value = np.minimum(self._sure * (1 - right), (1 - self._sure) * right)
        return np.argsort(-value, kind="stable")

    @cached_property
    def questions(self) -> Indices:
        """All, in the order in which people are asked."""
        if np.isnan(self._right).all():
            return self.drawn
        rank = np.empty(len(self._right))
        every = EACH_RANDOM
        # By value at 1, 2, 3, 4, 6, 7, ...; at random at 5, 10, ... What comes twice comes early.
        rank[self.by_value] = np.arange(len(rank)) * every / (every - 1) + 1
        at_random = (np.arange(len(self.drawn)) + 1) * every
        rank[self.drawn] = np.minimum(rank[self.drawn], at_random - 0.5)
        return np.argsort(rank, kind="stable")

    def sample(self, answered: frozenset[int]) -> tuple[Indices, Indices]:
        """Of what is answered, a random sample of some of the kept ones.

        Returns
        -------
        tuple
            The part of the kept ones of which it is a sample, and the sample.
        """
        asked = np.zeros(len(self._right), dtype=bool)
        asked[list(answered)] = True
        drawn = self.drawn[: _answered_at_once(asked[self.drawn])]
        by_choice = asked.copy()
        by_choice[drawn] = False
        if not np.isnan(self._right).all():
            by_choice[self.by_value[: _answered_at_once(asked[self.by_value])]] = True
        return self.kept[~by_choice[self.kept]], drawn[~by_choice[drawn]]


def _answered_at_once(asked: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    """How many there are before the first that was not asked."""
    return len(asked) if asked.all() else int(asked.argmin())
