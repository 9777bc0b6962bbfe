"""The tables of the league."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tellback.lab.compare import Difference
from tellback.lab.report import Section
from tellback.lab.results import Results
from tellback.league.agents import RECOMMENDED
from tellback.league.plan import LeagueWorld

Found = Mapping[str, Results]
"""The results of studies by their name."""


def league_section(worlds: Sequence[LeagueWorld], found: Found) -> Section:
    """Mean and median regret of every agent in every world."""
    names = list(dict.fromkeys(name for g in worlds for name in found[g.name].study.agents))
    rows = [(name, *(_cell(found[g.name], name) for g in worlds)) for name in names]
    titles = [f"{g.name}, T = {found[g.name].study.rounds:,}" for g in worlds]
    return Section(
        "Every agent in every world: mean regret [95%], median", ("agent", *titles), rows
    )


def settings_section(worlds: Sequence[LeagueWorld], found: Found) -> Section:
    """The chosen settings, and the seeds."""
    headers = ("world", "agent", "settings", "tuned on", "reported on")
    rows = [
        (
            place.name,
            name,
            found[place.name].tuned(name).label(),
            _seeds(found[place.name].study.tuning),
            _seeds(found[place.name].study.reported),
        )
        for place in worlds
        for name in found[place.name].study.agents
    ]
    return Section("Settings", headers, rows)


def bars_section(worlds: Sequence[LeagueWorld], found: Found) -> Section:
    """The share of its rival's regret that the recommended agent saves, and whether it is enough.

    A bar is reached if the mean saving is at least that much and its interval excludes zero.
    """
    headers = ("world", "recommended", "against", "must save", "saves", "seeds", "verdict")
    rows = []
    for place in worlds:
        results = found[f"{place.name}: the bar"]
        saved = results.difference(RECOMMENDED, place.rival)
        rows.append(
            (
                place.name,
                results.tuned(RECOMMENDED).label(),
                f"{place.rival}: {results.tuned(place.rival).label()}{edges(results, place)}",
                f"{place.bar:.0%}",
                str(saved),
                _seeds(results.study.reported),
                "reached" if reached(saved, place) else "not reached",
            )
        )
    return Section("The recommended agent", headers, rows)


def reached(saved: Difference, place: LeagueWorld) -> bool:
    """Whether a bar is reached."""
    return saved.less >= place.bar and saved.verdict == "less"


def _cell(results: Results, name: str) -> str:
    if name not in results.study.agents:
        return ""
    final = results.final(results.tuned(name))
    return f"{results.stated(name)}, {np.median(final):.3g}"


def edges(results: Results, place: LeagueWorld) -> str:
    """A note on settings of the rival that are the lowest or the highest of its grid."""
    tuned, grid = results.tuned(place.rival), results.study.agents[place.rival]
    tried = {
        name: [getattr(one, name) for one in grid] for name in results.study.varied(place.rival)
    }
    edges = [
        name
        for name, values in tried.items()
        if isinstance(values[0], float) and getattr(tuned, name) in (min(values), max(values))
    ]
    return f" (on the edge of its grid: {', '.join(edges)})" if edges else ""


def _seeds(seeds: Sequence[int]) -> str:
    return f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
