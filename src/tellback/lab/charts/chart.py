"""The class of charts, and helpers for labels and legends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from tellback.lab.figures import new_figure, save_figure, styled
from tellback.lab.results import Results

LABEL_CHARACTERS = 38
SEVERAL = 2  # seeds needed for an interval


def has_intervals(results: Results) -> bool:
    """Whether regret is known, on enough seeds for an interval."""
    names = results.study.agents
    known = all(np.isfinite(results.final(results.tuned(name))).all() for name in names)
    return known and len(results.study.reported) >= SEVERAL


@dataclass(frozen=True)
class Chart:
    """One view of a study.

    Parameters
    ----------
    name : str
        The name of its files.
    title : str
        Its title.
    says : str
        Its caption.
    draw : callable
        Draws results into an empty figure.
    height : callable
        The height for results, in inches.
    applies : callable
        Whether there is anything to draw.
    """

    name: str
    title: str
    says: str
    draw: Callable[[Any, Results], None]
    height: Callable[[Results], float] = lambda results: 4.2
    applies: Callable[[Results], bool] = has_intervals

    def figure(self, results: Results) -> Any:
        """The chart of a study, drawn."""
        figure = new_figure(6.4, self.height(results))
        self.draw(figure, results)
        return figure

    def write(self, results: Results, folder: Path) -> list[Path]:
        """Draw it to PNG and SVG files."""
        with styled():
            return save_figure(self.figure(results), folder / self.name, (".png", ".svg"))


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
