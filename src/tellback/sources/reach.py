"""Which modules a module reaches by its import statements."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tellback.sources.tree import Import, Parsed, parsed

PACKAGE = str(Path(__file__).parents[1])
"""Where tellback itself is."""

NO_EFFECT = ("classroom", "cli", "conformance", "lab", "league", "paper", "sources")
"""Rooms of tellback that no run depends on: above all that play one, or only about source."""

_LIBRARIES = ("site-packages", "dist-packages")
_STANDARD = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})


class Place(NamedTuple):
    """Where a module is: its file, and the folders of its modules if it is a package."""

    file: str | None
    folders: list[str] | None


NOWHERE = Place(None, None)


def reached(
    names: Iterable[str], homes: Collection[str] = (), package: bool = False
) -> dict[str, str]:
    """These modules and all that they import, if they are the user's own, with their files.

    The user's own are those that are neither in the standard library nor installed, and those
    of the packages ``homes`` even if they are. Of their packages, ``__init__`` counts for all
    modules in them.

    With ``package``, the modules of tellback too. Of its packages, only what is imported counts.
    """
    found: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        file = place_of(name).file if name not in found else None
        if file is not None and _counts(name, file, homes, package):
            found[name] = file
            waiting.extend(_imported(name, file, parsed(file)))
    return found


def _counts(name: str, file: str, homes: Collection[str], package: bool) -> bool:
    if is_ours(file):
        return package and room_of(name) not in NO_EFFECT
    return name.split(".")[0] in homes or not is_library(file)


def room_of(name: str) -> str:
    """The room of a module of tellback."""
    return name.split(".")[1] if "." in name else ""


def is_ours(file: str) -> bool:
    """Whether a file is part of tellback."""
    return file.startswith(PACKAGE + os.sep)


def is_library(file: str) -> bool:
    """Whether a file is part of Python or of something that was installed."""
    parts = Path(file).parts
    return file.startswith(_STANDARD) or any(name in parts for name in _LIBRARIES)


def place_of(name: str) -> Place:
    """Where a module is, loaded or not; nothing is imported to find out."""
    module = sys.modules.get(name)
    if module is not None:
        folders = getattr(module, "__path__", None)
        return Place(getattr(module, "__file__", None), None if folders is None else list(folders))
    parent = name.rpartition(".")[0]
    if not parent and name in sys.stdlib_module_names:
        return NOWHERE
    folders = place_of(parent).folders if parent else None
    if parent and folders is None:
        return NOWHERE
    for finder in sys.meta_path:
        with suppress(Exception):  # somebody else's finder
            spec = finder.find_spec(name, folders)
            if spec is not None:
                inside = spec.submodule_search_locations
                file = spec.origin if spec.has_location else None
                return Place(file, None if inside is None else list(inside))
    return NOWHERE


def _imported(name: str, file: str, module: Parsed) -> Iterator[str]:
    """The names of the modules that a module imports, and of the packages on the way."""
    for statement in module.imports:
        base = _absolute(name, file, statement)
        if base:
            yield from _bound(base, [given for given, _ in statement.names])


def _bound(base: str, names: list[str]) -> Iterator[str]:
    place = place_of(base)
    if place.file is not None and is_ours(place.file) and place.folders is not None and names:
        for given in names:
            yield from _from_our_package(base, place.file, given)
        return
    if place.file is not None and is_ours(place.file):
        yield base
        return
    parts = base.split(".")
    yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    if place.folders is not None:
        yield from (f"{base}.{given}" for given in names)


def _from_our_package(package: str, file: str, name: str) -> Iterator[str]:
    """Where something comes from that a package of tellback passes on."""
    if place_of(f"{package}.{name}").file is not None:
        yield f"{package}.{name}"
        return
    for statement in parsed(file).imports:
        for given, bound in statement.names:
            if bound == name:
                yield from _bound(_absolute(package, file, statement), [given])
                return
    yield package  # it is defined there, or everything is imported


def _absolute(name: str, file: str, statement: Import) -> str:
    """The module that a statement in another module names."""
    if not statement.level:
        return statement.module
    module = sys.modules.get(name)
    package = getattr(module, "__package__", None)
    if package is None:
        package = name if Path(file).stem == "__init__" else name.rpartition(".")[0]
    parts = package.split(".")
    kept = parts[: len(parts) - statement.level + 1]
    return ".".join([*kept, statement.module] if statement.module else kept)
