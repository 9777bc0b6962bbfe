"""When what was told is what was asked for: the one place that says so.

With a table of instructions, or sentences from templates, the two are equal or they are not.
People hardly ever say a thing twice in the same words; then a match is a judgement, which is
wrong at times, and says how often.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from tellback.arrays import Array
from tellback.encoders.ngrams import NGrams
from tellback.encoders.text import TextEncoderSpec, unit
from tellback.errors import ProtocolError, SettingError, real, whole
from tellback.specs import Spec
from tellback.theory import Interval
from tellback.theory.shares import LEVEL, Share, error_rate, share_of_counts

Pair = tuple[str, str]
"""What was asked, and what was told."""

FEWEST_PAIRS = 8  # of either sort: two to teach, two to choose, four to measure with
DAMPING = 0.01
SHARPNESS = 2
"""How much of its variance a space takes for noise, and how much more it trusts directions on
which alike sentences agree. Both were found by trial on the sentences of ``worlds.wordings``."""


@runtime_checkable
class Match(Protocol):
    """Whether what was told is what was asked for.

    It may also have ``errors``, an ``Errors``, if it is wrong at times.
    """

    @property
    def says(self) -> str:
        """What the judgement rests on and how often it is wrong, in words."""
        ...

    def __call__(self, asked: Any, told: Any) -> bool:
        """Whether they match."""
        ...


class Errors(NamedTuple):
    """How often a match is wrong, measured on pairs that it was not chosen on.

    Attributes
    ----------
    yes_wrongly : Share
        Of pairs that mean different things, those that it takes for a match.
    no_wrongly : Share
        Of pairs that mean the same, those that it does not.
    """

    yes_wrongly: Share
    no_wrongly: Share

    def __str__(self) -> str:
        return f"yes wrongly {self.yes_wrongly}; no wrongly {self.no_wrongly}"

    def reward(self, matched: Interval) -> Interval:
        """The share of true matches behind the share of matches that was seen.

        Where r is true, r (1 - no) + (1 - r) yes is seen: (seen - yes) / (1 - no - yes) is
        behind it (Rogan and Gladen 1978). The bounds take the two rates at the worse end of
        their own intervals, so that they fail at most as often as all three together; they
        hold for sentences like those that the rates were measured on. An agent that errs mostly
        by little, with the right colour and the wrong type say, is mistaken for right more often
        than that.
        """
        yes, no = self
        return Interval(
            _behind(matched.mean, yes.share, no.share),
            _behind(matched.low, yes.high, no.low, useless=0.0),
            _behind(matched.high, yes.low, no.high, useless=1.0),
        )


def _behind(seen: Array, yes: float, no: float, useless: float = float("nan")) -> Array:
    if yes + no >= 1:  # no better than a coin: nothing can be told from it
        return np.full(len(seen), useless)
    return np.clip((seen - yes) / (1 - no - yes), 0, 1)


@dataclass(frozen=True)
class MatchSpec(Spec):
    """The base of matches that can be kept as data."""

    role: ClassVar[str] = "match"

    @property
    def says(self) -> str:
        """What the judgement rests on and how often it is wrong."""
        raise NotImplementedError

    @property
    def errors(self) -> Errors | None:
        """How often it is wrong; None if it never is, or nobody knows."""
        return None

    def __call__(self, asked: Any, told: Any) -> bool:
        """Whether they match."""
        raise NotImplementedError


@dataclass(frozen=True)
class Same(MatchSpec):
    """Equality: never wrong for a table of instructions, or for sentences of templates.

    Examples
    --------
    >>> Same()("a red box", "a red box"), Same()("a red box", "A red box.")
    (True, False)
    """

    @property
    def says(self) -> str:
        """That it is exact."""
        return "equality, which is exact"

    def __call__(self, asked: Any, told: Any) -> bool:
        """Whether they are equal."""
        return bool(asked == told)


@dataclass(frozen=True)
class Similar(MatchSpec):
    """Sentences match that are near each other. ``Similar.calibrated`` chooses how near.

    Parameters
    ----------
    encoder : TextEncoderSpec
        What turns sentences into vectors.
    threshold : float
        The least cosine of a match, from -1 to 1.
    taught_by : sequence of pairs of sentences
        Pairs that mean the same. The cosine is taken in a space where what such pairs have
        in common counts, and what they differ in does not: "There is a" little, and a colour
        much. Without pairs it is taken between the vectors as they are.
    yes_wrongly, no_wrongly : pair of int, optional
        Of how many unlike pairs it said yes, and of how many alike pairs no: (wrong, tried).
    level : float
        Of the intervals of the two rates.
    """

    encoder: TextEncoderSpec = field(default_factory=NGrams)
    threshold: float = 0.5
    taught_by: tuple[Pair, ...] = ()
    yes_wrongly: tuple[int, int] | None = None
    no_wrongly: tuple[int, int] | None = None
    level: float = LEVEL

    def __post_init__(self) -> None:
        if not isinstance(self.encoder, TextEncoderSpec):
            raise SettingError(
                f"encoder must be the spec of an encoder of sentences, not {self.encoder!r}."
            )
        error_rate(self.level)
        if (self.yes_wrongly is None) != (self.no_wrongly is None):
            raise SettingError("yes_wrongly and no_wrongly are given both or neither.")
        self._set_validated(
            threshold=real("threshold", self.threshold, at_least=-1, at_most=1),
            taught_by=_pairs("taught_by", self.taught_by),
            yes_wrongly=_tried("yes_wrongly", self.yes_wrongly),
            no_wrongly=_tried("no_wrongly", self.no_wrongly),
        )

    @classmethod
    def calibrated(
        cls,
        encoder: TextEncoderSpec,
        alike: Sequence[Pair],
        unlike: Sequence[Pair],
        level: float = LEVEL,
    ) -> Similar:
        """The match that tells pairs apart best, and how well it does on others.

        A fourth of the alike pairs teaches the space, another fourth and half of the unlike
        pairs choose the threshold that makes the sum of the two error rates least, and the
        rates are measured on the halves that are left. If some sentences return from pair to
        pair, give ``measured_on`` pairs of new ones: the rates are for sentences like those
        they were measured on.

        Parameters
        ----------
        encoder : TextEncoderSpec
            What turns sentences into vectors.
        alike, unlike : sequence of pairs of sentences
            Pairs that mean the same and pairs that do not, as they would be asked and told.
        level : float
            Of the intervals of the two rates.
        """
        same, different = _pairs("alike", alike), _pairs("unlike", unlike)
        for name, given in (("alike", same), ("unlike", different)):
            if len(given) < FEWEST_PAIRS:
                raise SettingError(
                    f"{name} must have at least {FEWEST_PAIRS} pairs, not {len(given)}."
                )
        teach, choose, alike_left = parts_of(same)
        *choose_unlike, unlike_left = parts_of(different)
        taught = cls(encoder, taught_by=teach, level=level)
        threshold = _best_threshold(
            taught.similarities(choose), taught.similarities([*itertools.chain(*choose_unlike)])
        )
        match = taught.with_settings({"threshold": threshold})
        return match.measured_on(alike_left, unlike_left)

    def measured_on(self, alike: Sequence[Pair], unlike: Sequence[Pair]) -> Similar:
        """The same match, its error rates measured on these pairs."""
        yes = [self(*pair) for pair in _pairs("unlike", unlike)]
        no = [not self(*pair) for pair in _pairs("alike", alike)]
        return self.with_settings(
            {"yes_wrongly": (sum(yes), len(yes)), "no_wrongly": (sum(no), len(no))}
        )

    @property
    def errors(self) -> Errors | None:
        """The two error rates with Clopper and Pearson's intervals; None if never measured."""
        if self.yes_wrongly is None or self.no_wrongly is None:
            return None
        return Errors(
            share_of_counts(*self.yes_wrongly, self.level),
            share_of_counts(*self.no_wrongly, self.level),
        )

    @property
    def says(self) -> str:
        """What it compares, and how often it is wrong."""
        taught = f" taught by {len(self.taught_by)} pairs" if self.taught_by else ""
        wrong = "how often it is wrong was never measured" if self.errors is None else self.errors
        return f"similarity by {self.encoder.brief()}{taught}: {wrong}"

    def similarity(self, asked: str, told: str) -> float:
        """The cosine of two sentences, from -1 to 1; 0 with one that says nothing."""
        space = _space(self.encoder, self.taught_by)
        return float(space(asked) @ space(told))

    def similarities(self, pairs: Sequence[Pair]) -> Array:
        """The cosine of each pair."""
        return np.array([self.similarity(*pair) for pair in pairs])

    def __call__(self, asked: Any, told: Any) -> bool:
        """Whether two sentences are near; what is no sentence matches nothing."""
        if not (isinstance(asked, str) and isinstance(told, str)):
            return False
        return self.similarity(asked, told) >= self.threshold


class _Space:
    """Where the cosine of sentences is taken.

    The canonical correlations of alike pairs (Hotelling 1936), the same directions for both
    sides: each direction counts by how well one sentence of a pair predicts the other there.
    Words that only new sentences have lie in no such direction.
    """

    def __init__(self, encoder: TextEncoderSpec, taught_by: tuple[Pair, ...]) -> None:
        self._encode = encoder.build()
        self._mean: Array = np.zeros(encoder.dim)
        self._directions: Array | None = None
        if taught_by:
            sides = [np.array([self._encode(pair[i]) for pair in taught_by]) for i in (0, 1)]
            self._mean = (sides[0].mean(axis=0) + sides[1].mean(axis=0)) / 2
            self._directions = _agreeing(sides[0] - self._mean, sides[1] - self._mean)
        self._placed = lru_cache(4096)(self._place)

    def __call__(self, sentence: str) -> Array:
        return self._placed(sentence)

    def _place(self, sentence: str) -> Array:
        features = self._encode(sentence)
        if self._directions is None or not features.any():
            return features if self._directions is None else np.zeros(self._directions.shape[1])
        return unit((features - self._mean) @ self._directions)


def _agreeing(one: Array, other: Array) -> Array:
    """Directions as columns, each as long as its canonical correlation says."""
    both = np.concatenate([one, other]) / np.sqrt(2 * len(one))
    _, spread, axes = np.linalg.svd(both, full_matrices=False)
    whiten = axes.T / np.sqrt(spread**2 + DAMPING * np.sum(spread**2))
    crossed = (one @ whiten).T @ (other @ whiten) / len(one)
    correlation, turn = np.linalg.eigh((crossed + crossed.T) / 2)
    agree = correlation > 0
    directions: Array = whiten @ turn[:, agree] * correlation[agree] ** SHARPNESS
    return directions


@lru_cache(16)
def _space(encoder: TextEncoderSpec, taught_by: tuple[Pair, ...]) -> _Space:
    return _Space(encoder, taught_by)


def parts_of(pairs: tuple[Pair, ...]) -> tuple[tuple[Pair, ...], ...]:
    """A fourth, another fourth, and the half that is left, drawn at random but always the same.

    Not every fourth: pairs that were listed by a rule may return to it in step.
    """
    order = np.random.default_rng(0).permutation(len(pairs))
    fourth = len(pairs) // 4
    cuts = (order[:fourth], order[fourth : 2 * fourth], order[2 * fourth :])
    return tuple(tuple(pairs[i] for i in sorted(cut)) for cut in cuts)


def _best_threshold(alike: Array, unlike: Array) -> float:
    """Where the share of alike below plus the share of unlike at or above is least."""
    values = np.unique(np.concatenate([alike, unlike]))
    cuts = (values[1:] + values[:-1]) / 2 if len(values) > 1 else values
    missed = np.searchsorted(np.sort(alike), cuts) / len(alike)
    taken = 1 - np.searchsorted(np.sort(unlike), cuts) / len(unlike)
    return float(np.clip(cuts[np.argmin(missed + taken)], -1, 1))


def demand_match(thing: Any) -> Match:
    """The thing, if it can be used as a match."""
    if isinstance(thing, type) or not isinstance(thing, Match):
        raise ProtocolError(
            f"{thing!r} cannot be used as a match: it must be a function of what was asked and "
            "what was told, with an attribute says."
        )
    return thing


def _pairs(name: str, given: Any) -> tuple[Pair, ...]:
    pairs = tuple(tuple(pair) if isinstance(pair, list | tuple) else (pair,) for pair in given)
    for pair in pairs:
        if len(pair) != 2 or not all(isinstance(sentence, str) for sentence in pair):
            raise SettingError(f"{name} must hold pairs of sentences, not {pair!r}.")
    return pairs


def _tried(name: str, given: Any) -> tuple[int, int] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise SettingError(f"{name} must be how many were wrong and how many tried, not {given!r}.")
    wrong, tried = whole(name, given[0], at_least=0), whole(name, given[1])
    if wrong > tried:
        raise SettingError(f"{name} must have at most {tried} wrong of {tried}, not {wrong}.")
    return wrong, tried
