"""Write measured figures into the tables of the pages, from stored results.

    python -m benchmarks.pages [--results FOLDER]

The rows of the paper's optimiser in ``docs/results.md`` (``tellback paper synthetic --full``) and
the tables of the league in ``docs/howto/which-agent.md`` (``tellback league``). A study that is not
complete is named, and its rows stay unchanged.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tellback.lab import Store, Study
from tellback.lab.compare import mean_regret
from tellback.lab.results import Results
from tellback.league.agents import RECOMMENDED
from tellback.league.plan import LeagueWorld, league_worlds
from tellback.league.table import edges, reached
from tellback.paper import optimiser
from tellback.paper.claims import claim
from tellback.paper.synthetic import CLAIMED

DOCS = Path(__file__).parents[1] / "docs"
BY_ADAM = ", by Adam,"
BEFORE_CLAIMS = "| | | transposed, ties to the first |"
AGENTS = ("LORIL", "epsilon-greedy", "greedy", "random")


def optimiser_rows(store: Store, page: Path) -> None:
    """The claim under the paper's optimiser, and the regret of all agents."""
    lines = page.read_text().splitlines()
    told = [line for line in lines if BY_ADAM in line]
    rows: tuple[list[str], list[str]] = [], []
    for study in optimiser.studies(full=True):
        starts = f"| | | {study.name} |", f"| {study.name} |"
        if found := complete(study, store):
            one = claim(found, CLAIMED)
            rows[0].append(f"{starts[0]} {one.measured} | {one.verdict} |")
            rows[1].append(f"{starts[1]} {' | '.join(map(found.stated, AGENTS))} |")
        else:
            for start, before in zip(starts, rows, strict=True):
                before += [line for line in told if line.startswith(start)]
    lines = [line for line in lines if BY_ADAM not in line]
    at = next(i for i, line in enumerate(lines) if line.startswith(BEFORE_CLAIMS)) + 1
    lines[at:at] = rows[0]
    at = lines.index("| fitted by Adam | " + " | ".join(AGENTS) + " |") + 2
    lines[at:at] = rows[1]
    page.write_text("\n".join(lines) + "\n")


def league_tables(store: Store, page: Path) -> None:
    """The savings of the recommended agent, and the regret of all agents in every world."""
    lines = page.read_text().splitlines()
    for place in league_worlds():
        league, bar = place.studies(1.0)
        if results := complete(bar, store):
            row = next(i for i, line in enumerate(lines) if line.startswith(f"| {place.name} | "))
            lines[row] = _bar(lines[row], place, results)
        if results := complete(league, store):
            _fill_column(lines, place.name, results)
    page.write_text("\n".join(lines) + "\n")


def _bar(row: str, place: LeagueWorld, results: Results) -> str:
    """The row of a world, with the rival's settings, the saving and the verdict filled in."""
    saved = results.difference(RECOMMENDED, place.rival)
    cells = [cell.strip() for cell in row.split("|")]
    cells[4] = f"{results.label(place.rival)}{edges(results, place)}"
    cells[6:8] = [str(saved), "reached" if reached(saved, place) else "not reached"]
    return " | ".join(cells).strip()


def _fill_column(lines: list[str], world: str, results: Results) -> None:
    """Put the figures of a world into its column of the table of all agents."""
    top = next(i for i, line in enumerate(lines) if line.startswith("| agent | "))
    column = [cell.strip() for cell in lines[top].split("|")].index(world)
    for row in range(top + 2, len(lines)):
        cells = [cell.strip() for cell in lines[row].split("|")]
        if len(cells) > column and cells[1] in results.study.agents:
            final = results.final(results.tuned(cells[1]))
            mean = mean_regret(final)
            cells[column] = f"{mean.mean:.3g} ±{mean.high - mean.mean:.2g} ({np.median(final):.3g})"
            lines[row] = " | ".join(cells).strip()


def complete(study: Study, store: Store) -> Results | None:
    """The results of a study; None if some of its runs are missing."""
    found = Results(study, store, partial=True)
    if found.has_all_runs():
        return found.complete()
    print(f"Not complete, and left unchanged: {study.name}")
    return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    store = Store(parser.parse_args().results / "runs")
    optimiser_rows(store, DOCS / "results.md")
    league_tables(store, DOCS / "howto" / "which-agent.md")
