"""Specs from the names and settings of the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any, NamedTuple

from tellback.agents import AgentSpec, Proposing, recommended
from tellback.conformance.imported import imported, imported_object
from tellback.errors import SettingError, unknown_name
from tellback.own import adopted
from tellback.specs import Spec, all_parts, part_types, spec_named
from tellback.worlds import WorldSpec

RECOMMENDED = "recommended"


class Setting(NamedTuple):
    """A setting as it is written: kind.name=value, or name=value for all that have it."""

    kind: str
    name: str
    text: str


def specs_with_settings(
    world: str, agents: Sequence[str] | None, settings: Sequence[str]
) -> tuple[WorldSpec, list[AgentSpec]]:
    """A world and agents by name, with the settings that apply to each.

    A name is a kind, or ``module:name`` for your own spec; "recommended" is the recommended agent
    of the world. If names are None, LORIL and greedy play; where responses cannot be listed, the
    recommended agent and a random one. A setting ``name=value`` applies to every world and agent
    that has it, and ``kind.name=value`` to that kind only, models and encoders included. A setting
    that nothing has is an error.
    """
    parsed = [_parsed(setting) for setting in settings]
    world_spec: WorldSpec = _with_own_settings(named_spec(WorldSpec, world), parsed)
    agents = _usual_agents(world_spec) if agents is None else agents
    agent_specs: list[AgentSpec] = [
        _with_own_settings(
            recommended(world_spec) if name == RECOMMENDED else named_spec(AgentSpec, name), parsed
        )
        for name in agents
    ]
    given = [world_spec, *agent_specs]
    later = [one for one in parsed if not any(_has(spec, one) for spec in given)]
    if later:
        world_spec, agent_specs = _with_part_settings(world_spec, agent_specs, later)
    return world_spec, list(dict.fromkeys(agent_specs))


def _usual_agents(world: WorldSpec) -> tuple[str, ...]:
    draws = isinstance(recommended(world), Proposing)
    return (RECOMMENDED, "uniform") if draws else ("loril", "greedy")


def _has(spec: Spec, setting: Setting) -> bool:
    return setting.name in spec.settings() and setting.kind in ("", spec.kind)


def _with_own_settings(spec: Any, settings: Sequence[Setting]) -> Any:
    """The spec with the settings that it has, all at once: some are valid only together."""
    own = [one for one in settings if _has(spec, one)]
    return spec.with_settings({one.name: _value(spec, one.name, one.text) for one in own})


def _with_part_settings(
    world: WorldSpec, agents: list[AgentSpec], settings: list[Setting]
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
        takers = [k for k, part in kinds.items() if _has(part, Setting(kind, name, text))]
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
    found = imported_object(name)
    if isinstance(found, type) and not issubclass(found, Spec):
        return adopted(base, found)()
    found = imported(name)
    if not isinstance(found, base):
        raise SettingError(
            f"{name} is not the spec of {base.an()}, nor a plain class with its methods: only "
            "these have an identity under which results can be stored."
        )
    return found


def _parsed(setting: str) -> Setting:
    left, equals, text = setting.partition("=")
    if not equals or not left.strip():
        raise SettingError(f"A setting is written name=value, not {setting!r}.")
    kind, _, name = left.strip().rpartition(".")
    return Setting(kind, name, text)


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
