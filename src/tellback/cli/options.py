"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ResultsFolder = Annotated[
    Path, typer.Option("--results", help="Where results are kept and looked for.")
]
Workers = Annotated[
    int | None, typer.Option(help="How many processes to use.", show_default="one a core", min=1)
]
On = Annotated[
    str,
    typer.Option(
        "--on",
        help="Where to compute: here; inline (in this process, one run after another); ray (a Ray "
        "cluster started here, or the one that RAY_ADDRESS names); ray://host:port (a "
        "cluster to join).",
    ),
]
Isolated = Annotated[
    bool,
    typer.Option(
        "--isolated",
        help="Run each agent in a process of its own, where there is no truth to find. The results "
        "are the same, bit for bit; a run takes longer.",
    ),
]
Scale = Annotated[
    float,
    typer.Option(help="Below 1: shorter runs, fewer seeds and fewer sizes, for a quick trial."),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="Also pictures that vary, the other reading of the features, what helps more than "
        "exploring, and more steps of Adam: about an hour and a half on two cores. The theory "
        "has no more.",
    ),
]
Reuse = Annotated[
    bool,
    typer.Option(
        "--reuse",
        help="Keep runs that another source of tellback has computed, instead of computing them "
        "again.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of tables and sentences.")
]
Imports = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        help="A module with specs of your own, or module:Class for a plain class. May be given "
        "repeatedly.",
    ),
]
Pdf = Annotated[bool, typer.Option("--pdf", help="Write the figures as PDF too, for a paper.")]
RESULTS = Path("results")
