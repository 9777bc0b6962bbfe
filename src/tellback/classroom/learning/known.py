"""Items with known answers: for practice, and to catch carelessness.

Practice comes before a teacher's next other response, and tells the answers. Items that catch
carelessness look like any other response. Neither teaches the agent, nor counts in its curve; both
tell how reliable a teacher is.
"""

from __future__ import annotations

from zlib import crc32

from tellback.classroom.learning.agreement import responses_of
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.sureness import verdict
from tellback.classroom.store.database import Connection
from tellback.classroom.store.known import (
    KnownRound,
    answered_rounds,
    count_turns,
    given_answers,
    known_rounds,
)
from tellback.errors import TellbackError
from tellback.models.words import words
from tellback.roles import Instruction
from tellback.streams import Streams


def next_known(
    learner: Learner, connection: Connection, account: str, share: float, *, own: bool
) -> KnownRound | None:
    """The item that a teacher gets now; None if they get another response.

    Which one depends on the teacher and on what they have done: asked again, it is the same.

    Parameters
    ----------
    learner, connection, account
        The lesson, and the teacher.
    share : float
        The share of items among a teacher's responses, after practice.
    own : bool
        Whether teachers also get those that they have made.
    """
    items = [
        one for one in known_rounds(connection, learner.lesson) if own or one.author != account
    ]
    if not items:
        return None
    done = answered_rounds(connection, learner.lesson, account)
    left = [one for one in items if one.round not in done]
    practice = [one for one in left if one.asked.known and one.asked.known.practice]
    if practice or not left:
        return next(iter(practice), None)
    turn = count_turns(connection, learner.lesson, account)
    stream = Streams(learner.definition.seed).stream("known")
    rng = stream.at(crc32(f"{account} {turn}".encode()))
    return left[int(rng.integers(len(left)))] if rng.random() < share else None


def is_right(learner: Learner, item: KnownRound, said: Instruction) -> bool | None:
    """Whether an answer is right; None if that is not known.

    It is if it has all words of one of the answers. Otherwise the agent decides, if it is sure
    which response was meant; unless only these answers are right.
    """
    known = item.asked.known
    assert known is not None
    if not isinstance(said, str) or learner.definition.answers is not None:
        return said in known.answers
    heard = set(words(said))
    if any(set(words(str(one))) <= heard for one in known.answers):
        return True
    if known.only:
        return False
    responses = responses_of(learner, item.round)
    if responses is None:
        return None
    try:
        found = verdict(learner.consider(said, responses))
    except TellbackError:  # a sentence that the model refuses
        return None
    return found.best == item.asked.choice.response if found.sure else None


def judged_answers(learner: Learner, connection: Connection) -> list[tuple[str, bool]]:
    """The account and the verdict of each answer to a known item, where there is one."""
    judged = [
        (one.account, is_right(learner, one.known, one.description))
        for one in given_answers(connection, learner.lesson)
    ]
    return [(account, right) for account, right in judged if right is not None]
