"""Descriptions: given, given again, withdrawn, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from tellback.classroom.store.active import ActiveDescription, new_description
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.log import Kind, LessonLog
from tellback.classroom.store.rounds import (
    AskedRound,
    Known,
    LockedRound,
    PastEvent,
    RoundPart,
    RoundRow,
    RoundStatus,
    change_round,
    lock_round,
    parse_asked,
    refuse_held,
)
from tellback.classroom.store.seen import has_seen
from tellback.classroom.store.suggestions import find_suggestion
from tellback.roles import Instruction
from tellback.specs import Data

MatchFunction = Callable[[Instruction, Instruction], bool | None]
"""Whether a description (second) matches a request or a description (first); None if unknown."""

MetFunction = Callable[[int, AskedRound, Instruction], bool | None]
"""Whether the response of a round did what was asked, given the description; None if unknown."""


_FREE = {"claimed_by": None, "claimed_until": None}


class AskedAgain(NamedTuple):
    """A teacher was asked whether they are sure, and stands by the description, or corrected it."""

    first: Instruction | None = None  # what they had said of the round before they were asked


class DescriptionResult(NamedTuple):
    """A stored description: its event, whether it is new, the request, and what it says of it."""

    event: int
    new: bool
    asked: Instruction
    matched: bool | None
    saw_request: bool
    second: bool = False
    agrees: bool | None = None
    taught: ActiveDescription | None = None  # of a new one, for the agent
    part: str | None = None  # of own material: see RoundPart
    known: Known | None = None  # where the answers are known: it teaches nothing


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
    asked_again: AskedAgain | None = None,
    wants_second: bool = False,
    took_suggestion: bool = False,
) -> DescriptionResult:
    """Store a description of a response.

    A description that is sent twice is stored once. If the same teacher sends another one, the
    later one is active. If the teacher may have seen the request by then, it is marked: it teaches,
    but is no sample of the reward. So is one with ``saw_request``: its teacher knew the request.
    So is one after a suggestion. The log has what suggested it, and whether the teacher edited or
    ignored it.

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
    asked_again : AskedAgain, optional
        If the teacher was asked whether they are sure: the answer.
    wants_second : bool
        Whether a second teacher is to describe the response too. Counts with the first description
        of a round only: later, others may have seen the request.
    took_suggestion : bool
        Whether the description began as the words of the suggestion.
    """
    judge = met or (lambda _, asked, told: match(asked.instruction, told))
    locked = lock_round(log, number, account)
    round = locked.row
    if round.status is RoundStatus.KNOWN:
        _refuse_not_given(locked, account, anyones)
        return _answer(log, locked, account, description, judge)
    if round.describer not in (None, account) and may_add_second(round, account):
        return _second(log, locked, account, description, match, judge, saw_request)
    refuse_others(round, account, anyones)
    asked = parse_asked(locked.data(round.asked))
    first = None if asked_again is None else asked_again.first
    # What was said first was said without a hint, so it is the sample that counts.
    matched = judge(number, asked, description if first is None else first)
    saw: bool | None = None
    if round.described is not None:
        before = locked.data(round.described)
        if before["description"] == description:
            saw, matched = before["saw_request"], before["matched"]
            if asked_again is None or before.get("sure"):
                return DescriptionResult(
                    round.described, False, asked.instruction, matched, saw, part=round.part
                )
        elif asked_again is not None and first is None:
            asked_again = AskedAgain(before["description"])  # a correction, not a confirmation
    # A suggestion counts as having seen the request: who made it may have known that.
    suggested = any(one.kind is Kind.SUGGESTED for one in locked.events)
    if saw is None:
        saw = saw_request or suggested or has_seen(locked, account)
    suggestion = find_suggestion(log.connection, log.lesson, number) if suggested else None
    used = None if suggestion is None else suggestion.used(description, took_suggestion)
    data = description_data(description, saw, matched, used, asked_again)
    new = not any(one.kind is Kind.DESCRIBED for one in locked.events)
    seq = log.append(Kind.DESCRIBED, data, round=number, account=account)
    change_round(
        log,
        number,
        status=RoundStatus.DESCRIBED.value,
        described=seq,
        describer=account,
        matched=None if saw else matched,
        wants_second=round.wants_second or (wants_second and new),
        **_FREE,
    )
    held_out = round.part == RoundPart.EXAM.value
    taught = None if held_out else new_description(asked, number, seq, data, account)
    return DescriptionResult(
        seq, True, asked.instruction, matched, saw, taught=taught, part=round.part
    )


def _answer(
    log: LessonLog, locked: LockedRound, account: str, description: Instruction, judge: MetFunction
) -> DescriptionResult:
    """Store what a teacher says of a response whose description is known.

    It may be changed, but not in practice: there the answers were told. As of any other response,
    the teacher has then seen the request.
    """
    number, asked = locked.row.number, parse_asked(locked.data(locked.row.asked))
    assert asked.known is not None
    matched = asked.known.matched
    if matched is None:
        matched = judge(number, asked, description)
    data: Data = {"description": description}
    theirs = _answers_of(locked, account)
    new = not theirs or not (asked.known.practice or json.loads(theirs[-1].data) == data)
    seq = theirs[-1].seq if theirs else 0
    if new:
        seq = log.append(Kind.ANSWERED, data, round=number, account=account)
    saw = len(theirs) + new > 1
    return DescriptionResult(seq, new, asked.instruction, matched, saw, known=asked.known)


def description_data(
    description: Instruction,
    saw_request: bool,
    matched: bool | None,
    suggested: Data | None = None,
    asked_again: AskedAgain | None = None,
) -> Data:
    """The data of an event with a description, and whether the response did what was asked."""
    data: Data = {"description": description, "saw_request": saw_request, "matched": matched}
    if suggested is not None:
        data["suggested"] = suggested
    if asked_again is not None:
        data["sure"] = True
        if asked_again.first not in (None, description):
            data["first"] = asked_again.first
    return data


def may_add_second(round: RoundRow, account: str) -> bool:
    """Whether an account may describe a round that somebody else has described."""
    return (
        round.wants_second
        and round.status is RoundStatus.DESCRIBED
        and (round.second is not None or round.claimed_by == account)
    )


def _second(
    log: LessonLog,
    locked: LockedRound,
    account: str,
    description: Instruction,
    match: MatchFunction,
    judge: MetFunction,
    saw_request: bool,
) -> DescriptionResult:
    round = locked.row
    assert round.described is not None
    first = locked.data(round.described)["description"]
    asked = parse_asked(locked.data(round.asked))
    matched, agrees = judge(round.number, asked, description), match(first, description)
    saw = saw_request or has_seen(locked, account)
    seq = round.second
    if seq is not None:
        given = locked.event(seq)
        if given.kind is not Kind.SECOND:
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
        seq,
        round.second is None,
        asked.instruction,
        matched,
        saw,
        second=True,
        agrees=agrees,
        part=round.part,
    )


def refuse_others(round: RoundRow, account: str, anyones: bool) -> None:
    """Refuse a round that somebody else has described or claimed."""
    if round.status is RoundStatus.DESCRIBED and round.describer != account:
        raise ConflictError("described", f"Round {round.number} was described by somebody else.")
    refuse_held(round, account)
    if account not in (round.claimed_by, round.describer) and not anyones:
        raise ConflictError(
            "not_claimed", f"Round {round.number} was not given to you to describe."
        )


def _refuse_not_given(known: LockedRound, account: str, anyones: bool) -> None:
    """Refuse a known round that the account was never given, as any other: else it would tell."""
    if not (known.noted or _answers_of(known, account)):
        refuse_others(known.row, account, anyones)


def withdraw(log: LessonLog, number: int, account: str, until: float, *, anyones: bool) -> bool:
    """Withdraw a description or a skip; the round is open, and theirs. False if it was open."""
    locked = lock_round(log, number, account)
    round = locked.row
    if round.status is RoundStatus.KNOWN:
        return _take_back(log, locked, account)
    if round.status is RoundStatus.OPEN:
        return False
    if round.describer != account and not anyones:
        raise ConflictError("not_yours", f"Round {number} was described by somebody else.")
    if round.second is not None and not _declined(locked):
        raise ConflictError(
            "described",
            f"Round {number} has a second description, which compares with the first.",
        )
    refuse_held(round, account)
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


def _answers_of(locked: LockedRound, account: str) -> list[PastEvent]:
    return [one for one in locked.events if (one.kind, one.account) == (Kind.ANSWERED, account)]


def _take_back(log: LessonLog, locked: LockedRound, account: str) -> bool:
    """Withdraw an answer to a round whose answers are known; in practice they were told."""
    known = parse_asked(locked.data(locked.row.asked)).known
    theirs = _answers_of(locked, account)
    said = theirs and "description" in json.loads(theirs[-1].data)
    if not said or (known is not None and known.practice):
        return False
    log.append(
        Kind.ANSWERED, {"outcome": Kind.WITHDRAWN.value}, round=locked.row.number, account=account
    )
    return True


def _declined(locked: LockedRound, account: str | None = None) -> bool:
    """Whether the second description was refused (by this teacher, if one is given)."""
    assert locked.row.second is not None
    found = locked.event(locked.row.second)
    return found.kind is not Kind.SECOND and account in (None, found.account)


def close_round(
    log: LessonLog, number: int, account: str, outcome: RoundStatus, note: str, *, anyones: bool
) -> bool:
    """Close a round without a description; False if the teacher closed it so before.

    If a second description was wanted, only that is closed: nobody else is asked for one.
    """
    locked = lock_round(log, number, account)
    round = locked.row
    data: Data = {"note": note} if note else {}
    if round.status is RoundStatus.KNOWN:  # for this teacher only
        _refuse_not_given(locked, account, anyones)
        if _answers_of(locked, account):
            return False
        log.append(Kind.ANSWERED, {"outcome": outcome.value}, round=number, account=account)
        return True
    if round.status is RoundStatus.DESCRIBED:
        if may_add_second(round, account):
            if round.second is not None and _declined(locked, account):
                return False
            if round.second is None:
                data["second"] = True
                seq = log.append(Kind(outcome.value), data, round=number, account=account)
                change_round(log, number, second=seq, **_FREE)
                return True
        raise ConflictError("described", f"Round {number} has been described.")
    refuse_others(round, account, anyones)
    if round.status is outcome and round.describer == account:
        return False
    log.append(Kind(outcome.value), data, round=number, account=account)
    change_round(log, number, status=outcome.value, describer=account, **_FREE)
    return True
