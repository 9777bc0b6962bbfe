"""Runs side by side: the same tasks, other agents."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tellback.errors import SettingError
from tellback.extras import demand_extra
from tellback.run import Run

if TYPE_CHECKING:
    from tellback.figures import Plot


def compare(*runs: Run) -> Compared:
    """Compare runs that met the same tasks: same world, same seed, same rounds.

    One seed says little. A study (``tellback.lab.Study``, or ``tellback run``) compares agents
    on several seeds, with intervals.

    Examples
    --------
    >>> from tellback import play
    >>> from tellback.agents import Greedy, Uniform
    >>> from tellback.worlds import Synthetic
    >>> world = Synthetic(instructions=5, responses=3, rank=2)
    >>> runs = [play(world, agent, rounds=200, seed=1) for agent in (Greedy(), Uniform())]
    >>> compare(*runs).rows()[1][0].startswith("Uniform")
    True
    """
    if len(runs) < 2:
        raise SettingError("Give two runs or more to compare.")
    for run in runs:
        if not isinstance(run, Run):
            raise SettingError(f"Only runs can be compared, not {run!r}: play() returns one.")
    first = runs[0]
    for name, of in (
        ("world", lambda run: run.world_name),
        ("seed", lambda run: run.seed),
        ("number of rounds", len),
        ("start", lambda run: run.start),
    ):
        for run in runs[1:]:
            if of(run) != of(first):
                raise SettingError(
                    f"Runs are compared if they met the same tasks. These differ in their {name}: "
                    f"{of(first)} and {of(run)}."
                )
    return Compared(runs)


class Compared:
    """Runs with the same tasks. Printed, or shown in a notebook, it is a table."""

    HEADERS = (
        "agent",
        "final regret",
        "difference from the first",
        "rounds with the same response",
    )

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = tuple(runs)

    def rows(self) -> list[tuple[str, str, str, str]]:
        """A row for each run."""
        first = self.runs[0]
        of_first = float(first.regrets.sum())
        found = []
        for i, run in enumerate(self.runs):
            regret = float(run.regrets.sum())
            share = f" ({regret / of_first - 1:+.1%})" if of_first > 0 else ""
            same = sum(a == b for a, b in zip(run.responses, first.responses, strict=True))
            found.append(
                (
                    run.agent_name,
                    f"{regret:.4g}",
                    f"{regret - of_first:+.4g}{share}" if i else "",
                    f"{same / len(run):.1%}" if i else "",
                )
            )
        return found

    def plot(self) -> Plot:
        """The regret of all of them over the rounds."""
        demand_extra("lab", ["matplotlib"], "A figure")
        from tellback.figures import plot_regret

        names = [run.agent_name for run in self.runs]
        labels = [
            name if names.count(name) == 1 else f"{i}. {name}" for i, name in enumerate(names, 1)
        ]
        curves = zip(labels, (run.regret for run in self.runs), strict=True)
        return plot_regret(dict(curves), self.runs[0].start)

    def __str__(self) -> str:
        table = [self.HEADERS, *self.rows()]
        widths = [max(len(row[i]) for row in table) for i in range(len(self.HEADERS))]
        lines = ["  ".join(f"{c:<{w}}" for c, w in zip(r, widths, strict=True)) for r in table]
        return "\n".join([self._title(), *(line.rstrip() for line in lines)])

    __repr__ = __str__

    def _title(self) -> str:
        first = self.runs[0]
        return f"{first.world_name}, {len(first):,} rounds, seed {first.seed}: one seed says little"

    def _repr_html_(self) -> str:
        def row(tag: str, cells: Sequence[str]) -> str:
            inside = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
            return f"<tr>{inside}</tr>"

        rows = [row("th", self.HEADERS), *(row("td", cells) for cells in self.rows())]
        return f"<p>{html.escape(self._title())}</p><table>{''.join(rows)}</table>"
