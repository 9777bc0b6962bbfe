"""The words that were said in a lesson."""

from __future__ import annotations

from tellback.classroom.learning.demonstration import demonstration
from tellback.classroom.learning.heard import word_meter
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.database import Database
from tellback.classroom.store.descriptions import withdraw
from tellback.classroom.store.log import writing
from tests.support.classroom_lessons import SENTENCES, new_lesson, taught


def test_words_are_counted_and_those_that_are_taken_back_are_not(database: Database) -> None:
    learner = Learner(database, new_lesson(database))
    assert learner.heard.least("went") == 0
    taught(database, learner, 4)
    assert learner.heard.least("went") == 4
    assert learner.heard.least("Went, somewhere!") == 0
    with writing(database, learner.lesson) as log:
        withdraw(log, 2, "ann", 0.0, anyones=True)
    learner.catch_up()
    assert learner.heard.least("went") == 3


def test_the_meter_is_of_requests_in_words_that_were_said(database: Database) -> None:
    """Somebody who says only "red circle" is told how the agent does with just these words."""
    learner = Learner(database, new_lesson(database, demonstration(seed=3)))
    nothing = word_meter(learner)
    assert nothing is not None
    assert (nothing.right, nothing.requests) == (0, 0)
    assert "circle" in nothing.unsaid
    names = [
        set(learner.definition.world.names_in(task.instruction))  # type: ignore[union-attr]
        for task in learner.exam.tasks
    ]
    assert len(nothing.unsaid) + nothing.more_unsaid == len(set().union(*names))
    asked = learner.ask_from_world("ann")
    learner.describe(asked.number, "ann", "a RED circle", anyones=True)
    found = word_meter(learner)
    assert found is not None
    assert found.requests == sum(one <= {"red", "circle"} for one in names)
    assert 0 <= found.right <= found.requests
    assert not {"red", "circle"} & set(found.unsaid)
    assert word_meter(Learner(database, new_lesson(database, SENTENCES))) is None


def test_the_house_has_a_meter_of_the_names_on_its_plan(database: Database) -> None:
    learner = Learner(database, new_lesson(database, demonstration("house", seed=3)))
    meter = word_meter(learner)
    assert meter is not None
    assert (meter.right, meter.requests) == (0, 0)
    assert {"kitchen", "hall"} <= set(meter.unsaid)
    assert meter.unsaid[0] not in ("the", "to", "please")
