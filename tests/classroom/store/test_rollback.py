"""After a roll back to event N everything is as it was right after event N."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, select, update

from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.store.active import read_active
from tellback.classroom.store.checks import keep_check, round_to_check
from tellback.classroom.store.claims import claim_round
from tellback.classroom.store.database import Database, open_database
from tellback.classroom.store.descriptions import close_round, describe, withdraw
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.lessons import create_lesson
from tellback.classroom.store.log import LessonLog, read_events, writing
from tellback.classroom.store.projection import OPEN, ProjectedRound
from tellback.classroom.store.reports import agreement, checks, teacher_counts
from tellback.classroom.store.rollback import redact, roll_back
from tellback.classroom.store.rounds import RoundStatus
from tellback.classroom.store.tables import rounds
from tellback.classroom.store.tasks import Content
from tellback.errors import TellbackError
from tellback.matching import Same
from tellback.responses import Listed
from tests.support.classroom_parts import active_after
from tests.support.states import same_state

FEATURES = [[1.0, 0.0, 0.2], [0.0, 1.0, 0.1], [0.3, 0.3, 0.4]]
ASKED = 1
TEACHERS = ("ann", "ben", "cat")
OUTCOMES = (RoundStatus.SKIPPED, RoundStatus.CANNOT_TELL)

some_round, teachers = st.integers(0, 9), st.sampled_from(TEACHERS)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("ask")),
        st.tuples(st.just("tell"), some_round, teachers, st.integers(0, 3)),
        st.tuples(st.just("withdraw"), some_round, teachers),
        st.tuples(st.just("end"), some_round, teachers, st.sampled_from(OUTCOMES)),
        st.tuples(st.just("check"), some_round, teachers),
        st.tuples(st.just("back"), st.floats(0, 1)),
        st.tuples(st.just("redact"), teachers),
    ),
    max_size=25,
)

Table = dict[int, ProjectedRound]


class Entry(NamedTuple):
    """An event, as the oracle keeps it."""

    kind: str
    round: int = 0
    who: str = ""
    what: Any = None


class Remembered:
    """The oracle: the table of rounds after every event, each worked out from the one before."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.after: list[Table] = [{}]

    def note(self, kind: str, round: int = 0, who: str = "", what: Any = None) -> None:
        self._follow(Entry(kind, round, who, what))

    def redact(self, teacher: str) -> None:
        """All that happened happens again, without their words."""
        self._again([one._replace(kind=self._without(one, teacher)) for one in self.entries])
        self.note("nothing")

    @staticmethod
    def _without(one: Entry, teacher: str) -> str:
        if one.who != teacher:
            return one.kind
        unsaid = {"tell": "open", "end": "open", "second": "nothing", "decline": "nothing"}
        return unsaid.get(one.kind, one.kind)

    def _again(self, entries: list[Entry]) -> None:
        self.entries, self.after = [], [{}]
        for entry in entries:
            self._follow(entry)

    def _follow(self, entry: Entry) -> None:
        self.entries.append(entry)
        seq, now = len(self.after), dict(self.after[-1])
        kind, round, who, what = entry
        place = now.get(round, OPEN)
        if kind == "back":
            then = self.after[what]
            for number, one in now.items():
                gone = OPEN if one == OPEN else ProjectedRound("rolled_back")
                now[number] = then.get(number, gone)
        elif kind in ("ask", "withdraw", "open"):
            now[round] = OPEN
        elif kind == "tell":
            told, counts = what
            matched = told == ASKED if counts else None
            now[round] = ProjectedRound("described", seq, who, place.second, matched)
        elif kind == "end":
            now[round] = ProjectedRound(what.value, describer=who)
        elif kind in ("second", "decline") and place.described is not None:
            now[round] = place._replace(second=seq)
        self.after.append(now)

    @property
    def told(self) -> list[tuple[int, int]]:
        """The active descriptions, in order."""
        placed = [(one.described, round) for round, one in self.after[-1].items()]
        active = sorted((seq, round) for seq, round in placed if seq is not None)
        return [(round, self.entries[seq - 1].what[0]) for seq, round in active]


class Lesson:
    """A lesson with its oracle; the figures after every event, until words are deleted."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.definition = Definition(dim=3, instructions=4, second_share=0.6)
        with database.write() as connection:
            lesson = create_lesson(connection, "any", self.definition.to_data())
        self.id = lesson.id
        self.learner = Learner(database, lesson)
        self.oracle = Remembered()
        self.figures: dict[int, Any] = {0: self._figures()}

    def do(self, kind: str, *how: Any) -> None:
        """Do it, or nothing where the rules refuse; then hold all against the oracle."""
        try:
            if kind == "ask":
                asked = self.learner.ask(ASKED, Listed(FEATURES), Content(), "robot")
                self.oracle.note("ask", asked.number)
            else:
                with writing(self.database, self.id) as log:
                    self._operate(log, kind, list(how))
        except ConflictError:
            return
        if kind == "redact":
            self.figures.clear()
        self._compare()
        latest = len(self.oracle.entries)
        now = self.figures.setdefault(latest, self._figures())
        if latest and self.oracle.entries[-1].kind == "back":
            assert now == self.figures.get(self.oracle.entries[-1].what, now)

    def _figures(self) -> Any:
        with self.database.read() as connection:
            counts = teacher_counts(connection, self.id)
            found = (checks(connection, self.id), agreement(connection, self.id), counts)
        return *found, _bits(self.learner.agent.state())

    def _operate(self, log: LessonLog, kind: str, how: list[Any]) -> None:
        note = self.oracle.note
        if kind == "back":
            to = how[0] if isinstance(how[0], int) else int(how[0] * log.latest)
            active = roll_back(log, to, "me")
            note("back", what=to)
            assert active == len(self.oracle.told)
            return
        if kind == "redact":
            if redact(log, how[0], "me"):
                self.oracle.redact(how[0])
            return
        if not log.rounds:
            raise ConflictError("none", "nothing was asked")
        round, who = how[0] % log.rounds + 1, how[1]
        if kind == "check":
            before = log.latest
            keep_check(log, round, who, 0)
            if log.latest > before:
                note("check", round, who)
        elif kind == "withdraw":
            if withdraw(log, round, who, 0.0, anyones=True):
                note("withdraw", round, who)
        else:
            self._claim(log, round, who)
            described = self.oracle.after[-1][round].described is not None
            if kind == "tell":
                given = describe(log, round, who, how[2], Same(), anyones=True)
                if given.new:
                    what = how[2], not given.saw_request
                    note("second" if given.second else "tell", round, who, what)
            elif close_round(log, round, who, how[2], "", anyones=True):
                note("decline" if described else "end", round, who, how[2])

    def _claim(self, log: LessonLog, round: int, who: str) -> None:
        """Give them the round, whoever else may be first in line; the lease is over at once."""
        mine = (rounds.c.lesson == self.id, rounds.c.number == round)
        log.connection.execute(
            update(rounds).where(*mine).values(claimed_by=who, claimed_until=0.0)
        )

    def _compare(self) -> None:
        self.learner.catch_up()
        with self.database.read() as connection:
            assert self.table(connection) == self.oracle.after[-1]
            happened = list(read_events(connection, self.id))
            taught = list(read_active(connection, self.id))
        assert len(happened) == len(self.oracle.entries)
        assert [(one.round, one.description) for one in taught] == self.oracle.told
        assert active_after(happened) == {one.round: one.seq for one in taught}
        fresh = LessonAgent(self.definition)
        for one in taught:
            fresh.add(one)
        assert same_state(self.learner.agent.state(), fresh.state())

    def table(self, connection: Connection) -> Table:
        columns = [rounds.c[name] for name in ProjectedRound._fields]
        query = select(rounds.c.number, *columns).where(rounds.c.lesson == self.id)
        return {number: ProjectedRound(*place) for number, *place in connection.execute(query)}


def _bits(state: Any) -> dict[str, str]:
    return {name: repr(value) for name, value in state.items()}


@pytest.fixture(scope="module")
def quick_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    database = open_database(f"sqlite:///{tmp_path_factory.mktemp('quick')}/classroom.db")
    yield database
    database.close()


SKIP = ("end", 0, "ann", RoundStatus.SKIPPED)
TELL = ("tell", 0, "ann", 1)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(OPERATIONS)
@example([("ask",), SKIP, ("back", 0), ("withdraw", 0, "ben"), ("back", 3)])
@example([("ask",), TELL, ("tell", 0, "ben", 1), ("tell", 0, "ann", 2), ("back", 4)])
@example([("ask",), TELL, ("end", 0, "ben", RoundStatus.SKIPPED), ("back", 2)])
@example(
    [("ask",), TELL, ("end", 0, "ben", RoundStatus.SKIPPED), ("redact", "ben"), ("redact", "ann")]
)
@example([("ask",), SKIP, ("back", 0), ("redact", "ann"), ("back", 3)])
def test_after_any_events_a_rollback_restores_every_state(
    quick_database: Database, operations: list[Any]
) -> None:
    lesson = Lesson(quick_database)
    for kind, *how in operations:
        lesson.do(kind, *how)


def statuses(lesson: Lesson) -> list[str]:
    with lesson.database.read() as connection:
        return [place.status for _, place in sorted(lesson.table(connection).items())]


def test_a_roll_back_to_a_roll_back_leaves_the_round_as_that_one_did(database: Database) -> None:
    lesson = Lesson(database)
    seen = []
    for kind, *how in (("ask",), SKIP, ("back", 0), ("withdraw", 0, "ben"), ("back", 3)):
        lesson.do(kind, *how)
        seen += statuses(lesson)
    assert seen == ["open", "skipped", "rolled_back", "open", "rolled_back"]


def test_what_was_asked_since_and_waits_goes_on_waiting(database: Database) -> None:
    lesson = Lesson(database)
    for kind, *how in (("ask",), ("ask",), SKIP, ("back", 0)):
        lesson.do(kind, *how)
    assert statuses(lesson) == ["rolled_back", "open"]


def test_a_second_description_that_was_declined_is_wanted_again_after_a_roll_back(
    database: Database,
) -> None:
    lesson = Lesson(database)
    wanted = next(n for n in range(1, 9) if lesson.learner._wants_second(n))
    for _ in range(wanted):
        lesson.do("ask")
    lesson.do("tell", wanted - 1, "ann", 1)
    told = wanted + 1
    lesson.do("end", wanted - 1, "ben", RoundStatus.CANNOT_TELL)

    def claimed() -> int | None:
        with database.write() as connection:
            found = claim_round(connection, lesson.id, "cat", 0.0)
        return found and found.number

    assert claimed() != wanted
    lesson.do("back", told)
    assert claimed() == wanted


def test_whoever_has_checked_a_round_does_not_check_it_again_after_a_roll_back(
    database: Database,
) -> None:
    lesson = Lesson(database)
    number = next(n for n in range(1, 9) if not lesson.learner._wants_second(n))
    for _ in range(number):
        lesson.do("ask")
    lesson.do("tell", number - 1, "ann", 1)
    lesson.do("check", number - 1, "ben")
    with database.read() as connection:
        assert checks(connection, lesson.id) == [True]
    lesson.do("back", number + 1)
    with database.read() as connection:
        assert checks(connection, lesson.id) == []
        dim = lesson.learner.definition.facts.dim
        assert round_to_check(connection, lesson.id, "ben", dim) is None
        assert round_to_check(connection, lesson.id, "cat", dim) == (number, 1)


def test_whoever_has_described_a_round_has_seen_its_request_for_good(database: Database) -> None:
    lesson = Lesson(database)
    for kind, *how in (("ask",), TELL, ("back", 1), TELL):
        lesson.do(kind, *how)
    with database.read() as connection:
        last = list(read_events(connection, lesson.id))[-1]
    assert last.data == {"description": 1, "saw_request": True, "matched": True}


def test_a_rollback_to_an_event_that_has_not_happened_is_refused(database: Database) -> None:
    lesson = Lesson(database)
    lesson.do("ask")
    with pytest.raises(TellbackError, match="from 0 to 1"):
        lesson.do("back", 2)
