"""Definitions of lessons."""

from __future__ import annotations

import pytest

from tellback.agents import LORIL
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.database import Database
from tellback.errors import FieldError
from tellback.models import Mixture
from tellback.worlds import Synthetic
from tests.support.classroom_lessons import SENTENCES, new_lesson


def test_a_definition_comes_back_from_data() -> None:
    asked = Definition("texts", answers=("yes", "no"))
    for definition in (SENTENCES, Definition(dim=5, instructions=7), Definition("texts"), asked):
        assert Definition.from_data(definition.to_data()) == definition


@pytest.mark.parametrize(
    ("settings", "field", "says"),
    [
        ({}, "dim", "how many features"),
        ({"dim": 0}, "dim", "at least 1"),
        ({"dim": 5000}, "dim", "at most 4096"),
        ({"candidates": "sounds"}, "candidates", "'features' or 'texts' or 'images'"),
        ({"dim": 2, "agent": {"kind": "lorli"}}, "agent", "Did you mean 'loril'"),
        ({"dim": 2, "agent": {"kind": "uniform"}}, "agent", "a model and an explorer"),
        ({"dim": 2, "agent": {"kind": "loril", "kk": 1}}, "agent", "'kk'"),
        ({"dim": 2, "agent": 7}, "agent", "table with its kind"),
        (
            {"dim": 2, "agent": {"kind": "greedy", "model": {"kind": "keywords", "waves": 10**9}}},
            "agent",
            "at most 1,000",
        ),
        ({"dim": 2, "encoder": {"kind": "ngrams"}}, "encoder", "not for features"),
        ({"candidates": "texts", "encoder": {"kind": "thumbnail"}}, "encoder", "encode texts"),
        ({"dim": 2, "second_share": 1.5}, "second_share", "at most 1"),
        ({"dim": 2, "seed": -1}, "seed", "at least 0"),
        ({"dim": 2, "instructions": 10**6}, "instructions", "at most"),
        ({"dim": 2, "answers": ["yes"]}, "answers", "from 2 to 9"),
        ({"dim": 2, "answers": "yes"}, "answers", "from 2 to 9"),
        ({"dim": 2, "answers": ["yes", "Yes "]}, "answers", "different"),
        ({"dim": 2, "answers": ["yes", ""]}, "answers", "texts"),
        ({"dim": 2, "answers": ["yes", 7]}, "answers", "texts"),
        ({"dim": 2, "instructions": 2, "answers": ["yes", "no"]}, "answers", "sentences"),
    ],
)
def test_what_cannot_be_a_lesson_is_refused_by_field(
    settings: dict[str, object], field: str, says: str
) -> None:
    with pytest.raises(FieldError) as refused:
        Definition.from_data(settings)
    assert refused.value.field == field
    assert says in str(refused.value)


def test_only_the_answers_of_a_lesson_describe_there() -> None:
    asked = Definition(dim=2, answers=("yes", "no"))
    asked.demand_instruction("is it red?")
    asked.demand_description("no")
    with pytest.raises(FieldError, match="'yes' or 'no'") as refused:
        asked.demand_description("maybe")
    assert refused.value.field == "description"
    Definition(dim=2).demand_description("maybe")


def test_an_agent_that_cannot_live_with_the_facts_is_refused_when_the_lesson_is_made() -> None:
    with pytest.raises(FieldError, match="cannot be built"):
        Definition(dim=3, agent=LORIL(model=Mixture())).try_out()


def test_a_world_that_shows_no_pictures_cannot_be_a_demonstration(database: Database) -> None:
    lesson = new_lesson(database, Definition(instructions=5, world=Synthetic(instructions=5)))
    with pytest.raises(FieldError, match="one with pictures"):
        Learner(database, lesson)
