"""Whether a live agent is one that tellback's own specs make, and nothing else.

A proof is about the code that was proven. So all specs of an agent must be tellback's own, by
exact type, and the live agent must be like a fresh one made from them: the same types, the same
attributes, the same settings and functions. Only what an agent learns may differ.
"""

from __future__ import annotations

import sys
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from tellback.models.search.approximate import Approximate
from tellback.models.search.pruned import Pruned
from tellback.responses import Listed
from tellback.roles import AgentSpec, Facts, State
from tellback.specs import Spec, all_parts

_SETTINGS = (Spec, Facts, float, str, type)
# What a fresh agent does not have yet: the responses that were met last, and their index. An index
# only chooses: where the widths come from it as well, its model says that they are not proven.
_CACHES = (Listed, Pruned, Approximate)


def why_not_ours(agent: Any, spec: AgentSpec | None, facts: Facts | None, learned: int) -> str:
    """What of an agent is not as tellback's own specs make it; '' if nothing.

    ``spec`` and ``facts`` are what it was made from, by its own account. If it has ``learned`` no
    description, its state must be that of a fresh one.
    """
    if spec is None or facts is None:
        return "it was not made by a spec"
    for one in all_parts(spec):
        if not _is_ours(type(one)):
            return f"{type(one).__name__} is a spec of your own, and may do something else"
        if vars(one).keys() != set(one.settings()):  # such as a build() that was replaced
            return f"its spec {type(one).__name__} has more than its settings"
    fresh: Any = spec.build(facts, np.random.default_rng(0))
    if where := _difference(agent, fresh, "agent", {}):
        return f"{where} is not as the agent's spec makes it"
    if not learned and not _same(agent.state(), fresh.state()):
        return "its state is not that of an agent without descriptions"
    return ""


def _is_ours(kind: type) -> bool:
    """Whether tellback has exactly this class: not one derived from it, or of the same name."""
    module = sys.modules.get(kind.__module__)
    ours = kind.__module__.startswith("tellback.")
    return ours and getattr(module, kind.__qualname__, None) is kind


def _difference(live: Any, fresh: Any, where: str, paired: dict[int, int]) -> str:
    """The first place where two objects are not made alike; '' if there is none."""
    if type(live) is not type(fresh):
        return "" if fresh is None and type(live) in _CACHES else where
    alike = True
    if isinstance(live, _SETTINGS):
        alike = live == fresh
    elif isinstance(live, np.ndarray):  # one that may be written holds what was learned,
        free = fresh.flags.writeable or not fresh.size  # and an empty one is a cache
        alike = free or np.array_equal(live, fresh)
    elif isinstance(live, FunctionType):
        alike = live.__code__ == fresh.__code__ and _inside(live) == _inside(fresh)
    elif isinstance(live, MethodType):
        bound = _difference(live.__self__, fresh.__self__, where, paired)
        alike = live.__func__ is fresh.__func__ and not bound
    elif _is_ours(type(live)) and not isinstance(live, Listed):
        return _difference_of_parts(live, fresh, where, paired)
    return "" if alike else where


def _difference_of_parts(live: Any, fresh: Any, where: str, paired: dict[int, int]) -> str:
    if id(live) in paired:  # what two parts share, they must share in both
        return "" if paired[id(live)] == id(fresh) else where
    paired[id(live)] = id(fresh)
    ours, theirs = vars(live), vars(fresh)
    for name in sorted(ours.keys() | theirs.keys()):
        if name not in ours or name not in theirs:  # such as a method that was replaced
            return f"{where}.{name}"
        if found := _difference(ours[name], theirs[name], f"{where}.{name}", paired):
            return found
    return ""


def _inside(function: FunctionType) -> list[Any]:
    """What a function was made with."""
    return [cell.cell_contents for cell in function.__closure__ or ()]


def _same(one: State, other: State) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)
