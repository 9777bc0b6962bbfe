"""What a chart is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from tellback.figures import Plot, new_figure, save_figure, styled
from tellback.lab.results import Results

LABEL_CHARACTERS = 38
SEVERAL = 2  # seeds: fewer give no interval


def has_intervals(results: Results) -> bool:
    """Whether there is regret, of enough seeds to say how sure its mean is."""
    names = results.study.agents
    known = all(np.isfinite(results.final(results.tuned(name))).all() for name in names)
    return known and len(results.study.reported) >= SEVERAL


@dataclass(frozen=True)
class Chart:
    """One view of a study.

    Parameters
    ----------
    name : str
        Of its files.
    title : str
        Of the chart.
    says : str
        What one sees, in a sentence.
    draw : callable
        Draws results into an empty figure.
    height : callable
        The height that results need, in inches.
    applies : callable
        Whether results have anything to show.
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

    def plot(self, results: Results) -> Plot:
        """The chart of a study, for a notebook."""
        with styled():
            return Plot(self.figure(results))

    def write(
        self, results: Results, folder: Path, formats: Sequence[str] = (".png", ".svg")
    ) -> list[Path]:
        """Draw it to a file of each format."""
        with styled():
            return save_figure(self.figure(results), folder / self.name, formats)


def wrapped(label: str) -> str:
    """A label in lines short and few enough to leave room for the chart."""
    return plain(fill(label, LABEL_CHARACTERS, max_lines=3, placeholder=" ..."))


def plain(label: str) -> str:
    """A label drawn as it is: a dollar begins no formula, an underscore hides nothing."""
    escaped = label.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def legend_below(axis: Any, title: str, columns: int = 2) -> None:
    """Below the plot, where it hides no curve."""
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "ncols": columns}
    axis.legend(title=title, **place, fontsize=8, title_fontsize=8, edgecolor="none")
