"""Contexts as agents are given them: nothing that an agent does reaches the world's own.

A world may keep what is in its tasks, and teacher and truth read it after the agent did. So
the agent is given a copy: arrays over immutable bytes, which nobody can make writable, and
containers of its own. What cannot change is given as it is, and costs next to nothing.
"""

from __future__ import annotations

import copy
import enum
import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from tellback.arrays import AnyArray, immutable
from tellback.errors import ProtocolError
from tellback.responses import Listed

PLAIN = frozenset({type(None), int, str, float, bool, bytes, complex})
"""Kinds that cannot change and hold nothing."""

_Memo = dict[int, Any]
_Copier = Callable[[Any, _Memo], Any]


def read_only(thing: Any) -> Any:
    """The thing itself if it cannot be changed, or else a copy whose arrays are read-only.

    Parameters
    ----------
    thing : Any
        Numbers, text, arrays, and tuples, lists, dicts, sets and dataclasses of them. Objects
        of other classes are copied by ``copy.deepcopy``.
    """
    kind = type(thing)
    if kind in PLAIN:
        return thing
    return _copied(thing, {})


def _copied(thing: Any, memo: _Memo) -> Any:
    kind = type(thing)
    if kind in PLAIN:
        return thing
    if id(thing) in memo:
        return memo[id(thing)]
    memo[id(thing)] = thing  # for a tuple that holds itself through something that changes
    copied = _copier(kind)(thing, memo)  # type: ignore[arg-type]  # types can be hashed
    memo[id(thing)] = copied
    return copied


@cache
def _copier(kind: type) -> _Copier:
    """How things of a kind are copied, found once."""
    if kind is np.ndarray:
        return _array
    if issubclass(kind, np.ndarray):
        return _special_array
    if issubclass(kind, Listed | np.generic | enum.Enum | type | types.ModuleType):
        return _itself
    if kind in _CONTAINERS:
        return _CONTAINERS[kind]
    if kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        return _tuple
    if kind in (frozenset, range):
        return _itself  # what can be hashed is taken not to change
    if is_dataclass(kind) and not hasattr(kind, "__deepcopy__"):
        return _dataclass
    return _deep


def _itself(thing: Any, memo: _Memo) -> Any:
    return thing


def _array(array: AnyArray, memo: _Memo) -> AnyArray:
    if array.dtype.hasobject:
        copied = array.copy()
        for place in np.ndindex(copied.shape):
            copied[place] = _copied(array[place], memo)
        copied.flags.writeable = False
        return copied
    return immutable(array)


def _special_array(array: Any, memo: _Memo) -> Any:
    copied = _deep(array, memo)
    copied.flags.writeable = False
    return copied


def _list(things: list[Any], memo: _Memo) -> list[Any]:
    own: list[Any] = []
    memo[id(things)] = own
    own.extend(_copied(one, memo) for one in things)
    return own


def _dict(things: dict[Any, Any], memo: _Memo) -> dict[Any, Any]:
    own: dict[Any, Any] = {}
    memo[id(things)] = own
    for name, one in things.items():
        own[name] = _copied(one, memo)
    return own


def _set(things: set[Any], memo: _Memo) -> set[Any]:
    return set(things)


def _bytearray(things: bytearray, memo: _Memo) -> bytearray:
    return bytearray(things)


def _tuple(things: Any, memo: _Memo) -> Any:
    own = [_copied(one, memo) for one in things]
    if all(one is other for one, other in zip(own, things, strict=True)):
        return things
    return tuple.__new__(type(things), own)


def _dataclass(thing: Any, memo: _Memo) -> Any:
    own = copy.copy(thing)  # a frozen one too: object.__setattr__ would change it
    memo[id(thing)] = own
    for field in fields(thing):
        if hasattr(thing, field.name):
            object.__setattr__(own, field.name, _copied(getattr(thing, field.name), memo))
    return own


def _deep(thing: Any, memo: _Memo) -> Any:
    try:
        return copy.deepcopy(thing)
    except Exception as error:
        raise ProtocolError(
            f"A context holds an object of class {type(thing).__name__}, which cannot be copied "
            f"({error!r}), and agents are given copies. Make contexts of numbers, text, arrays, "
            "tuples and dataclasses, or give the class a __deepcopy__."
        ) from error


_CONTAINERS: dict[type, _Copier] = {list: _list, set: _set, dict: _dict, bytearray: _bytearray}
