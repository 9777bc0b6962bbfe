"""How long tests wait for what must happen."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 300
"""Seconds after which something hangs. No test waits nearly as long on a machine that is busy."""


def wait_until(done: Callable[[], object]) -> None:
    """Wait for what must happen."""
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)
