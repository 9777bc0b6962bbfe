"""Specs from words: the names and settings that are typed on the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from tellback.agents import AgentSpec
from tellback.conformance.imported import imported
from tellback.errors import SettingError, unknown_name
from tellback.models import ModelSpec
from tellback.specs import Spec, spec_named
from tellback.worlds import WorldSpec


def specs_with_settings(
    world: str, agents: Sequence[str], settings: Sequence[str]
) -> tuple[WorldSpec, list[AgentSpec]]:
    """A world and agents by name, with the settings that apply to each.

    A name is a kind, or ``module:name`` for a spec of one's own. A setting ``name=value``
    goes to everything that has one of that name, and ``kind.name=value`` to that kind
    alone; one that nothing has is an error.
    """
    world_spec: WorldSpec = _named(WorldSpec, world)
    agent_specs: list[AgentSpec] = [_named(AgentSpec, name) for name in agents]
    given: list[Spec] = [world_spec, *agent_specs]
    changes: list[dict[str, Any]] = [{} for _ in given]
    for kind, name, value in map(_parsed, settings):
        takers = [i for i, s in enumerate(given) if name in s.settings() and kind in ("", s.kind)]
        if not takers:
            raise _nothing_has(kind, name, given)
        for i in takers:
            changes[i][name] = value
    # All at once: some settings are valid only together.
    world_spec = world_spec.with_settings(changes[0])
    changed = [s.with_settings(c) for s, c in zip(agent_specs, changes[1:], strict=True)]
    return world_spec, list(dict.fromkeys(changed))


def _named(base: type[Spec], name: str) -> Any:
    if ":" not in name:
        return spec_named(base, name)()
    found = imported(name)
    if not isinstance(found, base):
        raise SettingError(
            f"{name} is not the spec of a {base.role}: a live object has no identity by which "
            "its results could be kept."
        )
    return found


def _parsed(setting: str) -> tuple[str, str, Any]:
    """Split kind.name=value; the value is read as TOML, a bare word as itself."""
    left, equals, text = setting.partition("=")
    if not equals or not left.strip():
        raise SettingError(f"A setting is written name=value, not {setting!r}.")
    kind, _, name = left.strip().rpartition(".")
    if name == "model":
        return kind, name, _named(ModelSpec, text.strip())
    try:
        value = tomllib.loads(f"value = {text.splitlines()[0]}")["value"]
    except (tomllib.TOMLDecodeError, IndexError):
        value = text.strip()
    return kind, name, tuple(value) if isinstance(value, list) else value


def _nothing_has(kind: str, name: str, given: list[Spec]) -> Exception:
    if kind and kind not in {spec.kind for spec in given}:
        return unknown_name("world or agent in this run named", kind, {s.kind for s in given})
    among = [spec for spec in given if kind in ("", spec.kind)]
    return unknown_name("setting", name, {n for spec in among for n in spec.settings()})
