"""The tables of the benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tellback.lab.compare import MeanInterval
from tellback.lab.report import Section
from tellback.people.findings import ALL, Findings, Place
from tellback.people.held_out import EXAMS, ROOMS
from tellback.people.plan import LEVELS, RECOMMENDED, wrong_name


class Bar(NamedTuple):
    """A success that the recommended agent must have, in unseen groups, with 5 candidates."""

    wrong: float
    mark: int
    at_least: float


BARS = (
    Bar(0.0, 100, 0.80),
    Bar(0.0, 500, 0.94),
    Bar(0.0, 2000, 0.965),
    Bar(0.0, ALL, 0.97),
    Bar(0.39, 500, 0.89),
    Bar(0.39, 2000, 0.94),
)
"""Set on ALFRED's training set."""

BAR_PLACE = Place("whole", 5, ROOMS)


class Verdict(NamedTuple):
    """A bar and what was measured."""

    bar: Bar
    success: MeanInterval

    @property
    def reached(self) -> bool:
        """Whether the mean is at least as high."""
        return self.success.mean >= self.bar.at_least

    def __str__(self) -> str:
        surely = self.success.low >= self.bar.at_least or self.success.high < self.bar.at_least
        return ("reached" if self.reached else "not reached") + ("" if surely else ", narrowly")


def verdicts(findings: Findings) -> Iterator[Verdict]:
    """The bars that were tried."""
    for bar in BARS:
        learner = wrong_name(bar.wrong) if bar.wrong else RECOMMENDED
        measured = findings.at(BAR_PLACE, learner, bar.mark)
        if measured is not None:
            yield Verdict(bar, measured)


def bars_section(findings: Findings) -> Section:
    """The bars, reached or not."""
    rows = [
        (
            mark_name(one.bar.mark, findings),
            f"{one.bar.wrong:.0%}",
            f"{one.bar.at_least:.1%}",
            in_percent(one.success),
            one.success.n,
            one,
        )
        for one in verdicts(findings)
    ]
    headers = ("descriptions", "wrong ones", "at least", "success [95%]", "n", "verdict")
    return Section("Bars: whole responses, 5 candidates, unseen groups", headers, rows)


def success_sections(findings: Findings) -> list[Section]:
    """Success at all marks, a table for each level and number of candidates."""
    found = findings.by_key
    sections = []
    for level, numbers in findings.benchmark.panels.items():
        for k in numbers:
            marks = sorted({mark for place, _, mark in found if place[:2] == (level, k)})
            marks = [*(mark for mark in marks if mark != ALL), *({ALL} & set(marks))]
            rows = []
            for exam in EXAMS:
                for learner in findings.learners():
                    place = Place(level, k, exam)
                    cells = [found.get((place, learner, mark)) for mark in marks]
                    if any(cells):
                        shown = ["" if cell is None else in_percent(cell) for cell in cells]
                        rows.append((exam, learner, *shown, _counted(cells)))
            title = f"{LEVELS[level].capitalize()}, {k} candidates: success in % [95%]"
            headers = ("exam", "learner", *(mark_name(mark) for mark in marks), "n")
            sections.append(Section(title, headers, rows))
    return sections


def brief_sections(findings: Findings) -> Iterator[Section]:
    """Success in unseen groups without intervals, for the terminal."""
    found = findings.by_key
    marks = (*findings.benchmark.marks[1:], *((ALL,) if findings.benchmark.taught else ()))
    for level, numbers in findings.benchmark.panels.items():
        for place in (Place(level, k, ROOMS) for k in numbers):
            rows = []
            for learner in findings.learners():
                cells = [found.get((place, learner, mark)) for mark in marks]
                if any(cells):
                    shown = ("" if one is None else f"{100 * one.mean:.1f}" for one in cells)
                    rows.append((learner, *shown))
            title = f"Success in unseen groups: {LEVELS[level]}, {place.candidates} candidates, %"
            yield Section(title, ("learner", *map(mark_name, marks)), rows)


def costs_section(findings: Findings) -> Section:
    """What learning a description costs."""
    rows = [
        (
            learner,
            LEVELS[level],
            findings.benchmark.worlds[level].facts.dim,
            f"{np.mean([one['mean'] for one in costs]):.2f}",
            f"{np.median([one['largest'] for one in costs]):,.0f}",
            len(costs),
        )
        for (level, learner), costs in findings.costs.items()
    ]
    headers = ("learner", "level", "features", "mean", "largest, median of runs", "runs")
    return Section("CPU time of learning a description, in ms", headers, rows)


def examples_section(findings: Findings, right: bool) -> Section:
    """Questions that the recommended agent answered rightly or wrongly, in people's words."""
    words = {"asked": "asked for", "chosen": "what another person said of the chosen one"}
    if not right:
        words["meant"] = "what another person said of the right one"
    rows = [[one[key] for key in words] for one in findings.examples if one["right"] is right]
    title = "What the recommended agent gets " + ("right" if right else "wrong")
    return Section(title, tuple(words.values()), rows)


def _counted(cells: Sequence[MeanInterval | None]) -> str:
    """The number of seeds; all descriptions may have been taught with more."""
    return " or ".join(map(str, sorted({cell.n for cell in cells if cell is not None})))


def mark_name(mark: int, findings: Findings | None = None) -> str:
    """A number of descriptions in words."""
    if mark != ALL:
        return f"{mark:,}"
    return f"all (about {findings.taught:,})" if findings else "all"


def in_percent(found: MeanInterval) -> str:
    """A success with its interval, without the sign."""
    return f"{100 * found.mean:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"
