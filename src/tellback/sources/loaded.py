"""Whether what this process has loaded is what the files say now.

A process that runs on after a file was edited plays the code from before, while a digest of the
file is that of the code from after. So the content of every file of the user's own is noted when
Python looks for its module, to load it. Modules that were loaded before tellback are noted at once:
a file that was written since the process began may have been edited after it was loaded, and counts
as edited.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tellback.errors import SettingError
from tellback.sources.classes import homes, is_own, whole_source
from tellback.sources.reach import NO_EFFECT, is_library, is_ours, place_of, reached, room_of
from tellback.sources.tree import NO_FILE, Stamp, parse, parsed, read, stamp


class _Loaded(NamedTuple):
    """A file when its module was loaded, or first seen to be, by a certain spec of the importer."""

    by: ModuleSpec | None
    file: str
    stamp: Stamp
    content: bytes | None  # None if it is not known what was loaded

    @property
    def edited(self) -> bool:
        """Whether the file now says something else."""
        if self.content is None:
            return True
        same = self.stamp == stamp(self.file)
        return not same and parse(self.content).digest != parsed(self.file).digest


_seen: dict[str, _Loaded] = {}
_of_class: WeakKeyDictionary[type, dict[str, _Loaded]] = WeakKeyDictionary()


def note_imports() -> None:
    """Note the modules that are loaded from now on, and those that were loaded before."""
    sys.meta_path.insert(0, _Watch())
    began = _process_began()
    files = {name: getattr(one, "__file__", None) for name, one in list(sys.modules.items())}
    own = [name for name, file in files.items() if file and not (is_ours(file) or is_library(file))]
    for name, loaded in _noted(own).items():
        if loaded.stamp[0] > began:
            _seen[name] = loaded._replace(content=None)


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
            begun = _begun.pop(name, None)
            if begun is None or begun.file != file:
                begun = _Loaded(by, file, stamp(file), read(file))
            known = _seen[name] = begun._replace(by=by)
        noted[name] = known
    return noted


_begun: dict[str, _Loaded] = {}  # files whose modules Python began to load


class _Watch:
    """Finds no module, but notes the content of the user's own that Python is about to load."""

    def __init__(self) -> None:
        self._finding: set[str] = set()

    def find_spec(
        self, name: str, path: Iterable[str] | None = None, target: object = None
    ) -> None:
        """Called for every module that is loaded, or loaded again (then it is the target)."""
        again = name in sys.modules
        if name in self._finding or (again and target is None) or any(map(is_library, path or ())):
            return
        self._finding.add(name)
        try:
            file = place_of(name).file
            if file is not None and not is_ours(file) and not is_library(file):
                with suppress(SettingError):  # it cannot be read: Python will say so
                    _begun[name] = _Loaded(None, file, stamp(file), read(file))
        finally:
            self._finding.discard(name)


def _process_began() -> float:
    """When this process began, in nanoseconds; where the system does not tell, now."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        began = (ticks + 1) / os.sysconf("SC_CLK_TCK")  # within this tick: nothing is loaded yet
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - began
    except (OSError, AttributeError, ValueError):
        age = 0.0
    return time.time_ns() - 1e9 * age
