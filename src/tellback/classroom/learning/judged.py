"""What people's judgements of a lesson say: the share of requests met, and how often words err."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from tellback.classroom.learning.content import features_from
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.verdicts import sound_alike
from tellback.classroom.store.database import Connection
from tellback.classroom.store.rounds import event_data, find_asked, find_round
from tellback.classroom.store.tasks import find_task
from tellback.errors import TellbackError
from tellback.matching import ErrorRates
from tellback.responses import Listed
from tellback.roles import Instruction
from tellback.theory.sampled import sampled_share
from tellback.theory.shares import Share, share_of_counts

FEWEST = 10
"""Below this number of judgements no share is shown."""

MOST_COMPARED = 200
"""Judged rounds on which the error rates of sounding alike are measured."""

Judged = Mapping[int, bool | None]
"""The judgement of each round that has one; None if nobody could tell."""


def next_to_judge(
    rounds: Sequence[int], judged: Judged, priority: Callable[[int], float]
) -> int | None:
    """The round that is to be judged next; None if all were."""
    return min((number for number in rounds if number not in judged), key=priority, default=None)


def judged_share(
    rounds: Sequence[int], judged: Judged, priority: Callable[[int], float]
) -> Share | None:
    """The share of rounds in which the response did what was asked; None if too few were judged.

    The rounds up to the first one without a judgement, in the random order of ``priority``, are a
    random sample of all. Judgements beyond are left out: somebody may have picked those rounds.
    """
    sample = list(takewhile(lambda number: number in judged, sorted(rounds, key=priority)))
    told = [met for number in sample if (met := judged[number]) is not None]
    if len(told) < FEWEST:
        return None
    unclear = len(sample) - len(told)
    return sampled_share(sum(told), len(told), len(rounds) - unclear)


def sounds_alike(
    learner: Learner, connection: Connection, round: int, told: Instruction
) -> bool | None:
    """Whether a description sounds like the request of its round, to the agent as it is now.

    None if the agent cannot tell.
    """
    asked = find_asked(connection, learner.lesson, find_round(connection, learner.lesson, round))
    features = find_task(connection, learner.lesson, round).features
    responses = Listed(features_from(features, learner.definition.facts.dim))
    try:
        one, other = (
            learner.consider(words, responses).estimates for words in (asked.instruction, told)
        )
    except TellbackError:  # a sentence that the model refuses
        return None
    return sound_alike(one, other)


def likeness_errors(learner: Learner, connection: Connection, judged: Judged) -> ErrorRates | None:
    """How often sounding alike is wrong, against people's judgements; None if there are too few."""
    alike: dict[bool, list[bool]] = {True: [], False: []}  # by what people said
    for number, met in list(judged.items())[-MOST_COMPARED:]:
        described = find_round(connection, learner.lesson, number).described
        if met is None or described is None:
            continue
        told = event_data(connection, learner.lesson, described)["description"]
        sounds = sounds_alike(learner, connection, number, told)
        if sounds is not None:
            alike[met].append(sounds)
    if not alike[True] or not alike[False]:
        return None
    return ErrorRates(
        share_of_counts(sum(alike[False]), len(alike[False])),
        share_of_counts(alike[True].count(False), len(alike[True])),
    )
