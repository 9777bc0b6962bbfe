"""Write the tables and the plot of docs/speed.md from the kept results.

    python -m benchmarks.page

Each table stands between two comments that name it. A result that is not there leaves its table
as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.kept import RESULTS, kept
from tellback.figures import new_figure, save_figure, styled

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
PLOT = PAGE.parent / "images" / "speed.png"
Measured = dict[str, dict[str, Any]]


def few(measured: Measured) -> Iterable[list[str]]:
    """Rounds against bare NumPy."""
    yield ["act and learn, microseconds a round", "tellback", "bare NumPy", "ratio"]
    for name, found in measured.items():
        if "ratio" in found:
            times = [f"{found[side]:.1f}" for side in ("tellback us", "numpy us")]
            yield [name, *times, f"{found['ratio']:.2f}"]


def many(measured: Measured) -> Iterable[list[str]]:
    """Both searches among many responses."""
    times = {"read ms": ".2f", "scan ms": ".2f", "pruned ms": ".2f", "scan over pruned": ".1f"}
    ratios = ("all rounds, pruned over scan", "slowest round, pruned over scan")
    shares = ("share of read bandwidth", "share, all threads")
    columns = times | dict.fromkeys(ratios, ".2f") | dict.fromkeys(shares, ".0%")
    yield ["many fixed responses, in clusters", *columns]
    for name, found in measured.items():
        if "scan ms" in found:
            yield [name, *(format(found[c], f) if c in found else "" for c, f in columns.items())]


def peers(measured: Measured) -> Iterable[list[str]]:
    """Other libraries: microseconds a round, in the order of the first cell."""
    names = list(dict.fromkeys(name for found in measured.values() for name in found))
    yield ["microseconds a round", *names]
    for cell, found in measured.items():
        yield [cell, *(_microseconds(found.get(name)) for name in names)]


def versions(machine: dict[str, Any]) -> Iterable[list[str]]:
    """Which versions of the libraries were measured."""
    yield ["library", "version"]
    yield from ([name, version] for name, version in machine["peers"].items())


def figures(measured: dict[str, float]) -> Iterable[list[str]]:
    """Single figures."""
    yield ["what", "measured"]
    for name, value in measured.items():
        yield [name, f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"]


def start(measured: Measured) -> Iterable[list[str]]:
    """Start-up, as a ratio to ``import numpy``."""
    yield ["CPU time over that of `import numpy`", "warm", "cold"]
    yield from ([name, f"{of['warm']:.1f}", f"{of['cold']:.1f}"] for name, of in measured.items())


def long_runs(measured: Measured) -> Iterable[list[str]]:
    """A row for each million of rounds."""
    yield ["after", *next(iter(measured.values()))]
    yield from ([name, *(f"{value:.3g}" for value in of.values())] for name, of in measured.items())


def approximate(measured: Measured) -> Iterable[list[str]]:
    """The cost of the approximate search in regret, and time."""
    searches = ("scan", "pruned", "approximate")
    yield [
        "fixed responses",
        *("regret, scan", "approximate", "more regret [95%]", "n"),
        *(f"{search}, ms a round" for search in searches),
    ]
    for name, found in measured.items():
        mean, low, high = found["more regret"]
        yield [
            name,
            *(f"{found[what]:.3g}" for what in ("regret, scan", "regret, approximate")),
            f"{mean:.2g} [{low:.2g}, {high:.2g}]",
            str(found["n"]),
            *(f"{found[f'{search} ms']:.2f}" for search in searches),
        ]


def machine(about: dict[str, Any]) -> Iterable[list[str]]:
    """Where it was measured."""
    yield ["", ""]
    yield from (
        [name, str(value)] for name, value in about.items() if name not in ("peers", "load")
    )


TABLES: dict[str, tuple[str, str, Callable[[Any], Iterable[list[str]]]]] = {
    "few": ("responses", "measured", few),
    "many": ("responses", "measured", many),
    "machine": ("responses", "machine", machine),
    "peers": ("peers", "measured", peers),
    "versions": ("peers", "machine", versions),
    "large action space": ("large_action_space", "measured", peers),
    "cluster": ("cluster", "measured", figures),
    "lab": ("lab", "measured", figures),
    "long runs": ("long_runs", "measured", long_runs),
    "torch study": ("torch_study", "measured", figures),
    "approximate": ("approximate", "measured", approximate),
    "start-up": ("startup", "measured", start),
}


def write_page() -> None:
    """Replace every table whose results are kept, and draw the plot."""
    text = PAGE.read_text()
    for name, (file, part, rows) in TABLES.items():
        if (RESULTS / f"{file}.json").exists():
            lines = ["| " + " | ".join(row) + " |" for row in rows(kept(file)[part])]
            lines.insert(1, "|---" * (lines[0].count("|") - 1) + "|")
            if part == "measured":
                lines += ["", f"The machine's load was {kept(file)['machine']['load']}."]
            mark = re.escape(f"<!-- {name} -->")
            table = f"<!-- {name} -->\n\n" + "\n".join(lines) + f"\n\n<!-- end of {name} -->"
            pattern = mark + r".*?" + re.escape(f"<!-- end of {name} -->")
            table = table.replace("\\", r"\\")  # no reference to a group
            text, count = re.subn(pattern, table, text, flags=re.DOTALL)
            assert count == 1, f"{PAGE.name} has {count} places for the table {name!r}"
    PAGE.write_text(text)
    with styled():
        _plot(kept("responses")["measured"])


def _plot(measured: Measured) -> None:
    """Milliseconds a round by the number of responses."""
    figure = new_figure(7, 4)
    axes = figure.add_subplot(xscale="log", yscale="log")
    for dim, colour in ((16, "C0"), (64, "C1")):
        for what, style in (("scan ms", "-o"), ("pruned ms", "--s"), ("read ms", ":")):
            points = [
                (_count(name), found[what])
                for name, found in measured.items()
                if f"d = {dim}, float32" in name and what in found
            ]
            if what == "scan ms":
                few = [
                    (_count(name), found["tellback us"] / 1e3)
                    for name, found in measured.items()
                    if f"d = {dim}, fixed" in name and _count(name) != 2000
                ]
                points = few + points
            if points:
                label = f"{what.split(' ms')[0]}, d = {dim}"
                axes.plot(*zip(*points, strict=True), style, color=colour, label=label)
    axes.set_xlabel("fixed responses, K")
    axes.set_ylabel("milliseconds a round, one thread")
    axes.grid(alpha=0.3)
    axes.legend()
    save_figure(figure, PLOT)


def _count(name: str) -> int:
    return int(name.split(",")[0].split("=")[1])


def _microseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1e6 * seconds:,.1f}"


if __name__ == "__main__":
    write_page()
