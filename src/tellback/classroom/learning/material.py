"""Lessons of one's own material: pictures, texts, or recorded responses.

Nobody has written requests for such material, so they are made from descriptions. A round shows
some items, and asks for what somebody said of another item that is like one of them. (If it asked
for an item by its own description, the agent would pick that item again and be told the same.) A
random share of the rounds is held out instead: the response is drawn at random, and what is said of
it becomes a request of the exam. It is not taught. Which rounds these are follows from their number
and the lesson's seed, so neither the agent nor the teacher has a part in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.classroom.learning.own_material import Material
from tellback.classroom.store.database import Connection
from tellback.classroom.store.held_out import SaidOf, some_descriptions
from tellback.classroom.store.items import Item, read_items
from tellback.classroom.store.rounds import ANYTHING, RoundPart
from tellback.classroom.store.tasks import Content
from tellback.errors import FieldError
from tellback.responses import Listed
from tellback.roles import Instruction, Task
from tellback.streams import Streams

MOST_HEARD = 20
"""Descriptions from which a request is taken: that of the most similar item."""


class PreparedRound(NamedTuple):
    """A round before it is opened: the task, what is shown of it, and what it is for."""

    task: Task
    content: Content
    part: RoundPart | None = None
    response: int | None = None  # drawn; None if the agent chooses


class MaterialRounds:
    """The rounds of a lesson of one's own material.

    Parameters
    ----------
    connection, lesson
        Where its items are.
    material : Material
        Its settings.
    seed : int
        The lesson's.
    """

    def __init__(self, connection: Connection, lesson: str, material: Material, seed: int) -> None:
        self._lesson = lesson
        self._spec = material
        self._items, self._features = read_items(connection, lesson)
        streams = Streams(seed)
        self._stream, self._parts = streams.stream("world"), streams.stream("held out")
        self._candidates = Candidates(self._items, self._features, material.candidates)

    def prepare(self, connection: Connection, number: int) -> PreparedRound:
        """The round of this number, with a request made from what was said so far."""
        rng = self._stream.at(number)
        shown = self._candidates.draw(rng)
        target = int(rng.integers(len(shown)))
        if self.is_held_out(number):
            return self._shown(ANYTHING, shown, RoundPart.EXAM, target)
        heard = some_descriptions(connection, self._lesson, MOST_HEARD, rng)
        others = [one for one in heard if one.item not in shown]
        if not others:
            return self._shown(ANYTHING, shown, RoundPart.FIRST)
        return self._shown(self._nearest(shown[target], others).description, shown)

    def _nearest(self, item: int, others: list[SaidOf]) -> SaidOf:
        """What was said of the most similar of some other items."""
        rows = self._features[[one.item for one in others]] - self._features[item]
        return others[int(np.argmin((rows**2).sum(axis=1)))]

    def is_held_out(self, number: int) -> bool:
        """Whether the description of a round is kept for the exam."""
        return float(self._parts.at(number).random()) < self._spec.held_out

    def can_ask(self, item: int) -> bool:
        """Whether another item can be shown with this one."""
        return self._candidates.has_two(item)

    def held_out(self, number: int, item: int) -> PreparedRound:
        """A round for the exam, of an item that was described before the lesson began."""
        shown = self._candidates.draw(self._stream.at(number), item)
        return self._shown(ANYTHING, shown, RoundPart.EXAM, shown.index(item))

    def alone(self, item: int, request: Instruction) -> PreparedRound:
        """A round that offers one item alone, which was described before the lesson began."""
        return self._shown(request, [item], None, 0)

    def _shown(
        self,
        request: Instruction,
        shown: list[int],
        part: RoundPart | None = None,
        response: int | None = None,
    ) -> PreparedRound:
        some = [self._items[one] for one in shown]
        pictured = self._spec.form in ("pictures", "strips")
        words = [one.words for one in some]
        content = Content(
            context=some[0].group or None,
            texts=words if any(words) else None,
            items=shown,
            form=self._spec.form if self._spec.form in ("steps", "strips") else None,
            pictured=pictured,
        )
        task = Task(None, request, Listed(self._features[shown].astype(np.float64)))
        return PreparedRound(task, content, part, response)


class Candidates:
    """Draws items of one group that differ in goal and in features.

    Parameters
    ----------
    items : sequence of Item
        All items.
    features : Array
        A row for each.
    most : int
        How many are shown at a time; fewer if a group has fewer that differ.
    """

    def __init__(self, items: Sequence[Item], features: Array, most: int) -> None:
        self._items = items
        self._rows = [row.tobytes() for row in features]
        self._most = most
        if not self._drawable:
            raise FieldError(
                "items", "No group has two responses that differ in goal and in what they show."
            )

    @cached_property
    def _groups(self) -> dict[str, list[int]]:
        groups: dict[str, list[int]] = {}
        for number, item in enumerate(self._items):
            groups.setdefault(item.group, []).append(number)
        return groups

    @cached_property
    def _drawable(self) -> list[int]:
        """The items of groups in which two differ. A group is drawn in proportion to its items."""
        return [
            number for group in self._groups.values() if self.has_two(group[0]) for number in group
        ]

    def has_two(self, item: int) -> bool:
        """Whether another item can be shown with this one."""
        group = self._groups[self._items[item].group]
        return any(self._differ(item, other) for other in group)

    def _differ(self, one: int, other: int) -> bool:
        goal = self._items[one].goal
        same_goal = bool(goal) and goal == self._items[other].goal
        return not same_goal and self._rows[one] != self._rows[other]

    def draw(self, rng: np.random.Generator, item: int | None = None) -> list[int]:
        """Some items in random order, with this one if it is given."""
        if item is None:
            item = self._drawable[int(rng.integers(len(self._drawable)))]
        group = self._groups[self._items[item].group]
        found = [item]
        for other in self._shuffled(group, rng):
            if len(found) == self._most:
                break
            if all(self._differ(one, other) for one in found):
                found.append(other)
        return [found[i] for i in rng.permutation(len(found))]

    @staticmethod
    def _shuffled(group: list[int], rng: np.random.Generator) -> Iterator[int]:
        return (group[i] for i in rng.permutation(len(group)))
