"""``tellback data``: recordings in files, checked and converted."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tellback.cli.as_json import print_json
from tellback.cli.options import Json
from tellback.cli.show import console

if TYPE_CHECKING:
    from tellback.recordings import Recording

app = typer.Typer(
    help="Recordings: responses that people have described, in files.", no_args_is_help=True
)

Steps = Annotated[
    bool, typer.Option("--steps", help="Take each described step as a response of its own.")
]


@app.command()
def check(
    file: Annotated[
        Path, typer.Argument(help="A .jsonl or .csv file, .gz or not, or a folder of ALFRED's.")
    ],
    candidates: Annotated[
        int, typer.Option(help="How many responses a round shall show.", min=2)
    ] = 5,
    steps: Steps = False,
    as_json: Json = False,
) -> None:
    """Say what there is in a recording, or what is wrong in it, with line numbers.

    Example: tellback data check recording.jsonl --candidates 20
    """
    from tellback.recordings import MOST_FAULTS, faults, read
    from tellback.recordings.summary import Summary

    wrong = faults(file)
    if wrong:
        if as_json:
            print_json({"file": str(file), "faults": [fault._asdict() for fault in wrong]})
        else:
            more = f"; there may be more than {MOST_FAULTS}" if len(wrong) == MOST_FAULTS else ""
            _print(*wrong, f"{len(wrong)} faults{more}.", stderr=True)
        raise typer.Exit(1)
    recording = read(file, level="steps" if steps else "whole")
    digest = (read(file) if steps else recording).digest  # of the whole file, as in Recorded.sha256
    counted = Summary.of(recording)
    features, row_of = _features(recording)
    enough = _groups_with(recording, row_of, candidates)
    if as_json:
        data = {"file": str(file), "sha256": digest, **asdict(counted), "faults": []}
        print_json({**data, "features": features, "candidates": candidates, "enough": enough})
        return
    _print(
        f"{file}: no faults",
        f"responses     {counted.responses:,} in {counted.groups:,} groups, with "
        f"{counted.goals:,} different goals; {counted.undescribed:,} not described",
        f"descriptions  {counted.descriptions:,} by {counted.people:,} people, and "
        f"{counted.unknown:,} by people not named",
        f"words         {counted.words:,} different; {counted.length:.1f} in a description",
        f"steps         {counted.steps:,} described" + ("" if steps else " (--steps)"),
        f"features      {features}",
        f"candidates    {enough:,} of {counted.groups:,} groups have {candidates} that differ in "
        "goal and features and that two people have described",
        f"sha256        {digest}",
    )


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="A recording in any layout.")],
    target: Annotated[Path, typer.Argument(metavar="TO", help="A .jsonl or .jsonl.gz file.")],
    steps: Steps = False,
    as_json: Json = False,
) -> None:
    """Write a recording as lines of JSON, in the layout of tellback.

    Example: tellback data convert alfred/train recording.jsonl.gz
    """
    from tellback.recordings import read, write

    recording = read(source, level="steps" if steps else "whole")
    write(target, recording)
    if as_json:
        print_json({"file": str(target), "responses": len(recording), "sha256": recording.digest})
    else:
        _print(f"{target}: {recording!r}")


def _features(recording: Recording) -> tuple[str, tuple[int, ...]]:
    """What the features will be, in words, and which responses will have the same."""
    from tellback.errors import SettingError
    from tellback.recordings import Recording
    from tellback.recordings.features import Columns

    pictured = any(response.image for response in recording)
    plain = Recording(tuple(replace(response, image="") for response in recording))
    try:
        columns = Columns.of(plain)
        said, row_of = str(columns), columns.rows(plain).row_of
    except SettingError as error:
        said, row_of = "" if pictured else str(error), (0,) * len(plain)
    if pictured:
        by_encoder = "those of the pictures, by the encoder that you choose"
        said = f"{said}, and {by_encoder}" if said else by_encoder
        row_of = tuple(range(len(plain)))
    return said, row_of


def _groups_with(recording: Recording, row_of: tuple[int, ...], candidates: int) -> int:
    """How many groups have enough candidates."""
    import numpy as np

    from tellback.errors import SettingError
    from tellback.recordings.features import FeatureRows
    from tellback.worlds.recorded_pool import Pool, Split

    try:
        rows = FeatureRows(np.empty((0, 0)), row_of)
        return len(Pool(recording, rows, Split(), candidates).groups)
    except SettingError:  # no group has
        return 0


def _print(*lines: object, stderr: bool = False) -> None:
    for line in lines:
        console(stderr).print(str(line), markup=False, highlight=False, soft_wrap=True)
