"""Matching sentences in free words by the cosine of their vectors, with measured error rates."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.encoders.ngrams import NGrams
from tellback.encoders.text import TextEncoderSpec, demand_text_encoder, unit
from tellback.errors import SettingError, real, whole
from tellback.matching import ErrorRates, MatchSpec
from tellback.theory.shares import LEVEL, error_rate, share_of_counts

SentencePair = tuple[str, str]
"""An instruction and a description."""

FEWEST_PAIRS = 8  # of either sort: two to train on, two for the threshold, four to measure with
DAMPING = 0.01
"""The share of its variance that a space takes for noise."""
SHARPNESS = 2
"""The power by which directions count on which alike sentences agree. Like ``DAMPING``, found by
trial on the sentences of ``worlds.wordings``."""


@dataclass(frozen=True)
class Similar(MatchSpec):
    """Two sentences match if their cosine is high. ``Similar.calibrated`` chooses how high.

    Parameters
    ----------
    encoder : TextEncoderSpec
        Turns sentences into vectors.
    threshold : float
        The least cosine of a match, from -1 to 1.
    trained_on : sequence of pairs of sentences
        Pairs with the same meaning. They give the space in which the cosine is taken: features
        that the two sentences of a pair share count much (a colour), features in which they
        differ count little ("There is a"). Without pairs, it is the space of the encoder.
    false_positives, false_negatives : pair of int, optional
        Unlike pairs that matched, and alike pairs that did not, each as (wrong, tried).
    level : float
        The level of the intervals of the two rates.
    """

    encoder: TextEncoderSpec = field(default_factory=NGrams)
    threshold: float = 0.5
    trained_on: tuple[SentencePair, ...] = ()
    false_positives: tuple[int, int] | None = None
    false_negatives: tuple[int, int] | None = None
    level: float = LEVEL

    def __post_init__(self) -> None:
        demand_text_encoder("encoder", self.encoder)
        error_rate(self.level)
        if (self.false_positives is None) != (self.false_negatives is None):
            raise SettingError("false_positives and false_negatives are given both or neither.")
        self._set_validated(
            threshold=real("threshold", self.threshold, at_least=-1, at_most=1),
            trained_on=_pairs("trained_on", self.trained_on),
            false_positives=_wrong_of_tried("false_positives", self.false_positives),
            false_negatives=_wrong_of_tried("false_negatives", self.false_negatives),
        )

    @classmethod
    def calibrated(
        cls,
        encoder: TextEncoderSpec,
        alike: Sequence[SentencePair],
        unlike: Sequence[SentencePair],
        level: float = LEVEL,
    ) -> Similar:
        """The match that separates alike from unlike pairs best, with its error rates.

        A quarter of the alike pairs trains the space. Another quarter and half of the unlike
        pairs choose the threshold with the least sum of the two error rates. The rates are
        measured on the remaining halves. If the same sentences occur in several pairs, give
        ``measured_on`` pairs of new ones: the rates hold for sentences like those they were
        measured on.

        Parameters
        ----------
        encoder : TextEncoderSpec
            Turns sentences into vectors.
        alike, unlike : sequence of pairs of sentences
            Pairs with the same and with different meanings, an instruction and a description.
        level : float
            The level of the intervals of the two rates.
        """
        same, different = _pairs("alike", alike), _pairs("unlike", unlike)
        for name, given in (("alike", same), ("unlike", different)):
            if len(given) < FEWEST_PAIRS:
                raise SettingError(
                    f"{name} must have at least {FEWEST_PAIRS} pairs, not {len(given)}."
                )
        training, choosing, alike_left = parts_of(same)
        *choosing_unlike, unlike_left = parts_of(different)
        trained = cls(encoder, trained_on=training, level=level)
        threshold = _best_threshold(
            trained.similarities(choosing),
            trained.similarities([*itertools.chain(*choosing_unlike)]),
        )
        match = trained.with_settings({"threshold": threshold})
        return match.measured_on(alike_left, unlike_left)

    def measured_on(self, alike: Sequence[SentencePair], unlike: Sequence[SentencePair]) -> Similar:
        """The same match, its error rates measured on these pairs."""
        fp = [self(*pair) for pair in _pairs("unlike", unlike)]
        fn = [not self(*pair) for pair in _pairs("alike", alike)]
        return self.with_settings(
            {"false_positives": (sum(fp), len(fp)), "false_negatives": (sum(fn), len(fn))}
        )

    @property
    def errors(self) -> ErrorRates | None:
        """Both error rates with the intervals of Clopper and Pearson; None if never measured."""
        if self.false_positives is None or self.false_negatives is None:
            return None
        return ErrorRates(
            share_of_counts(*self.false_positives, self.level),
            share_of_counts(*self.false_negatives, self.level),
        )

    @property
    def says(self) -> str:
        """The encoder and the error rates, in words."""
        trained = f" trained on {len(self.trained_on)} pairs" if self.trained_on else ""
        rates = "its error rates were never measured" if self.errors is None else self.errors
        return f"similarity by {self.encoder.brief()}{trained}: {rates}"

    def similarity(self, asked: str, told: str) -> float:
        """The cosine of two sentences, from -1 to 1; 0 if one of them has no words."""
        space = _space(self.encoder, self.trained_on)
        return float(space(asked) @ space(told))

    def similarities(self, pairs: Sequence[SentencePair]) -> Array:
        """The cosine of each pair."""
        return np.array([self.similarity(*pair) for pair in pairs])

    def __call__(self, asked: Any, told: Any) -> bool:
        """Whether the cosine reaches the threshold; only sentences can match."""
        if not (isinstance(asked, str) and isinstance(told, str)):
            return False
        return self.similarity(asked, told) >= self.threshold


class _Space:
    """The space in which the cosine of sentences is taken.

    Its axes are the canonical correlations of alike pairs (Hotelling 1936), the same for both
    sides. Each counts by how well one sentence of a pair predicts the other there. Words that
    are in no pair lie on no axis.
    """

    def __init__(self, encoder: TextEncoderSpec, trained_on: tuple[SentencePair, ...]) -> None:
        self._encode = encoder.build()
        self._mean: Array = np.zeros(encoder.dim)
        self._axes: Array | None = None
        if trained_on:
            sides = [np.array([self._encode(pair[i]) for pair in trained_on]) for i in (0, 1)]
            self._mean = (sides[0].mean(axis=0) + sides[1].mean(axis=0)) / 2
            self._axes = _correlated_axes(sides[0] - self._mean, sides[1] - self._mean)
        self._cached = lru_cache(4096)(self._project)

    def __call__(self, sentence: str) -> Array:
        return self._cached(sentence)

    def _project(self, sentence: str) -> Array:
        features = self._encode(sentence)
        if self._axes is None or not features.any():
            return features if self._axes is None else np.zeros(self._axes.shape[1])
        return unit((features - self._mean) @ self._axes)


def _correlated_axes(one: Array, other: Array) -> Array:
    """The axes as columns; the length of each is a power of its canonical correlation."""
    both = np.concatenate([one, other]) / np.sqrt(2 * len(one))
    _, spread, axes = np.linalg.svd(both, full_matrices=False)
    whiten = axes.T / np.sqrt(spread**2 + DAMPING * np.sum(spread**2))
    crossed = (one @ whiten).T @ (other @ whiten) / len(one)
    correlation, turn = np.linalg.eigh((crossed + crossed.T) / 2)
    agree = correlation > 0
    directions: Array = whiten @ turn[:, agree] * correlation[agree] ** SHARPNESS
    return directions


@lru_cache(16)
def _space(encoder: TextEncoderSpec, trained_on: tuple[SentencePair, ...]) -> _Space:
    return _Space(encoder, trained_on)


def parts_of(pairs: tuple[SentencePair, ...]) -> tuple[tuple[SentencePair, ...], ...]:
    """A quarter, another quarter, and the remaining half: random, but the same each time.

    Taking every fourth pair would be biased where pairs were listed in a regular order.
    """
    order = np.random.default_rng(0).permutation(len(pairs))
    quarter = len(pairs) // 4
    cuts = (order[:quarter], order[quarter : 2 * quarter], order[2 * quarter :])
    return tuple(tuple(pairs[i] for i in sorted(cut)) for cut in cuts)


def _best_threshold(alike: Array, unlike: Array) -> float:
    """The threshold with the least sum of false negatives and false positives."""
    values = np.unique(np.concatenate([alike, unlike]))
    cuts = (values[1:] + values[:-1]) / 2 if len(values) > 1 else values
    false_negatives = np.searchsorted(np.sort(alike), cuts) / len(alike)
    false_positives = 1 - np.searchsorted(np.sort(unlike), cuts) / len(unlike)
    return float(np.clip(cuts[np.argmin(false_negatives + false_positives)], -1, 1))


def _pairs(name: str, given: Any) -> tuple[SentencePair, ...]:
    pairs = tuple(tuple(pair) if isinstance(pair, list | tuple) else (pair,) for pair in given)
    for pair in pairs:
        if len(pair) != 2 or not all(isinstance(sentence, str) for sentence in pair):
            raise SettingError(f"{name} must hold pairs of sentences, not {pair!r}.")
    return pairs


def _wrong_of_tried(name: str, given: Any) -> tuple[int, int] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise SettingError(f"{name} must be a pair, (wrong, tried), not {given!r}.")
    wrong, tried = whole(name, given[0], at_least=0), whole(name, given[1])
    if wrong > tried:
        raise SettingError(f"{name} must have at most {tried} wrong of {tried}, not {wrong}.")
    return wrong, tried
