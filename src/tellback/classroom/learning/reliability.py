"""How reliable each teacher is: the share of right descriptions, with an interval.

Each piece of evidence is a likelihood ratio: how much more probable it is if the teacher's
description is right than if it is wrong. It comes from surprise (``doubts``), a second description
that agrees or not, and a blind check that picks the response or not; an item with a known answer
decides. The posterior of the share follows from all ratios together, from a uniform prior. Evidence
that says nothing leaves the prior as it is. That a teacher stands by a description is no evidence.

How far surprise can be trusted is not known: a slip that names a similar response surprises
little, and a right description in new words surprises. So it is read twice, severely and
mildly. The interval reaches from the lower end by the one to the upper end by the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.classroom.learning.agreement import agree
from tellback.classroom.learning.known import judged_answers
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.questions import weighed
from tellback.classroom.store.database import Connection
from tellback.classroom.store.log import Kind, find_active_spans, in_spans, read_events
from tellback.classroom.store.reviews import SecondRow
from tellback.theory.shares import LEVEL, Share


class Reading(NamedTuple):
    """How surprise is read: the logarithm of the ratio is ``slope * lift + offset * sharpness``."""

    slope: float
    offset: float


SEVERE, MILD = Reading(1.6, -1.2), Reading(0.8, 0.8)
"""Chosen so that intervals cover in lessons of the demonstration.

On 25 each of careful teachers and of those with 20% and 40% of slips, seeds 1000 to 1024, after 24
and 60 descriptions; the mild one also on 100 of careful teachers, seeds 1000 to 1099, after 8 to
24.
"""

AGREES, DISAGREES = np.log(5.0), np.log(0.4)
"""What a second description says of the first, and of itself, as logarithms of ratios."""

PICKED, NOT_PICKED = np.log(4.0), np.log(0.3)
"""The same of a blind check, by whether it picks the response that was described."""

KNOWN = 20.0
"""The same of a known answer: it decides."""

BELIEVED = 0.95
"""A blind check of a description that is right with this probability also tells of the checker."""

SHARES = np.linspace(0, 1, 401)


class Evidence(NamedTuple):
    """What is known of one description of a teacher, or of one answer."""

    ratio: float = 0.0  # as a logarithm
    lift: float | None = None  # its surprise, if it was weighed


class _Check(NamedTuple):
    round: int
    account: str
    picked: int | None  # None: none of them, which tells nothing about who checks
    right: bool


def reliability(
    learner: Learner, connection: Connection, seconds: list[SecondRow]
) -> dict[str, Share]:
    """The reliability of each teacher of whom something is known, by account.

    Who only checks is no teacher: it is the share of right descriptions.
    """
    descriptions, doubts = weighed(learner)
    teacher = {one.round: one.account for one in descriptions}
    sharpness, surprise = doubts.surprise
    lifts = {one.round: surprise[one.seq] for one in descriptions} if sharpness else {}
    believed = {one.round for one in descriptions if doubts.right[one.seq] >= BELIEVED}
    ratios: dict[int, float] = defaultdict(float)  # of the first description of a round
    of: dict[str, list[Evidence]] = defaultdict(list)  # by account
    for two in seconds:
        agrees = agree(learner, two)
        if agrees is not None:
            teacher.setdefault(two.round, two.teacher)
            ratio = AGREES if agrees else DISAGREES
            ratios[two.round] += ratio
            of[two.other].append(Evidence(ratio))
    for account, right in judged_answers(learner, connection):
        of[account].append(Evidence(KNOWN if right else -KNOWN))
    teachers = {*teacher.values(), *of}
    for check in _checks(connection, learner.lesson):
        ratio = PICKED if check.right else NOT_PICKED
        if check.round in teacher:
            ratios[check.round] += ratio
        tells = check.round in believed and check.picked is not None
        if tells and check.account in teachers:
            of[check.account].append(Evidence(ratio))
    for round in lifts.keys() | ratios.keys():
        of[teacher[round]].append(Evidence(ratios[round], lifts.get(round)))
    return {account: share_right(found, sharpness) for account, found in of.items()}


def share_right(evidence: Sequence[Evidence], sharpness: float) -> Share:
    """The share of right descriptions, given what is known of some of them."""
    severe, mild = (_posterior(evidence, sharpness, reading) for reading in (SEVERE, MILD))
    share = float((severe + mild) @ SHARES / 2)
    low, high = min(_likeliest(severe)), max(_likeliest(mild))
    return Share(share, min(low, share), max(high, share), len(evidence))


def _posterior(evidence: Sequence[Evidence], sharpness: float, reading: Reading) -> Array:
    """The probability of each of ``SHARES``."""
    ratios = np.exp(
        [
            one.ratio
            + (0.0 if one.lift is None else reading.slope * one.lift + reading.offset * sharpness)
            for one in evidence
        ]
    )
    odds = SHARES[:, None] * ratios + (1 - SHARES[:, None])
    with np.errstate(divide="ignore"):
        logs = np.log(odds).sum(axis=1)
    likelihoods = np.exp(logs - logs.max())
    posterior: Array = likelihoods / likelihoods.sum()
    return posterior


def _likeliest(posterior: Array) -> list[float]:
    """The most probable shares, which have the probability ``LEVEL`` together."""
    order = np.argsort(-posterior, kind="stable")
    count = int(np.searchsorted(np.cumsum(posterior[order]), LEVEL)) + 1
    found: list[float] = SHARES[order[:count]].tolist()
    return found


def _checks(connection: Connection, lesson: str) -> list[_Check]:
    spans = find_active_spans(connection, lesson)
    return [
        _Check(event.round or 0, event.account or "", event.data["picked"], event.data["right"])
        for event in read_events(connection, lesson, kinds=[Kind.CHECKED])
        if in_spans(spans, event.seq) and not event.redacted
    ]
