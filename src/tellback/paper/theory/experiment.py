"""Experiments on the theory, and sweeps over a size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.lab.charts.chart import colours
from tellback.lab.charts.picture import Picture
from tellback.lab.compare import FEWEST_PAIRS, MeanInterval, Share, mean_regret
from tellback.lab.power_law import as_power, fitted_power
from tellback.lab.results import Results
from tellback.lab.study import Study
from tellback.paper.claims import NOT_CONTRADICTED, Claim
from tellback.roles import AgentSpec, WorldSpec

TUNING = tuple(range(1000, 1004))
SEEDS = 20


@dataclass(frozen=True)
class Findings:
    """The findings of an experiment: lines of the claims table, and figures."""

    claims: Sequence[Claim]
    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Experiment:
    """A test of one statement of the theory.

    ``studies`` are the comparisons to run, at a scale from 0 to 1. ``finds`` turns their results
    into findings. Simulations that are not studies are run there.
    """

    studies: Callable[[float], list[Study]]
    finds: Callable[[Sequence[Results], float], Findings]
    reported: bool = False  # whether the report also shows each study


def seeds(scale: float, most: int = SEEDS) -> tuple[int, ...]:
    """The reported seeds."""
    return tuple(range(max(3, round(most * scale))))


def tuning(scale: float) -> tuple[int, ...]:
    """The tuning seeds."""
    return TUNING[: max(2, round(len(TUNING) * scale))]


def rounds(most: int, scale: float) -> int:
    """The length of runs."""
    return max(100, round(most * scale))


def tuned_study(
    name: str,
    world: WorldSpec,
    agents: Mapping[str, tuple[AgentSpec, ...]],
    most_rounds: int,
    scale: float,
) -> Study:
    """A study at a scale, in which only the chosen settings play the reported seeds."""
    return Study(
        name=name,
        world=world,
        agents=agents,
        rounds=rounds(most_rounds, scale),
        tuning=tuning(scale),
        reported=seeds(scale),
        everywhere=False,
    )


@dataclass(frozen=True, eq=False)
class Sweep:
    """Final regrets of agents while one size grows."""

    sizes: Sequence[int]
    found: Sequence[Results]  # one a size, all with the same agents and number of seeds

    def __post_init__(self) -> None:
        assert len(self.sizes) == len(self.found)

    @property
    def n(self) -> int:
        """The number of seeds at each size."""
        return len(self.found[0].study.reported)

    def finals(self, name: str) -> Array:
        """Final regrets, a row a seed and a column a size."""
        return np.array([one.final(one.tuned(name)) for one in self.found]).T

    def power(self, name: str) -> MeanInterval | None:
        """The power of the size with which an agent's regret grows, and its interval."""
        return fitted_power(np.array(self.sizes), self.finals(name))

    def ratio(self, name: str, to: str = "random") -> Array:
        """Mean regret as a share of another agent's, one entry a size."""
        shares: Array = self.finals(name).mean(axis=0) / self.finals(to).mean(axis=0)
        return shares

    def said(self, name: str, size: str) -> str:
        """The power in words."""
        found = self.power(name)
        if found is None:
            return f"{name}: no power (a regret of zero)"
        return f"{name} grows as {as_power(size, found)}"


def promised_in(share: Share, promised: float) -> str:
    """The verdict on a property that the theory promises in at least a share of all runs."""
    if share.low >= promised:
        return "holds"
    return "does not hold" if share.high < promised else "undecided"


def not_above(limit: float, power: MeanInterval | None) -> str:
    """The verdict on the claim that a power is at most a limit.

    At best "not contradicted": only some agents were played, in some worlds.
    """
    if power is None or power.n < FEWEST_PAIRS or power.low <= limit < power.high:
        return "undecided"
    return NOT_CONTRADICTED if power.high <= limit else "does not hold"


def draw_sweep(axis: Any, sweep: Sweep, size: str) -> None:
    """Mean final regret against the size on logarithmic axes, with intervals and powers."""
    agents = list(sweep.found[0].study.agents)
    colour_of = colours(agents)
    for name in agents:
        finals = sweep.finals(name)
        means = [mean_regret(column) for column in finals.T]
        found = sweep.power(name)
        said = f": power {found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]" if found else ""
        middle, low, high = np.array([(one.mean, one.low, one.high) for one in means]).T
        # An interval that reaches zero is cut: it stays above zero on a logarithmic axis.
        spread = np.clip(middle - low, 0.0, 0.9 * middle), high - middle
        style = {"fmt": "o--" if name == "random" else "o-", "color": colour_of[name]}
        size_of = {"ms": 3.5, "lw": 1.5, "capsize": 2}
        axis.errorbar(sweep.sizes, middle, spread, **style, **size_of, label=name + said)
    axis.set(yscale="log", ylabel="final regret")
    _sizes_below(axis, sweep, size)
    axis.legend(fontsize=7, edgecolor="none")


def draw_ratios(axis: Any, sweep: Sweep, size: str) -> None:
    """Mean regret as a share of random play's."""
    agents = [name for name in sweep.found[0].study.agents if name != "random"]
    colour_of = colours(agents)
    for name in agents:
        axis.plot(sweep.sizes, sweep.ratio(name), "o-", color=colour_of[name], ms=3.5, label=name)
    axis.axhline(1, color="#999999", ls="--", lw=1.2)
    axis.set_ylim(bottom=0)
    _sizes_below(axis, sweep, size)
    axis.set_ylabel("regret, of that of random play")
    axis.legend(fontsize=7, edgecolor="none")


def _sizes_below(axis: Any, sweep: Sweep, size: str) -> None:
    """The played sizes, on a logarithmic axis."""
    axis.set_xscale("log")
    axis.set_xticks(sweep.sizes, [f"{one:,}" for one in sweep.sizes], fontsize=8)
    axis.set_xticks([], minor=True)
    axis.set_xlabel(size)
