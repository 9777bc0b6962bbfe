"""Regret, and the bounds of the theory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tellback.lab.bounds import Bound
from tellback.lab.charts.chart import colours, legend_below, plain, wrapped
from tellback.lab.charts.picture import Picture
from tellback.lab.results import Results

STYLES = ("-", ":", "-.")
BOUND = "#d55e00"


def draw_bounds(axis: Any, t: Any, bounds: Mapping[str, Bound]) -> None:
    """Draw T, above which a bound is vacuous, and each bound."""
    axis.loglog(t, t, "--", color="#999999", lw=1.2, label="T: bounds above are vacuous")
    for (name, bound), style in zip(bounds.items(), STYLES, strict=False):
        values = [bound(int(one)) for one in t]
        axis.loglog(t, values, style, color=BOUND, lw=1.4, label=f"{name}: {values[-1]:,.3g}")


def draw_bounded(results: Results, bounds: Mapping[str, Bound], path: Path) -> list[Path]:
    """Draw mean regret and bounds on double logarithmic axes; writes PNG and SVG.

    Returns
    -------
    list of Path
        The files written.
    """

    def draw(figure: Any) -> None:
        axis = figure.subplots()
        colour_of = colours(results.study.agents)
        draw_bounds(axis, results.t, bounds)
        for name in results.study.agents:
            mean = results.curves(results.tuned(name)).mean(axis=0)
            shown = mean > 0
            label = wrapped(f"{results.label(name)}: {mean[-1]:.3g}")
            axis.loglog(results.t[shown], mean[shown], color=colour_of[name], label=label)
        axis.set_title(plain(results.study.name), fontsize=9.5)
        axis.set(xlabel="round", ylabel="cumulative regret")
        legend_below(axis, "after the last round")

    picture = Picture(path.name, results.study.name, "", draw, width=6.4, height=4.6)
    return picture.write(path.parent)
