"""Who calls, and what they may do."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """What an account is for; each may do what those before it may, and more."""

    TEACHER = "teacher"
    REVIEWER = "reviewer"
    ENGINEER = "engineer"
    ADMIN = "admin"

    def may(self, needed: Role) -> bool:
        """Whether this role has the rights of another."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


class Caller(NamedTuple):
    """Who sent a request."""

    account: str
    name: str
    role: Role


ON_OWN_MACHINE = Caller("you", "you", Role.ADMIN)
"""Whoever reaches a classroom without accounts."""
