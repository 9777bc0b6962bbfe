"""What the user's own modules and classes remember from one run to the next.

An agent that keeps what it learns in an attribute of its class, in a default of a function or in a
global of a module would teach all later runs of the process: their results would depend on which
runs it played before. So each run begins with what was there at first.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from tellback.sources.classes import function_in, own_classes, whole_source

LARGEST = 2**24
"""Bytes from which on an array is data, and not memory: it is not looked at."""

Slot = tuple[Any, str]
"""A module, class or function, and the name of what it keeps."""


@contextmanager
def forgetting(classes: Iterable[type]) -> Iterator[None]:
    """Afterwards, what these classes and the modules of their source keep is as it was before.

    Looked at are attributes of classes, globals of modules, defaults and attributes of functions,
    caches of ``functools`` and the environment. What cannot be pickled is not seen; nor are the
    globals of the program itself, which may be at work on them.
    """
    owners = _owners(classes)
    named = {id(owner): set(_names(owner)) for owner in owners}
    slots = [(owner, name) for owner in owners for name in _names(owner) if _is_kept(owner, name)]
    before, environment = pickle.dumps([_get(*slot) for slot in slots]), dict(os.environ)
    try:
        yield
    finally:
        if not _is_same(slots, before):
            # All together: what was one object before is one again.
            for (owner, name), value in zip(slots, pickle.loads(before), strict=True):
                with suppress(AttributeError, TypeError):  # such as a member of an enum
                    setattr(owner, name, value)
        for owner in owners:
            for name in set(_names(owner)) - named[id(owner)]:
                delattr(owner, name)
            for forget in _caches(owner):
                forget()
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)


def _owners(classes: Iterable[type]) -> list[Any]:
    """The modules of the source of these classes, and the classes and functions in them."""
    loaded = {name for one in classes for name in whole_source(one).modules} & sys.modules.keys()
    waiting: list[Any] = [own for one in classes for own in own_classes(one)]
    homes = {own.__module__ for own in waiting} | loaded
    waiting += [sys.modules[name] for name in loaded]
    found: dict[int, Any] = {}
    while waiting:
        owner = waiting.pop()
        if id(owner) not in found:
            found[id(owner)] = owner
            members = [] if isinstance(owner, FunctionType) else map(_defined, _values(owner))
            waiting += [one for one in members if getattr(one, "__module__", None) in homes]
    return [owner for owner in found.values() if not _is_program(owner)]


def _defined(value: object) -> object:
    """The class or function that a value is, under its wrappers; else None."""
    function = function_in(value)
    function = getattr(function, "__wrapped__", function)
    return function if isinstance(function, type | FunctionType) else None


def _values(owner: Any) -> list[Any]:
    return list(vars(owner).values())


def _is_program(owner: object) -> bool:
    """Whether it is the module of the program itself, and not that of its worker."""
    return isinstance(owner, ModuleType) and owner.__name__ == "__main__"


def _names(owner: Any) -> list[str]:
    """The names of what it keeps."""
    if isinstance(owner, FunctionType):
        return ["__defaults__", "__kwdefaults__", "__dict__"]
    return [
        name
        for name, value in vars(owner).items()
        if not name.startswith("__") and not isinstance(value, _DEFINITIONS)
    ]


_DEFINITIONS = (
    type,
    ModuleType,
    FunctionType,
    BuiltinFunctionType,
    property,
    classmethod,
    staticmethod,
)


def _get(owner: Any, name: str) -> Any:
    return getattr(owner, name) if isinstance(owner, FunctionType) else vars(owner)[name]


def _is_kept(owner: Any, name: str) -> bool:
    value = _get(owner, name)
    size = getattr(value, "nbytes", None)
    if isinstance(size, int) and size >= LARGEST:
        return False
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:  # whatever somebody's own object raises
        return False
    return True


def _is_same(slots: list[Slot], before: bytes) -> bool:
    try:
        return pickle.dumps([_get(*slot) for slot in slots]) == before
    except Exception:  # one of them is gone, or holds what cannot be pickled
        return False


def _caches(owner: Any) -> Iterator[Callable[[], None]]:
    """What empties the caches of its functions."""
    for value in [] if isinstance(owner, FunctionType) else _values(owner):
        cached: Any = function_in(value)
        function = getattr(cached, "__wrapped__", None)
        home = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
        if hasattr(cached, "cache_clear") and getattr(function, "__module__", None) == home:
            yield cached.cache_clear
