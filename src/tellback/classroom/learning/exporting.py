"""Exporting a lesson: all of it as JSON lines or as a table, or its rounds as an off-policy log.

Lines are read from the database some at a time: neither memory nor a transaction grows with the
lesson.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tellback.classroom.learning.content import features_from
from tellback.classroom.store.database import Connection, Database
from tellback.classroom.store.lessons import LessonRow
from tellback.classroom.store.log import Event, Kind, read_events
from tellback.classroom.store.rounds import find_round, read_rounds
from tellback.classroom.store.tasks import find_pictures, find_task
from tellback.off_policy.log_file import LogEntry
from tellback.off_policy.log_file import header as log_header
from tellback.recordings.exporting import write_parquet
from tellback.roles import ACCOUNT, Task
from tellback.specs import Data

FORMAT = {"format": "tellback lesson", "version": 1}
AT_A_TIME = 100


def export_lesson(
    database: Database, lesson: LessonRow, dim: int, images: bool = False
) -> Iterator[Data]:
    """A lesson: its definition, then its events in order, with the task of each round."""
    about = {"id": lesson.id, "name": lesson.name, "created": lesson.created}
    definition = {"definition": lesson.definition}
    yield FORMAT | {"lesson": about | definition, "events": lesson.events}
    for done in range(0, lesson.events, AT_A_TIME):
        upto = min(done + AT_A_TIME, lesson.events)
        with database.read() as connection:
            for event in list(read_events(connection, lesson.id, after=done, upto=upto)):
                line: Data = event._asdict() | {"kind": event.kind.value}
                if event.kind is Kind.ASKED:
                    line["shown"] = _shown(connection, lesson.id, event, dim, images)
                    line["wants_second"] = _wants_second(connection, lesson.id, event)
                yield line


def _wants_second(connection: Connection, lesson: str, event: Event) -> bool:
    assert event.round is not None
    return find_round(connection, lesson, event.round).wants_second


def _shown(
    connection: Connection, lesson: str, event: Event, dim: int, images: bool
) -> dict[str, Any]:
    assert event.round is not None
    task = find_task(connection, lesson, event.round)
    shown: dict[str, Any] = {
        "context": task.context,
        "features": features_from(task.features, dim).tolist(),
        "texts": task.texts,
    }
    if images:
        pictures = find_pictures(connection, lesson, event.round)
        encoded = [base64.b64encode(png).decode() for png in pictures]
        shown["images"] = None if task.images is None else encoded
        shown["drawing"] = task.drawing
    return shown


def export_rounds(
    database: Database, lesson: LessonRow, dim: int, propensities: str
) -> Iterator[Data]:
    """The rounds of a lesson as ``tellback.off_policy.Log.load`` reads them.

    A round without an active description has none here either.

    Parameters
    ----------
    database, lesson, dim
        The lesson, and the number of features of its responses.
    propensities : str
        How the agent's propensities are known: ``agent.propensities``.
    """
    yield log_header(propensities)
    for done in range(0, lesson.rounds, AT_A_TIME):
        with database.read() as connection:
            for row, asked, told in read_rounds(connection, lesson.id, done, AT_A_TIME):
                number = row.number
                if number > lesson.rounds:
                    return  # it was asked since
                found = find_task(connection, lesson.id, number)
                yield {"features": features_from(found.features, dim).tolist()}
                task = Task(found.context, asked["instruction"], None)
                yield _entry(task, asked, told).to_data(responses=number - 1)


def _entry(task: Task, asked: Data, told: Data | None) -> LogEntry:
    """A round of the log by its events: what was asked, and its active description."""
    stated = asked["propensity"]
    return LogEntry(
        task=task,
        response=asked["response"],
        propensity=math.nan if stated is None else stated,
        description=told["description"] if told else None,
        match=float(told["matched"]) if told and told["matched"] is not None else math.nan,
        teacher_saw_request=told["saw_request"] if told else False,
    )


def write_table(lines: Iterator[Data], path: Path, scratch: Path) -> None:
    """Write a lesson as a Parquet table, an event a row, without holding it in memory.

    Parameters
    ----------
    lines : iterator
        The lines of ``export_lesson``.
    path, scratch : Path
        Where to write, and a temporary file for the lines.
    """
    header, schema = next(lines), _schema()
    rows = (_row(line, schema) for line in lines)
    write_parquet(rows, schema, path, scratch, {"tellback": json.dumps(header)})


def _row(line: Data, columns: Iterable[str]) -> Data:
    found = {**line["data"], **line.get("shown", {}), **line, "data": json.dumps(line["data"])}
    for name in ("instruction", "description"):
        found[name] = None if found.get(name) is None else str(found[name])
    return {name: found.get(name) for name in columns}


def _schema() -> dict[str, Any]:
    import polars as pl

    whole, real, text, yes = pl.Int64(), pl.Float64(), pl.String(), pl.Boolean()
    return {
        "seq": whole,
        "kind": text,
        "round": whole,
        "account": text,
        "at": real,
        "instruction": text,
        "description": text,
        "response": whole,
        **dict.fromkeys(ACCOUNT, real),
        "version": whole,
        "saw_request": yes,
        "matched": yes,
        "context": text,
        "features": pl.List(pl.List(real)),
        "texts": pl.List(text),
        "images": pl.List(text),
        "data": text,
    }
