"""The inbox of reviewers: doubtful, disagreeing and flagged rounds, with the reasons."""

from __future__ import annotations

from typing import Literal, NamedTuple

from tellback.classroom.learning.agreement import agree
from tellback.classroom.learning.doubts import DOUBTFUL
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.questions import weighed
from tellback.classroom.store.reviews import (
    account_names,
    flagged_rounds,
    kept_when_asked,
    read_seconds,
    reviewed_rounds,
)
from tellback.roles import Instruction


class Reason(NamedTuple):
    """Why a round is in the inbox."""

    kind: Literal["doubtful", "disagreeing", "flagged"]
    says: str


class InboxEntry(NamedTuple):
    """A round that a reviewer should look at. Its request is not told."""

    round: int
    teacher: str
    description: Instruction | None
    reasons: list[Reason]


def read_inbox(learner: Learner) -> list[InboxEntry]:
    """All rounds that should be reviewed: those with most reasons first."""
    found: dict[int, InboxEntry] = {}
    learner.catch_up()
    doubts = weighed(learner)
    with learner.reading() as connection:
        names = account_names(connection)
        seconds = read_seconds(connection, learner.lesson)
        flagged = flagged_rounds(connection, learner.lesson)
        kept = kept_when_asked(connection, learner.lesson)
        done = reviewed_rounds(connection, learner.lesson)

    def add(round: int, account: str, said: Instruction | None, reason: Reason) -> None:
        if round not in done:
            entry = InboxEntry(round, names.get(account, account), said, [])
            found.setdefault(round, entry).reasons.append(reason)

    right = doubts.doubts.right
    for one in sorted(doubts.descriptions, key=lambda one: right[one.seq]):
        if right[one.seq] < DOUBTFUL:
            says = f"fits other responses better: right with probability {right[one.seq]:.0%}"
            add(one.round, one.account, one.description, Reason("doubtful", says))
    for round, (account, said) in kept.items():
        stands = Reason("doubtful", "its teacher was asked about it, and stands by it")
        add(round, account, said, stands)
    for two in seconds:
        if agree(learner, two) is False:
            who = names.get(two.other, two.other)
            says = f"{who} described it otherwise: “{two.second}”"
            add(two.round, two.teacher, two.first, Reason("disagreeing", says))
    for round, (account, note) in flagged.items():
        says = f"flagged by {names.get(account, account)}{f': {note}' if note else ''}"
        add(round, account, None, Reason("flagged", says))
    return sorted(found.values(), key=lambda entry: -len(entry.reasons))
