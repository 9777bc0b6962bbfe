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
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from tellback.sources.classes import function_in, own_classes, whole_source

LARGEST = 2**24
"""Bytes from which on an array is data, and not memory: it is not looked at."""


@contextmanager
def forgetting(classes: Iterable[type]) -> Iterator[None]:
    """Afterwards, what these classes and the modules of their source keep is as it was before.

    Looked at are attributes of classes, globals of modules, defaults and attributes of functions,
    caches of ``functools`` and the environment. What cannot be pickled is not seen; nor are the
    globals of the program itself, which may be at work on them.
    """
    owners = _owners(classes)
    named = {id(owner): set(_names(owner)) for owner in owners}
    slots = [
        (owner, name, pickled)
        for owner in owners
        for name in _names(owner)
        if (pickled := _pickled(owner, name)) is not None
    ]
    before = pickle.dumps([_get(owner, name) for owner, name, _ in slots])
    environment = dict(os.environ)
    try:
        yield
    finally:
        changed = [_pickled(owner, name) != pickled for owner, name, pickled in slots]
        # Read together: what was one object before is one again. What is as it was stays.
        for place, value in enumerate(pickle.loads(before) if any(changed) else ()):
            if changed[place]:
                setattr(*slots[place][:2], value)
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
        # A bare object only says that something is missing: it must stay the same one.
        if not (name.startswith("__") or isinstance(value, _DEFINITIONS) or type(value) is object)
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


def _pickled(owner: Any, name: str) -> bytes | None:
    """What it keeps by that name; None if that cannot be kept, or is gone."""
    try:
        value = _get(owner, name)
        size = getattr(value, "nbytes", None)
        if isinstance(size, int) and size >= LARGEST:
            return None
        pickled = pickle.dumps(value)
        pickle.loads(pickled)
    except Exception:  # whatever somebody's own object raises
        return None
    return pickled


def _caches(owner: Any) -> Iterator[Callable[[], None]]:
    """What empties the caches of its functions."""
    for value in [] if isinstance(owner, FunctionType) else _values(owner):
        cached: Any = function_in(value)
        function = getattr(cached, "__wrapped__", None)
        home = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
        if hasattr(cached, "cache_clear") and getattr(function, "__module__", None) == home:
            yield cached.cache_clear
