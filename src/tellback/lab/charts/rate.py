"""Regret a round."""

from __future__ import annotations

from typing import Any

import numpy as np

from tellback.lab.charts.chart import Chart, has_intervals, legend_below, styled_curves, wrapped
from tellback.lab.results import Results

PARTS = 20


def draw_rate(figure: Any, results: Results) -> None:
    """Draw the mean regret of a round, in 20 parts of the run."""
    axis = figure.subplots()
    ends = np.unique(np.linspace(0, len(results.t), PARTS + 1).astype(int))
    t = np.append(0, results.t)[ends]
    shown = []
    for name, curves, style in styled_curves(results):
        at_ends = np.insert(curves, 0, 0.0, axis=1)[:, ends]
        mean = (np.diff(at_ends, axis=1) / np.diff(t)).mean(axis=0)
        axis.plot((t[1:] + t[:-1]) / 2, mean, **style, label=wrapped(name), lw=1.6)
        shown.append(mean)
    axis.set_xlim(left=0)
    axis.set(ylim=(0, 1.05 * np.max(shown) or 1.0), xlabel="round", ylabel="regret a round")
    legend_below(axis, "")


RATE = Chart(
    name="rate",
    title="Regret a round",
    says="The regret of a round during the run: means over the reported seeds. A flat line "
    "belongs to an agent that no longer learns.",
    draw=draw_rate,
    applies=lambda results: has_intervals(results) and results.study.rounds > 1,
)
