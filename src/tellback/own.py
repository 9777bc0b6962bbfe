"""Plain classes of one's own as specs: the settings are the keywords of ``__init__``.

A spec is frozen, compares and has an identity, so that the lab can keep its runs. A plain class
with the methods of an agent, a world or a model becomes one by inspection. The source of the class,
and of all that it reaches, is part of the identity.
"""

from __future__ import annotations

import copyreg
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from tellback.errors import SettingError
from tellback.models import ModelSpec
from tellback.models.model import Model
from tellback.roles import (
    Agent,
    AgentSpec,
    Facts,
    Simulation,
    Teacher,
    World,
    WorldSpec,
    demand,
)
from tellback.sources import LIVE, found_in
from tellback.specs import Spec

PLAIN = (bool, int, float, str, tuple, Spec, type(None))
"""What a setting may be: plain data, or a spec."""


def agent(defined: type) -> type[AgentSpec]:
    """Make a spec of a class with ``respond`` and ``learn``.

    Use it as a decorator, or call it. The keywords of ``__init__`` become the settings, and each
    needs a default. A parameter named ``facts`` gets the ``Facts`` of the world, and one named
    ``rng`` gets a random generator.

    Examples
    --------
    >>> @agent
    ... class Always:
    ...     def __init__(self, response=0):
    ...         self.response = response
    ...
    ...     def respond(self, task, rng):
    ...         return task.choose(self.response)
    ...
    ...     def learn(self, task, choice, description):
    ...         pass
    >>> Always(response=2).label()
    'always response=2'
    """
    return adopted(AgentSpec, defined)


def world(defined: type) -> type[WorldSpec]:
    """Make a spec of a class with ``facts``, ``task`` and ``describe``.

    As ``agent``. With ``reward`` and ``best`` too it knows the truth; without them regret is
    NaN. The facts must follow from the settings alone, and not from ``rng``.
    """
    return adopted(WorldSpec, defined)


def model(defined: type) -> type[ModelSpec]:
    """Make a spec of a class with ``estimates``, ``learn``, ``state`` and ``restore``.

    As ``agent``. ``estimates(instruction, responses)`` returns ``len(responses)`` numbers and
    changes nothing, ``learn(features, description)`` gets the features of one response, and
    ``restore`` gets what ``state`` returned: arrays and numbers by name.
    """
    return adopted(ModelSpec, defined)


def adopted_by_methods(defined: type) -> type[Spec]:
    """The spec of a class whose role its methods tell; a class that is a spec stays as it is."""
    if issubclass(defined, Spec):
        return defined
    for base, own in _BASES.items():
        if not _lacking(defined, own.methods):
            return adopted(base, defined)
    needs = "; ".join(
        f"{base.an()} has {' and '.join(own.methods)}" for base, own in _BASES.items()
    )
    raise SettingError(f"{defined.__qualname__} has no role in the protocol: {needs}.")


def adopted(base: type[Any], defined: type) -> type[Any]:
    """The spec class of that role for a plain class; always the same one."""
    if (base, defined) not in _made:
        _made[base, defined] = _adopted(base, defined)
    return _made[base, defined]


_made: dict[tuple[type, type], type[Any]] = {}


def _adopted(base: type[Any], defined: type) -> type[Any]:
    own = _BASES.get(base)
    if own is None:
        raise SettingError(
            f"A plain class cannot stand for {base.an()}: derive a frozen dataclass from "
            f"{base.__module__}.{base.__name__}."
        )
    if issubclass(defined, Spec):
        raise SettingError(f"{defined.__qualname__} is a spec already.")
    if lacking := _lacking(defined, own.methods):
        raise SettingError(
            f"{defined.__qualname__} cannot be {base.an()}: it has no {' and no '.join(lacking)}."
        )
    settings = dict(_settings(defined, own))
    namespace = {
        LIVE: defined,
        "__module__": defined.__module__,
        "__qualname__": defined.__qualname__,
        "__doc__": defined.__doc__,
        "__annotations__": dict.fromkeys(settings, Any),
        **settings,
    }
    made = _Adopted(defined.__name__, (own,), namespace)
    return dataclass(frozen=True)(made)


class _Adopted(type):
    """The type of spec classes made here: pickled as the plain class and its role."""


def _reduced(made: type[_Own]) -> Any:
    if found_in(made) is made:  # a decorated class: its module has the spec by this name
        return made.__qualname__
    role = next(base for base, own in _BASES.items() if issubclass(made, own))
    return adopted, (role, made.live())


copyreg.pickle(_Adopted, _reduced)  # type: ignore[arg-type]


class _Own(Spec):
    """What the specs of plain classes share."""

    abstract: ClassVar[bool] = True
    methods: ClassVar[tuple[str, ...]] = ()
    given: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        if "abstract" not in vars(cls) and LIVE not in vars(cls):
            raise SettingError(
                f"{cls.__qualname__} is derived from a class that was decorated and is a spec "
                "now: derive it from the plain class, and decorate both."
            )
        super().__init_subclass__()

    @classmethod
    def live(cls) -> Any:
        """The plain class."""
        return getattr(cls, LIVE)

    def _build(self, **given: Any) -> Any:
        """The live object: the settings, and of what the world gives, what it has a name for."""
        wanted = inspect.signature(self.live()).parameters
        settings = {name: getattr(self, name) for name in self.settings()}
        return self.live()(**settings, **{k: v for k, v in given.items() if k in wanted})


@dataclass(frozen=True)
class _OwnAgent(_Own, AgentSpec):
    abstract: ClassVar[bool] = True
    methods: ClassVar = ("respond", "learn")
    given: ClassVar = ("facts", "rng")

    def build(self, facts: Facts, rng: np.random.Generator) -> Agent:
        return cast(Agent, self._build(facts=facts, rng=rng))


@dataclass(frozen=True)
class _OwnModel(_Own, ModelSpec):
    abstract: ClassVar[bool] = True
    methods: ClassVar = ("estimates", "learn", "state", "restore")
    given: ClassVar = ("facts", "rng")

    def build(self, facts: Facts, rng: np.random.Generator) -> Model:
        return cast(Model, self._build(facts=facts, rng=rng))


@dataclass(frozen=True)
class _OwnWorld(_Own, WorldSpec):
    abstract: ClassVar[bool] = True
    methods: ClassVar = ("task", "describe")
    given: ClassVar = ("rng",)

    @cached_property
    def facts(self) -> Facts:
        made = self._build(rng=np.random.default_rng(0))
        demand(made, World, Teacher)
        return cast(Facts, made.facts)

    @property
    def takes_rng(self) -> bool:
        """Whether it gets a generator when it is built: without one, seeds have the same truth."""
        return "rng" in inspect.signature(self.live()).parameters

    def build(self, rng: np.random.Generator) -> Simulation:
        made = self._build(rng=rng)
        demand(made, World, Teacher)
        return Simulation(made, made, None if _lacking(type(made), ("reward", "best")) else made)


_BASES: dict[type[Spec], type[_Own]] = {
    AgentSpec: _OwnAgent,
    WorldSpec: _OwnWorld,
    ModelSpec: _OwnModel,
}


def _lacking(defined: type, methods: tuple[str, ...]) -> list[str]:
    return [name for name in methods if not callable(getattr(defined, name, None))]


def _settings(defined: type, own: type[_Own]) -> Iterator[tuple[str, Any]]:
    """The parameters of ``__init__`` that are settings, with their defaults."""
    name = defined.__qualname__
    for parameter in inspect.signature(defined).parameters.values():
        if parameter.name in own.given or parameter.kind in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        ):
            continue
        default = parameter.default
        if default is inspect.Parameter.empty:
            sizes = " Sizes of the world are in facts.dim and facts.instructions."
            raise SettingError(
                f"{name} needs {parameter.name}, which has no default. Give it one, and it is a "
                f"setting. Only {' and '.join(own.given)} are filled in by the run."
                + (sizes if "facts" in own.given else "")
            )
        if isinstance(default, list):
            default = tuple(default)
        if not isinstance(default, PLAIN):
            raise SettingError(
                f"{parameter.name} of {name} has the default {default!r}: a setting is a number, "
                "a text, True or False, None, a list of these, or a spec."
            )
        if hasattr(own, parameter.name) or parameter.name == "source":
            raise SettingError(
                f"{parameter.name} cannot be a setting of {name}, because every spec has "
                "something of that name: choose another."
            )
        yield parameter.name, default
