"""Tasks of rounds and their pictures."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.database import Database
from tellback.classroom.store.tasks import Content, find_picture, find_pictures, find_task
from tellback.errors import UnknownNameError
from tellback.responses import Listed
from tests.support.classroom_lessons import new_lesson

NUL = "a\x00b"


def test_a_task_comes_back_and_each_picture_by_itself(database: Database) -> None:
    lesson = new_lesson(database)
    learner = Learner(database, lesson)
    pictures = [b"first", b"second", b"third"]
    learner.ask("go left", Listed(np.eye(3)), Content(NUL, ["x", NUL, ""], pictures), "robot")
    learner.ask("go left", Listed(np.eye(3)[:2]), Content(), "robot")
    with database.read() as connection:
        shown, bare = (find_task(connection, lesson.id, number) for number in (1, 2))
        assert shown[:6] == (1, np.eye(3).tobytes(), NUL, ["x", NUL, ""], 3, None)
        assert bare[:6] == (2, np.eye(3)[:2].tobytes(), None, None, None, None)
        assert [find_picture(connection, lesson.id, 1, i) for i in range(3)] == pictures
        assert find_pictures(connection, lesson.id, 1) == pictures
        assert find_pictures(connection, lesson.id, 2) == []


@pytest.mark.parametrize("place", [-1, 3, 2**31, 2**70])
def test_a_picture_that_is_not_there_is_refused(database: Database, place: int) -> None:
    lesson = new_lesson(database)
    content = Content(images=[b"a", b"b", b"c"])
    Learner(database, lesson).ask("go left", Listed(np.eye(3)), content, "robot")
    with database.read() as connection:
        with pytest.raises(UnknownNameError, match="no picture"):
            find_picture(connection, lesson.id, 1, place)
        with pytest.raises(UnknownNameError, match="no round 2"):
            find_task(connection, lesson.id, 2)
