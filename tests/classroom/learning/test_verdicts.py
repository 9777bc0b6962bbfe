"""Verdicts: whether a response did what was asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.demonstration import build_simulation, demonstration
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.progress import match_rate
from tellback.classroom.learning.verdicts import JudgedBy, Verdicts, sound_alike
from tellback.classroom.store.database import Database
from tellback.classroom.store.reports import round_columns
from tellback.classroom.store.tasks import Content
from tellback.matching import Same
from tellback.responses import Listed
from tellback.roles import meets
from tellback.similarity import Similar
from tellback.streams import Streams
from tests.support.classroom_lessons import SENTENCES, new_lesson
from tests.support.tellers import TELLERS

ROUNDS = 20


@pytest.mark.parametrize("kind", sorted(TELLERS))
def test_in_the_demonstration_no_verdict_is_wrong_however_people_put_it(
    database: Database, kind: str
) -> None:
    definition = demonstration(seed=5)
    learner = Learner(database, new_lesson(database, definition))
    simulation = build_simulation(definition)
    assert simulation is not None
    assert simulation.truth is not None
    tasks, rng = Streams(definition.seed).stream("world"), np.random.default_rng(3)
    truth = []
    for _ in range(ROUNDS):
        asked = learner.ask_from_world("ann")
        task = simulation.world.task(asked.number, (), tasks.at(asked.number))
        said = TELLERS[kind](task.context.shapes[asked.choice.response], rng)
        given, _ = learner.describe(asked.number, "ann", said, anyones=True)
        truth.append(meets(simulation.truth, task, asked.choice.response))
        assert given.matched is truth[-1]
    with database.read() as connection:
        share = match_rate(round_columns(connection, learner.lesson))
    assert share is not None
    assert share.share == np.mean(truth)
    assert share.low <= share.share <= share.high


def test_of_a_round_that_is_not_of_the_lessons_world_nothing_is_known(database: Database) -> None:
    definition = demonstration(seed=5)
    learner = Learner(database, new_lesson(database, definition))
    assert learner.verdicts.by is JudgedBy.TRUTH
    features = np.random.default_rng(0).random((5, definition.facts.dim))
    asked = learner.ask("a red box", Listed(features), Content(), "robot")
    given, _ = learner.describe(asked.number, "ann", "a red box", anyones=True)
    assert given.matched is None


def test_without_a_truth_words_are_no_verdict_unless_their_error_rates_are_known(
    database: Database,
) -> None:
    measured = Similar(false_positives=(1, 20), false_negatives=(2, 20))
    for match, by, matched in (
        (Similar(), JudgedBy.PEOPLE, None),
        (measured, JudgedBy.RATES, True),
        (Same(), JudgedBy.EQUALITY, True),
    ):
        learner = Learner(database, new_lesson(database, replace(SENTENCES, match=match)))
        assert learner.verdicts.by is by
        asked = learner.ask("go left", Listed(np.eye(3)), Content(), "robot")
        given, _ = learner.describe(asked.number, "ann", "go left", anyones=True)
        assert given.matched is matched
    assert "error rates" not in Verdicts(SENTENCES, None).says


def test_error_rates_widen_the_interval_of_a_share(database: Database) -> None:
    measured = Similar(false_positives=(1, 20), false_negatives=(2, 20))
    learner = Learner(database, new_lesson(database, replace(SENTENCES, match=measured)))
    for _ in range(20):
        asked = learner.ask("go left", Listed(np.eye(3)), Content(), "robot")
        learner.describe(asked.number, "ann", "go left", anyones=True)
    with database.read() as connection:
        columns = round_columns(connection, learner.lesson)
    exact, widened = match_rate(columns), match_rate(columns, measured.errors)
    assert exact is not None
    assert widened is not None
    assert widened.low < exact.low


def test_two_descriptions_agree_for_sure_only_if_they_are_equal() -> None:
    numbers = Verdicts(Definition(dim=2, instructions=4), None)
    assert (numbers.agree(1, 1), numbers.agree(1, 2)) == (True, False)
    words = Verdicts(Definition(dim=2), None)
    assert words.agree("a red box", "a red box") is None


def test_two_sentences_sound_alike_if_the_agent_ranks_responses_alike() -> None:
    one = np.array([0.9, 0.1, 0.2])
    assert sound_alike(one, 3 * one) is True
    assert sound_alike(one, one[::-1]) is False
    assert sound_alike(one, np.ones(3)) is None
    assert sound_alike(one[:1], one[:1]) is None
