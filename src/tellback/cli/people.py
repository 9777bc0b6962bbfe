"""``tellback people``: how well agents understand what people say of recorded responses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tellback.cli.as_json import print_json
from tellback.cli.options import RESULTS, Json, On, ResultsFolder, Reuse, Scale, Workers
from tellback.cli.show import console, print_section, print_written, work_and_show

if TYPE_CHECKING:
    from tellback.people.findings import Findings


def people(
    path: Annotated[
        Path, typer.Argument(help="A recording: a .jsonl or .csv file, or a folder of ALFRED's.")
    ],
    tuned_on: Annotated[
        Path | None,
        typer.Option(
            help="Groups that settings were chosen on, one a line, or a study file whose worlds "
            "have tuned_on: they are not examined."
        ),
    ] = None,
    wrong: Annotated[
        float,
        typer.Option(
            help="The share of descriptions of another candidate, in a further curve of the "
            "recommended agent; 0 leaves that out.",
            min=0,
            max=1,
        ),
    ] = 0.39,
    candidates: Annotated[
        list[int] | None,
        typer.Option(help="How many responses to choose from.", show_default="5 and 20", min=2),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="The seeds.", show_default="0-19, fewer below --scale 1")
    ] = None,
    results: ResultsFolder = RESULTS,
    workers: Workers = None,
    on: On = "here",
    scale: Scale = 1.0,
    reuse: Reuse = False,
    as_json: Json = False,
) -> None:
    """Success in groups and with people held out, against the number of descriptions.

    The recommended agent, LORIL on ridge, the paper's GRU, and two models that are fitted in batch
    to the same descriptions, with 5 and 20 candidates, whole responses and single steps. Needs the
    people extra. Ctrl-C keeps what is finished; a second call goes on from there.

    Example: tellback people recording.jsonl --scale 0.1
    """
    from tellback.errors import real
    from tellback.extras import from_extra
    from tellback.files import demand_writable
    from tellback.lab import Store
    from tellback.lab.seeds import seeds_from
    from tellback.people.findings import run_benchmark
    from tellback.people.plan import Benchmark
    from tellback.people.report import write_report
    from tellback.people.tables import bars_section, brief_sections
    from tellback.people.tuned_on import groups_in

    real("scale", scale, above=0, at_most=1)
    from_extra("people", "sklearn", "The benchmark")
    demand_writable(results / "people")
    chosen = seeds_from("seeds", seeds) if seeds else tuple(range(max(3, round(20 * scale))))
    benchmark = Benchmark(
        str(path),
        chosen,
        tuple(candidates or (5, 20)),
        groups_in(tuned_on) if tuned_on else (),
        wrong,
        scale,
    )
    minutes = benchmark.seconds() / 60
    console(stderr=True).print(f"About {minutes:,.0f} minutes of CPU time, if nothing is done yet.")
    store = Store(results / "people" / "runs")

    def work(engine: Any, listener: Any) -> list[Findings]:
        return [run_benchmark(benchmark, store, on=engine, listener=listener, reuse=reuse)]

    found, complete = work_and_show(work, store, on, workers)
    if not complete:
        raise typer.Exit(1)
    files = write_report(found[0], results / "people")
    if as_json:
        print_json(_data(found[0]))
    else:
        for section in (bars_section(found[0]), *brief_sections(found[0])):
            print_section(section)
    print_written(files, stderr=as_json)


def _data(found: Findings) -> dict[str, Any]:
    """Every success with its interval, the bars, and the costs."""
    from tellback.people.findings import ALL
    from tellback.people.tables import verdicts

    def mark(number: int) -> int | str:
        return "all" if number == ALL else number

    benchmark = found.benchmark
    return {
        "path": benchmark.path,
        "sha256": benchmark.worlds["whole"].sha256,
        "seeds": benchmark.seeds,
        "tuned_on": benchmark.tuned_on,
        "success": [
            {
                **one.place._asdict(),
                "learner": one.learner,
                "descriptions": mark(one.mark),
                "success": one.success,
            }
            for one in found.lines()
        ],
        "bars": [
            {
                "descriptions": mark(one.bar.mark),
                "wrong": one.bar.wrong,
                "at_least": one.bar.at_least,
                "success": one.success,
                "reached": one.reached,
            }
            for one in verdicts(found)
        ],
        "costs": [
            {"level": level, "learner": learner, "runs": costs}
            for (level, learner), costs in found.costs.items()
        ],
    }
