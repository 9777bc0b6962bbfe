"""``tellback run``: agents in a world, without a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tellback.cli.as_json import print_json, results_data
from tellback.cli.options import RESULTS, Isolated, Json, On, ResultsFolder, Reuse, Workers
from tellback.cli.show import print_bounds, print_results, print_written, run_and_show, say

if TYPE_CHECKING:
    from tellback.roles import AgentSpec


def run(
    world: Annotated[str, typer.Argument(help="The world to play in; see 'tellback list'.")],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            "-a",
            help="An agent, module:Class for one of your own, or recommended: what to begin with "
            "in this world. May be given repeatedly.",
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(help="Rounds in each run.")] = 10_000,
    seeds: Annotated[
        str,
        typer.Option(help="How many runs of each agent, on seeds 0, 1, ...; or seeds: 10-29."),
    ] = "5",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting as name=value, for whatever has one of that name; or loril.k=0.1, "
            "synthetic.rank=5, sentence.hidden=32, encoder=thumbnail. May be given repeatedly.",
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(help="Also draw the regret curves, as PNG and SVG; or as PDF, by its name."),
    ] = None,
    bound: Annotated[
        bool,
        typer.Option(
            "--bound",
            help="Also say how the bound of Theorem 2 compares; a figure then has that of the "
            "first agent above all curves, on logarithmic axes.",
        ),
    ] = False,
    results: ResultsFolder = RESULTS,
    workers: Workers = None,
    on: On = "here",
    reuse: Reuse = False,
    isolated: Isolated = False,
    as_json: Json = False,
) -> None:
    """Play agents in a world and compare their regret.

    Agents with the same seed meet the same tasks. Runs that are in the results folder
    already are not computed again.

    Example: tellback run synthetic --agent loril --agent greedy --set k=0.1 --seeds 5

    Example: tellback run synthetic --agent mymodule:MyAgent --seeds 10-29
    """
    from tellback.errors import whole
    from tellback.lab import Store, Study
    from tellback.lab.bounds import demand_bounded, regret_bounds
    from tellback.lab.charts import draw_regret
    from tellback.lab.charts.bounded import draw_bounded
    from tellback.lab.settings import specs_with_settings
    from tellback.sources import is_own, named

    whole("rounds", rounds)
    chosen = _seeds(seeds)
    spec, agents = specs_with_settings(world, agent or None, settings or [])
    grids = dict(zip(_names(agents), ((one,) for one in agents), strict=True))
    study = Study(spec.brief(), spec, grids, rounds, (), chosen)
    if bound:
        demand_bounded(spec.facts)
    if figure is not None:
        from tellback.figures import demand_drawable

        demand_drawable(figure)
    found, complete = run_and_show([study], Store(results / "runs"), on, workers, reuse, isolated)
    if not complete:
        raise typer.Exit(1)
    worst = max(study.runs(), key=lambda one: float(found[0].final(one.agent, [one.seed])[0]))
    own = sorted(named(one) for one in worst.classes if is_own(one))
    imports = "".join(f" --import {name}" for name in own)
    command = f"tellback diagnose {worst.identity[:10]}{imports}"
    if as_json:
        print_json({**results_data(found)[0], "diagnose": command})
    else:
        print_results(found)
        say(
            f"Does a curve look wrong? {command} looks into the run with the most regret "
            f"({worst.agent.kind}, seed {worst.seed})."
        )
    if bound:
        print_bounds(found[0], stderr=as_json)
    if figure is None:
        return
    if bound:
        bounds = regret_bounds(spec.facts, agents[0])
        print_written(draw_bounded(found[0], bounds, figure), stderr=as_json)
    elif len(chosen) < 2:
        say("A figure with bands needs at least two seeds: none was drawn.", stderr=as_json)
    else:
        title = f"{spec.label()}: n = {len(chosen)} seeds"
        print_written(draw_regret(found, title, figure), stderr=as_json)


def _seeds(given: str) -> tuple[int, ...]:
    """A number of seeds, from 0; or the seeds themselves, such as 10-29."""
    from tellback.errors import whole
    from tellback.lab.seeds import seeds_from

    if given.strip().lstrip("-").isdecimal():
        return tuple(range(whole("seeds", int(given))))
    return seeds_from("seeds", given)


def _names(agents: Sequence[AgentSpec]) -> list[str]:
    """What agents are called: their kinds, or all about them where that tells too little."""
    usual = {"uniform": "random", "loril": "LORIL"}
    short = [usual.get(agent.kind, agent.kind) for agent in agents]
    return [
        name if short.count(name) == 1 else agent.label()
        for name, agent in zip(short, agents, strict=True)
    ]
