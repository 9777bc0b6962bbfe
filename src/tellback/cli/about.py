"""``tellback list`` and ``tellback check``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tellback.cli.show import console


def list_() -> None:
    """List the worlds, agents, radii, models and encoders there are, with their settings."""
    from rich.markup import escape
    from rich.table import Table

    from tellback.agents import AgentSpec, RadiusSpec
    from tellback.encoders import EncoderSpec, TextEncoderSpec
    from tellback.models import ModelSpec
    from tellback.specs import known_kinds
    from tellback.worlds import WorldSpec

    table = Table("role", "name", "settings and their defaults", "what it is")
    for base in (WorldSpec, AgentSpec, RadiusSpec, ModelSpec, EncoderSpec, TextEncoderSpec):
        for kind, spec in known_kinds(base).items():
            defaults = spec()
            values = {name: getattr(defaults, name) for name in spec.settings()}
            settings = ", ".join(f"{name}={_shown(value)}" for name, value in values.items())
            what = (spec.__doc__ or "").strip().split("\n")[0]
            table.add_row(base.role, kind, escape(settings), escape(what))
        table.add_section()
    console().print(table)


def _shown(value: Any) -> str:
    """A setting's value, as short as can be."""
    from tellback.specs import Spec

    if isinstance(value, Spec):
        return value.kind
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)


def check(
    thing: Annotated[str, typer.Argument(metavar="MODULE:NAME", help="For instance mine:MyAgent.")],
) -> None:
    """Try your own agent, world or model against the promises of the protocol.

    NAME is a spec, a live object, or a class or function that makes one without arguments.
    """
    from tellback.conformance import check as try_out
    from tellback.conformance.imported import imported

    report = try_out(imported(thing))
    console().print(str(report), markup=False, highlight=False)
    if not report:
        raise typer.Exit(1)
