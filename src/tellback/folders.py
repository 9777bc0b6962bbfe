"""Where things are kept that can be made again."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """The user's cache folder for tellback; ``XDG_CACHE_HOME`` moves it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tellback"
