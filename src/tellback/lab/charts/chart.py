"""The class of charts, and helpers for colours, labels and legends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.lab.charts.picture import Picture
from tellback.lab.results import Results

OWN = {
    "LORIL": "#0072b2",
    "epsilon-greedy": "#e69f00",
    "greedy": "#009e73",
    "random": "#999999",
}
"""From the palette of Okabe and Ito, which colour-blind readers can tell apart."""

OTHERS = ("#cc79a7", "#d55e00", "#56b4e9", "#8c6d31", "#7b5ea7", *OWN.values())

LABEL_CHARACTERS = 38
SEVERAL = 2  # seeds needed for an interval


def has_intervals(results: Results) -> bool:
    """Whether regret is known, on enough seeds for an interval."""
    names = results.study.agents
    known = all(np.isfinite(results.final(results.tuned(name))).all() for name in names)
    return known and len(results.study.reported) >= SEVERAL


@dataclass(frozen=True)
class Chart:
    """One view of a study."""

    name: str  # of its files
    title: str
    says: str  # the caption
    draw: Callable[[Any, Results], None]  # draws results into an empty figure
    height: Callable[[Results], float] = lambda results: 4.2  # inches
    applies: Callable[[Results], bool] = has_intervals  # whether there is anything to draw

    def of(self, results: Results) -> Picture:
        """The chart of a study."""

        def draw(figure: Any) -> None:
            self.draw(figure, results)

        return Picture(self.name, self.title, self.says, draw, 6.4, self.height(results))


def colours(agents: Iterable[str]) -> Mapping[str, str]:
    """A colour for each agent of a study: its own, or the next free one."""
    names = list(agents)
    taken = {OWN[name] for name in names if name in OWN}
    free = [colour for colour in OTHERS if colour not in taken] or list(OTHERS)
    others = [name for name in names if name not in OWN]
    return OWN | {name: free[i % len(free)] for i, name in enumerate(others)}


def styled_curves(results: Results) -> Iterator[tuple[str, Array, dict[str, str]]]:
    """Every agent, its curves at the chosen setting, and the colour and style of its line."""
    colour_of = colours(results.study.agents)
    for name in results.study.agents:
        style = {"color": colour_of[name], "ls": "--" if name == "random" else "-"}
        yield name, results.curves(results.tuned(name)), style


def wrapped(label: str) -> str:
    """A label in at most three short lines."""
    return plain(fill(label, LABEL_CHARACTERS, max_lines=3, placeholder=" ..."))


def plain(label: str) -> str:
    """A label without special meaning: no formula after a dollar, no hiding by an underscore."""
    escaped = label.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def legend_below(axis: Any, title: str, columns: int = 2) -> None:
    """Put the legend below the plot, where it hides no curve."""
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "ncols": columns}
    axis.legend(title=title, **place, fontsize=8, title_fontsize=8, edgecolor="none")
