"""The results of a study: curves by agent, setting and seed, and the choice of settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tellback.arrays import Array, Indices
from tellback.errors import SettingError
from tellback.extras import demand_extra
from tellback.lab.compare import LEVEL, Difference, less_regret, mean_regret
from tellback.lab.provenance import Provenance, provenance_of
from tellback.lab.run_spec import RunSpec, curve_rounds
from tellback.lab.sequential import running_less_regret
from tellback.lab.store import Store
from tellback.lab.study import Study
from tellback.lab.wording import counted
from tellback.roles import AgentSpec

if TYPE_CHECKING:
    import polars

    from tellback.figures import Plot
    from tellback.lab.pairs import Pair


class Results:
    """The results of a study.

    Parameters
    ----------
    study : Study
        The study.
    store : Store
        Where its runs are stored.
    known : mapping of RunSpec to Array, optional
        Curves already read from the store.
    partial : bool
        Whether runs may be missing; methods that need them then raise an error.
    """

    def __init__(
        self,
        study: Study,
        store: Store,
        known: Mapping[RunSpec, Array] | None = None,
        *,
        partial: bool = False,
    ) -> None:
        self.study = study
        self._store = store
        self._known = known or {}
        self._partial = partial
        self._identities: dict[tuple[AgentSpec, int], str] = {}
        self._curves = self._read(study.runs())

    def _read(self, runs: Iterable[RunSpec]) -> dict[tuple[AgentSpec, int], Array]:
        wanted = list(dict.fromkeys(runs))
        unread = [run for run in wanted if run not in self._known]
        read = self._store.read(unread).curves if self._partial else self._store.curves(unread)
        curves = {**self._known, **read}
        # Identities as of now: the source may change while this object lives.
        self._identities |= {(run.agent, run.seed): run.identity for run in wanted if run in curves}
        return {(run.agent, run.seed): curves[run] for run in wanted if run in curves}

    def chosen_runs(self) -> list[RunSpec]:
        """The runs of the study that wait for the choice of settings."""
        names = [name for name in self.study.agents if self._can_choose(name)]
        return list(self.study.chosen_runs({name: self.tuned(name) for name in names}))

    def _can_choose(self, name: str) -> bool:
        """Whether all tuning runs of an agent are there; always, unless partial."""
        grid, seeds = self.study.agents[name], self.study.tuning_seeds(name)
        return not self._partial or all((a, s) in self._curves for a in grid for s in seeds)

    def has_all_runs(self) -> bool:
        """Whether no run of the study is missing."""
        if not all(map(self._can_choose, self.study.agents)):
            return False
        known = {**self._curves, **self._read(self.chosen_runs())}
        wanted = (*self.study.runs(), *self.chosen_runs())
        return all((run.agent, run.seed) in known for run in wanted)

    def complete(self) -> Self:
        """Read the runs of the chosen settings, now that they are done."""
        self._curves |= self._read(self.chosen_runs())
        self.__dict__.pop("provenance", None)
        return self

    def runs(self) -> list[RunSpec]:
        """All runs of the study that were read."""
        return [self.study.run(agent, seed) for agent, seed in self._curves]

    @cached_property
    def provenance(self) -> Provenance:
        """Time, machines and versions of the runs."""
        runs = {self._identities[key]: self.study.run(*key) for key in self._curves}
        return provenance_of(runs, self._store)

    def warnings(self) -> list[str]:
        """Warnings for a reader of the results."""
        found = (self.provenance.sources.warning, self.study.shared_truth())
        return [text for text in (*found, *self.provenance.suspicious) if text]

    @property
    def t(self) -> Indices:
        """The rounds at which curves are stored."""
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
        """The setting of an agent with the lowest mean regret on its tuning seeds.

        Other seeds may be given, for instance the reported ones: that is how the paper
        chose, and it flatters the agent with the most settings.
        """
        chosen = self.study.tuning_seeds(name) if seeds is None else seeds
        settings = self.study.agents[name]
        if len(settings) == 1:
            return settings[0]
        if not chosen:
            raise SettingError(f"Study {self.study.name!r} has no seeds to tune {name} on.")
        return min(settings, key=lambda agent: float(self.final(agent, chosen).mean()))

    def label(self, name: str) -> str:
        """An agent's name, with the chosen values of the settings that were tuned."""
        varied = self.study.varied(name)
        chosen = self.tuned(name)
        settings = [f"{setting} = {_shown(getattr(chosen, setting, None))}" for setting in varied]
        return f"{name} ({', '.join(settings)})" if settings else name

    def difference(self, ours: str, theirs: str, level: float = LEVEL) -> Difference:
        """By which share one agent's regret is below another's, on the reported seeds.

        A study with ``decide`` gets a confidence sequence, which holds after every seed; any
        other study gets Student's interval.
        """
        compare = less_regret if self.study.decide is None else running_less_regret
        return compare(self.final(self.tuned(ours)), self.final(self.tuned(theirs)), level=level)

    def pairs(self) -> list[Pair]:
        """Every two agents compared."""
        from tellback.lab.pairs import all_pairs

        return all_pairs(self)

    @property
    def is_decided(self) -> bool:
        """Whether no more seeds are needed: the comparison is decided, or the budget spent."""
        decide = self.study.decide
        if decide is None or len(self.study.reported) >= decide.at_most:
            return True
        finals = [self.final(self.tuned(name)) for name in decide.between]
        if len(self.study.reported) < 2 or not all(final.mean() > 0 for final in finals):
            return False
        # In the order of the report: the share is of the larger regret.
        ours, theirs = (name for name in self.ranked() if name in decide.between)
        return self.difference(ours, theirs).verdict != "undecided"

    def ranked(self) -> list[str]:
        """The agents, the one with the least mean regret on the reported seeds first."""
        means = {name: float(self.final(self.tuned(name)).mean()) for name in self.study.agents}
        return sorted(means, key=lambda name: means[name])

    def stated(self, name: str) -> str:
        """The mean final regret of an agent with its interval, in words."""
        final = self.final(self.tuned(name))
        if len(final) < 2:
            return f"{final[0]:.4g} (one run: no interval)"
        return str(mean_regret(final, at_most=self.study.rounds))

    def table(self) -> polars.DataFrame:
        """Every curve: a row for each agent, setting, seed and stored round."""
        import polars

        points = len(self.t)
        finals = self.finals()
        repeated = finals.drop("regret").select(polars.all().repeat_by(points).explode())
        curves = np.concatenate([self._curves[run] for run in self._curves])
        return repeated.with_columns(
            polars.Series("t", np.tile(self.t, finals.height)), polars.Series("regret", curves)
        )

    def finals(self) -> polars.DataFrame:
        """The final regret of every run, a row each."""
        import polars

        name_of = {agent: name for name, grid in self.study.agents.items() for agent in grid}
        runs = list(self._curves)
        tuning = set(self.study.tuning)
        labels = {agent: agent.label() for agent in name_of}
        return polars.DataFrame(
            {
                "study": [self.study.name] * len(runs),
                "agent": [name_of[agent] for agent, _ in runs],
                "setting": [labels[agent] for agent, _ in runs],
                "seeds": ["tuning" if seed in tuning else "reported" for _, seed in runs],
                "seed": [seed for _, seed in runs],
                "run": [self._identities[run] for run in runs],
                "source": self.provenance.source,
                "regret": [float(self._curves[run][-1]) for run in runs],
            }
        )

    def pandas(self) -> Any:
        """``table()`` as a pandas data frame."""
        demand_extra("pandas", ("pandas", "pyarrow"), "A pandas data frame")
        return self.table().to_pandas()

    def plot(self) -> Plot:
        """Mean regret of every agent with its band; ``plot().save("regret.pdf")`` writes it."""
        from tellback.lab.charts.regret import REGRET

        if not REGRET.applies(self):
            raise SettingError("A figure with bands needs regret, on two reported seeds or more.")
        return REGRET.of(self).plot()

    def __repr__(self) -> str:
        try:
            regret = [f"{name} {self.final(self.tuned(name)).mean():.4g}" for name in self.ranked()]
        except SettingError:  # not all of its runs were read
            regret = [f"{counted(len(self._curves), 'run')} so far"]
        return f"<Results of {self.study!r}: mean final regret {', '.join(regret)}>"

    def _repr_html_(self) -> str:
        from tellback.lab.report.tables import results_html

        return results_html(self)


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
