"""Source as data: a digest of the code that a result depends on.

A digest is of syntax trees, so that comments, docstrings and formatting change nothing. What a
class depends on is found by following import statements, without importing anything. Data files,
and modules that are imported by a computed name, are not seen.
"""

from tellback.sources.classes import LIVE, found_in, is_own, is_typed, named, source_of
from tellback.sources.constants import altered
from tellback.sources.loaded import edited_since, note_class, note_imports, note_package
from tellback.sources.memory import forgetting
from tellback.sources.rooms import Rooms, rooms_of

__all__ = [
    "LIVE",
    "Rooms",
    "altered",
    "edited_since",
    "forgetting",
    "found_in",
    "is_own",
    "is_typed",
    "named",
    "note_class",
    "note_imports",
    "note_package",
    "rooms_of",
    "source_of",
]
