"""New lessons of one's own material."""

from __future__ import annotations

from contextlib import closing

from tellback.classroom.learning.collecting import Collected
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.held_out import MOST
from tellback.classroom.learning.importing import Importer, Stated
from tellback.classroom.learning.material import MaterialRounds
from tellback.classroom.store.database import Connection, Database
from tellback.classroom.store.items import add_items
from tellback.classroom.store.lessons import LessonRow, create_lesson
from tellback.classroom.store.log import writing
from tellback.streams import Streams

ACCOUNT = "recording"
"""The author of descriptions that came with the material, where teachers are counted."""


def create_own_lesson(
    database: Database, name: str, collected: Collected, seed: int, id: str | None = None
) -> LessonRow:
    """Create a lesson with its items, and teach it the descriptions that came with them."""
    definition = collected.definition(seed)
    definition.try_out()
    with database.write() as connection:
        lesson = create_lesson(connection, name, definition.to_data(), id)
        add_items(connection, lesson.id, collected.items, collected.features)
        rounds = _rounds(connection, lesson.id, definition)
    if collected.said:
        _teach(database, lesson.id, definition, collected, rounds)
    return lesson


def _rounds(connection: Connection, lesson: str, definition: Definition) -> MaterialRounds:
    assert definition.material is not None
    return MaterialRounds(connection, lesson, definition.material, definition.seed)


def _teach(
    database: Database,
    lesson: str,
    definition: Definition,
    collected: Collected,
    rounds: MaterialRounds,
) -> None:
    """Import each description as a round. A random share of them is held out."""
    kept = _held_out(definition, len(collected.said))
    with closing(Importer(definition, ACCOUNT)) as importer:
        for line, said in enumerate(collected.said, start=1):
            held = line in kept and rounds.can_ask(said.item)
            round = rounds.held_out(line, said.item) if held else rounds.alone(said.item, said.text)
            assert round.response is not None
            number = importer.ask(
                round.task.instruction,
                round.task.responses,
                round.content,
                round.response,
                Stated(),
                line,
                part=round.part,
            )
            # It was not blind: who wrote it is not known to have seen no request.
            importer.describe(number, said.text, saw_request=True)
        importer.refuse_unfit()
        with writing(database, lesson) as log:
            importer.write(log)


def _held_out(definition: Definition, count: int) -> set[int]:
    """The places of the descriptions for the exam, from 1: so many as it has requests, at most."""
    assert definition.material is not None
    most = min(MOST, round(definition.material.held_out * count))
    rng = Streams(definition.seed).stream("held out").at(0)
    return {1 + int(place) for place in rng.permutation(count)[:most]}
