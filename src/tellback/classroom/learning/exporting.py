"""Exporting a lesson: all of it as JSON lines or as a table, or its rounds as an off-policy log.

Lines are read from the database some at a time: neither memory nor a transaction grows with the
lesson.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from tellback.classroom.learning.content import Content, features_from
from tellback.classroom.store.database import Database
from tellback.classroom.store.lessons import LessonRow
from tellback.classroom.store.log import Event, Kind, event_of
from tellback.classroom.store.rounds import find_round, find_task
from tellback.classroom.store.tables import events, rounds
from tellback.off_policy.log_file import header as log_header
from tellback.specs import Data

FORMAT = {"format": "tellback lesson", "version": 1}
AT_A_TIME = 100


def export_lesson(
    database: Database, lesson: LessonRow, dim: int, images: bool = False
) -> Iterator[Data]:
    """A lesson: what it is, then its events in order, with what was shown in each round."""
    about = {"id": lesson.id, "name": lesson.name, "created": lesson.created}
    definition = {"definition": lesson.definition}
    yield FORMAT | {"lesson": about | definition, "events": lesson.events}
    for done in range(0, lesson.events, AT_A_TIME):
        upto = min(done + AT_A_TIME, lesson.events)
        query = select(events).where(
            events.c.lesson == lesson.id, events.c.seq > done, events.c.seq <= upto
        )
        with database.read() as connection:
            for row in connection.execute(query.order_by(events.c.seq)).all():
                event = event_of(row)
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
    features, packed = find_task(connection, lesson, event.round)
    content = Content.unpacked(packed)
    shown: dict[str, Any] = {
        "context": content.context,
        "features": features_from(features, dim).tolist(),
        "texts": content.texts,
    }
    return shown | {"images": content.images} if images else shown


def export_rounds(
    database: Database, lesson: LessonRow, dim: int, propensities: str
) -> Iterator[Data]:
    """The rounds of a lesson as ``tellback.off_policy.Log.load`` reads them.

    A round without an active description has none here either.

    Parameters
    ----------
    database, lesson, dim
        What, and how many features its responses have.
    propensities : str
        How the agent's propensities are known: ``agent.propensities``.
    """
    yield log_header(propensities)
    asked = events.alias("asked")
    query = (
        select(rounds.c.number, asked.c.data, events.c.data)
        .join(asked, (asked.c.lesson == rounds.c.lesson) & (asked.c.seq == rounds.c.asked))
        .outerjoin(
            events, (events.c.lesson == rounds.c.lesson) & (events.c.seq == rounds.c.described)
        )
        .where(rounds.c.lesson == lesson.id)
        .order_by(rounds.c.number)
    )
    for done in range(0, lesson.rounds, AT_A_TIME):
        some = query.where(rounds.c.number > done, rounds.c.number <= done + AT_A_TIME)
        with database.read() as connection:
            for number, asked_data, described_data in connection.execute(some).all():
                features, packed = find_task(connection, lesson.id, number)
                yield {"features": features_from(features, dim).tolist()}
                told = json.loads(described_data) if described_data else None
                context = Content.unpacked(packed).context
                yield _log_line(number, context, json.loads(asked_data), told)


def _log_line(number: int, context: str | None, asked: Data, told: Data | None) -> Data:
    return {
        "context": context,
        "instruction": asked["instruction"],
        "responses": number - 1,
        "response": asked["response"],
        "propensity": asked["propensity"],
        "description": told["description"] if told else None,
        "match": int(told["matched"]) if told else None,
        "teacher_saw_request": told["saw_request"] if told else False,
    }


def write_table(lines: Iterator[Data], path: Path, scratch: Path) -> None:
    """Write all of a lesson as a Parquet table, an event a row, without holding it in memory.

    Parameters
    ----------
    lines : iterator
        The lines of ``export_lesson``.
    path, scratch : Path
        Where to write, and a place for the lines on the way there.
    """
    import polars as pl

    header = next(lines)
    with scratch.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(_row(line)) + "\n" for line in lines)
    metadata = {"tellback": json.dumps(header)}
    if scratch.stat().st_size == 0:
        pl.DataFrame(schema=_schema()).write_parquet(path, metadata=metadata)
        return
    pl.scan_ndjson(scratch, schema=_schema()).sink_parquet(path, metadata=metadata)


IN_DATA = (
    "response",
    "propensity",
    "estimate",
    "bonus",
    "width",
    "highest",
    "version",
    "saw_request",
    "matched",
)
SHOWN = ("context", "features", "texts", "images")


def _row(line: Data) -> Data:
    data, shown = line["data"], line.get("shown", {})
    row = {name: line[name] for name in ("seq", "kind", "round", "account", "at")}
    for name in ("instruction", "description"):
        row[name] = None if data.get(name) is None else str(data[name])
    row |= {name: data.get(name) for name in IN_DATA}
    row |= {name: shown.get(name) for name in SHOWN}
    return row | {"data": json.dumps(data)}


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
        "propensity": real,
        "estimate": real,
        "bonus": real,
        "width": real,
        "highest": real,
        "version": whole,
        "saw_request": yes,
        "matched": yes,
        "context": text,
        "features": pl.List(pl.List(real)),
        "texts": pl.List(text),
        "images": pl.List(text),
        "data": text,
    }
