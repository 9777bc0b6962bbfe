"""How probable it is that each description is right: of its response, and of no other.

The scores give the probability q of each response of the group to be the one that a description was
written about: a softmax. A description that is right is at that response. One that is wrong was
written about another and is here by chance. So, with a share e of wrong ones in a group of n,

    P(it is at y) = (1 - e) q(y) + e (1 - q(y)) / (n - 1),

and the first term's share of the sum is the probability that it is right. The likelihood of all
places chooses how far the scores are trusted, and e.

Two more facts count as far as the recording itself shows that they tell. A wrong description may
be a copy: its text is also at the response that it was written about. And some people are wrong
more often than others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.arrays import Array, Indices
from tellback.audit.sentences import Floats, Sentences
from tellback.audit.word_fit import Fits, fits

ROUNDS = 3
"""How often the regressions are fitted, each time by what the last left in doubt."""

FEWEST = 100
"""With fewer descriptions nothing is told: the share of wrong ones would come out too low."""

START = (1.0, 0.35)
"""Where the search for the trust in the two scores begins."""

TRIED = 4000
"""Descriptions by which the trust is chosen, about."""

STEPS = 100
"""Of EM."""

PERSON = 40.0
"""A person's share of wrong descriptions is drawn towards that of all as if by so many more."""

COPIES = 5.0
"""The same for the rate of copies among wrong descriptions, towards that among right ones."""

WIDEST = 0.3
"""If the interval of the share of wrong ones is wider, the words tell too little."""

LEAST_GAIN = 0.1
"""The same if they say less of where a description belongs, in nats each. Shuffled descriptions
gained up to 0.04."""

LEAST, MOST = 1e-6, 1 - 1e-6
_HALF_CHI = 1.92  # half the 95% quantile of chi-squared with one degree of freedom


class Doubts(NamedTuple):
    """What the words tell of each description.

    Attributes
    ----------
    right : Array
        The probability that it is right; NaN if the words tell too little.
    best : Indices
        The response of its group that it fits best, by its position in the recording.
    wrong : float
        The share of wrong ones.
    low, high : float
        The 95% interval of that share, if wrong descriptions are those of other responses of the
        group and the scores are trusted rightly.
    people : Array
        The share of wrong ones of each person.
    expected : Floats
        How likely each word is for each response.
    usual : Floats
        The share of descriptions with each word.
    """

    right: Array
    best: Indices
    wrong: float
    low: float
    high: float
    people: Array
    expected: Floats
    usual: Floats


class _Sources(NamedTuple):
    """The logs of probabilities of where a description was written, and the best response."""

    own: Array  # at its own response
    twin: Array  # at any other that has the same text
    other: Array  # at any of the rest
    best: Indices


def doubts(sentences: Sentences) -> Doubts:
    """How far to believe each description."""
    weights = np.ones(len(sentences))
    people = np.zeros(int(sentences.person.max(initial=-1)) + 1)
    sizes = [group.size for group in sentences.groups]
    if not sentences.words or max(sizes, default=0) < 2 or len(sentences) < FEWEST:
        return _silent(sentences, people)
    trust = np.array(START)
    for _ in range(ROUNDS):
        found = fits(sentences, weights)
        trust = _trusted(sentences, found, trust)
        sources = _sources(sentences, found, trust)
        low, wrong, high = _share(sentences, sources)
        right, people = _right(sentences, sources, wrong)
        weights = np.maximum(right, LEAST)
    if high - low > WIDEST or _gain(sentences, sources, wrong) < LEAST_GAIN:
        return _silent(sentences, people)
    return Doubts(right, sources.best, wrong, low, high, people, found.expected, found.usual)


def _silent(sentences: Sentences, people: Array) -> Doubts:
    words = len(sentences.words)
    return Doubts(
        right=np.full(len(sentences), np.nan),
        best=sentences.response.copy(),
        wrong=np.nan,
        low=0.0,
        high=1.0,
        people=np.full(len(people), np.nan),
        expected=np.zeros((len(sentences.row_of), words), dtype=np.float32),
        usual=np.zeros(words, dtype=np.float32),
    )


def _others(sentences: Sentences) -> Array:
    """With how many other responses each description could have been exchanged."""
    others = np.ones(len(sentences))
    for group in sentences.groups:
        others[group.sentences] = max(group.size - 1, 1)
    return others


def _sources(sentences: Sentences, found: Fits, trust: Array, every: int = 1) -> _Sources:
    """Where each description was written; only every so-manieth of a group is worked out."""
    n, slope = len(sentences), trust.astype(np.float32)
    own = (found.own @ slope).astype(np.float64)
    said, at = sentences.twins.T
    copies = found.twins @ slope
    twin, other = np.full(n, -np.inf), np.full(n, -np.inf)
    np.logaddexp.at(twin, said, copies)
    best, highest = sentences.response.copy(), own.copy()
    np.maximum.at(highest, said, copies)
    best[said[copies == highest[said]]] = at[copies == highest[said]]
    twins = np.bincount(said, minlength=n)
    column = np.full(len(sentences.row_of), -1)
    for group, scores in zip(sentences.groups, found.others, strict=True):
        some = group.sentences[::every]
        score = scores[::every] @ slope
        column[group.compared] = np.arange(len(group.compared))
        _mask(score, np.arange(len(some)), column[sentences.response[some]])
        mine = np.isin(said, some)
        _mask(score, np.searchsorted(some, said[mine]), column[at[mine]])
        column[group.compared] = -1
        other[some] = _all_others(score, group.size - 1 - twins[some])
        better = score.max(axis=1) > highest[some]
        best[some[better]] = group.compared[score[better].argmax(axis=1)]
    alone = np.isinf(twin) & np.isinf(other)
    other[alone] = own[alone]  # nothing to compare with tells nothing
    whole = np.logaddexp(np.logaddexp(own, twin), other)
    return _Sources(own - whole, twin - whole, other - whole, best)


def _all_others(score: Floats, others: Indices) -> Array:
    """The log of the sum over the others; those not compared are taken to be like the compared."""
    compared = np.isfinite(score).sum(axis=1)
    top = np.where(compared, score.max(axis=1), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.log(np.exp(score - top[:, None]).sum(axis=1)) + top
        scaled = total + np.log(others / compared)
    return np.where(compared > 0, scaled, -np.inf)


def _mask(score: Floats, rows: Indices, columns: Indices) -> None:
    score[rows[columns >= 0], columns[columns >= 0]] = -np.inf


def _likelihood(own: Array, elsewhere: Array, wrong: float) -> float:
    return float(np.logaddexp(np.log1p(-wrong) + own, np.log(wrong) + elsewhere).sum())


def _elsewhere(sentences: Sentences, sources: _Sources) -> Array:
    """The log of the mean probability of the other responses."""
    mean: Array = np.logaddexp(sources.twin, sources.other) - np.log(_others(sentences))
    return np.maximum(mean, -300.0)


def _gain(sentences: Sentences, sources: _Sources, wrong: float) -> float:
    """By how much the places of descriptions are likelier than by chance, as a log, on average."""
    likelihood = _likelihood(sources.own, _elsewhere(sentences, sources), wrong)
    return likelihood / len(sentences) + float(np.log1p(_others(sentences)).mean())


def _estimate(own: Array, elsewhere: Array) -> float:
    """The share of wrong ones with the highest likelihood, by EM."""
    wrong = 0.3
    for _ in range(STEPS):
        odds = np.clip(np.log(wrong) - np.log1p(-wrong) + elsewhere - own, -60, 60)
        wrong = min(max(float((1 / (1 + np.exp(-odds))).mean()), LEAST), MOST)
    return wrong


def _trusted(sentences: Sentences, found: Fits, start: Array) -> Array:
    """How far the scores are trusted, by the likelihood of a part of the descriptions."""
    from scipy.optimize import minimize

    every = max(1, len(sentences) // TRIED)
    some = np.concatenate([group.sentences[::every] for group in sentences.groups])

    def loss(trust: Array) -> float:
        sources = _sources(sentences, found, np.abs(trust), every)
        own, elsewhere = sources.own[some], _elsewhere(sentences, sources)[some]
        return -_likelihood(own, elsewhere, _estimate(own, elsewhere))

    best = minimize(
        loss, start, method="Nelder-Mead", options={"maxfev": 40, "xatol": 0.01, "fatol": 0.5}
    )
    return np.asarray(np.abs(best.x), dtype=np.float64)


def _share(sentences: Sentences, sources: _Sources) -> tuple[float, float, float]:
    """The share of wrong ones, between the ends of its profile likelihood interval."""
    from scipy.optimize import brentq

    own, elsewhere = sources.own, _elsewhere(sentences, sources)
    wrong = _estimate(own, elsewhere)
    highest = _likelihood(own, elsewhere, wrong)

    def drop(share: float) -> float:
        return highest - _likelihood(own, elsewhere, share) - _HALF_CHI

    low = brentq(drop, LEAST, wrong) if drop(LEAST) > 0 else 0.0
    high = brentq(drop, wrong, MOST) if drop(MOST) > 0 else 1.0
    return low, wrong, high


def _right(sentences: Sentences, sources: _Sources, wrong: float) -> tuple[Array, Array]:
    """The probability that each is right, and each person's share of wrong ones, by EM."""
    own = np.exp(sources.own)
    twin, other = np.exp(sources.twin), np.exp(sources.other)
    others, known = _others(sentences), sentences.person >= 0
    person = sentences.person[known]
    said = np.bincount(person, minlength=int(sentences.person.max(initial=-1)) + 1)
    copied = twin / np.maximum(twin + other, 1e-300)  # of a right one, by its place alone
    people = np.full(len(said), wrong)
    with_twin = without = 1.0
    for _ in range(STEPS):
        share = np.full(len(own), wrong)
        share[known] = people[person]
        from_twin, from_other = twin * with_twin, other * without
        mistaken = share * (from_twin + from_other) / others
        right = (1 - share) * own / np.maximum((1 - share) * own + mistaken, 1e-300)
        wrong = min(max(float(1 - right.mean()), LEAST), MOST)
        if len(said):
            sums = np.bincount(person, 1 - right[known], minlength=len(said))
            people = np.clip((sums + PERSON * wrong) / (said + PERSON), LEAST, MOST)
        usual = (float(right @ copied) + 1e-3) / (float(right.sum()) + 1)
        copies = from_twin / np.maximum(from_twin + from_other, 1e-300)
        rate = (float((1 - right) @ copies) + COPIES * usual) / (float((1 - right).sum()) + COPIES)
        with_twin, without = rate / usual, (1 - rate) / (1 - usual)
    return right, people
