"""Rounds and events that are prepared first, and then written in one short transaction.

Preparing them takes long: lines are parsed, pictures decoded, tasks shown to the agent. All of that
happens before the lesson is locked. Prepared rows are kept in a temporary file, whatever their
number, and written to the tables many at a time.
"""

from __future__ import annotations

import json
import marshal
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import insert, select

from tellback.arrays import Array
from tellback.classroom.store.log import ENQUEUE_DELIVERIES, WEBHOOK_KINDS, Kind, LessonLog
from tellback.classroom.store.projection import ProjectedRound
from tellback.classroom.store.tables import events, pictures, rounds, tasks, webhooks
from tellback.classroom.store.tasks import Content, shown_data
from tellback.specs import Data

AT_ONCE = 100
"""Events of a page. Pages are the slices in which imports are written: others wait for one."""

LARGEST_PAGE = 2**20
"""Bytes of features and pictures of a page."""

IN_MEMORY = 2**22
"""Bytes; more are kept in a file."""


NAMES_EVENT = {Kind.ASKED: "version", Kind.ROLLED_BACK: "to"}
"""The fields of data that name an event: its number is another one in the lesson."""


class _StagedTask(NamedTuple):
    """The task of a new round, and the numbers that its row repeats."""

    features: bytes
    content: str
    pictures: list[bytes]
    wants_second: bool
    estimate: float | None
    width: float | None
    highest: float | None
    part: str | None


class _Staged(NamedTuple):
    """An event. All parts are plain values, as ``marshal`` needs them."""

    kind: str
    data: str  # JSON, without the event that it names
    names: int  # that event
    round: int | None
    task: _StagedTask | None  # of a new round


Page = list[tuple[int, _Staged]]
"""Prepared events, each with its number."""


class StagedLog:
    """Prepared events. They and their rounds are numbered from 1."""

    def __init__(self) -> None:
        self.latest = 0
        self.rounds = 0
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed by close()

    def append(self, kind: Kind, data: Data, *, round: int | None = None) -> int:
        """Prepare an event. Returns its number."""
        return self._add(kind, data, round, None)

    def open_round(
        self, data: Data, features: Array, content: Content, wants_second: bool
    ) -> tuple[int, int]:
        """Prepare a new round; ``data`` is that of its event. Returns the two numbers."""
        self.rounds += 1
        task = _StagedTask(
            np.asarray(features, dtype="<f8").tobytes(),
            shown_data(content),
            content.images or [],
            wants_second,
            **{name: data[name] for name in ("estimate", "width", "highest")},
            part=data.get("part"),
        )
        return self.rounds, self._add(Kind.ASKED, data, self.rounds, task)

    def _add(self, kind: Kind, data: Data, round: int | None, task: _StagedTask | None) -> int:
        self.latest += 1
        named = NAMES_EVENT.get(kind, "")
        text = json.dumps({k: v for k, v in data.items() if k != named}, allow_nan=False)
        kept = tuple(task) if task is not None else None
        marshal.dump((kind.value, text, data.get(named, 0), round, kept), self._file)
        return self.latest

    def pages(self) -> Iterator[Page]:
        """All that was prepared, in pages that end before a new round."""
        self._file.seek(0)
        page: Page = []
        size = 0
        for seq in range(1, self.latest + 1):
            kind, data, names, round, task = marshal.load(self._file)
            shown = None if task is None else _StagedTask(*task)
            staged = _Staged(kind, data, names, round, shown)
            if staged.task is not None:
                if len(page) >= AT_ONCE or size > LARGEST_PAGE:
                    yield page
                    page, size = [], 0
                size += len(staged.task.features) + sum(map(len, staged.task.pictures))
            page.append((seq, staged))
        if page:
            yield page

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()


def write_page(
    log: LessonLog, page: Page, account: str, state_of: Callable[[int], ProjectedRound]
) -> None:
    """Write a page to a lesson; ``state_of`` says what became of a round."""
    hooked = select(webhooks.c.id).where(webhooks.c.lesson == log.lesson).limit(1)
    told = log.connection.execute(hooked).first() is not None
    asked = [one.round for _, one in page if one.task is not None]
    before = (asked[0] or 1) - 1 if asked else 0
    _Writer(log, account, state_of, told, log.latest + 1 - page[0][0], log.rounds - before).write(
        page
    )
    log.latest += len(page)
    log.rounds += len(asked)


class _Writer(NamedTuple):
    log: LessonLog
    account: str
    state_of: Callable[[int], ProjectedRound]
    told: bool
    events_before: int  # what the numbers of prepared events and rounds are raised by
    rounds_before: int

    def write(self, page: Page) -> None:
        asked = [(seq, one) for seq, one in page if one.task is not None]
        self._insert(events, [self._event(seq, one) for seq, one in page])
        self._insert(tasks, [self._task(one) for _, one in asked])
        self._insert(pictures, [row for _, one in asked for row in self._pictures(one)])
        self._insert(rounds, [self._round(seq, one) for seq, one in asked])
        if self.told:
            now, hooks = time.time(), {kind.value for kind in WEBHOOK_KINDS}
            rows = [
                {"event": self._seq(seq), "now": now, "lesson": self.log.lesson}
                for seq, one in page
                if one.kind in hooks
            ]
            if rows:
                self.log.connection.execute(ENQUEUE_DELIVERIES, rows)

    def _insert(self, table: Any, rows: list[dict[str, Any]]) -> None:
        if rows:
            self.log.connection.execute(insert(table), rows)

    def _number(self, round: int | None) -> int | None:
        return None if round is None else self.rounds_before + round

    def _seq(self, seq: int | None) -> int | None:
        return None if seq is None else self.events_before + seq

    def _event(self, seq: int, one: _Staged) -> dict[str, Any]:
        data = one.data
        if name := NAMES_EVENT.get(Kind(one.kind)):
            others = data[1:-1] and data[1:-1] + ", "
            data = f'{{{others}"{name}": {self._seq(one.names)}}}'
        return {
            "lesson": self.log.lesson,
            "seq": self._seq(seq),
            "kind": one.kind,
            "round": self._number(one.round),
            "account": self.account,
            "at": time.time(),
            "data": data,
        }

    def _task(self, one: _Staged) -> dict[str, Any]:
        assert one.task is not None
        of = {"lesson": self.log.lesson, "round": self._number(one.round)}
        return of | {"features": one.task.features, "content": one.task.content}

    def _pictures(self, one: _Staged) -> Iterator[dict[str, Any]]:
        assert one.task is not None
        for place, png in enumerate(one.task.pictures):
            of = {"lesson": self.log.lesson, "round": self._number(one.round)}
            yield of | {"place": place, "png": png}

    def _round(self, seq: int, one: _Staged) -> dict[str, Any]:
        assert one.round is not None
        assert one.task is not None
        state = self.state_of(one.round)
        return {
            "lesson": self.log.lesson,
            "number": self._number(one.round),
            "asked": self._seq(seq),
            "wants_second": one.task.wants_second,
            "estimate": one.task.estimate,
            "width": one.task.width,
            "highest": one.task.highest,
            "part": one.task.part,
            **state._asdict(),
            "described": self._seq(state.described),
            "second": self._seq(state.second),
        }
