"""``tellback house`` and ``tellback babyai``: agents that draw paths, on tasks held out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tellback.cli.as_json import print_json
from tellback.cli.options import RESULTS, Json, On, ResultsFolder, Reuse, Scale, Workers
from tellback.cli.show import print_section, print_written, work_and_show

if TYPE_CHECKING:
    from tellback.trajectories.findings import PathFindings
    from tellback.trajectories.plan import Trajectories

Seeds = Annotated[
    str | None, typer.Option(help="The seeds.", show_default="0-19, fewer below --scale 1")
]


def house(
    seeds: Seeds = None,
    results: ResultsFolder = RESULTS,
    workers: Workers = None,
    on: On = "here",
    scale: Scale = 1.0,
    reuse: Reuse = False,
    as_json: Json = False,
) -> None:
    """The house: an agent walks, a teacher says where, and it learns to go where it is asked.

    Success on houses never seen, against the number of descriptions: learned proposals, random
    waypoints, shortest paths and uniform walks, numbers of candidates, and a bonus. Ctrl-C keeps
    what is finished; a second call goes on from there.

    Example: tellback house --scale 0.1
    """
    from tellback.trajectories.house import house as plan

    _run(plan(), seeds, results, workers, on, scale, reuse, as_json)


def babyai(
    seeds: Seeds = None,
    results: ResultsFolder = RESULTS,
    workers: Workers = None,
    on: On = "here",
    scale: Scale = 1.0,
    reuse: Reuse = False,
    as_json: Json = False,
) -> None:
    """BabyAI: success on missions never seen, against the number of descriptions.

    The levels GoToLocal, PickupLoc, PutNextLocal and GoToSeqS5R2, by macro steps and by primitive
    ones. Needs the babyai extra. Ctrl-C keeps what is finished; a second call goes on from there.

    Example: tellback babyai --scale 0.1
    """
    from tellback.extras import from_extra

    from_extra("babyai", "minigrid", "BabyAI")
    from tellback.trajectories.babyai import babyai as plan

    _run(plan(), seeds, results, workers, on, scale, reuse, as_json)


def _run(
    benchmark: Trajectories,
    seeds: str | None,
    results: Any,
    workers: int | None,
    on: str,
    scale: float,
    reuse: bool,
    as_json: bool,
) -> None:
    from tellback.errors import real
    from tellback.files import demand_writable
    from tellback.lab import Store
    from tellback.lab.seeds import seeds_from
    from tellback.trajectories.findings import run_trajectories
    from tellback.trajectories.report import bars_section, speeds_section, write_report

    real("scale", scale, above=0, at_most=1)
    folder = results / benchmark.name
    demand_writable(folder)
    few = benchmark.seeds[: max(3, round(scale * len(benchmark.seeds)))]
    benchmark = benchmark.smaller(scale, seeds_from("seeds", seeds) if seeds else few)
    store = Store(folder / "runs")

    def work(engine: Any, listener: Any) -> list[PathFindings]:
        return [run_trajectories(benchmark, store, on=engine, listener=listener, reuse=reuse)]

    found, complete = work_and_show(work, store, on, workers)
    if not complete:
        raise typer.Exit(1)
    files = write_report(found[0], folder)
    if as_json:
        print_json(_data(found[0]))
    else:
        for section in (bars_section(found[0]), speeds_section(found[0])):
            print_section(section)
    print_written(files, stderr=as_json)


def _data(found: PathFindings) -> dict[str, Any]:
    """Every measure with its interval, and the bars."""
    from tellback.trajectories.held_out import MEASURES

    return {
        "seeds": found.benchmark.seeds,
        "tasks": found.benchmark.tasks,
        "measures": [
            {"where": one.panel, "agent": one.name, "descriptions": mark, "measure": measure}
            | {"found": found.at(one, measure, mark)}
            for one in found.curves
            for mark in found.benchmark.marks(one)
            for measure in MEASURES
        ],
        "bars": [
            {**one.bar._asdict(), "found": one.found, "reached": one.reached}
            for one in found.verdicts()
        ],
        "slope": found.slope(),
        "times_fewer": found.fewer(),
    }
