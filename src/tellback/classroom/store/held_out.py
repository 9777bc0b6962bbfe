"""Descriptions of a lesson's own material: those that are held out, and those that ask."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, Connection, select

from tellback.classroom.store.active import TEACHES
from tellback.classroom.store.rounds import RoundPart, parse_asked
from tellback.classroom.store.tables import events, rounds, tasks
from tellback.roles import Instruction


class SaidOf(NamedTuple):
    """A description, and the item that it is of."""

    description: Instruction
    item: int


class HeldOut(NamedTuple):
    """A held-out description, the responses of its round, and which of them it is of."""

    description: Instruction
    response: int
    features: bytes


_asked = events.alias("asked")


def some_descriptions(
    connection: Connection, lesson: str, most: int, rng: np.random.Generator
) -> list[SaidOf]:
    """Some of the descriptions that are taught, drawn at random."""
    taught = (rounds.c.lesson == lesson, rounds.c.described.is_not(None), TEACHES)
    query = select(rounds.c.number).where(*taught).order_by(rounds.c.number)
    numbers = list(connection.execute(query).scalars())
    drawn = [numbers[i] for i in rng.permutation(len(numbers))[:most]]
    rows = connection.execute(
        select(events.c.data, _asked.c.data.label("asked"), tasks.c.content)
        .join(rounds, (rounds.c.lesson == events.c.lesson) & (rounds.c.described == events.c.seq))
        .join(_asked, (_asked.c.lesson == rounds.c.lesson) & (_asked.c.seq == rounds.c.asked))
        .join(tasks, (tasks.c.lesson == rounds.c.lesson) & (tasks.c.round == rounds.c.number))
        .where(rounds.c.lesson == lesson, rounds.c.number.in_(drawn))
        .order_by(rounds.c.number)
    )
    found = []
    for row in rows:
        items = json.loads(row.content).get("items")
        if items is not None:  # else a program brought the round
            response = json.loads(row.asked)["response"]
            found.append(SaidOf(json.loads(row.data)["description"], items[response]))
    return found


def held_out_events(connection: Connection, lesson: str, most: int) -> list[int]:
    """The events of the held-out descriptions, the latest first."""
    query = (
        select(rounds.c.described)
        .where(*_exam(lesson))
        .order_by(rounds.c.described.desc())
        .limit(most)
    )
    return list(connection.execute(query).scalars())


def read_held_out(connection: Connection, lesson: str, most: int) -> list[HeldOut]:
    """The held-out descriptions, the latest first."""
    query = (
        select(events.c.data, _asked.c.data.label("asked"), tasks.c.features)
        .join(events, (rounds.c.lesson == events.c.lesson) & (rounds.c.described == events.c.seq))
        .join(_asked, (_asked.c.lesson == rounds.c.lesson) & (_asked.c.seq == rounds.c.asked))
        .join(tasks, (tasks.c.lesson == rounds.c.lesson) & (tasks.c.round == rounds.c.number))
        .where(*_exam(lesson))
        .order_by(rounds.c.described.desc())
        .limit(most)
    )
    return [
        HeldOut(
            json.loads(row.data)["description"],
            parse_asked(json.loads(row.asked)).choice.response,
            bytes(row.features),
        )
        for row in connection.execute(query)
    ]


def _exam(lesson: str) -> tuple[ColumnElement[bool], ...]:
    exam = rounds.c.part == RoundPart.EXAM.value
    return rounds.c.lesson == lesson, rounds.c.described.is_not(None), exam
