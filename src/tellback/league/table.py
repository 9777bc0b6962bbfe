"""The league table, and the bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tellback.lab.compare import Difference
from tellback.lab.report import Section
from tellback.lab.results import Results
from tellback.league.fields import RECOMMENDED
from tellback.league.plan import Ground

Found = Mapping[str, Results]
"""The results of studies by their name."""


def league_section(grounds: Sequence[Ground], found: Found) -> Section:
    """Mean and median regret of every agent in every world."""
    names = list(dict.fromkeys(name for g in grounds for name in found[g.name].study.agents))
    rows = [(name, *(_cell(found[g.name], name) for g in grounds)) for name in names]
    titles = [f"{g.name}, T = {found[g.name].study.rounds:,}" for g in grounds]
    return Section(
        "Every agent in every world: mean regret [95%], median", ("agent", *titles), rows
    )


def settings_section(grounds: Sequence[Ground], found: Found) -> Section:
    """The settings that were chosen, and the seeds."""
    headers = ("world", "agent", "settings", "tuned on", "reported on")
    rows = [
        (
            ground.name,
            name,
            found[ground.name].tuned(name).label(),
            _seeds(found[ground.name].study.tuning),
            _seeds(found[ground.name].study.reported),
        )
        for ground in grounds
        for name in found[ground.name].study.agents
    ]
    return Section("Settings", headers, rows)


def bars_section(grounds: Sequence[Ground], found: Found) -> Section:
    """What the recommended agent saves against its rival, and whether that is enough.

    A bar is reached if the mean saving is at least that much and its interval excludes zero.
    """
    headers = ("world", "recommended", "against", "shall save", "saves", "seeds", "verdict")
    rows = []
    for ground in grounds:
        results = found[f"{ground.name}: the bar"]
        saved = results.difference(RECOMMENDED, ground.rival)
        rows.append(
            (
                ground.name,
                results.tuned(RECOMMENDED).label(),
                f"{ground.rival}: {results.tuned(ground.rival).label()}{edges(results, ground)}",
                f"{ground.bar:.0%}",
                str(saved),
                _seeds(results.study.reported),
                "reached" if reached(saved, ground) else "not reached",
            )
        )
    return Section("The recommended agent", headers, rows)


def reached(saved: Difference, ground: Ground) -> bool:
    """Whether a bar is reached."""
    return saved.less >= ground.bar and saved.verdict == "less"


def _cell(results: Results, name: str) -> str:
    if name not in results.study.agents:
        return ""
    final = results.final(results.tuned(name))
    return f"{results.stated(name)}, {np.median(final):.3g}"


def edges(results: Results, ground: Ground) -> str:
    """Which settings of the rival are the lowest or the highest that were tried."""
    tuned, grid = results.tuned(ground.rival), results.study.agents[ground.rival]
    tried = {
        name: [getattr(one, name) for one in grid] for name in results.study.varied(ground.rival)
    }
    edges = [
        name
        for name, values in tried.items()
        if isinstance(values[0], float) and getattr(tuned, name) in (min(values), max(values))
    ]
    return f" (on the edge of its grid: {', '.join(edges)})" if edges else ""


def _seeds(seeds: Sequence[int]) -> str:
    return f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
