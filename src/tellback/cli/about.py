"""``tellback list`` and ``tellback check``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tellback.cli.as_json import print_json
from tellback.cli.options import Imports, Json
from tellback.cli.show import console, escape, say


def list_(modules: Imports = None, as_json: Json = False) -> None:
    """List the worlds, agents, radii, models and encoders there are, with their settings."""
    from rich.table import Table

    from tellback.agents import AgentSpec, RadiusSpec
    from tellback.conformance.imported import import_own
    from tellback.encoders import EncoderSpec, TextEncoderSpec
    from tellback.models import ModelSpec
    from tellback.specs import known_kinds
    from tellback.worlds import WorldSpec

    for module in modules or ():
        import_own(module)
    listed = []
    table = Table("role", "name", "settings and their defaults", "what it is")
    for base in (WorldSpec, AgentSpec, RadiusSpec, ModelSpec, EncoderSpec, TextEncoderSpec):
        for kind, spec in known_kinds(base).items():
            defaults = spec()
            values = {name: getattr(defaults, name) for name in spec.settings()}
            settings = ", ".join(f"{name}={_shown(value)}" for name, value in values.items())
            what = (spec.__doc__ or "").strip().split("\n")[0]
            table.add_row(base.role, kind, escape(settings), escape(what))
            listed.append({"role": base.role, "name": kind, "settings": values, "what": what})
        table.add_section()
    if as_json:
        print_json(listed)
    else:
        console().print(table)


def _shown(value: Any) -> str:
    """A setting's value, as short as can be."""
    from tellback.specs import Spec

    if isinstance(value, Spec):
        return value.kind
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)


def check(
    thing: Annotated[str, typer.Argument(metavar="MODULE:NAME", help="For instance mine:MyAgent.")],
    world: Annotated[
        str | None,
        typer.Option(help="The world to try an agent or a model in; by default two small ones."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of that world as name=value."),
    ] = None,
) -> None:
    """Try your own agent, world, model or encoder against the promises of the protocol.

    NAME is a class, a spec, a live object, or a function that makes one without arguments.

    Example: tellback check mine:MyAgent --world synthetic --set instructions=200
    """
    from tellback.conformance import check as try_out
    from tellback.conformance.imported import imported

    where = None
    if world is not None:
        from tellback.lab.settings import specs_with_settings

        where, _ = specs_with_settings(world, [], settings or [])
    report = try_out(imported(thing), where)
    say(report)
    if not report:
        raise typer.Exit(1)
