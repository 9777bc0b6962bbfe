"""Descriptions: given, given again, withdrawn, or refused."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import bindparam, select

from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.log import Kind, LessonLog
from tellback.classroom.store.rounds import (
    AskedRound,
    RoundRow,
    RoundStatus,
    change_round,
    event_data,
    find_asked,
    lock_round,
)
from tellback.classroom.store.seen import has_seen
from tellback.classroom.store.tables import events
from tellback.roles import Instruction
from tellback.specs import Data

MatchFunction = Callable[[Instruction, Instruction], bool | None]
"""Whether a description (second) matches a request or a description (first); None if unknown."""

MetFunction = Callable[[int, AskedRound, Instruction], bool | None]
"""Whether the response of a round did what was asked, given the description; None if unknown."""


_FREE = {"claimed_by": None, "claimed_until": None}
_SECOND = select(events.c.kind, events.c.account, events.c.data).where(
    events.c.lesson == bindparam("lesson"), events.c.seq == bindparam("seq")
)


class DescriptionResult(NamedTuple):
    """A stored description: its event, whether it is new, the request, and what it says of it."""

    event: int
    new: bool
    asked: Instruction
    matched: bool | None
    saw_request: bool
    second: bool = False
    agrees: bool | None = None


def describe(
    log: LessonLog,
    number: int,
    account: str,
    description: Instruction,
    match: MatchFunction,
    *,
    met: MetFunction | None = None,
    anyones: bool = False,
    saw_request: bool = False,
) -> DescriptionResult:
    """Store a description of a response.

    A description that is sent twice is stored once. If the same teacher sends another one, the
    later one is active. If the teacher may have seen the request by then, it is marked: it teaches,
    but is no sample of the reward. So is one with ``saw_request``: its teacher knew the request.

    Parameters
    ----------
    log, number, account, description
        The lesson, the round, who describes it, and what they say.
    match : callable
        Whether two descriptions mean the same; and without ``met``, whether a description matches
        a request.
    met : callable, optional
        Whether the response did what was asked.
    anyones : bool
        Whether the teacher may describe a response without a claim.
    saw_request : bool
        Whether the teacher says that they knew the request.
    """
    judge = met or (lambda _, asked, told: match(asked.instruction, told))
    round = lock_round(log, number)
    if round.describer not in (None, account) and _may_add_second(round, account):
        return _second(log, round, account, description, match, judge, saw_request)
    _refuse_others(round, account, anyones)
    asked = find_asked(log.connection, log.lesson, round)
    matched = judge(number, asked, description)
    if round.described is not None:
        before = event_data(log.connection, log.lesson, round.described)
        if before["description"] == description:
            saw = before["saw_request"]
            return DescriptionResult(round.described, False, asked.instruction, matched, saw)
    saw = saw_request or has_seen(log.connection, log.lesson, number, account)
    data = description_data(description, saw, matched)
    seq = log.append(Kind.DESCRIBED, data, round=number, account=account)
    change_round(
        log,
        number,
        status=RoundStatus.DESCRIBED.value,
        described=seq,
        describer=account,
        matched=None if saw else matched,
        **_FREE,
    )
    return DescriptionResult(seq, True, asked.instruction, matched, saw)


def description_data(description: Instruction, saw_request: bool, matched: bool | None) -> Data:
    """The data of an event with a description, and whether the response did what was asked."""
    return {"description": description, "saw_request": saw_request, "matched": matched}


def _may_add_second(round: RoundRow, account: str) -> bool:
    return (
        round.wants_second
        and round.status is RoundStatus.DESCRIBED
        and (round.second is not None or round.claimed_by == account)
    )


def _second(
    log: LessonLog,
    round: RoundRow,
    account: str,
    description: Instruction,
    match: MatchFunction,
    judge: MetFunction,
    saw_request: bool,
) -> DescriptionResult:
    assert round.described is not None
    first = event_data(log.connection, log.lesson, round.described)["description"]
    asked = find_asked(log.connection, log.lesson, round)
    matched, agrees = judge(round.number, asked, description), match(first, description)
    saw = saw_request or has_seen(log.connection, log.lesson, round.number, account)
    seq = round.second
    if seq is not None:
        given = log.connection.execute(_SECOND, {"lesson": log.lesson, "seq": seq}).one()
        if given.kind != Kind.SECOND.value:
            raise ConflictError(
                "described", f"Round {round.number} was described by somebody else."
            )
        before = json.loads(given.data)
        if given.account != account or before.get("description") != description:
            raise ConflictError("described", f"Round {round.number} has been described twice.")
        saw = before["saw_request"]
    else:
        data: Data = {"description": description, "agrees": agrees, "saw_request": saw}
        seq = log.append(Kind.SECOND, data, round=round.number, account=account)
        change_round(log, round.number, second=seq, **_FREE)
    return DescriptionResult(
        seq, round.second is None, asked.instruction, matched, saw, second=True, agrees=agrees
    )


def _refuse_others(round: RoundRow, account: str, anyones: bool) -> None:
    """Refuse a round that somebody else has described or claimed."""
    if round.status is RoundStatus.DESCRIBED and round.describer != account:
        raise ConflictError("described", f"Round {round.number} was described by somebody else.")
    _refuse_held(round, account)
    if account not in (round.claimed_by, round.describer) and not anyones:
        raise ConflictError(
            "not_claimed", f"Round {round.number} was not given to you to describe."
        )


def _refuse_held(round: RoundRow, account: str) -> None:
    """Refuse a change while somebody else's lease lasts."""
    held = round.claimed_by not in (None, account) and (round.claimed_until or 0) >= time.time()
    if held:
        raise ConflictError("claimed", f"Round {round.number} is with somebody else now.")


def withdraw(log: LessonLog, number: int, account: str, until: float, *, anyones: bool) -> bool:
    """Withdraw a description or a skip; the round is open, and theirs. False if it was open."""
    round = lock_round(log, number)
    if round.status is RoundStatus.OPEN:
        return False
    if round.describer != account and not anyones:
        raise ConflictError("not_yours", f"Round {number} was described by somebody else.")
    if round.second is not None and not _declined(log, round.second):
        raise ConflictError(
            "described",
            f"Round {number} has a second description, which compares with the first.",
        )
    _refuse_held(round, account)
    log.append(Kind.WITHDRAWN, {"was": round.status.value}, round=number, account=account)
    change_round(
        log,
        number,
        status=RoundStatus.OPEN.value,
        described=None,
        describer=None,
        second=None,
        matched=None,
        claimed_by=account,
        claimed_until=until,
    )
    return True


def _declined(log: LessonLog, second: int, account: str | None = None) -> bool:
    """Whether the second description was refused (by this teacher, if one is given)."""
    which = {"lesson": log.lesson, "seq": second}
    found = log.connection.execute(_SECOND, which).one()
    return found.kind != Kind.SECOND.value and account in (None, found.account)


def close_round(
    log: LessonLog, number: int, account: str, outcome: RoundStatus, note: str, *, anyones: bool
) -> bool:
    """Close a round without a description; False if the teacher closed it so before.

    If a second description was wanted, only that is closed: nobody else is asked for one.
    """
    round = lock_round(log, number)
    data: Data = {"note": note} if note else {}
    if round.status is RoundStatus.DESCRIBED:
        if _may_add_second(round, account):
            if round.second is not None and _declined(log, round.second, account):
                return False
            if round.second is None:
                data["second"] = True
                seq = log.append(Kind(outcome.value), data, round=number, account=account)
                change_round(log, number, second=seq, **_FREE)
                return True
        raise ConflictError("described", f"Round {number} has been described.")
    _refuse_others(round, account, anyones)
    if round.status is outcome and round.describer == account:
        return False
    log.append(Kind(outcome.value), data, round=number, account=account)
    change_round(log, number, status=outcome.value, describer=account, **_FREE)
    return True
