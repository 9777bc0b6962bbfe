"""Specs: the frozen settings of a world, a model or an agent.

A spec is not a live object. Specs compare, hash and print. They convert to plain data and back, so
that the hash of its configuration names a run. They check their values, so that wrong settings are
refused before any work starts.
"""

from __future__ import annotations

import re
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeVar

from tellback.errors import SettingError, UnknownNameError, real, unknown_name, whole
from tellback.sources import note_class, source_of

Data = dict[str, Any]
"""What JSON and TOML can hold."""

# What a setting may be. The annotation of a setting has the function that checks its value.
Count = Annotated[int, whole]
Natural = Annotated[int, partial(whole, at_least=0)]
Positive = Annotated[float, partial(real, above=0)]
NonNegative = Annotated[float, partial(real, at_least=0)]
Fraction = Annotated[float, partial(real, at_least=0, at_most=1)]


@dataclass(frozen=True)
class Spec:
    """The base of all specs.

    A subclass is a frozen dataclass. Its ``kind`` is its name in files and on the command
    line (by default its class name, ``EpsilonGreedy`` becoming ``epsilon-greedy``), and its
    ``version`` goes up whenever the same settings begin to give other results. A setting that is
    annotated as ``Count``, ``Positive`` and the like is checked when the spec is made.
    """

    role: ClassVar[str] = "spec"
    kind: ClassVar[str] = "spec"
    version: ClassVar[int] = 1
    abstract: ClassVar[bool] = True
    _known: ClassVar[dict[tuple[str, str], type[Spec]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        note_class(cls)
        if "role" in cls.__dict__ or "abstract" in cls.__dict__:  # a base: not to be named
            return
        if "kind" not in cls.__dict__:
            cls.kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()
        known = Spec._known.setdefault((cls.role, cls.kind), cls)
        if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise SettingError(
                f"There is another {cls.role} of kind {cls.kind!r} ({known.__module__}."
                f"{known.__qualname__}): give {cls.__qualname__} another name or kind."
            )
        Spec._known[cls.role, cls.kind] = cls  # the newest, where a module was loaded again

    @classmethod
    def an(cls) -> str:
        """The role with its article, for sentences."""
        return f"{'an' if cls.role[0] in 'aeiou' else 'a'} {cls.role}"

    def __post_init__(self) -> None:
        own: type = type(self)
        for name, check in _checks(own).items():
            self._set_validated(**{name: check(name, getattr(self, name))})

    def _set_validated(self, **values: object) -> None:
        """Replace given values by checked ones (for ``__post_init__``)."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def to_data(self) -> Data:
        """The spec as plain data: its kind, its version and every setting.

        A user's own spec has a digest of its source too: nobody raises a version with every edit.
        """
        data: Data = {"kind": self.kind, "version": self.version}
        if source := source_of(type(self)):
            data["source"] = source
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Spec):
                value = value.to_data()
            data[field.name] = list(value) if isinstance(value, tuple) else value
        return data

    def label(self) -> str:
        """The kind and its settings, for tables: ``loril k=0.1 lam=1.0 ties=random``."""
        return " ".join([self.kind, *self._shown_settings()])

    def brief(self) -> str:
        """The kind and the settings that differ from their defaults: ``sentence hidden=32``."""
        usual = {
            field.name: field.default_factory()
            if field.default_factory is not MISSING
            else field.default
            for field in fields(self)
        }
        values = {name: getattr(self, name) for name in self.settings()}
        own = [f"{name}={value}" for name, value in values.items() if value != usual[name]]
        return " ".join([self.kind, *own])

    def _shown_settings(self) -> Iterator[str]:
        # Settings that all specs of a role share come last: they tell them apart least.
        own_first = sorted(fields(self), key=lambda field: bool(field.kw_only))
        for field in own_first:
            value = getattr(self, field.name)
            if isinstance(value, Spec):
                value = f"({value.brief()})"
            elif isinstance(value, tuple):
                value = f"<{len(value)} values>"
            if value is not None:
                yield f"{field.name}={value}"

    @classmethod
    def settings(cls) -> list[str]:
        """The names of the settings."""
        return [field.name for field in fields(cls)]

    def parts(self) -> dict[str, Spec]:
        """The settings that are specs now, by name."""
        values = {name: getattr(self, name) for name in self.settings()}
        return {name: value for name, value in values.items() if isinstance(value, Spec)}

    def with_settings(self, settings: Mapping[str, object]) -> Self:
        """A copy with some settings changed; an unknown name gets the nearest known one."""
        current = {name: getattr(self, name) for name in self.settings()}
        for name in settings:
            if name not in current:
                raise unknown_name(f"setting of {self.kind} named", name, current)
        return type(self)(**{**current, **settings})


AnySpec = TypeVar("AnySpec", bound=Spec)


def all_parts(spec: Spec) -> Iterator[Spec]:
    """A spec, and all specs among its settings and theirs."""
    yield spec
    for part in spec.parts().values():
        yield from all_parts(part)


VALUES = (bool, int, float, str)
"""What the value of a setting may be in a file."""


class PartType(NamedTuple):
    """What a setting may be that may be a spec.

    Attributes
    ----------
    bases : tuple of type
        The bases of its possible roles, such as ``ModelSpec``.
    or_value : bool
        Whether it may be a number or a text too. A live object is nothing that a file can say.
    """

    bases: tuple[type[Spec], ...]
    or_value: bool

    def base(self, kind: object) -> type[Spec]:
        """The base that knows a kind; if none does, the last."""
        knowing = (base for base in self.bases if kind in known_kinds(base))
        return next(knowing, self.bases[-1])


def part_types(owner: type) -> dict[str, PartType]:
    """The settings of a spec, or another dataclass, that may be specs, by their annotations."""
    found = {field.name: _part_type(owner, field) for field in fields(owner)}
    return {name: part for name, part in found.items() if part.bases}


def _part_type(owner: type, field: Field[Any]) -> PartType:
    options = [getattr(one, "__origin__", one) for one in _options(owner, field)]
    specs = [one for one in options if isinstance(one, type) and issubclass(one, Spec)]
    in_order = sorted({_role_base(one) for one in specs}, key=lambda base: base.role)
    return PartType(tuple(in_order), or_value=any(one in VALUES for one in options))


@cache
def _checks(owner: type) -> dict[str, Callable[[str, object], object]]:
    """The checks of the settings that are annotated with one; None passes where it is allowed."""
    found: dict[str, Callable[[str, object], object]] = {}
    for field in fields(owner):
        options = _options(owner, field)
        for one in options:
            if typing.get_origin(one) is Annotated:
                check = one.__metadata__[0]
                found[field.name] = partial(_unless_none, check) if NoneType in options else check
    return found


def _unless_none(check: Callable[[str, object], object], name: str, value: object) -> object:
    return None if value is None else check(name, value)


def _options(owner: type, field: Field[Any]) -> tuple[Any, ...]:
    """The types that a setting may be of."""
    annotation = _annotation(owner, field)
    union = typing.get_origin(annotation) in (typing.Union, UnionType)
    return typing.get_args(annotation) if union else (annotation,)


def _role_base(spec: type[Spec]) -> type[Spec]:
    """The class that names the role, such as ``AgentSpec``."""
    bases = [one for one in spec.__mro__ if issubclass(one, Spec) and "role" in vars(one)]
    return bases[0]


def _annotation(owner: type, field: Field[Any]) -> Any:
    """What a field is declared as; a spec of any role or a value, where nobody can tell."""
    if not isinstance(field.type, str):
        return field.type
    declared = next(
        one for one in owner.__mro__ if field.name in vars(one).get("__annotations__", ())
    )
    try:
        return eval(field.type, vars(sys.modules[declared.__module__]))
    except Exception:  # a name of a function's, or one that only type checkers import
        return Spec | str


def known_kinds(base: type[AnySpec]) -> dict[str, type[AnySpec]]:
    """Every spec of a role by its kind, in alphabetical order; of all roles for ``Spec`` itself."""
    found = {
        kind: spec
        for (role, kind), spec in sorted(Spec._known.items())
        if base.role in (role, Spec.role) and issubclass(spec, base)
    }
    return found


def spec_named(base: type[AnySpec], kind: str) -> type[AnySpec]:
    """The spec of that role and kind, or an error that lists what exists."""
    known = known_kinds(base)
    if kind not in known:
        raise unknown_name(base.role, kind, known)
    return known[kind]


def spec_from_data(base: type[AnySpec], data: Any) -> AnySpec:
    """The spec that ``to_data`` described.

    A spec of another version is refused: its results would not be those of this one.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("kind"), str):
        raise SettingError(
            f"{base.an().capitalize()} is described by a table with its kind, not {data!r}."
        )
    if data["kind"] not in known_kinds(base) and isinstance(data.get("source"), str):
        where = data["source"].split(" ")[0]
        raise UnknownNameError(
            f"The {base.role} {data['kind']!r} is a class of your own: import it first, with "
            f"--import {where} on the command line."
        )
    spec = spec_named(base, data["kind"])
    if data.get("version", spec.version) != spec.version:
        raise SettingError(
            f"{spec.kind} is described in version {data['version']}, and this is {spec.version}."
        )
    values = {}
    for name, value in data.items():
        if name in ("kind", "version", "source"):
            continue
        if name not in spec.settings():
            raise unknown_name(f"setting of {spec.kind} named", name, spec.settings())
        if isinstance(value, Mapping):
            value = part_from_data(spec, name, value)
        values[name] = tuple(value) if isinstance(value, list) else value
    return spec(**values)


def part_from_data(owner: type, name: str, data: Any) -> Spec:
    """The spec that a setting of a spec, or of another dataclass, is described to be."""
    part = part_types(owner).get(name)
    if part is None:
        raise SettingError(f"{name} is a value, not a table such as {data!r}.")
    kind = data.get("kind") if isinstance(data, Mapping) else None
    return spec_from_data(part.base(kind), data)
