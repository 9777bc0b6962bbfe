"""Examples as training data for others: chat messages, Parquet, or a recording."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from tellback.errors import SettingError, one_of
from tellback.extras import demand_extra
from tellback.files import atomic_write
from tellback.recordings.examples import Example
from tellback.specs import Data

CHAT, PARQUET, RECORDING = "chat", "parquet", "recording"
FORMATS = (CHAT, PARQUET, RECORDING)
SUFFIX = {CHAT: ".jsonl", PARQUET: ".parquet", RECORDING: ".jsonl"}


def chat_lines(
    examples: Iterable[Example], context: bool = True, candidates: bool = False
) -> Iterator[Data]:
    """The lines of a file of chat messages; see ``Example.to_chat``."""
    return (example.to_chat(context, candidates) for example in examples)


def recording_lines(examples: Iterable[Example], group: str) -> Iterator[Data]:
    """The lines of a recording; ``group`` is for want of a context.

    Examples of one response that follow each other become one line with all their descriptions.
    """
    for _, alike in groupby(examples, key=attrgetter("id")):
        example, *others = alike
        recorded = example.to_recorded(group)
        said = (one.to_recorded(group).descriptions for one in others)
        recorded = replace(recorded, descriptions=sum(said, recorded.descriptions))
        if not (example.recorded or recorded.features or recorded.text):
            raise SettingError(
                f"{example.id} has neither features nor a text: a recording needs one of them."
            )
        yield recorded.to_data()


def export_examples(
    examples: Iterable[Example],
    path: str | Path,
    format: str,
    *,
    context: bool = True,
    candidates: bool = False,
    group: str = "all",
) -> int:
    """Write examples to a file, whole or not at all. Returns how many.

    Parameters
    ----------
    examples : iterable of Example
        From ``examples_of(recording)``, ``log.examples()`` or a lesson.
    path : str or Path
        A .jsonl file for "chat" and "recording", and a .parquet file for "parquet".
    format : "chat", "parquet" or "recording"
        Messages, which fine-tuning tools read; a table with all that is known; or a recording,
        from which an agent can be taught again.
    context, candidates : bool
        As in ``Example.to_chat``.
    group : str
        The group of a recorded response without a context.
    """
    path, format = Path(path), one_of("format", format, FORMATS)
    if path.suffix != SUFFIX[format]:
        raise SettingError(f"The format {format!r} is for a {SUFFIX[format]} file, not {path}.")
    counted = _Counted(examples)
    with atomic_write(path) as temporary:
        if format == PARQUET:
            _write_table(counted, temporary)
        else:
            lines = (
                chat_lines(counted, context, candidates)
                if format == CHAT
                else recording_lines(counted, group)
            )
            with temporary.open("w", encoding="utf-8") as file:
                file.writelines(f"{to_json(line)}\n" for line in lines)
    return counted.count


def to_json(line: Data) -> str:
    """A line of a file: finite numbers only, and letters as they are."""
    return json.dumps(line, ensure_ascii=False, allow_nan=False)


class _Counted:
    """Examples, counted as they pass."""

    def __init__(self, examples: Iterable[Example]) -> None:
        self._examples = examples
        self.count = 0

    def __iter__(self) -> Iterator[Example]:
        for example in self._examples:
            self.count += 1
            yield example


def _write_table(examples: Iterable[Example], path: Path) -> None:
    demand_extra("lab", ["polars"], "A Parquet file")
    import polars as pl

    types = {
        "index": pl.Int64(),
        "candidates": pl.List(pl.String()),
        "features": pl.List(pl.Float64()),
    }
    names = [one.name for one in fields(Example) if one.name != "recorded"]
    schema = {name: types.get(name, pl.String()) for name in names}
    rows = (_row(example, names) for example in examples)
    with tempfile.TemporaryDirectory(prefix="tellback-") as folder:
        write_parquet(rows, schema, path, Path(folder) / "lines")


def _row(example: Example, names: list[str]) -> Data:
    return {name: getattr(example, name) for name in names} | {"response": example.answer}


def write_parquet(
    rows: Iterable[Data],
    schema: Mapping[str, Any],
    path: Path,
    scratch: Path,
    metadata: dict[str, str] | None = None,
) -> None:
    """Write rows as a Parquet table, without holding them in memory.

    Parameters
    ----------
    rows : iterable of dict
        A value for each column.
    schema : dict
        The columns, and their types in polars.
    path, scratch : Path
        Where to write, and a temporary file for the rows as lines of JSON.
    metadata : dict, optional
        Kept with the table.
    """
    import polars as pl

    with scratch.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    if scratch.stat().st_size == 0:
        pl.DataFrame(schema=schema).write_parquet(path, metadata=metadata)
        return
    pl.scan_ndjson(scratch, schema=dict(schema)).sink_parquet(path, metadata=metadata)
