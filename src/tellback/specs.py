"""Specs: the frozen settings of a world, a model or an agent.

A spec is not a live thing. It compares, hashes and prints; it turns into plain data and
back, so that a run can be named by the hash of its configuration; and it checks its own
values, so that nonsense is refused before any work starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Self, TypeVar

from tellback.errors import SettingError, UnknownNameError, unknown_name
from tellback.sources import note_class, source_of

Data = dict[str, Any]
"""What JSON and TOML can hold."""


@dataclass(frozen=True)
class Spec:
    """The base of all specs.

    A subclass is a frozen dataclass. Its ``kind`` is its name in files and on the command
    line (by default its class name, ``EpsilonGreedy`` becoming ``epsilon-greedy``), and its
    ``version`` goes up whenever the same settings begin to give other results.
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

    def _set_validated(self, **values: object) -> None:
        """Put checked values in place of the given ones (for ``__post_init__``)."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def to_data(self) -> Data:
        """The spec as plain data: its kind, its version and every setting.

        Whoever tries out a spec of their own will not raise its version with every edit: it
        has a digest of its source too.
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
        """The kind and the settings that are not as by default: ``sentence hidden=32``."""
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
    for field in fields(spec):
        value = getattr(spec, field.name)
        if isinstance(value, Spec):
            yield from all_parts(value)


def known_kinds(base: type[AnySpec]) -> dict[str, type[AnySpec]]:
    """Every spec of a role by its kind, in alphabetical order."""
    found = {
        kind: spec
        for (role, kind), spec in sorted(Spec._known.items())
        if role == base.role and issubclass(spec, base)
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

    Settings that are themselves specs are told by their ``kind``. A spec of another
    version is refused: its results would not be those of this one.
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
            value = spec_from_data(_base_of_role(value), value)
        values[name] = tuple(value) if isinstance(value, list) else value
    return spec(**values)


def _base_of_role(data: Mapping[str, Any]) -> type[Spec]:
    """The role of a nested spec: the one that knows its kind."""
    for role, kind in Spec._known:
        if kind == data.get("kind"):
            return next(base for base in Spec.__subclasses__() if base.role == role)
    kinds = [kind for _, kind in Spec._known]
    raise unknown_name("spec of kind", str(data.get("kind")), kinds)
