"""An agent as bytes, for a process of its own.

Packing may run the agent's code here: that of a live agent, or of a setting that is not a plain
value. So it happens before there is a world that such code could find.
"""

from __future__ import annotations

import io
import pickle
import sys
from pathlib import Path
from types import MemberDescriptorType
from typing import Any, NamedTuple, Self

from tellback.errors import SettingError
from tellback.roles import Agent, AgentSpec, demand
from tellback.specs import Spec

in_agents_process = False
"""Whether this is the process of an isolated agent, which must not start another."""


class Packed(NamedTuple):
    """An agent that can be sent."""

    given: Any  # the spec or the live agent
    data: bytes  # the same, pickled
    program: str | None  # the program that defines its class, if no module does

    @classmethod
    def of(cls, agent: Any) -> Self:
        """Pack a spec or a live agent."""
        if in_agents_process:
            raise SettingError(
                "The program that defines the agent starts a run when it is imported: put what "
                'it does under if __name__ == "__main__":, or define the agent in a module.'
            )
        if not isinstance(agent, AgentSpec):
            demand(agent, Agent)
        file = io.BytesIO()
        try:
            _Packing(file, protocol=5).dump(agent)
        except Exception as error:
            raise SettingError(
                f"{agent!r} cannot be sent to a process of its own ({error!r}): give the spec of "
                "an agent, or define its class at the top of a module."
            ) from error
        data = file.getvalue()
        return cls(agent, data, _program(agent) if b"__main__" in data else None)


class _Packing(pickle.Pickler):
    """Pickles agents. Specs go by their class and settings, and not by a method of theirs."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, Spec):
            return spec_of, (type(thing), dict(_attributes(thing)), _slots(thing))
        return NotImplemented


def spec_of(kind: type[Spec], attributes: dict[str, Any], slots: dict[str, Any]) -> Spec:
    """The spec of a class with settings that it has checked before."""
    spec = object.__new__(kind)
    _attributes(spec).update(attributes)
    for name, value in slots.items():
        object.__setattr__(spec, name, value)
    return spec


def _attributes(spec: Spec) -> dict[str, Any]:
    attributes: dict[str, Any] = object.__getattribute__(spec, "__dict__")
    return attributes


def _slots(spec: Spec) -> dict[str, Any]:
    """The settings of a dataclass with slots=True."""
    found: dict[str, Any] = {}
    for kind in type(spec).__mro__:
        for name, member in vars(kind).items():
            if type(member) is MemberDescriptorType and name not in found:
                try:
                    found[name] = member.__get__(spec)
                except AttributeError:  # it was never set
                    continue
    return found


def _program(agent: Any) -> str:
    """Where the process finds what is defined in ``__main__``."""
    main: Any = sys.modules["__main__"]
    name = getattr(getattr(main, "__spec__", None), "name", None)
    path = getattr(main, "__file__", None)
    if name is None and path is None:
        raise SettingError(
            f"The class of {agent!r} was typed at a prompt or in a notebook, where another "
            "process cannot find it: define it in a module to run it isolated."
        )
    return f"module {name}" if name is not None else f"path {Path(str(path)).resolve()}"
