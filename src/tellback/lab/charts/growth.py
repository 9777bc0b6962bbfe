"""How regret grows: a straight line on double logarithmic axes is a power of t."""

from __future__ import annotations

from typing import Any

import numpy as np

from tellback.lab.charts.chart import Chart, has_intervals, legend_below, styled_curves, wrapped
from tellback.lab.power_law import FITTED_FROM, as_power, power_of_t
from tellback.lab.results import Results

FEWEST_ROUNDS = 20


def draw_growth(figure: Any, results: Results) -> None:
    """Draw mean regret against the round, with the fitted power."""
    axis = figure.subplots()
    for name, curves, style in styled_curves(results):
        mean = curves.mean(axis=0)
        shown = mean > 0
        if not shown.any():
            continue
        label = wrapped(f"{name}: {as_power('t', power_of_t(results.t, curves))}")
        axis.loglog(results.t[shown], mean[shown], **style, lw=1.6, label=label)
    axis.axvspan(FITTED_FROM * results.t[-1], results.t[-1], color="#808080", alpha=0.1, lw=0)
    guide = np.array([FITTED_FROM, 1.0]) * results.t[-1]
    bottom, top = axis.get_ylim()
    height = np.sqrt(bottom * top)
    axis.loglog(guide, height * np.sqrt(guide / guide[-1]), ":", color="#808080", lw=1)
    where = (guide[0], height * np.sqrt(FITTED_FROM))
    axis.annotate("square root", where, fontsize=7, color="#808080", va="top")
    axis.set(ylim=(bottom, top), xlabel="round", ylabel="cumulative regret")
    legend_below(axis, "fitted growth where shaded")


def _has_grown(results: Results) -> bool:
    names = results.study.agents
    some = has_intervals(results) and results.study.rounds >= FEWEST_ROUNDS
    return some and any(results.final(results.tuned(name)).mean() > 0 for name in names)


GROWTH = Chart(
    name="growth",
    title="How regret grows",
    says="On double logarithmic axes, with the power of t fitted to the last nine tenths of each "
    "seed's curve: its mean and 95% interval. The theory promises 1/2 or less in the long run; "
    "random play has 1.",
    draw=draw_growth,
    applies=_has_grown,
)
