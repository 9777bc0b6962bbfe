"""The source of a class of the user's own."""

from __future__ import annotations

import hashlib
import secrets
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property
from types import CodeType
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tellback.sources.reach import is_library, is_ours, reached
from tellback.sources.tree import DIGITS, NO_FILE, Stamp, parsed, stamp

CARRIED = "__tellback_source__"
"""The attribute with the digest of a class that other processes get by value."""

LIVE = "__tellback_live__"
"""Where a spec that was made of a plain class has that class: its source is what counts."""

_HERE = secrets.token_hex(8)  # this process: what another one has noted on a class is kept


class Source(NamedTuple):
    """Of what a class depends on: a digest, and the modules of the user's own with their files."""

    digest: str
    modules: dict[str, str]


_own: WeakKeyDictionary[type, tuple[type, ...]] = WeakKeyDictionary()
_files: WeakKeyDictionary[type, tuple[tuple[tuple[str, Stamp], ...], Source]] = WeakKeyDictionary()


def is_own(defined: type) -> bool:
    """Whether a class, or one that it is derived from, is neither tellback's nor a library's."""
    return bool(own_classes(defined))


def is_typed(defined: type) -> bool:
    """Whether a class is in no file that another process could import."""
    return is_own(defined) and file_of(_live(defined)) is None


def source_of(defined: type) -> str | None:
    """Where a class of the user's own is defined, and a digest of all that it depends on.

    Asked again, it is that of the files as they are then. None for tellback's own classes: the
    version of a spec says when its results change. A ``SettingError`` if it was typed, and its
    source or something that it uses cannot be found.
    """
    if not own_classes(defined):
        return None
    return f"{named(defined)} {whole_source(defined).digest}"


def named(defined: type) -> str:
    """A class by its module and name, the same in all processes of one program."""
    return f"{label(defined.__module__)}:{defined.__qualname__}"


def label(module: str) -> str:
    """The name of a module: that of the program itself is another one in its workers."""
    return "__main__" if module == "__mp_main__" else module


def whole_source(defined: type) -> Source:
    """The source of a class of the user's own as it is now."""
    live = _live(defined)
    token, digest = vars(live).get(CARRIED, (_HERE, ""))
    if token != _HERE:  # it came here by value, from a process that knows its source
        return Source(digest, {})
    known = _files.get(defined)
    if known is not None and all(stamp(file) == at for file, at in known[0]):
        return known[1]
    own = own_classes(defined)
    typed = [one for one in own if file_of(one) is None]
    if typed:
        from tellback.sources.typed import typed_source  # which needs this module

        source = _from_files(own, *typed_source(typed))
    else:
        source = _from_files(own)
    if label(defined.__module__) == "__main__" or typed:
        setattr(live, CARRIED, (_HERE, source.digest))
    if not typed:  # what was typed may change without any file
        _files[defined] = tuple((f, stamp(f)) for f in source.modules.values()), source
    return source


def _from_files(
    own: tuple[type, ...], typed: str = "", more: frozenset[str] = frozenset()
) -> Source:
    names = {one.__module__ for one in own if file_of(one) is not None}
    modules = reached(names | more, homes(names))
    lines = sorted(f"{label(name)} {parsed(file).digest}" for name, file in modules.items())
    text = "\n".join([*lines, typed] if typed else lines)
    return Source(hashlib.sha256(text.encode()).hexdigest()[:DIGITS], modules)


def homes(names: Iterable[str]) -> set[str]:
    """The packages of modules that define a spec: they count even where they are installed."""
    return {name.split(".")[0] for name in names}


def own_classes(defined: type) -> tuple[type, ...]:
    """Of a class and those that it is derived from, the user's own."""
    known = _own.get(defined)
    if known is None:
        live = _live(defined)
        known = _own[defined] = tuple(
            one
            for one in live.__mro__
            if _counts(one) or (one is live is not defined)  # even one that was installed
        )
    return known


def _live(defined: type) -> type:
    """The plain class of a spec that was made of one; any other class is its own."""
    live: type = vars(defined).get(LIVE, defined)
    return live


def _counts(defined: type) -> bool:
    """Whether a class is the user's own: typed, in a file of theirs, or derived from tellback's."""
    file = file_of(defined)
    if file is None:
        return not _is_built_in(defined)
    if is_ours(file):
        return False
    return not is_library(file) or any(is_ours(file_of(one) or "") for one in defined.__mro__)


def _is_built_in(defined: type) -> bool:
    """Whether a class without a file is part of Python, and not typed or made up."""
    module = sys.modules.get(defined.__module__)
    known = module is not None and defined.__module__.split(".")[0] in sys.stdlib_module_names
    return known and found_in(defined) is defined and label(defined.__module__) != "__main__"


def file_of(defined: type) -> str | None:
    """The file that defines a class; None if it was typed or made up."""
    module = sys.modules.get(defined.__module__)
    file: str | None = getattr(module, "__file__", None)
    if file is None or stamp(file) == NO_FILE:  # that of standard input is called <stdin>
        return None
    if found_in(defined) is defined:
        return file
    written = {code.co_filename for code in codes(defined)}
    if file in written:
        return file
    # Of a class without functions: one within a function, or of a module that was loaded again.
    replaced = "<locals>" in defined.__qualname__ or isinstance(found_in(defined), type)
    return file if replaced and not written else None


def found_in(defined: type) -> object:
    """What its module has by the name of a class."""
    found: object = sys.modules.get(defined.__module__)
    for name in defined.__qualname__.split("."):
        found = getattr(found, name, None)
    return found


def codes(defined: type) -> Iterator[CodeType]:
    """The code of the functions of a class, but for those that dataclasses made."""
    for value in vars(defined).values():
        code = getattr(function_in(value), "__code__", None)
        if isinstance(code, CodeType) and code.co_filename != "<string>":
            yield code


def function_in(member: object) -> object:
    """The function of a method or property of a class."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, cached_property):
        return member.func
    return member.__func__ if isinstance(member, classmethod | staticmethod) else member
