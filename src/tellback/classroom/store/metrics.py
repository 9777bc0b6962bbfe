"""Counts over all lessons, for monitoring."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, func, select

from tellback.classroom.store.log import Kind
from tellback.classroom.store.rounds import RoundStatus
from tellback.classroom.store.tables import deliveries, events, leases, lessons, rounds


def service_counts(connection: Connection, holders: Collection[str]) -> dict[str, int]:
    """Lessons, descriptions, open rounds, waiting deliveries, and leases of these holders."""

    def count(*conditions: Any) -> int:
        found: int = connection.execute(select(func.count()).where(*conditions)).scalar_one()
        return found

    return {
        "lessons": count(lessons.c.id.is_not(None)),
        "descriptions": count(rounds.c.described.is_not(None)),
        "descriptions_given": count(events.c.kind == Kind.DESCRIBED.value),
        "open_rounds": count(rounds.c.status == RoundStatus.OPEN.value),
        "outbox_backlog": count(deliveries.c.due.is_not(None)),
        "leases_held": count(leases.c.holder.in_(holders), leases.c.until >= time.time()),
    }
