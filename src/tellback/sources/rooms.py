"""Which part of tellback itself some classes depend on."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from tellback.sources.classes import homes, is_own, whole_source
from tellback.sources.reach import is_ours, reached, room_of
from tellback.sources.tree import Stamp, parsed, stamp

DIGITS = 12
ALWAYS = "tellback.protocol"
"""What plays every run, with all that it imports."""


class Rooms(NamedTuple):
    """For each room of tellback that something depends on, a digest of what it depends on."""

    digests: dict[str, str]
    files: tuple[tuple[str, Stamp], ...]  # that were read: the digests hold while their stamps do

    def hold(self) -> bool:
        """Whether no file has changed since."""
        return all(stamp(file) == at for file, at in self.files)


_known: dict[frozenset[type], Rooms] = {}


def rooms_of(classes: Iterable[type], hint: Rooms | None = None) -> Rooms:
    """The rooms of tellback that runs of these classes depend on, as they are now.

    With a hint from another process of this machine, unchanged files are not read again.
    """
    key = frozenset(classes)
    known = _known.get(key, hint)
    if known is None or not known.hold():
        known = _found(key)
    _known[key] = known
    return known


def _found(classes: frozenset[type]) -> Rooms:
    names = {one.__module__ for defined in classes for one in defined.__mro__}
    own = {name for one in classes if is_own(one) for name in whole_source(one).modules}
    starts = {ALWAYS, *own, *(name for name in names if name.split(".")[0] == "tellback")}
    modules = reached(starts, homes(own), package=True)
    lines = defaultdict(list)
    for name, file in sorted(modules.items()):
        if is_ours(file):
            lines[room_of(name)].append(f"{name} {parsed(file).digest}")
    digests = {
        room: hashlib.sha256("\n".join(found).encode()).hexdigest()[:DIGITS]
        for room, found in sorted(lines.items())
    }
    return Rooms(digests, tuple((file, stamp(file)) for file in modules.values()))
