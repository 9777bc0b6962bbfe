"""How long tests wait for what must happen."""

from __future__ import annotations

PATIENCE = 600
"""Seconds after which something hangs. No test waits nearly as long on a machine that is busy."""
