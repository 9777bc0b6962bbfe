"""Cumulative regret over the rounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from tellback.lab.bands import simultaneous_band
from tellback.lab.charts.chart import Chart, legend_below, plain, styled_curves, wrapped
from tellback.lab.charts.picture import Picture
from tellback.lab.results import Results

COLUMNS = 2  # studies beside each other
FAR_ABOVE = 3.0
TITLE_CHARACTERS = 11  # characters per inch


def draw_curves(axis: Any, results: Results) -> None:
    """Draw the mean regret of every agent at its chosen setting, with simultaneous bands."""
    finals = []
    for name, curves, style in styled_curves(results):
        mean, low, high = simultaneous_band(curves)
        high = np.minimum(high, np.maximum(mean, results.t))  # a round costs 1 at most
        label = wrapped(f"{results.label(name)}: {mean[-1]:.3g}")
        axis.plot(results.t, mean, **style, label=label, lw=1.6)
        axis.fill_between(results.t, low, high, color=style["color"], alpha=0.2, lw=0)
        finals.append(float(mean[-1]))
    axis.set_xlim(left=0)
    axis.set(ylim=(0, _top(finals)), xlabel="round", ylabel="cumulative regret")
    legend_below(axis, "final regret")


def _top(finals: Sequence[float]) -> float:
    """The upper end of the axis: agents far above the best leave the frame.

    Otherwise random play would flatten the other curves. The legend has its regret.
    """
    least = min((final for final in finals if final > 0), default=1.0)
    return 1.1 * max((final for final in finals if final <= FAR_ABOVE * least), default=1.0) or 1.1


def draw_regret(
    found: Sequence[Results], title: str, path: Path, formats: Sequence[str] = (".png", ".svg")
) -> list[Path]:
    """Draw the regret of several studies into one figure; returns the files written."""
    columns = min(COLUMNS, len(found))
    rows = -(-len(found) // columns)
    width, height = (4.6 * columns, 3.9 * rows) if columns > 1 else (6.4, 4.8)

    def draw(figure: Any) -> None:
        figure.suptitle(plain(fill(title, round(TITLE_CHARACTERS * width))), fontsize=11)
        axes = figure.subplots(rows, columns, squeeze=False)
        for results, axis in zip(found, axes.flat, strict=False):
            draw_curves(axis, results)
            axis.set_title(wrapped(results.study.name), fontsize=9.5)
        for axis in axes.flat[len(found) :]:
            axis.set_visible(False)

    return Picture(path.name, title, "", draw, width, height).write(path.parent, formats)


REGRET = Chart(
    name="regret",
    title="Regret",
    says="Cumulative regret: the mean over the reported seeds, and a band that holds the true "
    "mean curve as a whole with 95% confidence. Agents with more than three times the least "
    "regret leave the frame; the legend has their final regret.",
    draw=lambda figure, results: draw_curves(figure.subplots(), results),
    height=lambda results: 4.2 + 0.1 * len(results.study.agents),
)
