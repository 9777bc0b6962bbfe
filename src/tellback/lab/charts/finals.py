"""Final regret: every seed, the mean and its interval."""

from __future__ import annotations

from typing import Any

import numpy as np

from tellback.lab.charts.chart import Chart, colours, wrapped
from tellback.lab.compare import mean_regret
from tellback.lab.results import Results

MOST_DOTS = 500  # seeds drawn one by one


def draw_finals(figure: Any, results: Results) -> None:
    """A row for each agent, the least regret on top."""
    axis = figure.subplots()
    colour_of = colours(results.study.agents)
    ranked = results.ranked()
    for row, name in enumerate(ranked):
        values, colour = results.final(results.tuned(name)), colour_of[name]
        shown = values[:MOST_DOTS]
        spread = row + 0.3 * (np.arange(len(shown)) % 7 / 6 - 0.5)  # spreads the dots
        axis.plot(shown, spread, "o", color=colour, alpha=0.3, ms=3, mec="none")
        found = mean_regret(values, at_most=results.study.rounds)
        axis.plot([found.low, found.high], [row, row], color=colour, lw=4, solid_capstyle="butt")
        axis.plot(found.mean, row, "|", color="black", ms=13, mew=1.8)
        above = {"xytext": (0, 11), "textcoords": "offset points", "ha": "center"}
        axis.annotate(str(found), (found.mean, row), **above, fontsize=8)
    axis.set_yticks(range(len(ranked)), [wrapped(results.label(name)) for name in ranked])
    axis.set(ylim=(len(ranked) - 0.4, -0.7), xlabel="final regret")
    axis.set_xlim(left=0)
    axis.margins(x=0.12)
    axis.grid(visible=False, axis="y")


FINALS = Chart(
    name="finals",
    title="Final regret",
    says="A dot for each seed; the mean and its 95% interval. Agents meet the same tasks: compare "
    "them by the pairs above, not by whether these intervals overlap.",
    draw=draw_finals,
    height=lambda results: 1.0 + 0.62 * len(results.study.agents),
)
