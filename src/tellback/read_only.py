"""Read-only contexts for agents: an agent cannot change the world's own.

A world may keep the contents of its tasks, and teacher and truth read them after the agent. So
the agent gets a copy: arrays over immutable bytes, which nobody can make writable, and all
else by ``copy.deepcopy``, which must share nothing mutable with the original.
Immutable objects are passed as they are, at almost no cost.
"""

from __future__ import annotations

import copy
import enum
import gc
import re
import weakref
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from tellback.arrays import immutable
from tellback.errors import ProtocolError
from tellback.responses import Listed, Shortlist

PLAIN = frozenset({type(None), int, str, float, bool, bytes, complex})
"""Kinds that cannot change and hold nothing."""

_FIXED = PLAIN | {Listed, Shortlist, tuple, frozenset, range, re.Pattern}
"""Kinds that cannot change, though what they hold may."""

_LISTS = (Listed, Shortlist)

_NEVER = (FunctionType, ModuleType)
"""What leads to far more than a context, and is refused."""

_HOLDS_OBJECTS = 1 << 14
"""The flag Py_TPFLAGS_HAVE_GC of types."""

_Memo = dict[int, Any]
"""As ``copy.deepcopy`` keeps it: what was copied, by the ``id`` of the original."""


def read_only(thing: Any) -> Any:
    """The thing itself if it cannot be changed, or else a copy whose arrays are read-only.

    Parameters
    ----------
    thing : Any
        Numbers, text, arrays, and tuples, lists, dicts, sets and dataclasses of them. Objects
        of other classes will do if ``copy.deepcopy`` copies all of them.

    Raises
    ------
    ProtocolError
        If it cannot be copied, or not wholly.
    """
    return thing if type(thing) in PLAIN else _copied(thing, {})


def _copied(thing: Any, memo: _Memo) -> Any:
    kind = type(thing)
    if kind in PLAIN or kind in _LISTS:  # agents recognise responses that they have seen
        return thing
    if kind is np.ndarray and not thing.dtype.hasobject:
        return immutable(thing)
    if _bare_tuple(kind):  # type: ignore[arg-type]  # types can be hashed
        own = [_copied(one, memo) for one in thing]
        if all(one is other for one, other in zip(own, thing, strict=True)):
            return thing
        return tuple.__new__(kind, own)
    return _deep(thing, memo)


@cache
def _bare_tuple(kind: type) -> bool:
    """Whether things of a kind are tuples, maybe with names, and have no attributes besides."""
    named = issubclass(kind, tuple) and hasattr(kind, "_fields") and not kind.__dictoffset__
    return kind is tuple or named


def _deep(thing: Any, memo: _Memo) -> Any:
    held = _reached(thing)
    if all(map(_fixed, held.values())):
        return thing
    try:
        for one in held.values():
            if type(one) in _LISTS:
                memo[id(one)] = one
            elif isinstance(one, np.ndarray) and id(one) not in memo:
                _copy_array(one, memo)
        own = copy.deepcopy(thing, memo)
    except Exception as error:
        raise _refusal(thing, f"cannot be copied ({error!r})") from error
    for place, one in _reached(own).items():
        if isinstance(one, _NEVER) or (place in held and not _fixed(one) and _changes(one)):
            within = (
                "" if one is own else f"has in it an object of class {type(one).__name__}, which "
            )
            raise _refusal(thing, f"{within}copy.deepcopy does not copy")
        if isinstance(one, np.ndarray):
            one.flags.writeable = False
    return own


def _copy_array(array: Any, memo: _Memo) -> None:
    if type(array) is np.ndarray and not array.dtype.hasobject:
        memo[id(array)] = immutable(array)
        return
    own = memo[id(array)] = array.__deepcopy__(memo)
    if hasattr(array, "__dict__"):  # numpy leaves out what subclasses add, or shares it
        own.__dict__.update(copy.deepcopy(vars(array), memo))


def _reached(thing: Any) -> dict[int, Any]:
    """All that a thing holds and what that holds, itself too, by ``id``."""
    reached: dict[int, Any] = {}
    waiting = [thing]
    while waiting:
        one = waiting.pop()
        if id(one) in reached or isinstance(one, type):
            continue
        reached[id(one)] = one
        if isinstance(one, enum.Enum):
            waiting.extend(vars(one).values())  # not the dict: members are as fixed as classes
        elif type(one) not in _LISTS and not isinstance(one, _NEVER):
            waiting.extend(gc.get_referents(one))
        # What the collector does not know of:
        if isinstance(one, weakref.ref):
            waiting.append(one())
        elif isinstance(one, np.ndarray | np.void):
            waiting.append(one.base)
            if one.dtype.hasobject:
                waiting.append(one.tolist())
    return reached


def _fixed(thing: Any) -> bool:
    """Whether a thing is known not to change, but for what it holds."""
    kind = type(thing)
    if kind is np.ndarray:
        return not thing.dtype.hasobject and immutable(thing) is thing
    if kind in _FIXED or isinstance(thing, enum.Enum):
        return True
    return _bare_tuple(kind)  # type: ignore[arg-type]


def _changes(thing: Any) -> bool:
    """Whether a thing that deepcopy does not copy may change: if it is an array or holds others."""
    return isinstance(thing, np.ndarray) or bool(type(thing).__flags__ & _HOLDS_OBJECTS)


def _refusal(thing: Any, why: str) -> ProtocolError:
    return ProtocolError(
        f"A context holds an object of class {type(thing).__name__}, which {why}, and agents "
        "are given copies. Make contexts of numbers, text, arrays, tuples and dataclasses, "
        "without functions or references, or give the class a __deepcopy__ that copies all of it."
    )
