"""A search for the defaults of ``Deviations`` and ``Keywords``, on tuning seeds.

    python -m benchmarks.defaults [--trial] [--results FOLDER] [--workers N]

Every setting of a grid plays seeds from 1000 on, which the league never reports, in the worlds of
the league where the default would be used. A setting's score is its mean regret as a share of the
best setting's in that world, averaged over the worlds: the lowest is chosen, and printed beside
the current default. If the best setting in one world is the worst in another, the choice is a
compromise. ``--trial`` plays a few short runs, as a smoke test.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from tellback.agents import Deviations, Greedy
from tellback.agents.deviations import SMOOTHING
from tellback.lab import Store, Study, run_studies
from tellback.lab.engines import Engine, engine_named
from tellback.lab.results import Results
from tellback.league.plan import LeagueWorld, league_worlds
from tellback.models import Keywords, Mixture
from tellback.roles import AgentSpec

SHOWN = 8  # settings, the best first


@dataclass(frozen=True)
class Search:
    """A grid, and where it is played.

    Parameters
    ----------
    name : str
        The name of the search.
    where : tuple of str
        The worlds of the league, by name.
    settings : dict of str to AgentSpec
        The grid; the default is among them.
    default : str
        The current default, by name.
    seeds : int
        The number of tuning seeds, from 1000 on.
    """

    name: str
    where: tuple[str, ...]
    settings: dict[str, AgentSpec]
    default: str
    seeds: int

    def studies(self, trial: bool) -> list[Study]:
        """One in each world, on tuning seeds alone."""
        played = _few(self.settings, self.default) if trial else self.settings
        return [
            Study(
                name=f"{self.name}: {place.name}",
                world=place.world,
                agents={name: (agent,) for name, agent in played.items()},
                rounds=40 if trial else place.rounds,
                tuning=(),
                reported=tuple(range(1000, 1000 + (2 if trial else self.seeds))),
            )
            for place in _named_worlds(self.where)
        ]

    def told(self, found: list[Results]) -> list[str]:
        """Lines with the best settings and their scores, and the current default."""
        names = list(found[0].study.agents)
        regrets = np.array([[_mean(one, name) for name in names] for one in found])
        scores = (regrets / regrets.min(axis=1, keepdims=True)).mean(axis=0)
        order = np.argsort(scores, kind="stable").tolist()
        default = names.index(self.default)
        lines = [f"{self.name}: {len(names)} settings, {len(found[0].study.reported)} tuning seeds"]
        lines.append(f"{'':<44} {'score':>6}  " + "  ".join(f"{w:>14}" for w in self.where))
        for which in dict.fromkeys([*order[:SHOWN], default]):
            mark = "  (the default)" if which == default else ""
            cells = "  ".join(f"{regret:>14.4g}" for regret in regrets[:, which])
            lines.append(f"{names[which]:<44} {scores[which]:>6.3f}  {cells}{mark}")
        chosen = names[order[0]]
        verdict = "which is the default" if chosen == self.default else "which is not the default"
        place = order.index(default) + 1
        lines.append(
            f"Chosen: {chosen}, {verdict}: {self.default}, number {place} of {len(names)}, whose "
            f"score is {scores[default] / scores[order[0]] - 1:.1%} higher."
        )
        return lines


def searches() -> tuple[Search, ...]:
    """All searches: deviations with fixed and with changing responses, and key words."""
    shared = tuple(product((3.0, 10.0, 30.0), (0.05, 0.2, 0.5)))

    def deviations(ks: Iterable[float]) -> dict[str, AgentSpec]:
        return {
            _deviations(k, spread, smoothing): Deviations(
                k=k, spread=spread, model=Mixture(smoothing=smoothing)
            )
            for k, (spread, smoothing) in product(ks, shared)
        }

    words: dict[str, AgentSpec] = {
        _words(model): Greedy(model=model)
        for model in (
            Keywords(waves, lam=lam, noise=noise)
            for waves, lam, noise in product((100, 200), (0.03, 0.1, 0.3), (0.3, 1.0, 3.0))
        )
    }
    usual = Deviations()
    return (
        Search(
            "Deviations, responses that stay",
            ("printed", "transposed"),
            deviations((0.6, 1.2, 2.4)),
            _deviations(1.2, usual.spread, SMOOTHING),
            seeds=20,
        ),
        Search(
            "Deviations, responses that change",
            ("fresh contexts",),
            deviations((0.3, 0.6, 1.2)),
            _deviations(0.6, usual.spread, SMOOTHING),
            seeds=20,
        ),
        Search(
            "Keywords",
            ("images, canon", "images, jitter", "free wordings"),
            words,
            _words(Keywords()),
            seeds=5,
        ),
    )


def run(trial: bool, store: Store, on: Engine | None = None) -> list[str]:
    """Play all searches; returns the lines to print."""
    lines: list[str] = []
    for search in searches():
        lines += [*search.told(run_studies(search.studies(trial), store, on=on)), ""]
    return lines


def _deviations(k: float, spread: float, smoothing: float) -> str:
    return f"k = {k:g}, spread = {spread:g}, smoothing = {smoothing:g}"


def _words(model: Keywords) -> str:
    return f"waves = {model.waves}, lam = {model.lam:g}, noise = {model.noise:g}"


def _few(settings: dict[str, AgentSpec], default: str) -> dict[str, AgentSpec]:
    return {name: settings[name] for name in dict.fromkeys([next(iter(settings)), default])}


def _named_worlds(names: tuple[str, ...]) -> list[LeagueWorld]:
    every = {place.name: place for place in league_worlds()}
    return [every[name] for name in names]


def _mean(results: Results, name: str) -> float:
    return float(results.final(results.tuned(name)).mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trial", action="store_true", help="a few short runs")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--workers", type=int, default=None)
    given = parser.parse_args()
    engine = engine_named("here", given.workers)
    print("\n".join(run(given.trial, Store(given.results / "runs"), engine)))
