"""The report of a benchmark on trajectories: bars, curves and tables, on one page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tellback import __version__
from tellback.lab.charts.chart import colours
from tellback.lab.charts.picture import Picture
from tellback.lab.compare import MeanInterval
from tellback.lab.report import Section
from tellback.lab.report.markup import Markup, element, joined
from tellback.lab.report.simple import write_page
from tellback.lab.report.tables import spans
from tellback.trajectories.film import film_of, write_film
from tellback.trajectories.findings import PathFindings, responses_of

NOTHING = 10
"""Where a logarithmic axis shows 0 descriptions."""

NAMES = {
    "success": "success",
    "reward": "reward over the best possible",
    "attainable": "tasks with a fitting response in the shortlist",
}
"""The measures that are shares."""

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


def write_report(found: PathFindings, folder: Path) -> list[Path]:
    """Write the page, and every figure as PNG and SVG; returns the files, the page first."""
    benchmark, growth = found.benchmark, found.benchmark.growth
    shown = benchmark.film and found.named(*benchmark.film)
    film = film_of(found, shown) if shown else None
    drawn = write_film(film, folder) if film else []
    strip = [_strip(drawn[0])] if drawn else []
    panels = [one for one in found.panels if growth is None or one != growth.panel]
    parts: list[Section | Picture | Markup] = [
        bars_section(found),
        *strip,
        *(_picture(found, panel) for panel in panels),
        *([_growth_picture(found)] if growth else []),
        *tables(found),
        regret_section(found),
        speeds_section(found),
    ]
    says = (
        f"Seeds {spans(benchmark.seeds)}, {benchmark.tasks} held-out tasks in each exam. "
        f"tellback {__version__}."
    )
    return [*write_page(folder, benchmark.title, says, parts, (EXAM, SEEDS)), *drawn]


def bars_section(found: PathFindings) -> Section:
    """The bars, reached or not."""
    rows: list[tuple[object, ...]] = [
        (
            one.bar.panel,
            one.bar.name,
            f"{one.bar.mark:,}",
            f"{NAMES[one.bar.measure]}, %",
            f"at least {100 * one.bar.at_least:g}",
            in_percent(one.found),
            one.found.n,
            one,
        )
        for one in found.verdicts()
    ]
    fewer, times = found.benchmark.fewer, found.fewer()
    if fewer is not None and times is not None:
        what = f"times fewer descriptions than {fewer.slow} for their final success"
        reached = "reached" if times >= fewer.times else "not reached"
        bar = f"at least {fewer.times:g}"
        rows.append((fewer.panel, fewer.quick, "", what, bar, f"{times:.3g}", "", reached))
    growth, slope = found.benchmark.growth, found.slope()
    if growth is not None and slope is not None:
        what = "slope of log regret in log paths"
        reached = "reached" if abs(slope.mean) <= growth.at_most else "not reached"
        marks = f"{found.benchmark.marks(found.panel(growth.panel)[0])[-1]:,}"
        bar = f"at most {growth.at_most:g} from 0"
        rows.append((growth.panel, "", marks, what, bar, slope, slope.n, reached))
    headers = ("where", "agent", "descriptions", "measure", "bar", "found [95%]", "n", "verdict")
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


def regret_section(found: PathFindings) -> Section:
    """Regret up to the last mark, by condition."""
    rows = []
    for one in found.curves:
        last = found.benchmark.marks(one)[-1]
        regret = found.at(one, "regret", last)
        rows.append((one.panel, one.name, f"{last:,}", regret or "", len(found.curves[one])))
    headers = ("where", "agent", "descriptions", "regret [95%]", "n")
    return Section("Regret, summed over all rounds", headers, rows)


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


def _strip(path: Path) -> Markup:
    """The film strip as part of the page."""
    says = (
        "One request of the first seed's exam, in a house that no round has shown. The ring is the "
        "start, the disc the end. The request was chosen without a look at the answers."
    )
    svg = re.sub(r' width="\d+" height="\d+"', "", path.read_text(encoding="utf-8"), count=1)
    figure = element("figure", Markup(svg), element("figcaption", says))
    return joined([element("h2", "The same request after more and more descriptions"), figure])


def _picture(found: PathFindings, panel: str) -> Picture:
    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 3, squeeze=False)[0]
        for axis, measure in zip(axes, ("success", "reward", "regret"), strict=True):
            _draw(axis, found, panel, measure)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=3, fontsize=8, edgecolor="none"
        )

    says = "Means over seeds, with 95% intervals at each mark. Regret is summed over all rounds."
    return Picture(slug(panel), panel, says, draw, width=11.0)


def slug(panel: str) -> str:
    """The name of a panel's files."""
    return "".join(c if c.isalnum() else "-" for c in panel.lower())


def _draw(axis: Any, found: PathFindings, panel: str, measure: str) -> None:
    conditions = found.panel(panel)
    colour_of = colours(one.name for one in conditions)
    scale = 100 if measure in NAMES else 1
    ticks: dict[int, str] = {}
    for one in conditions:
        cells = [(mark, found.at(one, measure, mark)) for mark in found.benchmark.marks(one)]
        known = [(max(mark, NOTHING), cell) for mark, cell in cells if cell is not None]
        at, curve = [mark for mark, _ in known], [cell for _, cell in known]
        look = {"color": colour_of[one.name], "label": one.name}
        if len(known) == 1:  # who learns nothing is examined once, and regret grows all the same
            if measure != "regret":
                axis.axhline(scale * curve[0].mean, ls="--", **look)
            continue
        axis.plot(at, [scale * c.mean for c in curve], marker=".", **look)
        low, high = [scale * c.low for c in curve], [scale * c.high for c in curve]
        axis.fill_between(at, low, high, color=colour_of[one.name], alpha=0.2, lw=0)
        ticks |= {max(mark, NOTHING): f"{mark:,}" for mark, _ in cells if mark != 1}
    axis.set_xscale("log")
    axis.set_xticks(list(ticks), list(ticks.values()), fontsize=7.5)
    axis.set_xticks([], minor=True)
    axis.set_ylim(0, 101 if measure in NAMES else None)
    axis.set_xlabel("descriptions")
    axis.set_ylabel(f"{NAMES[measure]}, %" if measure in NAMES else measure)


def _growth_picture(found: PathFindings) -> Picture:
    """Regret against the number of responses."""
    growth, slope = found.benchmark.growth, found.slope()
    assert growth is not None
    conditions = found.panel(growth.panel)
    marks = found.benchmark.marks(conditions[0])

    def draw(figure: Any) -> None:
        axis = figure.subplots()
        sizes = [10 ** responses_of(one.world) for one in conditions]
        cells = [found.at(one, "regret", marks[-1]) for one in conditions]
        known = [(size, cell) for size, cell in zip(sizes, cells, strict=True) if cell]
        means = [cell.mean for _, cell in known]
        errors = [[c.mean - c.low for _, c in known], [c.high - c.mean for _, c in known]]
        axis.errorbar([size for size, _ in known], means, yerr=errors, marker="o", capsize=3)
        axis.set_xscale("log")
        axis.set_ylim(bottom=0)
        axis.set_xlabel("possible paths in a house (geometric mean)")
        axis.set_ylabel(f"regret after {marks[-1]:,} descriptions")

    says = f"The slope of log regret in log paths is {slope}; a line is fitted for each seed."
    return Picture("paths", growth.panel, says, draw, width=6.0)
