"""The active descriptions of a lesson as training data for others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from tellback.classroom.store.active import ActiveDescription, read_active
from tellback.classroom.store.database import Connection, Database
from tellback.classroom.store.lessons import LessonRow
from tellback.classroom.store.tasks import find_task
from tellback.recordings.examples import Example, numbered

AT_A_TIME = 100


def lesson_examples(database: Database, lesson: LessonRow, dim: int) -> Iterator[Example]:
    """The active descriptions, in the order in which the agent of the lesson learned them.

    What was withdrawn, rolled back or redacted is left out. So is what is described while this
    runs: a round must not come twice.
    """
    after = 0
    while True:
        with database.read() as connection:
            page = list(islice(read_active(connection, lesson.id, after), AT_A_TIME))
            found = [
                _example(connection, lesson.id, dim, one)
                for one in page
                if one.seq <= lesson.events
            ]
        yield from found
        if len(page) < AT_A_TIME:
            return
        after = page[-1].seq


def _example(connection: Connection, lesson: str, dim: int, one: ActiveDescription) -> Example:
    task = find_task(connection, lesson, one.round)
    chosen = one.choice.response
    if one.drawn is not None:  # too many responses to list: it is named by itself
        return Example(
            f"round {one.round}",
            str(one.description),
            response=str(one.drawn.response),
            person=one.account,
            features=tuple(one.choice.features.tolist()),
        )
    return Example(
        f"round {one.round}",
        str(one.description),
        response=task.texts[chosen] if task.texts else "",
        index=chosen,
        context=task.context or "",
        person=one.account,
        candidates=tuple(task.texts or map(numbered, range(task.candidates(dim)))),
        features=tuple(one.choice.features.tolist()),
    )
