"""Whether what this process has loaded is what the files say now.

A process that runs on after a file was edited plays the code from before, while a digest of the
file is that of the code from after. So the content of every file is noted when its module is first
seen to be loaded, which for the modules of a spec is when its class is defined.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.machinery import ModuleSpec
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tellback.errors import SettingError
from tellback.sources.classes import homes, is_own, whole_source
from tellback.sources.reach import NO_EFFECT, is_ours, reached, room_of
from tellback.sources.tree import NO_FILE, Stamp, parse, parsed, read, stamp


class _Loaded(NamedTuple):
    """A file when its module was first seen to be loaded, by a certain spec of the importer."""

    by: ModuleSpec | None
    file: str
    stamp: Stamp
    content: bytes

    @property
    def edited(self) -> bool:
        """Whether the file now says something else."""
        same = self.stamp == stamp(self.file)
        return not same and parse(self.content).digest != parsed(self.file).digest


_seen: dict[str, _Loaded] = {}
_of_class: WeakKeyDictionary[type, dict[str, _Loaded]] = WeakKeyDictionary()


def note_class(defined: type) -> None:
    """Note with what a class has been loaded that its module is just defining."""
    name = defined.__module__
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is not None and stamp(file) != NO_FILE and not is_ours(file):
        with suppress(SettingError):  # said when the identity is asked for
            _of_class[defined] = _noted(reached([name], homes([name])))


def note_package() -> None:
    """Note the modules of tellback that play runs, as far as they are loaded."""
    _noted(_of_package())


def edited_since(classes: Iterable[type], package: bool = True) -> list[str]:
    """The files that were edited after this process had loaded them.

    Looked at are the modules of the user's own that these classes depend on and, with ``package``,
    the modules of tellback that play runs.
    """
    found = [one for each in classes if is_own(each) for one in _loaded_with(each).values()]
    if package:
        found += _noted(_of_package()).values()
    return sorted({one.file for one in found if one.edited})


def _loaded_with(defined: type) -> Mapping[str, _Loaded]:
    """With what a class was loaded; modules that were loaded since are added."""
    mine = _of_class.setdefault(defined, {})
    mine.update(_noted(name for name in whole_source(defined).modules if name not in mine))
    return mine


_package: tuple[int, list[str]] = (0, [])


def _of_package() -> list[str]:
    global _package
    if _package[0] != len(sys.modules):  # looked through only when something was loaded
        names = (name for name in list(sys.modules) if name.startswith("tellback."))
        _package = len(sys.modules), [name for name in names if room_of(name) not in NO_EFFECT]
    return _package[1]


def _noted(names: Iterable[str]) -> dict[str, _Loaded]:
    noted = {}
    for name in names:
        module = sys.modules.get(name)
        by = getattr(module, "__spec__", None)
        known = _seen.get(name)
        if known is None or known.by is not by:  # new, or loaded again
            file = getattr(module, "__file__", None)
            if file is None or stamp(file) == NO_FILE:
                continue
            known = _seen[name] = _Loaded(by, file, stamp(file), read(file))
        noted[name] = known
    return noted
