"""Specs from the names and settings of the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from tellback.agents import AgentSpec
from tellback.conformance.imported import imported
from tellback.errors import SettingError, unknown_name
from tellback.specs import Spec, all_parts, part_types, spec_named
from tellback.worlds import WorldSpec


def specs_with_settings(
    world: str, agents: Sequence[str], settings: Sequence[str]
) -> tuple[WorldSpec, list[AgentSpec]]:
    """A world and agents by name, with the settings that apply to each.

    A name is a kind, or ``module:name`` for your own spec. A setting ``name=value`` applies to
    every world and agent that has it, and ``kind.name=value`` to that kind only, models and
    encoders included. A setting that nothing has is an error.
    """
    parsed = [_parsed(setting) for setting in settings]
    world_spec: WorldSpec = named_spec(WorldSpec, world)
    agent_specs: list[AgentSpec] = [named_spec(AgentSpec, name) for name in agents]
    given = [world_spec, *agent_specs]
    # All settings of a spec at once: some are valid only together.
    changes: list[dict[str, Any]] = [{} for _ in given]
    later = []
    for kind, name, text in parsed:
        takers = [i for i, s in enumerate(given) if name in s.settings() and kind in ("", s.kind)]
        for i in takers:
            changes[i][name] = _value(given[i], name, text)
        if not takers:
            later.append((kind, name, text))
    world_spec = world_spec.with_settings(changes[0])
    changed = [s.with_settings(c) for s, c in zip(agent_specs, changes[1:], strict=True)]
    if later:
        world_spec, changed = _with_part_settings(world_spec, changed, later)
    return world_spec, list(dict.fromkeys(changed))


def _with_part_settings(
    world: WorldSpec, agents: list[AgentSpec], settings: list[tuple[str, str, str]]
) -> tuple[WorldSpec, list[AgentSpec]]:
    """Change models and encoders, also those that an agent chooses by default."""
    resolved = [agent.resolved(world.facts) for agent in agents]
    kinds = {
        part.kind: part
        for spec in (world, *resolved)
        for part in all_parts(spec)
        if part is not spec
    }
    changes: dict[str, dict[str, Any]] = {kind: {} for kind in kinds}
    for kind, name, text in settings:
        takers = [k for k, part in kinds.items() if name in part.settings() and kind in ("", k)]
        if not takers:
            raise _nothing_has(kind, name, [world, *resolved, *kinds.values()])
        if not kind:  # a bare seed is hardly meant for an encoder
            ways = " or ".join(f"{taker}.{name}" for taker in takers)
            raise SettingError(f"{name} is not a setting of the world or an agent: write {ways}.")
        changes[takers[0]][name] = _value(kinds[takers[0]], name, text)
    new_agents = [
        agent.with_settings(_changed_parts(whole, changes))
        for agent, whole in zip(agents, resolved, strict=True)
    ]
    return world.with_settings(_changed_parts(world, changes)), new_agents


def _changed_parts(spec: Spec, changes: dict[str, dict[str, Any]]) -> dict[str, Spec]:
    """The parts of a spec that change, or that have a part that changes."""
    changed = {}
    for name, part in spec.parts().items():
        settings = {**_changed_parts(part, changes), **changes[part.kind]}
        if settings:
            changed[name] = part.with_settings(settings)
    return changed


def named_spec(base: type[Spec], name: str) -> Any:
    """The spec of a kind with default settings, or the spec named ``module:name``."""
    if ":" not in name:
        return spec_named(base, name)()
    found = imported(name)
    if not isinstance(found, base):
        raise SettingError(
            f"{name} is not the spec of {base.an()}: only specs have an identity under which "
            f"results can be stored. Make one: a frozen dataclass that is derived from "
            f"tellback.{base.role}s.{base.__name__}."
        )
    return found


def _parsed(setting: str) -> tuple[str, str, str]:
    """Split kind.name=value."""
    left, equals, text = setting.partition("=")
    if not equals or not left.strip():
        raise SettingError(f"A setting is written name=value, not {setting!r}.")
    kind, _, name = left.strip().rpartition(".")
    return kind, name, text


def _value(spec: Spec, name: str, text: str) -> Any:
    """The value of a setting: a spec by its kind, or else read as TOML or as a plain word."""
    part = part_types(type(spec)).get(name)
    if part is not None and not part.or_value:
        return named_spec(part.base(text.strip()), text.strip())
    try:
        value = tomllib.loads(f"value = {text.splitlines()[0]}")["value"]
    except (tomllib.TOMLDecodeError, IndexError):
        value = text.strip()
    return tuple(value) if isinstance(value, list) else value


def _nothing_has(kind: str, name: str, given: list[Spec]) -> Exception:
    if kind and kind not in {spec.kind for spec in given}:
        return unknown_name(
            "world, agent or part of one in this run named", kind, {s.kind for s in given}
        )
    among = [spec for spec in given if kind in ("", spec.kind)]
    return unknown_name("setting", name, {n for spec in among for n in spec.settings()})
