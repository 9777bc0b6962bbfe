"""The results of a study: curves by agent, setting and seed, and the choice of settings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars

from tellback.arrays import Array, Indices
from tellback.lab.store import Store, curve_rounds
from tellback.lab.study import Study
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
        self._curves = {
            (agent, seed): store.curve(study.run(agent, seed))
            for settings in study.agents.values()
            for agent in settings
            for seed in (*study.tuning, *study.reported)
        }

    @property
    def t(self) -> Indices:
        """The rounds at which curves are kept."""
        return curve_rounds(self.study.rounds)

    def curves(self, agent: AgentSpec) -> Array:
        """Regret over the rounds, a row for each reported seed."""
        return np.array([self._curves[agent, seed] for seed in self.study.reported])

    def final(self, agent: AgentSpec, seeds: Sequence[int] | None = None) -> Array:
        """Final regrets, by default on the reported seeds."""
        chosen = self.study.reported if seeds is None else seeds
        return np.array([self._curves[agent, seed][-1] for seed in chosen])

    def tuned(self, name: str, seeds: Sequence[int] | None = None) -> AgentSpec:
        """The setting of an agent with the lowest mean regret on the tuning seeds.

        Other seeds may be given, for instance the reported ones: that is how the paper
        chose, and it flatters whoever has the most settings to choose from.
        """
        chosen = self.study.tuning if seeds is None else seeds
        settings = self.study.agents[name]
        return min(settings, key=lambda agent: float(self.final(agent, chosen).mean()))

    def table(self) -> polars.DataFrame:
        """Every curve: a row for each agent, setting, seed and kept round."""
        frames = []
        tuning = set(self.study.tuning)
        for name, settings in self.study.agents.items():
            for agent in settings:
                for seed in (*self.study.tuning, *self.study.reported):
                    frames.append(
                        polars.DataFrame({"t": self.t, "regret": self._curves[agent, seed]})
                        .with_columns(
                            study=polars.lit(self.study.name),
                            agent=polars.lit(name),
                            setting=polars.lit(agent.label()),
                            seed=polars.lit(seed),
                            seeds=polars.lit("tuning" if seed in tuning else "reported"),
                        )
                        .select("study", "agent", "setting", "seeds", "seed", "t", "regret")
                    )
        return polars.concat(frames)
