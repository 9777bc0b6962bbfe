"""Why a description is believed or not, in sentences."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array
from tellback.audit.doubt import Doubts
from tellback.audit.sentences import Floats, Sentences
from tellback.audit.word_fit import LEAST, RAREST, SUREST
from tellback.recordings import Recording

MOST_SAID, MOST_UNSAID = 2, 1
"""Words named in reasons, at most: those that were said, and those that were not."""

MOST_TWINS = 3
"""Responses named that have the same sentence, at most."""

TELLING = 0.7
"""How much a word adds to the log-likelihood to be named: a factor of two."""

CARELESS = 2.0
"""A person is named who is wrong so many times as often as people are."""


def reasons(recording: Recording, sentences: Sentences, doubts: Doubts, i: int) -> tuple[str, ...]:
    """Why the description at position ``i`` is believed or not."""
    if np.isnan(doubts.wrong):
        return ("The recording is too small, or its words too varied, to tell.",)
    here, best = int(sentences.response[i]), int(doubts.best[i])
    name = recording.responses[best].id
    found = []
    if best != here:
        found.append(f"It fits {name} of the same group better.")
        found += _words(sentences, doubts, i, here, best, name)
    elif doubts.right[i] < 1 - 2 * doubts.wrong:
        found.append("It fits other responses of the group about as well.")
    else:
        found.append("It fits no other response of the group better.")
    if twins := [int(at) for said, at in sentences.twins if said == i]:
        ids = ", ".join(recording.responses[at].id for at in twins[:MOST_TWINS])
        found.append(f"The same sentence is also at {ids}.")
    person = int(sentences.person[i])
    if person >= 0 and doubts.people[person] > CARELESS * doubts.wrong:
        found.append(
            f"About {doubts.people[person]:.0%} of what {sentences.said[i].person} said is wrong; "
            f"{doubts.wrong:.0%} of what all people said."
        )
    return tuple(found)


def _words(
    sentences: Sentences, doubts: Doubts, i: int, here: int, best: int, name: str
) -> list[str]:
    """The words that tell most against the response of a description, said or not said."""
    mine, theirs = (_probability(doubts.expected[one], doubts.usual) for one in (here, best))
    told = sentences.told[i] > 0
    against: Array = np.where(
        told, np.log(theirs) - np.log(mine), np.log1p(-theirs) - np.log1p(-mine)
    )
    siblings = (sentences.response == here) & (np.arange(len(sentences)) != i)
    said_by = sentences.told[siblings].sum(axis=0)
    others = int(siblings.sum())
    found = []
    for verb, these, most in (("says", told, MOST_SAID), ("does not say", ~told, MOST_UNSAID)):
        for w in np.argsort(np.where(these, -against, np.inf), kind="stable")[:most]:
            if these[w] and against[w] > TELLING:
                agree = f", {int(said_by[w])} of {others} others here do" if others else ""
                found.append(
                    f"It {verb} {sentences.words[w]!r}{agree}; expected in {mine[w]:.0%} of the "
                    f"descriptions here and in {theirs[w]:.0%} at {name}."
                )
    return found


def _probability(expected: Floats, usual: Floats) -> Floats:
    probability: Floats = np.clip(expected, np.maximum(LEAST * usual, RAREST), SUREST)
    return probability
