"""The user's folders: a cache that can be rebuilt, and data that cannot."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """The user's cache folder for tellback; ``XDG_CACHE_HOME`` moves it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tellback"


def user_data() -> Path:
    """The user's data folder for tellback; ``XDG_DATA_HOME`` moves it."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "tellback"
