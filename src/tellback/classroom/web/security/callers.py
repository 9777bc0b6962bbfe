"""Who calls, and what they may do."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """The roles of accounts; each may do all that the ones before it may."""

    TEACHER = "teacher"
    REVIEWER = "reviewer"
    ENGINEER = "engineer"
    ADMIN = "admin"

    def may(self, needed: Role) -> bool:
        """Whether this role has the rights of another."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


class Caller(NamedTuple):
    """The account that sent a request."""

    account: str
    name: str
    role: Role


ON_OWN_MACHINE = Caller("you", "you", Role.ADMIN)
"""The caller of a classroom without accounts."""
