"""New rounds: a task, and the response that the agent chose."""

from __future__ import annotations

from sqlalchemy import insert

from tellback.arrays import Array
from tellback.classroom.store.log import Kind, LessonLog
from tellback.classroom.store.rounds import RoundStatus
from tellback.classroom.store.tables import rounds
from tellback.classroom.store.tasks import Content, add_task
from tellback.roles import Choice, Instruction
from tellback.specs import Data

_OPEN = insert(rounds)


def open_round(
    log: LessonLog,
    *,
    number: int,
    instruction: Instruction,
    choice: Choice,
    version: int,
    features: Array,
    content: Content,
    account: str | None,
    wants_second: bool = False,
    claim: tuple[str, float] | None = None,
) -> int:
    """Store a new round. Returns the number of its event."""
    data: Data = {
        "instruction": instruction,
        "features": choice.features.tolist(),
        **choice.to_data(),
        "version": version,
    }
    seq = log.append(Kind.ASKED, data, round=number, account=account)
    add_task(log, number, features, content)
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
