"""Studies from TOML files.

A file gives a title, rounds, seeds, worlds and agents; every world makes a study. Where
studies differ in more than their world, each is a table of ``[[studies]]``, and what stands
at the top of the file holds for all of them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from tellback.agents import AgentSpec
from tellback.encoders import EncoderSpec
from tellback.errors import SettingError, TellbackError, unknown_name, whole
from tellback.lab import toml_lines
from tellback.lab.plan import Plan
from tellback.lab.settings import PARTS, named_spec
from tellback.lab.study import Decide, Study
from tellback.models import ModelSpec
from tellback.specs import Spec
from tellback.worlds import WorldSpec

STUDY_KEYS = ("name", "rounds", "tuning", "reported", "worlds", "agents")
STUDY_OPTIONS = ("everywhere", "tuning_runs", "decide")
SEEDS = 'a list of whole numbers, or words such as "1000-1009" or "0-9, 20"'

AnySpec = TypeVar("AnySpec", bound=Spec)
Made = TypeVar("Made")


def read_plan(path: str | Path) -> Plan:
    """The studies that a TOML file declares; what is wrong is said with its line."""
    path = Path(path)
    try:
        return plan_from_toml(path.read_text(), str(path))
    except UnicodeDecodeError as error:
        raise SettingError(f"{path} is not a text in UTF-8: {error}.") from error


def plan_from_toml(text: str, source: str = "the study") -> Plan:
    """The studies that a TOML text declares.

    Parameters
    ----------
    text : str
        The text.
    source : str
        What errors call it.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{source} is not valid TOML: {error}.") from error
    return _Reader(source, toml_lines.Lines(text)).plan(_Located(data, ()))


@dataclass(frozen=True)
class _Located:
    """A value of the file, and where it is."""

    value: Any
    path: toml_lines.Path

    def __getitem__(self, key: str | int) -> _Located:
        return _Located(self.value[key], (*self.path, key))

    def items(self) -> Iterator[tuple[str, _Located]]:
        return ((key, self[key]) for key in self.value)


class _Reader:
    """Turns located values into specs and studies, or says what is wrong where."""

    def __init__(self, source: str, lines: toml_lines.Lines) -> None:
        self._source = source
        self._lines = lines

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
        return self._made(top, lambda: Plan(title, tuple(studies)))

    def _studies(self, table: _Located, given: Mapping[str, _Located]) -> Iterator[Study]:
        """A study for each world."""
        self._demand_known(table, "key of a study", ["title", "studies"] if not table.path else [])
        for key in ("rounds", "reported", "worlds", "agents"):
            if key not in given:
                self._refuse(table, f"A study needs {key}.")
        worlds = self._table(given["worlds"])
        agents = {name: self._grid(spec) for name, spec in self._table(given["agents"]).items()}
        options = {key: self._option(key, given[key]) for key in STUDY_OPTIONS if key in given}
        for name, world in worlds.items():
            title = given["name"].value if "name" in given else ""
            if len(worlds.value) > 1 or not title:
                title = f"{title}, {name}" if title else name
            parts: dict[str, Any] = {
                "name": title,
                "world": self._spec(WorldSpec, world),
                "agents": agents,
                "rounds": self._whole("rounds", given["rounds"]),
                "tuning": self._seeds("tuning", given["tuning"]) if "tuning" in given else (),
                "reported": self._seeds("reported", given["reported"]),
            }
            yield self._made(table, partial(Study, **parts, **options))

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
        if missing := [name for name in ("between", "at_most") if name not in given.value]:
            self._refuse(given, f"decide needs {' and '.join(missing)}.")
        return self._made(given, lambda: Decide(**given.value))

    def _grid(self, given: _Located) -> tuple[AgentSpec, ...]:
        """An agent with every combination of the settings in its grid."""
        table = self._table(given)
        fixed = {key: value for key, value in table.items() if key != "grid"}
        agent = self._spec(AgentSpec, _Located({k: v.value for k, v in fixed.items()}, table.path))
        if "grid" not in table.value:
            return (agent,)
        grid = self._table(table["grid"])
        choices = []
        for name, values in grid.items():
            if not isinstance(values.value, list) or not values.value:
                self._refuse(values, f"The grid of {name} must be a list of values.")
            choices.append([(name, values[i]) for i in range(len(values.value))])
        return tuple(self._changed(agent, dict(combination)) for combination in product(*choices))

    def _spec(self, base: type[AnySpec], given: _Located) -> AnySpec:
        """A spec from its kind, or from a table of kind and settings."""
        table = given if isinstance(given.value, Mapping) else _Located({"kind": given.value}, ())
        kind = table.value.get("kind")
        if not isinstance(kind, str):
            self._refuse(given, f"A {base.role} needs a kind, such as kind = {_example(base)!r}.")
        where = table["kind"] if table is given else given
        spec: AnySpec = self._made(where, lambda: named_spec(base, kind))
        return self._changed(spec, {k: v for k, v in table.items() if k != "kind"}, given)

    def _changed(
        self, spec: AnySpec, settings: Mapping[str, _Located], whole: _Located | None = None
    ) -> AnySpec:
        """The spec with other settings; an error says which of them is wrong."""
        values = {name: self._setting(name, value) for name, value in settings.items()}
        try:
            return spec.with_settings(values)
        except TellbackError as error:
            for name, located in settings.items():
                if _fails(spec, name, values[name]):
                    self._refuse(located, str(error))
            self._refuse(whole or next(iter(settings.values())), str(error))

    def _setting(self, name: str, given: _Located) -> Any:
        if name in PARTS:
            return self._spec(PARTS[name], given)
        if isinstance(given.value, Mapping):
            self._refuse(given, f"{name} is a value, not a table.")
        return tuple(given.value) if isinstance(given.value, list) else given.value

    def _seeds(self, name: str, given: _Located) -> tuple[int, ...]:
        value = given.value
        if isinstance(value, str):
            spans = [re.fullmatch(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*", s) for s in value.split(",")]
            if not all(spans):
                self._refuse(given, f"{name} must be {SEEDS}, not {value!r}.")
            ends = [(int(span[1]), int(span[2] or span[1])) for span in spans if span]
            return tuple(seed for low, high in ends for seed in range(low, high + 1))
        if not isinstance(value, list) or not all(type(seed) is int for seed in value):
            self._refuse(given, f"{name} must be {SEEDS}, not {value!r}.")
        return tuple(value)

    def _whole(self, name: str, given: _Located) -> int:
        return self._made(given, lambda: whole(name, given.value))

    def _table(self, given: _Located) -> _Located:
        if not isinstance(given.value, Mapping) or not given.value:
            self._refuse(given, f"{given.path[-1]} must be a table, not {given.value!r}.")
        return given

    def _tables(self, given: _Located) -> list[_Located]:
        if not isinstance(given.value, Sequence) or isinstance(given.value, str):
            self._refuse(given, "studies are written as tables, each headed [[studies]].")
        return [self._table(given[i]) for i in range(len(given.value))]

    def _demand_known(self, table: _Located, what: str, more: list[str]) -> None:
        known = [*STUDY_KEYS, *STUDY_OPTIONS, *more]
        for key, value in table.items():
            if key not in known:
                self._refuse(value, str(unknown_name(what, key, known)))

    def _made(self, where: _Located, make: Callable[[], Made]) -> Made:
        try:
            return make()
        except TellbackError as error:
            self._refuse(where, str(error))

    def _refuse(self, where: _Located, message: str) -> NoReturn:
        line = self._lines.of(where.path)
        raise SettingError(f"{self._source}, line {line}: {message}") from None


def _fails(spec: Spec, name: str, value: Any) -> bool:
    try:
        spec.with_settings({name: value})
    except TellbackError:
        return True
    return False


def _example(base: type[Spec]) -> str:
    examples: dict[type[Spec], str] = {
        WorldSpec: "synthetic",
        AgentSpec: "loril",
        ModelSpec: "mixture",
        EncoderSpec: "thumbnail",
    }
    return examples.get(base, "...")
