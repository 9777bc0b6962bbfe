"""The results of a study: curves by agent, setting and seed, and the choice of settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np
import polars

from tellback.arrays import Array, Indices
from tellback.errors import SettingError
from tellback.lab.store import Store, curve_rounds
from tellback.lab.study import RunSpec, Study
from tellback.roles import AgentSpec


class Results:
    """What the runs of a study gave.

    Parameters
    ----------
    study : Study
        The study.
    store : Store
        Where its runs are.
    """

    def __init__(self, study: Study, store: Store) -> None:
        self.study = study
        self._store = store
        self._curves = self._read(study.runs())

    def _read(self, runs: Iterable[RunSpec]) -> dict[tuple[AgentSpec, int], Array]:
        wanted = list(dict.fromkeys(runs))
        curves = self._store.curves(wanted) if wanted else ()
        return {(run.agent, run.seed): curve for run, curve in zip(wanted, curves, strict=True)}

    def chosen_runs(self) -> list[RunSpec]:
        """The runs of the study that had to wait for the choice of settings."""
        return list(self.study.chosen_runs({name: self.tuned(name) for name in self.study.agents}))

    def complete(self) -> Self:
        """Read the runs that had to wait, now that they are done."""
        self._curves |= self._read(self.chosen_runs())
        return self

    @property
    def t(self) -> Indices:
        """The rounds at which curves are kept."""
        return curve_rounds(self.study.rounds)

    def curves(self, agent: AgentSpec) -> Array:
        """Regret over the rounds, a row for each reported seed."""
        return np.array([self._curve(agent, seed) for seed in self.study.reported])

    def final(self, agent: AgentSpec, seeds: Sequence[int] | None = None) -> Array:
        """Final regrets, by default on the reported seeds."""
        chosen = self.study.reported if seeds is None else seeds
        return np.array([self._curve(agent, seed)[-1] for seed in chosen])

    def _curve(self, agent: AgentSpec, seed: int) -> Array:
        try:
            return self._curves[agent, seed]
        except KeyError:
            raise SettingError(
                f"{agent.label()} did not play seed {seed} in study {self.study.name!r}: only "
                "settings chosen on the tuning seeds play the reported ones, and their results "
                "are there after complete()."
            ) from None

    def tuned(self, name: str, seeds: Sequence[int] | None = None) -> AgentSpec:
        """The setting of an agent with the lowest mean regret on the tuning seeds.

        Other seeds may be given, for instance the reported ones: that is how the paper
        chose, and it flatters whoever has the most settings to choose from.
        """
        chosen = self.study.tuning if seeds is None else seeds
        settings = self.study.agents[name]
        if len(settings) == 1:
            return settings[0]
        if not chosen:
            raise SettingError(f"Study {self.study.name!r} has no seeds to tune {name} on.")
        return min(settings, key=lambda agent: float(self.final(agent, chosen).mean()))

    def table(self) -> polars.DataFrame:
        """Every curve: a row for each agent, setting, seed and kept round."""
        name_of = {agent: name for name, grid in self.study.agents.items() for agent in grid}
        runs = list(self._curves)
        points = len(self.t)
        tuning = set(self.study.tuning)
        columns = {
            "agent": [name_of[agent] for agent, _ in runs],
            "setting": [agent.label() for agent, _ in runs],
            "seeds": ["tuning" if seed in tuning else "reported" for _, seed in runs],
            "seed": [seed for _, seed in runs],
        }
        return polars.DataFrame(
            {
                "study": [self.study.name] * (len(runs) * points),
                **{name: np.repeat(np.array(values), points) for name, values in columns.items()},
                "t": np.tile(self.t, len(runs)),
                "regret": np.concatenate([self._curves[run] for run in runs]),
            }
        )
