"""Doubts: how probable it is that each description of a lesson is of its response.

A description is compared by a model that was not taught it: is it likelier for its own response
than for the responses of other rounds? By Bayes' rule (``models.doubt``) that gives the probability
that it is right, given the share of wrong descriptions of its teacher. The shares come from the
same probabilities, by EM. A teacher's share is drawn towards that of all.

A model that was taught little has estimates that say little. So how far they are trusted is fitted
to the lesson, too: it is what makes the responses of the held-out descriptions most likely. While
the model knows nothing, that is not at all, and nothing is doubted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.classroom.store.active import ActiveDescription
from tellback.errors import TellbackError
from tellback.models import doubt
from tellback.models.model import Model
from tellback.responses import Listed
from tellback.roles import Instruction

WEIGHED_AT = (8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Numbers of descriptions at which all are weighed again. Later ones are the model's to doubt."""

FOLDS = 5
"""Each fifth is judged by a model that was taught the others."""

MOST_OTHERS = 64
"""Responses with which the response of a description is compared, at most."""

SHARPNESSES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.3)
"""How far the logarithms of estimates may be trusted, times that of ``models.doubt``.

Measured on seeds 1000 to 1007 of the demonstration, 32 descriptions each, nobody asked. A quarter
of them wrong: with 1.3 always, 11.0 were doubtful on average, 5.8 of these right; with the fitted
one 4.4, and 1.8 of these right. None of them wrong: 0.8 were doubtful, and 0.3.
"""

FIRST_SHARE = 0.1
"""The share of wrong descriptions before anything is known."""

PRIOR = 8.0
"""The first share counts as much as so many descriptions."""

LIKE_ALL = 8.0
"""A teacher's share is drawn towards that of all as if by so many more descriptions."""

STOOD_BY = 0.3
"""Of the wrong descriptions, the share that a teacher stands by when asked."""

DOUBTFUL = 0.5
"""A description is doubtful if the probability that it is right is below this."""

STEPS = 10
"""Of EM."""

TINY = 1e-300
EVEN = 0.5


class Surprise(NamedTuple):
    """How much likelier each description is for its response than for others.

    That its teacher stands by a description does not count here.
    """

    sharpness: float  # how far the estimates of the model are trusted; 0 if nothing is known
    lifts: dict[int, float]  # as a log, by the event


class Doubts(NamedTuple):
    """What is believed of a lesson's descriptions.

    Attributes
    ----------
    right : dict of int to float
        The probability that a description is right, by its event.
    wrong : dict of str to float
        The share of wrong descriptions of each teacher, by account.
    left_out : frozenset of int
        The events of the descriptions that an agent should not be taught: the most doubtful ones
        of each teacher, at most as many as are wrong by the share plus its standard error, and
        never more than half.
    sharpness : float
        How far the estimates of the model are trusted.
    surprise : Surprise
        How likely each description is, whoever stands by it.
    """

    right: dict[int, float]
    wrong: dict[str, float]
    left_out: frozenset[int] = frozenset()
    sharpness: float = 0.0
    surprise: Surprise = Surprise(0.0, {})

    def lift(self, fits: Array) -> float:
        """How much likelier a description is for its response than for others, as a log."""
        return float(doubt.lifts(self.sharpness * fits[None, :])[0])

    def right_at(self, lift: float, account: str) -> float:
        """The probability that a new description with this lift is right."""
        usual = float(np.mean(list(self.wrong.values()))) if self.wrong else FIRST_SHARE
        return float(doubt.believed(np.array(lift), self.wrong.get(account, usual)))


def weighed_count(learned: int) -> int:
    """How many of so many descriptions have been weighed: the first ones."""
    return max((count for count in WEIGHED_AT if count <= learned), default=0)


def fits_of(model: Model, said: Instruction, features: Array, others: Array) -> Array:
    """How well a sentence fits its response, then each of the others: logarithms of estimates.

    All are 0 if the model refuses the sentence.
    """
    responses = np.vstack([features, others])
    try:
        estimates = model.estimates(said, Listed(responses))
    except TellbackError:
        return np.zeros(len(responses))
    fits: Array = np.log(np.maximum(estimates, TINY))
    return fits


def others_of(descriptions: Sequence[ActiveDescription]) -> Array:
    """The responses of at most ``MOST_OTHERS`` descriptions, evenly spread."""
    if not descriptions:
        return np.zeros((0, 0))
    count = min(MOST_OTHERS, len(descriptions))
    picked = np.linspace(0, len(descriptions) - 1, count).astype(int)
    return np.array([descriptions[i].choice.features for i in picked])


def weigh(
    build: Callable[[], Model],
    descriptions: Sequence[ActiveDescription],
) -> Doubts:
    """Judge each description by a model that was taught the other four fifths."""
    others = others_of(descriptions)
    fits = np.zeros((len(descriptions), 1 + len(others)))
    for fold in range(FOLDS):
        model = build()
        for place, one in enumerate(descriptions):
            if place % FOLDS != fold:
                _learn(model, one)
        for place in range(fold, len(descriptions), FOLDS):
            one = descriptions[place]
            fits[place] = fits_of(model, one.description, one.choice.features, others)
    return believed(descriptions, fits)


def believed(descriptions: Sequence[ActiveDescription], fits: Array) -> Doubts:
    """The probability that each is right, and each teacher's share of wrong ones, by EM."""
    names = sorted({one.account for one in descriptions})
    of = np.array([names.index(one.account) for one in descriptions], dtype=int)
    sure = np.log([STOOD_BY if one.sure else 1.0 for one in descriptions])
    sharpness = max(SHARPNESSES, key=lambda one: _likelihood(doubt.lifts(one * fits) - sure))
    lifts = doubt.lifts(sharpness * fits) - sure
    counts = np.bincount(of, minlength=len(names))
    shares = np.full(len(names), FIRST_SHARE)
    right = np.ones(len(descriptions))
    for _ in range(STEPS):
        odds = np.log(shares / (1 - shares))[of]
        right = doubt.believed(lifts - odds, EVEN)
        usual = _share(right)
        wrong = np.bincount(of, weights=1 - right, minlength=len(names))
        shares = np.clip(
            (wrong + LIKE_ALL * usual) / (counts + LIKE_ALL),
            doubt.LEAST_WRONG,
            doubt.MOST_WRONG,
        )
    left_out = [
        _left_out(right, np.flatnonzero(of == name).tolist(), float(share))
        for name, share in enumerate(shares)
    ]
    return Doubts(
        {one.seq: float(p) for one, p in zip(descriptions, right, strict=True)},
        {name: float(share) for name, share in zip(names, shares, strict=True)},
        frozenset(descriptions[place].seq for places in left_out for place in places),
        sharpness,
        surprise_of(descriptions, fits),
    )


def surprise_of(descriptions: Sequence[ActiveDescription], fits: Array) -> Surprise:
    """How likely each description is, given how well it fits."""
    sharpness = max(SHARPNESSES, key=lambda one: _likelihood(doubt.lifts(one * fits)))
    lifts = doubt.lifts(sharpness * fits)
    return Surprise(
        sharpness, {one.seq: float(x) for one, x in zip(descriptions, lifts, strict=True)}
    )


def _share(right: Array) -> float:
    """The share of wrong descriptions, from a weak prior."""
    return float((1 - right).sum() + PRIOR * FIRST_SHARE) / (len(right) + PRIOR)


def _likelihood(lifts: Array) -> float:
    """The logarithm of the likelihood of the responses, at the likeliest share of wrong ones."""
    share = FIRST_SHARE
    for _ in range(STEPS):
        share = _share(doubt.believed(lifts, share))
    prior = FIRST_SHARE * np.log(share) + (1 - FIRST_SHARE) * np.log(1 - share)
    return float(np.log((1 - share) * np.exp(lifts) + share).sum() + PRIOR * prior)


def _left_out(right: Array, mine: list[int], share: float) -> list[int]:
    """The places of the descriptions of a teacher that are left out, of all of theirs."""
    doubtful = [place for place in mine if right[place] < DOUBTFUL]
    count = len(mine)
    most = min(count * share + np.sqrt(count * share * (1 - share)), count / 2)
    return sorted(doubtful, key=lambda place: float(right[place]))[: int(most)]


def _learn(model: Model, one: ActiveDescription) -> None:
    try:
        model.learn(one.choice.features, one.description)
    except TellbackError:
        return  # a sentence that the model refuses; the lesson's agent does not learn it either
