"""``tellback run``: agents in a world, without a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tellback.cli.options import RESULTS, Isolated, On, ResultsFolder, Reuse, Workers
from tellback.cli.show import console, print_bounds, print_results, print_written, run_and_show

if TYPE_CHECKING:
    from tellback.roles import AgentSpec


def run(
    world: Annotated[str, typer.Argument(help="The world to play in; see 'tellback list'.")],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            "-a",
            help="An agent, or module:name for a spec of your own; may be given repeatedly.",
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(help="Rounds in each run.")] = 10_000,
    seeds: Annotated[int, typer.Option(help="How many runs of each agent, on seeds 0, 1, ...")] = 5,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting as name=value, for whatever has one of that name; or loril.k=0.1, "
            "synthetic.rank=5, sentence.hidden=32, encoder=thumbnail. May be given repeatedly.",
        ),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Also draw the regret curves, as PNG and SVG.")
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
) -> None:
    """Play agents in a world and compare their regret.

    Agents with the same seed meet the same tasks. Runs that are in the results folder
    already are not computed again.

    Example: tellback run synthetic --agent loril --agent greedy --set k=0.1 --seeds 5
    """
    from tellback.errors import whole
    from tellback.files import demand_writable
    from tellback.lab import Store, Study
    from tellback.lab.bounds import demand_bounded, regret_bounds
    from tellback.lab.charts import draw_regret
    from tellback.lab.charts.bounded import draw_bounded
    from tellback.lab.settings import specs_with_settings

    whole("rounds", rounds)
    whole("seeds", seeds)
    spec, agents = specs_with_settings(world, agent or ["loril", "greedy"], settings or [])
    named = dict(zip(_names(agents), ((one,) for one in agents), strict=True))
    study = Study(spec.brief(), spec, named, rounds, (), tuple(range(seeds)))
    if bound:
        demand_bounded(spec.facts)
    if figure is not None:
        demand_writable(figure.parent)
    found, complete = run_and_show([study], Store(results / "runs"), on, workers, reuse, isolated)
    if not complete:
        raise typer.Exit(1)
    print_results(found)
    worst = max(study.runs(), key=lambda one: float(found[0].final(one.agent, [one.seed])[0]))
    own = {name.split(":")[0] for name in [world, *(agent or [])] if ":" in name}
    imports = "".join(f" --import {module}" for module in sorted(own))
    console().print(
        f"Does a curve look wrong? tellback diagnose {worst.identity[:10]}{imports} looks into "
        f"the run with the most regret ({worst.agent.kind}, seed {worst.seed}).",
        highlight=False,
        soft_wrap=True,
    )
    if bound:
        print_bounds(found[0])
    if figure is None:
        return
    if bound:
        bounds = regret_bounds(spec.facts, agents[0])
        print_written(draw_bounded(found[0], bounds, figure))
    elif seeds < 2:
        console().print("A figure with bands needs at least two seeds: none was drawn.")
    else:
        print_written(draw_regret(found, f"{spec.label()}: n = {seeds} seeds", figure))


def _names(agents: Sequence[AgentSpec]) -> list[str]:
    """What agents are called: their kinds, or all about them where that tells too little."""
    usual = {"uniform": "random", "loril": "LORIL"}
    short = [usual.get(agent.kind, agent.kind) for agent in agents]
    return [
        name if short.count(name) == 1 else agent.label()
        for name, agent in zip(short, agents, strict=True)
    ]
