"""Claim, lease, describe, undo, skip, expire: in any order, against rules written again here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Connection, select

from tellback.agents import LORIL
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.active import active_descriptions
from tellback.classroom.store.claims import claim_round, prolong_claim
from tellback.classroom.store.database import Database
from tellback.classroom.store.descriptions import close_round, describe, withdraw
from tellback.classroom.store.errors import ConflictError
from tellback.classroom.store.lessons import create_lesson
from tellback.classroom.store.log import latest_event, read_events, writing
from tellback.classroom.store.projection import OPEN, ROLLED_BACK, ProjectedRound
from tellback.classroom.store.rollback import redact, roll_back
from tellback.classroom.store.rounds import RoundStatus, find_round
from tellback.classroom.store.tables import rounds
from tellback.classroom.store.tasks import Content
from tellback.matching import Same
from tellback.models import Ridge
from tellback.responses import Listed
from tellback.roles import Choice, State, Task
from tests.support.classroom_parts import active_after
from tests.support.searching import at_length
from tests.support.states import same_state

TEACHERS = ("ann", "bob", "cai")
WORDS = ("left", "right", "up")
LEASE = 100.0
DEFINITION = Definition(dim=2, agent=LORIL(model=Ridge()), match=Same())

Table = dict[int, ProjectedRound]

teachers = st.sampled_from(TEACHERS)
words = st.sampled_from(WORDS)


@dataclass
class Expected:
    """Where a round should stand."""

    instruction: str
    features: np.ndarray
    status: RoundStatus = RoundStatus.OPEN
    who: str | None = None  # described or skipped it
    said: str | None = None
    holder: str | None = None
    until: float = 0.0
    was_described: bool = False  # once, by anybody
    have_skipped: set[str] = field(default_factory=set)


@contextmanager
def refused_as(code: str | None) -> Iterator[None]:
    """Expect a refusal of this code, or none."""
    if code is None:
        yield
        return
    with pytest.raises(ConflictError) as refused:
        yield
    assert refused.value.code == code


class Clock:
    """A clock that tests put forward; it moves a little whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        self.now += 1e-6
        return self.now


class Teaching(RuleBasedStateMachine):
    """Three teachers and a program, in any order."""

    database: Database

    asked = Bundle("asked")

    def __init__(self) -> None:
        super().__init__()
        with self.database.write() as connection:
            lesson = create_lesson(connection, "a lesson", DEFINITION.to_data())
        self.lesson = lesson
        self.learner = Learner(self.database, lesson)
        self.expected: dict[int, Expected] = {}
        self.order: list[int] = []  # rounds with an active description, in the order given
        self.rng = np.random.default_rng(0)

    @initialize(target=asked)
    def first(self) -> int:
        return self._asked("left")

    @rule(target=asked, instruction=words)
    def asks(self, instruction: str) -> int:
        return self._asked(instruction)

    def _asked(self, instruction: str) -> int:
        features = self.rng.random((3, 2))
        asked = self.learner.ask(instruction, Listed(features), Content(), "robot")
        self.expected[asked.number] = Expected(instruction, features[asked.choice.response])
        return asked.number

    @rule(seconds=st.sampled_from([1.0, 60.0, 150.0]))
    def time_passes(self, seconds: float) -> None:
        clock: Any = time.time
        clock.now += seconds

    @rule(who=teachers)
    def claims(self, who: str) -> None:
        now = time.time()
        with self.database.write() as connection:
            got = claim_round(connection, self.lesson.id, who, now + LEASE)
        number = self._next_for(who, now)
        assert (None if got is None else got.number) == number
        if number is not None:
            self.expected[number].holder, self.expected[number].until = who, now + LEASE

    def _next_for(self, who: str, now: float) -> int | None:
        """What they hold; then the oldest open one that is free; then what only others skipped."""
        sorted_rounds = sorted(self.expected.items())

        def free(one: Expected) -> bool:
            return one.holder in (None, who) or one.until < now

        wishes: list[Callable[[Expected], bool]] = [
            lambda one: (
                one.status in (RoundStatus.OPEN, RoundStatus.SKIPPED)
                and one.holder == who
                and one.until >= now
            ),
            lambda one: one.status is RoundStatus.OPEN and free(one),
            lambda one: (
                one.status is RoundStatus.SKIPPED and who not in one.have_skipped and free(one)
            ),
        ]
        found = (n for wish in wishes for n, one in sorted_rounds if wish(one))
        return next(found, None)

    @rule(who=teachers, number=asked)
    def keeps_at_it(self, who: str, number: int) -> None:
        until = time.time() + LEASE
        with self.database.write() as connection:
            kept = prolong_claim(connection, self.lesson.id, number, who, until)
        assert kept == (self.expected[number].holder == who)
        if kept:
            self.expected[number].until = until

    @rule(who=teachers, number=asked, said=words, program=st.booleans())
    def describes(self, who: str, number: int, said: str, program: bool) -> None:
        one = self.expected[number]
        refusal = self._refusal(one, who, program)
        with refused_as(refusal), writing(self.database, self.lesson.id) as log:
            given = describe(log, number, who, said, Same(), anyones=program)
        if refusal is not None:
            return
        assert given.asked == one.instruction
        assert given.matched == (said == one.instruction)
        assert given.new == (one.said != said)
        if given.new:
            # Once it was described, its request is shown under Progress: to anybody.
            assert given.saw_request == one.was_described
            one.status, one.who, one.said, one.holder = RoundStatus.DESCRIBED, who, said, None
            one.was_described = True
            self.order = [other for other in self.order if other != number] + [number]

    @staticmethod
    def _refusal(one: Expected, who: str, program: bool) -> str | None:
        if one.status is RoundStatus.DESCRIBED:
            return None if one.who == who else "described"
        if one.holder not in (None, who) and one.until >= time.time():
            return "claimed"
        theirs = who in (one.holder, one.who)
        return None if program or theirs else "not_claimed"

    @rule(who=teachers, number=asked, reviewer=st.booleans())
    def takes_back(self, who: str, number: int, reviewer: bool) -> None:
        one = self.expected[number]
        until = time.time() + LEASE
        anothers = one.status is not RoundStatus.OPEN and one.who != who and not reviewer
        looked_at = one.holder not in (None, who) and one.until >= time.time()
        refusal = "not_yours" if anothers else None
        if one.status is not RoundStatus.OPEN and refusal is None and looked_at:
            refusal = "claimed"
        with refused_as(refusal), writing(self.database, self.lesson.id) as log:
            done = withdraw(log, number, who, until, anyones=reviewer)
        if refusal is not None:
            return
        assert done == (one.status is not RoundStatus.OPEN)
        if done:
            one.status, one.who, one.said = RoundStatus.OPEN, None, None
            one.holder, one.until = who, until
            self.order = [other for other in self.order if other != number]

    @rule(who=teachers, number=asked, outcome=st.sampled_from(["skipped", "flagged"]))
    def ends(self, who: str, number: int, outcome: str) -> None:
        one = self.expected[number]
        refusal = self._refusal(one, who, program=False)
        if one.status is RoundStatus.DESCRIBED:
            refusal = "described"
        with refused_as(refusal), writing(self.database, self.lesson.id) as log:
            close_round(log, number, who, RoundStatus(outcome), "", anyones=False)
        if refusal is None and (one.status, one.who) != (RoundStatus(outcome), who):
            one.status, one.who, one.holder = RoundStatus(outcome), who, None
            if one.status is RoundStatus.SKIPPED:
                one.have_skipped.add(who)

    @invariant()
    def every_round_stands_where_it_should(self) -> None:
        with self.database.read() as connection:
            for number, one in self.expected.items():
                found = find_round(connection, self.lesson.id, number)
                assert (found.status, found.describer, found.claimed_by) == (
                    one.status,
                    one.who,
                    one.holder,
                )

    @invariant()
    def what_stands_follows_from_the_log_alone(self) -> None:
        with self.database.read() as connection:
            events = list(read_events(connection, self.lesson.id))
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            active = active_after(events)
            assert list(active.items()) == list(
                active_descriptions(connection, self.lesson.id).items()
            )
        assert list(active) == self.order

    @invariant()
    def the_agent_is_what_these_descriptions_teach(self) -> None:
        self.learner.catch_up()
        assert same_state(self.learner.agent.state(), self._taught_by_hand())

    def _taught_by_hand(self) -> State:
        agent = DEFINITION.build()
        for number in self.order:
            one = self.expected[number]
            task = Task(None, one.instruction, Listed(one.features[None, :]))
            assert one.said is not None
            agent.learn(task, Choice(0, one.features), one.said)
        return dict(agent.state())


class GoingBack(Teaching):
    """The same, with rolling back and redaction."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[int, Table] = {0: {}}  # the table of rounds after each event

    @invariant()
    def it_is_remembered_where_each_round_stood(self) -> None:
        with self.database.read() as connection:
            latest = latest_event(connection, self.lesson.id)
            assert self.tables.setdefault(latest, self._table(connection)) == self._table(
                connection
            )

    def _table(self, connection: Connection) -> Table:
        columns = [rounds.c[name] for name in ProjectedRound._fields]
        query = select(rounds.c.number, *columns).where(rounds.c.lesson == self.lesson.id)
        return {number: ProjectedRound(*place) for number, *place in connection.execute(query)}

    @rule(back=st.integers(0, 6))
    def rolls_back(self, back: int) -> None:
        with writing(self.database, self.lesson.id) as log:
            to = max(log.latest - back, 0)
            active = active_after(read_events(log.connection, self.lesson.id, upto=to))
            before = self._table(log.connection)
            assert roll_back(log, to, "robot") == len(active)
            after = self._table(log.connection)
        then = self.tables.get(to)
        if then is not None:  # words that were known then may be deleted now
            assert {number: after[number] for number in then} == then
            since = {number: place for number, place in before.items() if number not in then}
            waits = {
                number: OPEN if place == OPEN else ROLLED_BACK for number, place in since.items()
            }
            assert {number: after[number] for number in since} == waits
        self._read_again()

    @rule(who=teachers)
    def is_forgotten(self, who: str) -> None:
        with writing(self.database, self.lesson.id) as log:
            if redact(log, who, "robot"):
                self.tables.clear()
        with self.database.read() as connection:
            for event in read_events(connection, self.lesson.id):
                if event.account == who and event.kind not in ("rolled_back", "redacted"):
                    assert event.redacted
        self._read_again()

    def _read_again(self) -> None:
        """Take from the log what is expected from now on."""
        with self.database.read() as connection:
            events = {event.seq: event for event in read_events(connection, self.lesson.id)}
            active = active_after(events.values())
            for number, one in self.expected.items():
                found = find_round(connection, self.lesson.id, number)
                event = events.get(active.get(number, 0))
                assert (found.status is RoundStatus.DESCRIBED) == (event is not None)
                one.status, one.who = found.status, found.describer
                one.said = None if event is None else event.data["description"]
                one.holder, one.until = found.claimed_by, found.claimed_until or 0.0
        self.order = list(active)


@pytest.mark.hypothesis
@pytest.mark.parametrize("machine", [Teaching, GoingBack])
def test_any_order_of_events_keeps_to_the_rules(
    machine: type[Teaching], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", Clock())
    monkeypatch.setattr(machine, "database", database, raising=False)
    rules = settings(
        max_examples=8, stateful_step_count=25, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(machine, settings=at_length(rules))


def test_nobody_is_shown_again_what_they_skipped_though_others_did_since(
    database: Database,
) -> None:
    with database.write() as connection:
        lesson = create_lesson(connection, "a lesson", DEFINITION.to_data())
    Learner(database, lesson).ask("left", Listed(np.eye(2)), Content(), "robot")
    for who in ("ann", "bob"):
        with database.write() as connection:
            assert claim_round(connection, lesson.id, who, time.time() + LEASE) is not None
        with writing(database, lesson.id) as log:
            close_round(log, 1, who, RoundStatus.SKIPPED, "", anyones=False)
    with writing(database, lesson.id) as log:
        roll_back(log, 2, "robot")
    with database.write() as connection:
        for who, offered in (("ann", False), ("bob", False), ("cai", True)):
            found = claim_round(connection, lesson.id, who, time.time() + LEASE)
            assert (found is not None) == offered


def test_whoever_holds_what_another_skipped_gets_that_one_again(database: Database) -> None:
    with database.write() as connection:
        lesson = create_lesson(connection, "a lesson", DEFINITION.to_data())
    learner = Learner(database, lesson)

    def claimed(who: str) -> int | None:
        with database.write() as connection:
            found = claim_round(connection, lesson.id, who, time.time() + LEASE)
        return found and found.number

    learner.ask("left", Listed(np.eye(2)), Content(), "robot")
    assert claimed("bob") == 1
    with writing(database, lesson.id) as log:
        close_round(log, 1, "bob", RoundStatus.SKIPPED, "", anyones=False)
    assert claimed("ann") == 1
    learner.ask("left", Listed(np.eye(2)), Content(), "robot")
    assert claimed("ann") == 1
    assert claimed("bob") == 2
