"""The regret of each setting on the tuning seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from tellback.lab.charts.chart import Chart, colours, has_intervals, wrapped
from tellback.lab.results import Results
from tellback.roles import AgentSpec

MOST_ROWS = 20  # settings in a list
COLUMNS = 2


def tuned_agents(results: Results) -> list[str]:
    """The agents with several settings."""
    return [name for name, grid in results.study.agents.items() if len(grid) > 1]


def draw_tuning(figure: Any, results: Results) -> None:
    """Draw a surface over two settings, a curve over one, a list over more."""
    names = tuned_agents(results)
    columns = min(COLUMNS, len(names))
    axes = figure.subplots(-(-len(names) // columns), columns, squeeze=False)
    for axis, name in zip(axes.flat, names, strict=False):
        grid = results.study.agents[name]
        seeds = results.study.tuning_seeds(name)
        finals = {agent: results.final(agent, seeds) for agent in grid}
        varied = results.study.varied(name)
        if len(varied) == 1 and all(_is_number(getattr(agent, varied[0], None)) for agent in grid):
            _curve(axis, finals, varied[0], colours(results.study.agents)[name])
        elif len(varied) == 2 and _fills(grid, varied):
            _surface(axis, finals, varied)
        else:
            _listing(axis, finals, varied, colours(results.study.agents)[name])
        axis.set_title(wrapped(f"{name}: {len(seeds)} tuning seeds"), fontsize=9)
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _fills(grid: tuple[AgentSpec, ...], varied: list[str]) -> bool:
    """Whether the grid has every combination of its values of two settings."""
    values = [{getattr(agent, setting, None) for agent in grid} for setting in varied]
    return len(grid) == len(values[0]) * len(values[1])


def _best(finals: dict[AgentSpec, Any]) -> AgentSpec:
    return min(finals, key=lambda agent: float(finals[agent].mean()))


def _curve(axis: Any, finals: dict[AgentSpec, Any], setting: str, colour: str) -> None:
    ordered = sorted(finals, key=lambda agent: getattr(agent, setting))
    x = [getattr(agent, setting) for agent in ordered]
    mean = np.array([finals[agent].mean() for agent in ordered])
    error = [
        finals[a].std(ddof=1) / np.sqrt(len(finals[a])) if len(finals[a]) > 1 else 0.0
        for a in ordered
    ]
    axis.errorbar(x, mean, error, fmt="o-", color=colour, lw=1.4, ms=4, capsize=2)
    best = _best(finals)
    axis.plot(getattr(best, setting), finals[best].mean(), "o", mfc="none", mec=colour, ms=11)
    if min(x) > 0 and max(x) / min(x) >= 20:
        axis.set_xscale("log")
    axis.set(xlabel=setting, ylabel="mean regret, standard error")


def _surface(axis: Any, finals: dict[AgentSpec, Any], varied: list[str]) -> None:
    down, across = (
        sorted({getattr(agent, setting) for agent in finals}, key=_sortable) for setting in varied
    )
    means = np.empty((len(down), len(across)))
    for agent, values in finals.items():
        at = down.index(getattr(agent, varied[0])), across.index(getattr(agent, varied[1]))
        means[at] = values.mean()
    axis.imshow(means, cmap="cividis_r", aspect="auto")
    best = _best(finals)
    span = np.ptp(means) or 1.0
    for i, j in np.ndindex(means.shape):
        dark = (means[i, j] - means.min()) / span > 0.5
        chosen = getattr(best, varied[0]) == down[i] and getattr(best, varied[1]) == across[j]
        text = f"{means[i, j]:.3g}" + ("\nchosen" if chosen else "")
        colour, weight = "#fefefe" if dark else "#010101", "bold" if chosen else "normal"
        centred = {"ha": "center", "va": "center", "fontsize": 8}
        axis.text(j, i, text, **centred, color=colour, weight=weight)
    axis.set_yticks(range(len(down)), [_text(value) for value in down])
    axis.set_xticks(range(len(across)), [_text(value) for value in across])
    axis.set(ylabel=varied[0], xlabel=varied[1])
    axis.grid(visible=False)


def _listing(axis: Any, finals: dict[AgentSpec, Any], varied: list[str], colour: str) -> None:
    ranked = sorted(finals, key=lambda agent: float(finals[agent].mean()))[:MOST_ROWS]
    labels = [" ".join(f"{s}={_text(getattr(a, s, None))}" for s in varied) for a in ranked]
    axis.barh(range(len(ranked)), [finals[agent].mean() for agent in ranked], color=colour)
    axis.set_yticks(range(len(ranked)), labels, fontsize=7)
    axis.invert_yaxis()
    axis.set_xlabel("mean regret, the chosen setting on top")


def _sortable(value: Any) -> tuple[bool, Any]:
    return (False, value) if _is_number(value) else (True, str(value))


def _text(value: Any) -> str:
    return f"{value:g}" if _is_number(value) else getattr(value, "kind", str(value))


TUNING = Chart(
    name="tuning",
    title="Tuning",
    says="Mean regret of every setting on the tuning seeds; the lowest was chosen. These seeds are "
    "not in the comparison.",
    draw=draw_tuning,
    height=lambda results: 3.1 * -(-len(tuned_agents(results)) // COLUMNS),
    applies=lambda results: has_intervals(results) and bool(tuned_agents(results)),
)
