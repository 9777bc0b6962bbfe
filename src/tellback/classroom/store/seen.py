"""Who has seen the request of a round: what they say of it is no blind description."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import (
    ColumnElement,
    Connection,
    Exists,
    FromClause,
    exists,
    insert,
    literal,
    select,
)

from tellback.classroom.store.database import Database
from tellback.classroom.store.log import Kind
from tellback.classroom.store.rounds import LockedRound
from tellback.classroom.store.tables import events, rounds, seen

SHOWING = (Kind.DESCRIBED, Kind.SECOND, Kind.JUDGED)
"""The kinds after which the request is shown to the account, or was shown before."""

SECOND_KINDS = (Kind.SECOND, Kind.SKIPPED, Kind.CANNOT_TELL, Kind.FLAGGED)
"""The kinds that give or decline a second description."""


def mark_seen(
    database: Database, lesson: str, account: str, numbers: Collection[int] | None = None
) -> None:
    """Note that an account was shown the requests of some rounds, or of all rounds so far.

    Of all rounds, those are noted that wait for a description: others are shown to everybody.
    """
    new = select(rounds.c.lesson, rounds.c.number, literal(account)).where(
        rounds.c.lesson == lesson,
        ~_seen_by(account),
        rounds.c.number.in_(numbers)
        if numbers is not None
        else rounds.c.described.is_(None) | rounds.c.wants_second.is_(True),
    )
    with database.read() as connection:
        if connection.execute(new.limit(1)).first() is None:
            return
    with database.write() as connection:
        # Locked, so that nobody else notes the same meanwhile.
        connection.execute(new.with_for_update(of=rounds))
        connection.execute(insert(seen).from_select(["lesson", "round", "account"], new))


def has_asked(connection: Connection, lesson: str, number: int, account: str) -> bool:
    """Whether an account has asked a round, and so wrote its request."""
    asked = _event(events, (events.c.seq == rounds.c.asked) & (events.c.account == account))
    query = select(asked).where(rounds.c.lesson == lesson, rounds.c.number == number)
    return bool(connection.execute(query).scalar_one())


def is_noted(connection: Connection, lesson: str, number: int, account: str) -> bool:
    """Whether an account is noted as one that was shown a round."""
    noted = (seen.c.lesson == lesson, seen.c.round == number, seen.c.account == account)
    return connection.execute(select(seen.c.round).where(*noted)).first() is not None


def _seen_by(account: str) -> Exists:
    return exists().where(
        seen.c.lesson == rounds.c.lesson,
        seen.c.round == rounds.c.number,
        seen.c.account == account,
    )


def has_seen(round: LockedRound, account: str) -> bool:
    """Whether an account has seen the request of a round, or may have.

    It may have if anybody could: once a round was described, its request is shown under Progress.
    A round that waits for a second description is not shown there.
    """
    # A reviewer may send a round to another teacher after its request was public.
    reviewed = any(one.kind is Kind.REVIEWED for one in round.events)
    met = any(one.account == account and one.kind in SHOWING for one in round.events)
    return round.noted or met or reviewed or _public(round)


def _public(round: LockedRound) -> bool:
    """Whether the round was ever described, and then waited for no second description."""
    described = [one.seq for one in round.events if one.kind is Kind.DESCRIBED]
    if not described or not round.row.wants_second:
        return bool(described)
    return any(one.kind in SECOND_KINDS and one.seq > described[0] for one in round.events)


def _has_met(account: str) -> Exists:
    """Whether an account has ever described or judged the round of a query on ``rounds``."""
    theirs, kinds = events.alias("theirs"), [kind.value for kind in SHOWING]
    return _event(theirs, (theirs.c.account == account) & theirs.c.kind.in_(kinds))


def not_seen(account: str) -> ColumnElement[bool]:
    """Whether the account was not shown the request of the round of a query on ``rounds``."""
    return ~_seen_by(account) & ~_has_met(account)


def _event(log: FromClause, condition: ColumnElement[bool]) -> Exists:
    """Whether there is such an event of the round of a query on ``rounds``."""
    return exists().where(
        log.c.lesson == rounds.c.lesson, log.c.round == rounds.c.number, condition
    )
