"""The words of a lesson's descriptions: which ones were said, and how the agent does with those."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tellback.classroom.store.active import read_active
from tellback.classroom.store.database import Database
from tellback.models.words import words
from tellback.roles import Instruction

if TYPE_CHECKING:
    from tellback.classroom.learning.learner import Learner
    from tellback.classroom.learning.lesson_agent import LessonAgent

MOST_UNSAID = 12
"""The most words that are listed as unsaid."""


class Heard:
    """In how many active descriptions of a lesson each word was said.

    Parameters
    ----------
    database, lesson
        The lesson.
    agent : LessonAgent
        Its agent: the descriptions that it was taught are counted.
    """

    def __init__(self, database: Database, lesson: str, agent: LessonAgent) -> None:
        self._database, self._lesson, self._agent = database, lesson, agent
        self._counts: Counter[str] = Counter()
        self._seq = self._latest = self._rebuilds = 0

    def _update(self) -> None:
        """Count the new descriptions; after an undo, all of them again."""
        agent = self._agent
        if self._rebuilds != agent.rebuilds:
            self._counts.clear()
            self._latest, self._rebuilds = 0, agent.rebuilds
        self._seq = agent.seq
        with self._database.read() as connection:
            for one in read_active(connection, self._lesson, self._latest):
                self._counts.update(_words(one.description))
                self._latest = one.seq

    def least(self, instruction: Instruction) -> int:
        """The number of descriptions with the word of an instruction that was said least."""
        if self._seq != self._agent.seq:
            self._update()
        return min((self._counts[word] for word in _words(instruction)), default=0)


def _words(said: Instruction) -> set[str]:
    return {word for word in words(str(said)) if word[0].isalnum()}


class WordMeter(NamedTuple):
    """How the agent does with held-out requests in words that were said."""

    right: int
    requests: int
    unsaid: list[str]  # names in the other requests that nobody has said, the commonest first
    more_unsaid: int  # how many more such names there are


def word_meter(learner: Learner) -> WordMeter | None:
    """The meter of a lesson; None unless its world says which words are names."""
    names_in = getattr(learner.definition.world, "names_in", None)
    if names_in is None:
        return None
    unsaid: Counter[str] = Counter()
    within = []
    with learner.locked():
        for task, met in zip(learner.exam.tasks, learner.right() or [], strict=True):
            missing = [name for name in names_in(task.instruction) if not learner.heard.least(name)]
            unsaid.update(missing)
            if not missing:
                within.append(met)
    names = [name for name, _ in unsaid.most_common(MOST_UNSAID)]
    return WordMeter(sum(within), len(within), names, len(unsaid) - len(names))
