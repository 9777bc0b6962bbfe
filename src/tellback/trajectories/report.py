"""The report of a benchmark on trajectories: bars, curves and tables, on one page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tellback import __version__
from tellback.lab.charts.chart import colours
from tellback.lab.charts.picture import Picture
from tellback.lab.compare import MeanInterval
from tellback.lab.report import Section
from tellback.lab.report.markup import Markup
from tellback.lab.report.simple import write_page
from tellback.lab.report.tables import spans
from tellback.trajectories.findings import PathFindings

NOTHING = 10
"""Where a logarithmic axis shows 0 descriptions."""

NAMES = {
    "success": "success",
    "reward": "reward over the best possible",
    "attainable": "tasks with a fitting response in the shortlist",
}

EXAM = (
    "An exam is on tasks that no round has shown. Nothing is learned from it, and the response "
    "with the highest estimate is taken without exploring. Success: the teacher could have "
    "described the response by the request. The best possible reward is that of all responses, "
    "also those that no shortlist has."
)

SEEDS = (
    "Each seed draws the tasks of the rounds, those of the exam, and all choices; all conditions "
    "of a seed have the same tasks. Intervals are Student's, at 95%, over seeds. Settings were "
    "chosen on other seeds."
)


def write_report(found: PathFindings, folder: Path, drawn: Iterable[Markup] = ()) -> list[Path]:
    """Write the page, and every figure as PNG and SVG; returns the files, the page first."""
    parts = [
        bars_section(found),
        *drawn,
        *(_picture(found, panel) for panel in found.panels),
        *tables(found),
        speeds_section(found),
    ]
    benchmark = found.benchmark
    says = (
        f"Seeds {spans(benchmark.seeds)}, {benchmark.tasks} held-out tasks in each exam. "
        f"tellback {__version__}."
    )
    return write_page(folder, benchmark.title, says, parts, (EXAM, SEEDS))


def bars_section(found: PathFindings) -> Section:
    """The bars, reached or not."""
    rows = [
        (
            one.bar.panel,
            one.bar.name,
            f"{one.bar.mark:,}",
            NAMES[one.bar.measure],
            f"{one.bar.at_least:.0%}",
            in_percent(one.found),
            one.found.n,
            one,
        )
        for one in found.verdicts()
    ]
    headers = ("where", "agent", "descriptions", "measure", "at least", "% [95%]", "n", "verdict")
    return Section("Bars", headers, rows)


def tables(found: PathFindings) -> Iterable[Section]:
    """Every measure at every mark, a table for each panel and measure."""
    for panel in found.panels:
        conditions = found.panel(panel)
        marks = sorted({mark for one in conditions for mark in found.benchmark.marks(one)})
        for measure, name in NAMES.items():
            rows = []
            for one in conditions:
                cells = [found.at(one, measure, mark) for mark in marks]
                if any(cells):
                    shown = ("" if cell is None else in_percent(cell) for cell in cells)
                    rows.append((one.name, *shown, len(found.curves[one])))
            if rows:
                headers = ("agent", *(f"{mark:,}" for mark in marks), "n")
                yield Section(f"{panel}: {name}, % [95%]", headers, rows)


def speeds_section(found: PathFindings) -> Section:
    """Rounds a second of CPU time, and how many of them were described."""
    rows = [
        (
            one.panel,
            one.name,
            f"{np.median(found.speeds[one]):,.0f}",
            f"{np.mean(found.described[one]):.0%}",
        )
        for one in found.curves
    ]
    headers = ("where", "agent", "rounds a CPU second, median", "described")
    return Section("Speed, with world, teacher and truth", headers, rows)


def in_percent(found: MeanInterval) -> str:
    """A share with its interval, without the sign."""
    return f"{100 * found.mean:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _picture(found: PathFindings, panel: str) -> Picture:
    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 2, squeeze=False)[0]
        for axis, measure in zip(axes, ("success", "reward"), strict=True):
            _draw(axis, found, panel, measure)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=3, fontsize=8, edgecolor="none"
        )

    slug = "".join(c if c.isalnum() else "-" for c in panel.lower())
    return Picture(slug, panel, "Means over seeds, with 95% intervals at each mark.", draw)


def _draw(axis: Any, found: PathFindings, panel: str, measure: str) -> None:
    conditions = found.panel(panel)
    colour_of = colours(one.name for one in conditions)
    ticks: dict[int, str] = {}
    for one in conditions:
        cells = [(mark, found.at(one, measure, mark)) for mark in found.benchmark.marks(one)]
        known = [(max(mark, NOTHING), cell) for mark, cell in cells if cell is not None]
        at, curve = [mark for mark, _ in known], [cell for _, cell in known]
        if len(known) == 1:  # who learns nothing is examined once
            axis.axhline(100 * curve[0].mean, color=colour_of[one.name], label=one.name, ls="--")
            continue
        axis.plot(at, [100 * c.mean for c in curve], color=colour_of[one.name], label=one.name)
        low, high = [100 * c.low for c in curve], [100 * c.high for c in curve]
        axis.fill_between(at, low, high, color=colour_of[one.name], alpha=0.2, lw=0)
        ticks |= {max(mark, NOTHING): f"{mark:,}" for mark, _ in cells}
    axis.set_xscale("log")
    axis.set_xticks(list(ticks), list(ticks.values()), fontsize=7.5)
    axis.set_xticks([], minor=True)
    axis.set_ylim(0, 101)
    axis.set_xlabel("descriptions")
    axis.set_ylabel(f"{NAMES[measure]}, %")
