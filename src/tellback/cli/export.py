"""``tellback data export``: descriptions as training data for others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from tellback.cli.accounts import DatabaseUrl, default_database
from tellback.cli.as_json import print_json
from tellback.cli.options import Json
from tellback.cli.show import console

if TYPE_CHECKING:
    from tellback.recordings import Example


class Format(StrEnum):
    """What to write."""

    CHAT = "chat"
    PARQUET = "parquet"
    RECORDING = "recording"


class _Source(NamedTuple):
    """Examples, and the group of those without a context."""

    examples: Iterator[Example]
    group: str


def export(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FROM", help="A log of Log.save, a recording, or the id of a lesson."
        ),
    ],
    target: Annotated[Path, typer.Argument(metavar="TO", help="A .jsonl or .parquet file.")],
    format: Annotated[
        Format, typer.Option("--as", help="Chat messages, a table, or a recording.")
    ] = Format.CHAT,
    context: Annotated[
        bool, typer.Option("--context/--no-context", help="Whether messages tell the situation.")
    ] = True,
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Whether messages list the possible responses.")
    ] = False,
    database: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """Write descriptions as training data: each is the request that its response answers.

    What was withdrawn, rolled back or redacted in a lesson is left out. Teachers are named by the
    ids of their accounts alone, in tables and recordings.

    Example: tellback data export pictures training.jsonl --as chat
    """
    from tellback.errors import SettingError
    from tellback.recordings import export_examples

    if target.exists() and Path(source).exists() and target.samefile(source):
        raise SettingError(f"TO must be another file than FROM, not {target} as well.")
    with _opened(source, database) as (examples, group):
        count = export_examples(
            examples,
            target,
            format.value,
            context=context,
            candidates=candidates,
            group=group,
        )
    if as_json:
        print_json({"file": str(target), "format": format.value, "examples": count})
    else:
        console().print(f"{target}: {count:,} examples", markup=False, highlight=False)


@contextmanager
def _opened(source: str, database: str | None) -> Iterator[_Source]:
    path = Path(source)
    if not path.exists():
        with _lesson(source, database) as found:
            yield found
    elif _is_log(path):
        from tellback.off_policy import Log

        yield _Source(Log.load(path).examples(), path.stem)
    else:
        from tellback.recordings import examples_of, read

        yield _Source(examples_of(read(path)), path.stem)


def _is_log(path: Path) -> bool:
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return b'"tellback log"' in file.read(200)


@contextmanager
def _lesson(id: str, database: str | None) -> Iterator[_Source]:
    """A lesson of the classroom's database; an error if there is neither a file nor a lesson."""
    from tellback.errors import SettingError, UnknownNameError
    from tellback.extras import demand_extra

    demand_extra("classroom", ("sqlalchemy", "alembic"), "A lesson")
    from tellback.classroom.learning.definition import Definition
    from tellback.classroom.learning.examples import lesson_examples
    from tellback.classroom.store.database import open_database
    from tellback.classroom.store.lessons import find_lesson

    with ExitStack() as closing:
        try:
            store = open_database(database or default_database(), create=False)
            closing.callback(store.close)
            with store.read() as connection:
                lesson = find_lesson(connection, id)
        except UnknownNameError as error:
            raise SettingError(f"There is no file {id}, and no lesson either: {error}") from error
        dim = Definition.from_data(lesson.definition).facts.dim
        yield _Source(lesson_examples(store, lesson, dim), lesson.name)
