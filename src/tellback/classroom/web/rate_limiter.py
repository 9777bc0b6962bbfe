"""Token buckets: so many at once, and then so many a minute."""

from __future__ import annotations

import ipaddress
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import monotonic

MOST_KEYS = 50_000


class RateLimiter:
    """A bucket for each key, in this process.

    Parameters
    ----------
    a_minute : int
        How many a minute, and how many at once after a quiet minute; 0 for any number.
    clock : callable, optional
        Seconds that never go back.
    """

    def __init__(self, a_minute: int, clock: Callable[[], float] | None = None) -> None:
        self._most = float(a_minute)
        self._rate = a_minute / 60
        self._clock = clock or monotonic
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, key: Hashable) -> float:
        """Take one, and return 0; or, if none is left, the seconds until there is one."""
        if not self._rate:
            return 0.0
        now = self._clock()
        with self._lock:
            left, when = self._left.pop(key, (self._most, now))
            left = min(self._most, left + (now - when) * self._rate)
            wait = 0.0 if left >= 1 else (1 - left) / self._rate
            self._left[key] = (left if wait else left - 1, now)
            if len(self._left) > MOST_KEYS:
                self._left.popitem(last=False)  # the one that was quiet for longest
        return wait


def neighbours(address: str) -> str:
    """An address, or of IPv6 the /64 it is in, all of which one subscriber has."""
    if ":" not in address:
        return address
    try:
        parsed = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))
