"""Studies from TOML files.

A file gives a title, rounds, seeds, worlds and agents; every world makes a study. If studies
differ in more than their world, each is a table of ``[[studies]]``, and keys at the top of the
file hold for all of them.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from tellback.agents import AgentSpec
from tellback.encoders import EncoderSpec
from tellback.errors import FieldError, SettingError, TellbackError, unknown_name, whole
from tellback.lab import toml_lines
from tellback.lab.plan import Plan
from tellback.lab.seeds import SEEDS, seeds_from
from tellback.lab.settings import named_spec
from tellback.lab.study import Decide, Study
from tellback.models import ModelSpec
from tellback.specs import Spec, part_types
from tellback.worlds import WorldSpec

STUDY_KEYS = ("name", "rounds", "tuning", "reported", "worlds", "agents")
STUDY_OPTIONS = ("everywhere", "tuning_runs", "decide")

EXAMPLES: dict[type[Spec], str] = {
    WorldSpec: "synthetic",
    AgentSpec: "loril",
    ModelSpec: "mixture",
    EncoderSpec: "thumbnail",
}

AnySpec = TypeVar("AnySpec", bound=Spec)
T = TypeVar("T")


def read_plan(path: str | Path) -> Plan:
    """The studies that a TOML file declares; errors name the line.

    Modules of your own are looked for in the working folder, and in that of the file.
    """
    path = Path(path)
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.append(folder)  # workers get the same path
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        others = [other.name for other in path.parent.glob("*.toml")]
        raise unknown_name(f"study file in {folder} named", path.name, others) from None
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SettingError(f"{path} is not a text in UTF-8: {error}.") from error
    return plan_from_toml(text, str(path))


def plan_from_toml(text: str, source: str = "the study") -> Plan:
    """The studies that a TOML text declares.

    Parameters
    ----------
    text : str
        The text.
    source : str
        Its name in errors.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{source} is not valid TOML: {error}.") from error
    return _Reader(source, toml_lines.Lines(text)).plan(_Located(data, ()))


@dataclass(frozen=True)
class _Located:
    """A value of the file, and its path of keys."""

    value: Any
    path: toml_lines.Path

    def __getitem__(self, key: str | int) -> _Located:
        return _Located(self.value[key], (*self.path, key))

    def items(self) -> Iterator[tuple[str, _Located]]:
        return ((key, self[key]) for key in self.value)


class _Reader:
    """Turns located values into specs and studies; errors name the line."""

    def __init__(self, source: str, lines: toml_lines.Lines) -> None:
        self._source = source
        self._lines = lines
        self._names: set[str] = set()

    def plan(self, top: _Located) -> Plan:
        self._demand_known(top, "key of a study file", ["title", "studies"])
        shared = {key: value for key, value in top.items() if key not in ("title", "studies")}
        title = top.value.get("title", Path(self._source).stem)
        if not isinstance(title, str):
            self._refuse(top["title"], f"title must be a text, not {title!r}.")
        if "studies" not in top.value:
            studies = list(self._studies(top, shared))
        else:
            studies = [
                study
                for table in self._tables(top["studies"])
                for study in self._studies(table, {**shared, **dict(table.items())})
            ]
        return self._with_line(top, lambda: Plan(title, tuple(studies)))

    def _name(self, given: Mapping[str, _Located], world: _Located, worlds: int) -> str:
        """The name of the study in a world: its own name, the world's, or both."""
        name = given["name"].value if "name" in given else ""
        if not isinstance(name, str):
            self._refuse(given["name"], f"name must be a text, not {name!r}.")
        called = str(world.path[-1])
        full = f"{name}, {called}" if name and worlds > 1 else name or called
        if full in self._names:
            self._refuse(given.get("name", world), f"There is a study named {full!r} already.")
        self._names.add(full)
        return full

    def _studies(self, table: _Located, given: Mapping[str, _Located]) -> Iterator[Study]:
        """A study for each world."""
        self._demand_known(table, "key of a study", ["title", "studies"] if not table.path else [])
        for key in ("rounds", "reported", "worlds", "agents"):
            if key not in given:
                self._refuse(table, f"A study needs {key}.")
        worlds = self._table(given["worlds"])
        agents = {name: self._grid(spec) for name, spec in self._table(given["agents"]).items()}
        options = {key: self._option(key, given[key]) for key in STUDY_OPTIONS if key in given}
        for _, world in worlds.items():
            parts: dict[str, Any] = {
                "name": self._name(given, world, len(worlds.value)),
                "world": self._spec(WorldSpec, world),
                "agents": agents,
                "rounds": self._whole("rounds", given["rounds"]),
                "tuning": self._seeds("tuning", given["tuning"]) if "tuning" in given else (),
                "reported": self._seeds("reported", given["reported"]),
            }
            yield self._with_line(table, partial(Study, **parts, **options), given)

    def _option(self, key: str, given: _Located) -> Any:
        if key == "everywhere" and not isinstance(given.value, bool):
            self._refuse(given, f"everywhere must be true or false, not {given.value!r}.")
        if key == "tuning_runs":
            return self._whole(key, given)
        if key != "decide":
            return given.value
        known = [one.name for one in fields(Decide)]
        for name, value in self._table(given).items():
            if name not in known:
                self._refuse(value, str(unknown_name("setting of decide named", name, known)))
        for name in ("at_most", "batch"):
            if name in given.value:
                self._whole(name, given[name])
        if missing := [name for name in ("between", "at_most") if name not in given.value]:
            self._refuse(given, f"decide needs {' and '.join(missing)}.")
        return self._with_line(given, lambda: Decide(**given.value), dict(given.items()))

    def _grid(self, given: _Located) -> tuple[AgentSpec, ...]:
        """An agent with every combination of the settings in its grid."""
        if isinstance(given.value, str) or not given.value:
            return (self._spec(AgentSpec, given),)
        table = self._table(given)
        fixed = {key: value for key, value in table.items() if key != "grid"}
        agent = self._spec(AgentSpec, _Located({k: v.value for k, v in fixed.items()}, table.path))
        if "grid" not in table.value:
            return (agent,)
        grid = self._table(table["grid"])
        choices = []
        for name, values in grid.items():
            if not isinstance(values.value, list) or not values.value:
                self._refuse(values, f"The grid of {name} must be a list of one value or more.")
            choices.append([(name, values[i]) for i in range(len(values.value))])
        return tuple(self._changed(agent, dict(combination)) for combination in product(*choices))

    def _spec(self, base: type[AnySpec], given: _Located) -> AnySpec:
        """A spec from its kind, or from a table with kind and settings."""
        table = given if isinstance(given.value, Mapping) else _Located({"kind": given.value}, ())
        kind = table.value.get("kind")
        if not isinstance(kind, str):
            where = table["kind"] if "kind" in table.value and table is given else given
            needs = f"{base.an().capitalize()} needs a kind"
            for key in get_close_matches("kind", table.value, n=1) if kind is None else ():
                self._refuse(table[key], f"{needs}. Did you mean 'kind' by {key!r}?")
            self._refuse(where, f"{needs}, such as kind = {EXAMPLES.get(base, '...')!r}.")
        where = table["kind"] if table is given else given
        spec: AnySpec = self._with_line(where, lambda: named_spec(base, kind))
        return self._changed(spec, {k: v for k, v in table.items() if k != "kind"}, given)

    def _changed(
        self, spec: AnySpec, settings: dict[str, _Located], whole: _Located | None = None
    ) -> AnySpec:
        """The spec with other settings; an error says which of them is wrong."""
        known = spec.settings()
        for name, value in settings.items():
            if name == "grid":  # that of an agent was taken out before
                says = "A grid has settings of an agent. To try several of its models, say"
                self._refuse(value, f"{says} grid.model = [{{ kind = ... }}, {{ kind = ... }}].")
            if name not in known:
                # Without a table these are values of a grid, which has settings only.
                keys = ["kind", "grid"] if isinstance(spec, AgentSpec) else ["kind"]
                also = known if whole is None else [*known, *keys]
                unknown = unknown_name(f"setting of {spec.kind} named", name, also)
                self._refuse(value, str(unknown))
        values = {name: self._setting(spec, name, value) for name, value in settings.items()}
        if error := _error(spec, values):
            self._blame(spec, settings, values, error, whole)
        return spec.with_settings(values)

    def _blame(
        self,
        spec: Spec,
        settings: dict[str, _Located],
        values: Mapping[str, Any],
        error: str,
        whole: _Located | None,
    ) -> NoReturn:
        """Refuse settings, at the line of the wrong one."""
        # The setting without which the others are valid; of several, the last.
        for name, located in reversed(settings.items()):
            if _error(spec, {n: v for n, v in values.items() if n != name}) is None:
                self._refuse(located, error)
        for name, located in settings.items():  # or else a setting that is wrong by itself
            if alone := _error(spec, {name: values[name]}):
                self._refuse(located, alone)
        self._refuse(whole or next(iter(settings.values())), error)

    def _setting(self, spec: Spec, name: str, given: _Located) -> Any:
        part, table = part_types(type(spec)).get(name), isinstance(given.value, Mapping)
        if part is not None and (table or not part.or_value):
            return self._spec(part.base(given.value.get("kind") if table else given.value), given)
        if table:
            self._refuse(given, f"{name} is a value, not a table.")
        return tuple(given.value) if isinstance(given.value, list) else given.value

    def _seeds(self, name: str, given: _Located) -> tuple[int, ...]:
        value = given.value
        if isinstance(value, str):
            return self._with_line(given, lambda: seeds_from(name, value))
        if not isinstance(value, list) or not all(type(seed) is int for seed in value):
            self._refuse(given, f"{name} must be {SEEDS}, not {value!r}.")
        return tuple(value)

    def _whole(self, name: str, given: _Located) -> int:
        return self._with_line(given, lambda: whole(name, given.value))

    def _table(self, given: _Located) -> _Located:
        if not isinstance(given.value, Mapping) or not given.value:
            self._refuse(given, f"{given.path[-1]} must be a table, not {given.value!r}.")
        return given

    def _tables(self, given: _Located) -> list[_Located]:
        value = given.value
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            self._refuse(given, "studies are written as tables, each headed [[studies]].")
        return [given[i] for i in range(len(given.value))]

    def _demand_known(self, table: _Located, what: str, more: list[str]) -> None:
        known = [*STUDY_KEYS, *STUDY_OPTIONS, *more]
        for key, value in table.items():
            if key not in known:
                self._refuse(value, str(unknown_name(what, key, known)))

    def _with_line(
        self,
        where: _Located,
        make: Callable[[], T],
        fields: Mapping[str, _Located] | None = None,
    ) -> T:
        """The value of ``make``; an error names the line of its field, or else of ``where``."""
        try:
            return make()
        except FieldError as error:
            self._refuse((fields or {}).get(error.field, where), str(error))
        except TellbackError as error:
            self._refuse(where, str(error))

    def _refuse(self, where: _Located, message: str) -> NoReturn:
        line = self._lines.of(where.path)
        raise SettingError(f"{self._source}, line {line}: {message}") from None


def _error(spec: Spec, values: Mapping[str, Any]) -> str | None:
    """The error that settings raise, or None."""
    try:
        spec.with_settings(values)
    except TellbackError as error:
        return str(error)
    return None
