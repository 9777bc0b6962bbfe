"""Rounds that are asked: what was shown, and what the agent chose."""

from __future__ import annotations

import math

import numpy as np
from sqlalchemy import insert

from tellback.arrays import Array
from tellback.classroom.store.log import Kind, LessonLog
from tellback.classroom.store.rounds import RoundStatus
from tellback.classroom.store.tables import rounds, tasks
from tellback.roles import Choice, Instruction
from tellback.specs import Data

_SHOW, _OPEN = insert(tasks), insert(rounds)


def open_round(
    log: LessonLog,
    *,
    number: int,
    instruction: Instruction,
    choice: Choice,
    version: int,
    features: Array,
    content: bytes,
    account: str | None,
    wants_second: bool = False,
    claim: tuple[str, float] | None = None,
) -> int:
    """Keep a round that was just asked: what was shown, and what the agent chose."""
    data: Data = {
        "instruction": instruction,
        "response": int(choice.response),
        "features": choice.features.tolist(),
        "estimate": _number(choice.estimate),
        "bonus": _number(choice.bonus),
        "propensity": None if choice.propensity is None else _number(choice.propensity),
        "width": _number(choice.width),
        "highest": _number(choice.highest),
        "version": version,
    }
    seq = log.append(Kind.ASKED, data, round=number, account=account)
    log.connection.execute(
        _SHOW,
        {
            "lesson": log.lesson,
            "round": number,
            "features": np.asarray(features, dtype="<f8").tobytes(),
            "content": content,
        },
    )
    log.connection.execute(
        _OPEN,
        {
            "lesson": log.lesson,
            "number": number,
            "status": RoundStatus.OPEN.value,
            "asked": seq,
            "wants_second": wants_second,
            "claimed_by": claim[0] if claim else None,
            "claimed_until": claim[1] if claim else None,
            "estimate": data["estimate"],
            "width": data["width"],
            "highest": data["highest"],
        },
    )
    return seq


def _number(value: float) -> float | None:
    """A number as JSON can hold it."""
    return float(value) if math.isfinite(value) else None
