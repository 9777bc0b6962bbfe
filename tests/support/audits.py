"""Recordings with planted wrong descriptions, and their audits."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from tellback.audit import Audit, audit
from tellback.audit.planted import Planted, planted
from tellback.recordings import Recording, Said
from tests.support.recordings import small_recording


@cache
def described(rooms: int = 8, responses: int = 30, seed: int = 0) -> Recording:
    """A made-up recording in which every description is right."""
    return small_recording(rooms=rooms, responses=responses, people=12, seed=seed)


@cache
def case(share: float = 0.3, kind: str = "exchanged", rooms: int = 8, seed: int = 0) -> Planted:
    """The same with wrong descriptions."""
    return planted(described(rooms=rooms, seed=seed), share, kind, seed)


@cache
def audited(share: float = 0.3, kind: str = "exchanged", rooms: int = 8, seed: int = 0) -> Audit:
    """The audit of it."""
    return audit(case(share, kind, rooms, seed).recording, seed=seed)


def answered(found: Audit, truth: Planted, questions: int) -> Audit:
    """The audit after somebody who knows has answered."""
    asked = found.questions(questions)
    return found.answer({one.place: one.place not in truth.wrong for one in asked})


def anonymous(recording: Recording) -> Recording:
    """The same without groups and without names of people."""
    return Recording(
        tuple(
            replace(
                one,
                group="",
                descriptions=tuple(Said(said.text) for said in one.descriptions),
            )
            for one in recording
        )
    )
