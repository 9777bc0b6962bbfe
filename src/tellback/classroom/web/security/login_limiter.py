"""How often somebody may guess a password."""

from __future__ import annotations

from tellback.classroom.web.problems import rate_limited
from tellback.classroom.web.security.rate_limiter import RateLimiter

FOR_A_NAME = 10
FROM_AN_ADDRESS = 60


class LoginLimiter:
    """Ten attempts a minute for a name from an address, and sixty from an address for all names.

    A name is never locked for all addresses: else anybody could lock others out.
    """

    def __init__(self) -> None:
        self._names = RateLimiter(FOR_A_NAME)
        self._addresses = RateLimiter(FROM_AN_ADDRESS)

    def demand(self, name: str, address: str) -> None:
        """Count an attempt; a problem if there were too many."""
        wait = self._addresses.wait(address) or self._names.wait((name, address))
        if wait:
            raise rate_limited(wait)
