"""Specs from words: the names and settings that are typed on the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from tellback.agents import AgentSpec
from tellback.errors import SettingError, unknown_name
from tellback.models import ModelSpec
from tellback.specs import Spec, spec_named
from tellback.worlds import WorldSpec


def specs_with_settings(
    world: str, agents: Sequence[str], settings: Sequence[str]
) -> tuple[WorldSpec, list[AgentSpec]]:
    """A world and agents by name, with the settings that apply to each.

    A setting ``name=value`` goes to everything that has one of that name, and
    ``kind.name=value`` to that kind alone; one that nothing has is an error.
    """
    world_spec: WorldSpec = spec_named(WorldSpec, world)()
    agent_specs: list[AgentSpec] = [spec_named(AgentSpec, name)() for name in agents]
    given: list[Spec] = [world_spec, *agent_specs]
    for setting in settings:
        kind, name, value = _parsed(setting)
        takers = [s for s in given if name in s.settings() and kind in ("", s.kind)]
        if not takers:
            raise _nothing_has(kind, name, given)
        given = [s.with_settings({name: value}) if s in takers else s for s in given]
    changed_world, *changed_agents = given
    assert isinstance(changed_world, WorldSpec)
    distinct = dict.fromkeys(s for s in changed_agents if isinstance(s, AgentSpec))
    return changed_world, list(distinct)


def _parsed(setting: str) -> tuple[str, str, Any]:
    """Split kind.name=value; the value is read as TOML, a bare word as itself."""
    left, equals, text = setting.partition("=")
    if not equals or not left.strip():
        raise SettingError(f"A setting is written name=value, not {setting!r}.")
    kind, _, name = left.strip().rpartition(".")
    if name == "model":
        return kind, name, spec_named(ModelSpec, text.strip())()
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()
    return kind, name, tuple(value) if isinstance(value, list) else value


def _nothing_has(kind: str, name: str, given: list[Spec]) -> Exception:
    if kind and kind not in {spec.kind for spec in given}:
        return unknown_name("world or agent in this run named", kind, {s.kind for s in given})
    among = [spec for spec in given if kind in ("", spec.kind)]
    return unknown_name("setting", name, {n for spec in among for n in spec.settings()})
