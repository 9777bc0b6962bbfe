"""People's judgements of a lesson."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tellback.classroom.learning.judged import (
    FEWEST,
    judged_share,
    likeness_errors,
    next_to_judge,
)
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.verdicts import ASKED_OF_PEOPLE
from tellback.classroom.store.database import Database
from tellback.classroom.store.judgements import judged_rounds, judgements, keep_judgement
from tellback.classroom.store.log import writing
from tellback.classroom.store.rollback import redact, roll_back
from tellback.similarity import Similar
from tests.support.classroom_lessons import SENTENCES, new_lesson, taught

BY_PEOPLE = replace(SENTENCES, match=Similar())


def test_stated_intervals_cover_the_share_of_requests_met_in_95_of_100_lessons() -> None:
    """Whenever one looks, also while the agent improves and people judge as they go."""
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(200):
        order = dict(enumerate(rng.random(81).tolist()))
        skill = np.linspace(rng.random(), rng.random(), 81)
        met = rng.random(81) < skill
        judged: dict[int, bool | None] = {}
        inside = True
        for number in range(1, 81):
            if order[number] < ASKED_OF_PEOPLE:
                judged[number] = bool(met[number])
            share = judged_share(range(1, number + 1), judged, order.__getitem__)
            if share is not None:
                inside &= share.low <= met[1 : number + 1].mean() <= share.high
        missed += not inside
    assert missed <= 10  # of 200


def test_no_share_is_shown_while_too_few_were_judged() -> None:
    def priority(number: int) -> float:
        return number / 100

    judged: dict[int, bool | None] = dict.fromkeys(range(1, FEWEST), True)
    assert judged_share(range(1, 51), judged, priority) is None
    assert next_to_judge(range(1, 51), judged, priority) == FEWEST
    found = judged_share(range(1, 51), judged | {FEWEST: True}, priority)
    assert found is not None
    assert (found.n, found.share) == (FEWEST, 1.0)
    assert found.low < 0.9


def test_judgements_that_are_not_of_a_random_round_do_not_count() -> None:
    """Somebody may judge the rounds that went well, and leave out the others."""

    def priority(number: int) -> float:
        return number / 100

    picked: dict[int, bool | None] = dict.fromkeys(range(20, 51), True)
    assert judged_share(range(1, 51), picked, priority) is None
    everything = picked | dict.fromkeys(range(1, 20), False)
    found = judged_share(range(1, 51), everything, priority)
    assert found is not None
    assert found.low == found.high == found.share == 31 / 50
    assert next_to_judge(range(1, 51), everything, priority) is None


def test_what_nobody_can_tell_is_left_out() -> None:
    unclear: dict[int, bool | None] = dict.fromkeys(range(1, 21), None)
    found = judged_share(range(1, 41), unclear | dict.fromkeys(range(21, 41), True), float)
    assert found is not None
    assert (found.n, found.low) == (20, 1.0)


def test_the_latest_judgement_of_a_round_counts_unless_it_is_deleted_or_rolled_back(
    database: Database,
) -> None:
    learner = Learner(database, new_lesson(database, BY_PEOPLE))
    taught(database, learner, 3)

    def standing() -> dict[int, bool | None]:
        with database.read() as connection:
            return judgements(connection, learner.lesson)

    with writing(database, learner.lesson) as log:
        assert judged_rounds(log.connection, learner.lesson) == [1, 2, 3]
        keep_judgement(log, 1, "ann", False)
        keep_judgement(log, 1, "bob", True)
        before = log.latest
        keep_judgement(log, 2, "ann", None)
    assert standing() == {1: True, 2: None}
    with writing(database, learner.lesson) as log:
        roll_back(log, before, "robot")
    assert standing() == {1: True}
    with writing(database, learner.lesson) as log:
        redact(log, "bob", "robot")
    assert standing() == {1: False}


def test_how_often_sounding_alike_is_wrong_is_measured_against_people(database: Database) -> None:
    learner = Learner(database, new_lesson(database, BY_PEOPLE))
    taught(database, learner, 40)  # "go left" is asked for; "went left" or "went right" is said
    with database.read() as connection:
        judged: dict[int, bool | None] = {number: number % 2 == 0 for number in range(1, 41)}
        found = likeness_errors(learner, connection, judged)
        assert likeness_errors(learner, connection, {}) is None
    assert found is not None
    assert 0 < found.false_positives.n <= 20
    assert 0 < found.false_negatives.n <= 20
