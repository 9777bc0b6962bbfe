"""Exams: tasks with known answers, which nobody learns from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.people.held_out import HeldOut, sentences_of
from tellback.responses import Listed
from tellback.roles import Task
from tellback.streams import Streams
from tellback.ties import tie_probabilities
from tellback.worlds.recorded_pool import PATIENCE, Pool
from tellback.worlds.sentences import choice

Scorer = Callable[[Sequence[Task]], Iterable[Array]]
"""A score of every response of each task; the highest is chosen."""


class Question(NamedTuple):
    """A task of an exam."""

    task: Task
    target: int  # the response that the instruction was written about
    said: tuple[str, ...]  # of each response, a sentence by somebody other than the asker


def questions(
    held_out: HeldOut, name: str, candidates: int, count: int, seed: int
) -> list[Question]:
    """The questions of an exam, the same for everybody with this seed; none if it cannot be held.

    Candidates are drawn as in the rounds. One of those that somebody who may ask has described
    is the target.
    """
    found = held_out.exam(name, candidates)
    if found is None:
        return []
    pool, askers = found
    stream = Streams(seed).stream(f"exam {name} {candidates}")
    matrix = held_out.world.rows.matrix
    drawn = (_question(pool, askers, matrix, stream.at(t)) for t in range(1, count + 1))
    return [one for one in drawn if one is not None]


def _question(
    pool: Pool, askers: frozenset[str] | None, matrix: Array, rng: np.random.Generator
) -> Question | None:
    for _ in range(PATIENCE):
        entries = pool.draw(rng)
        targets = [y for y, one in enumerate(entries) if sentences_of(one, askers)]
        if not targets:
            continue
        target = choice(targets, rng)
        sentence = choice(sentences_of(entries[target], askers), rng)
        instruction, asker = entries[target].texts[sentence], entries[target].people[sentence]
        if sum(instruction in entry.texts for entry in entries) > 1:
            continue  # somebody has said the same of another one
        said = tuple(entry.texts[choice(entry.told(asker), rng)] for entry in entries)
        responses = Listed(matrix[[entry.row for entry in entries]])
        return Question(Task(None, instruction, responses), target, said)
    return None


class Answer(NamedTuple):
    """How a learner answered a question."""

    response: int  # the first with the highest score
    right: float  # the probability of the target, if ties are broken at random


def answers(asked: Sequence[Question], score: Scorer) -> list[Answer]:
    """The answers of a learner that always takes the response with the highest score."""
    found = []
    for question, scores in zip(asked, score([one.task for one in asked]), strict=True):
        right = tie_probabilities(scores, True)[question.target]
        found.append(Answer(int(np.argmax(scores)), float(right)))
    return found


def success(found: Sequence[Answer]) -> float:
    """The share of right answers; NaN if there was no question."""
    return float(np.mean([one.right for one in found])) if found else float("nan")
