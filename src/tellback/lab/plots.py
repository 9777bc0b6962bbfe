"""Figures: an agent has the same colour everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from tellback.arrays import Array, Indices
from tellback.lab.compare import curve_band
from tellback.lab.figures import new_figure, save_figure, styled

COLOURS = {
    "LORIL": "#0072b2",
    "epsilon-greedy": "#e69f00",
    "greedy": "#009e73",
    "random": "#999999",
}
"""From the palette of Okabe and Ito, which colour-blind readers can tell apart."""

FAR_ABOVE = 3.0

TITLE_CHARACTERS = 11  # that fit into an inch

OTHER_COLOURS = ("#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#000000")


def colour(agent: str) -> str:
    """The colour of an agent: its own, or one that depends on nothing but its name."""
    return COLOURS.get(agent, OTHER_COLOURS[sum(agent.encode()) % len(OTHER_COLOURS)])


@dataclass(frozen=True)
class Line:
    """One agent's curves, a row a seed."""

    agent: str
    label: str
    t: Indices
    curves: Array


@dataclass(frozen=True)
class Panel:
    """One plot of a figure."""

    title: str
    lines: Sequence[Line]


def _top(panel: Panel) -> float:
    """The upper end of the axis: agents far above the best leave the frame.

    Otherwise random play flattens the differences that matter; the legend has its regret.
    """
    finals = [float(line.curves[:, -1].mean()) for line in panel.lines]
    shown = [final for final in finals if final <= FAR_ABOVE * min(finals)]
    return 1.1 * max(shown) or 1.0


def draw_regret(panels: Sequence[Panel], title: str, path: Path, columns: int = 2) -> list[Path]:
    """Draw cumulative regret, mean and 95% band a line; writes PNG and SVG.

    Returns
    -------
    list of Path
        The files written.
    """
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    width = 4.6 * columns if columns > 1 else 6.4
    with styled():
        figure = new_figure(width, 3.9 * rows if columns > 1 else 4.8)
        figure.suptitle(fill(title, round(TITLE_CHARACTERS * width)), fontsize=11)
        axes = figure.subplots(rows, columns, squeeze=False)
        for panel, axis in zip(panels, axes.flat, strict=False):
            for line in panel.lines:
                mean, low, high = curve_band(line.curves)
                label = f"{line.label}: {mean[-1]:.3g}"
                dashes = "--" if line.agent == "random" else "-"
                axis.plot(line.t, mean, dashes, color=colour(line.agent), label=label, lw=1.6)
                axis.fill_between(line.t, low, high, color=colour(line.agent), alpha=0.2, lw=0)
            axis.set_ylim(0, _top(panel))
            axis.set_title(panel.title, fontsize=9.5)
            axis.set_xlabel("round")
            axis.set_ylabel("cumulative regret")
            axis.set_xlim(left=0)
            # Below the plot, where it hides no curve.
            place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "ncols": 2}
            look = {"fontsize": 8, "title_fontsize": 8, "edgecolor": "none"}
            axis.legend(title="final regret", **place, **look)
        for axis in axes.flat[len(panels) :]:
            axis.set_visible(False)
        return save_figure(figure, path, (".png", ".svg"))
