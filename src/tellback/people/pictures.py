"""The figures of the benchmark: success against the number of descriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tellback.lab.charts.chart import colours
from tellback.lab.charts.picture import Picture
from tellback.lab.compare import MeanInterval
from tellback.people.findings import ALL, Findings, Place
from tellback.people.held_out import EXAMS, ROOMS
from tellback.people.plan import LEVELS, RANDOM, RECOMMENDED

NOTHING = 10
"""Where a logarithmic axis shows 0 descriptions."""

Curve = tuple[str, dict[int, MeanInterval]]
"""A name, and success by mark."""


def pictures(findings: Findings) -> list[Picture]:
    """All learners in unseen groups, and the recommended agent in all exams."""
    found = findings.by_key

    def curve(place: Place, learner: str) -> dict[int, MeanInterval]:
        return {
            mark: one for (p, name, mark), one in found.items() if (p, name) == (place, learner)
        }

    def by_learner(level: str, k: int) -> list[Curve]:
        return [(name, curve(Place(level, k, ROOMS), name)) for name in findings.learners()]

    def by_exam(level: str, k: int) -> list[Curve]:
        return [(exam, curve(Place(level, k, exam), RECOMMENDED)) for exam in EXAMS]

    bands = (
        "Mean over seeds, with Student's 95% interval at each mark. Diamonds: all descriptions of "
        "the training part, taught in random order."
    )
    return [
        _picture(
            findings,
            "people",
            "Success in groups never seen, against the number of descriptions",
            f"Each agent has chosen among the candidates and was told what it had done. {bands}",
            by_learner,
        ),
        _picture(
            findings,
            "held_out",
            "The recommended agent with groups, people or both held out",
            bands,
            by_exam,
        ),
    ]


def _picture(
    findings: Findings,
    name: str,
    title: str,
    says: str,
    curves: Callable[[str, int], list[Curve]],
) -> Picture:
    panels = [(level, k) for level, ks in findings.benchmark.panels.items() for k in ks]
    rows = -(-len(panels) // 2)

    def draw(figure: Any) -> None:
        axes = figure.subplots(rows, min(2, len(panels)), squeeze=False).ravel()
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        for axis, (level, k) in zip(axes, panels, strict=False):
            shown = curves(level, k)
            draw_success(axis, shown, max(findings.taught, 4 * findings.benchmark.marks[-1]))
            axis.set_title(f"{LEVELS[level]}, {k} candidates", fontsize=9.5)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=3, fontsize=8, edgecolor="none"
        )

    return Picture(name, title, says, draw, height=0.6 + 3.2 * rows)


def draw_success(axis: Any, curves: Iterable[Curve], at_all: int) -> None:
    """Curves with bands on a logarithmic axis."""
    all_curves, ticks = list(curves), dict[int, str]()
    colour_of = colours(name for name, _ in all_curves)  # the same in all panels
    for name, curve in all_curves:
        if not curve:
            continue
        marks = sorted(mark for mark in curve if mark != ALL)
        at = [max(mark, NOTHING) for mark in marks]
        means = [100 * curve[mark].mean for mark in marks]
        low, high = ([100 * getattr(curve[m], end) for m in marks] for end in ("low", "high"))
        style: Any = {"color": colour_of[name], "lw": 1.6}
        axis.plot(at, means, ls="--" if name == RANDOM else "-", label=name, **style)
        axis.fill_between(at, low, high, color=colour_of[name], alpha=0.2, lw=0)
        ticks |= {max(mark, NOTHING): f"{mark:,}" for mark in marks}
        if ALL in curve:
            axis.plot([at_all], [100 * curve[ALL].mean], "D", ms=4, color=colour_of[name])
            ends = [100 * curve[ALL].low, 100 * curve[ALL].high]
            axis.plot([at_all, at_all], ends, **style)
            ticks[at_all] = "all"
    axis.set_xscale("log")
    axis.set_xticks(list(ticks), list(ticks.values()), fontsize=7.5)
    axis.set_xticks([], minor=True)
    axis.set_ylim(0, 100)
    axis.set_xlabel("descriptions")
    axis.set_ylabel("success, %")
