"""Nothing that was acknowledged is lost or doubled, whatever dies, and the agent is its log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from tellback.agents.agent import ModelAgent
from tellback.classroom.learning.content import features_from
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.lesson_agent import LessonAgent
from tellback.classroom.store.active import read_active
from tellback.classroom.store.database import Database
from tellback.classroom.store.lessons import find_lesson
from tellback.classroom.store.log import Event, Kind, read_events
from tellback.classroom.store.rounds import RoundStatus
from tellback.classroom.store.tables import checkpoints, rounds, tasks
from tellback.responses import Listed
from tellback.roles import Task
from tellback.streams import Stream
from tests.support.classroom_parts import active_after
from tests.support.patience import PATIENCE
from tests.support.ports import held_port
from tests.support.real_postgres import Postgres
from tests.support.soak import DEFINITIONS, Plan, Service, prepare, soak
from tests.support.soak_clients import (
    DIM,
    LESSONS,
    SENTENCES,
    TABLE,
    Asked,
    Done,
    Held,
    Login,
    Sent,
)
from tests.support.states import same_state

Crash = Callable[[], None]


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Crash | None]]:
    """A new database, and how it crashes; SQLite lives and dies with the server."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'classroom.db'}", None
        return
    server: Postgres = request.getfixturevalue("postgres_server")
    yield server.create_database(), lambda: server.restart(immediate=True)


@pytest.mark.parametrize(
    "backend", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True
)
def test_nothing_acknowledged_is_lost_or_doubled(
    backend: tuple[str, Crash | None], tmp_path: Path
) -> None:
    try_out(backend, Plan(rounds=100, kills=1, workers=2, lease=0.7), tmp_path)


@pytest.mark.slow
def test_nothing_is_lost_in_2000_rounds_and_five_kills(
    backend: tuple[str, Crash | None], tmp_path: Path
) -> None:
    plan = Plan(rounds=2000, kills=5, workers=2, lease=2.0, seed=1)
    try_out(backend, plan, tmp_path)


def try_out(backend: tuple[str, Crash | None], plan: Plan, folder: Path) -> None:
    """Soak a classroom, and look whether everything that was promised is so."""
    url, crash = backend
    logins = prepare(url)
    with held_port() as port, Service(url, port, plan, folder / "log") as service:
        service.start()
        memories = soak(service, plan, logins, crash)
        faults = [fault for memory in memories for fault in memory.faults]
        assert not faults, (len(faults), faults[:5], complaints(folder / "log"))
        if crash:
            crash()
        service.start()
        seen = Seen(url)
        asked = [one for memory in memories for one in memory.asked]
        said = [one for memory in memories for one in memory.said]
        done = [one for memory in memories for one in memory.done]
        held = [one for memory in memories for one in memory.held]
        every_round_exists_once(seen, asked, plan)
        every_description_is_in_the_log_once(seen, said)
        every_other_change_is_in_the_log_once(seen, done)
        nobody_held_what_another_held(held)
        for lesson in LESSONS:
            the_log_has_no_gaps(seen, lesson)
            the_rounds_are_what_the_log_says(seen, lesson)
            agent = the_agent_is_what_the_log_teaches(seen, lesson)
            a_restarted_server_answers_as(agent, service, seen, lesson, logins)
        seen.database.close()
        print(figures(plan, memories, seen))


class Seen:
    """What is in the database, read without the code that is tested where that is short."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        self.events: dict[str, list[Event]] = {}
        self.rounds: dict[str, list[Any]] = {}
        with self.database.read() as connection:
            for lesson in LESSONS:
                self.events[lesson] = list(read_events(connection, lesson))
                query = select(rounds).where(rounds.c.lesson == lesson).order_by(rounds.c.number)
                self.rounds[lesson] = list(connection.execute(query))

    def event(self, lesson: str, seq: int) -> Event:
        found = [event for event in self.events[lesson][seq - 1 : seq] if event.seq == seq]
        assert found, f"event {seq} of {lesson} was acknowledged and is lost"
        return found[0]

    def active(self, lesson: str) -> dict[int, int]:
        """Which descriptions stand, worked out round by round."""
        latest: dict[int, int] = {}
        for event in self.events[lesson]:
            if event.round is not None and event.kind is Kind.DESCRIBED:
                latest[event.round] = event.seq
            elif event.round is not None and event.kind is Kind.WITHDRAWN:
                latest.pop(event.round, None)
        return dict(sorted(latest.items(), key=lambda pair: pair[1]))


def every_round_exists_once(seen: Seen, asked: list[Asked], plan: Plan) -> None:
    answers: dict[tuple[str, str], dict[str, Any]] = {}
    for one in asked:
        # The same key brings the same answer, to the last digit.
        assert answers.setdefault((one.account, one.key), one.answer) == one.answer
        event = next(
            event
            for event in seen.events[one.lesson]
            if event.kind is Kind.ASKED and event.round == one.answer["round"]
        )
        assert event.account == one.account
        assert event.data["instruction"] == one.instruction
        for name, in_log in (("response",) * 2, ("estimate",) * 2, ("model_version", "version")):
            assert event.data[in_log] == one.answer[name]
    lessons = {(one.account, one.key): one.lesson for one in asked}
    places = {(lessons[key], answer["round"]) for key, answer in answers.items()}
    assert len(places) == len(answers) == plan.rounds, "two keys brought one round"
    kept = [(lesson, row.number) for lesson in LESSONS for row in seen.rounds[lesson]]
    assert sorted(kept) == sorted(places), "rounds that nobody asked for, or lost ones"
    questions = [
        (lesson, event.round)
        for lesson in LESSONS
        for event in seen.events[lesson]
        if event.kind is Kind.ASKED
    ]
    assert sorted(questions) == sorted(places)


def every_description_is_in_the_log_once(seen: Seen, said: list[Sent]) -> None:
    for one in said:
        event = seen.event(one.lesson, one.event)
        assert event.kind is (Kind.SECOND if one.second else Kind.DESCRIBED)
        told = (event.round, event.account, event.data["description"])
        assert told == (one.round, one.account, one.description)
    new = Counter((one.lesson, one.event) for one in said if one.new)
    assert max(new.values()) == 1, "one event was said to be new twice"
    known = {(one.lesson, one.event) for one in said if one.new or one.unsure}
    assert all((one.lesson, one.event) in known for one in said), "an old event that nobody made"
    # Of a table the same may be said again in earnest; no sentence is ever said twice.
    meant = [meaning for event in seen.events[SENTENCES] if (meaning := _meant(event))]
    assert len({words for _, _, words in meant}) == len(meant), "kept twice"
    for lesson in LESSONS:
        for happened in by_round(seen.events[lesson]).values():
            for before, after in pairwise(happened):
                assert _meant(before) != _meant(after) or _meant(before) is None, "kept twice"


def _meant(event: Event) -> tuple[Any, ...] | None:
    if event.kind not in (Kind.DESCRIBED, Kind.SECOND):
        return None
    return event.kind, event.account, event.data["description"]


def by_round(events: list[Event]) -> dict[int | None, list[Event]]:
    found: dict[int | None, list[Event]] = defaultdict(list)
    for event in events:
        found[event.round].append(event)
    return found


def every_other_change_is_in_the_log_once(seen: Seen, done: list[Done]) -> None:
    """As many as were acknowledged; and where a try was not answered, perhaps one more."""
    certain = Counter(one[:4] for one in done if one.happened and not one.unsure)
    possible = Counter(one[:4] for one in done if one.happened or one.unsure)
    kept = Counter(
        (event.kind.value, lesson, event.account, event.round)
        for lesson in LESSONS
        for event in seen.events[lesson]
        if event.kind in (Kind.WITHDRAWN, Kind.SKIPPED, Kind.CANNOT_TELL, Kind.FLAGGED)
    )
    for what, count in certain.items():
        assert kept[what] >= count, f"{what} was acknowledged {count} times, kept {kept[what]}"
    tried_in_vain = kept - possible  # type: ignore[operator]
    assert not tried_in_vain, f"kept, but never acknowledged: {tried_in_vain}"


def nobody_held_what_another_held(held: list[Held]) -> None:
    """Of two who had the same response, one had it after the other."""
    by_place = defaultdict(list)
    for one in held:
        by_place[one.lesson, one.round].append(one)
    for place, holders in by_place.items():
        for one, other in combinations(holders, 2):
            if one.account != other.account:
                # One learned of it only after the other's time was over.
                after = other.since >= one.until or one.since >= other.until
                assert after, f"two held {place}: {one}, {other}"


def the_log_has_no_gaps(seen: Seen, lesson: str) -> None:
    numbers = [event.seq for event in seen.events[lesson]]
    assert numbers == list(range(1, len(numbers) + 1))
    with seen.database.read() as connection:
        kept = find_lesson(connection, lesson)
    assert (kept.events, kept.rounds) == (len(numbers), len(seen.rounds[lesson]))
    questions = [event.round for event in seen.events[lesson] if event.kind is Kind.ASKED]
    assert questions == list(range(1, len(questions) + 1))


def the_rounds_are_what_the_log_says(seen: Seen, lesson: str) -> None:
    active = seen.active(lesson)
    assert active_after(seen.events[lesson]) == active
    happened = by_round(seen.events[lesson])
    endings = {kind.value for kind in (Kind.SKIPPED, Kind.CANNOT_TELL, Kind.FLAGGED)}
    for row in seen.rounds[lesson]:
        assert row.described == active.get(row.number)
        last = [event for event in happened[row.number] if not is_second(event)][-1]
        if row.described is not None:
            assert (row.status, row.describer) == (RoundStatus.DESCRIBED, last.account)
            assert last.seq == row.described
        elif last.kind.value in endings:
            assert (row.status, row.describer) == (last.kind.value, last.account)
        else:
            assert (row.status, row.describer) == (RoundStatus.OPEN, None)
        withdrawn = [one.seq for one in happened[row.number] if one.kind is Kind.WITHDRAWN]
        since = max(withdrawn, default=0)
        seconds = [one.seq for one in happened[row.number] if is_second(one) and one.seq > since]
        assert seconds == ([] if row.second is None else [row.second])
        assert sum(one.kind is Kind.SECOND for one in happened[row.number]) <= 1


def is_second(event: Event) -> bool:
    """Whether somebody described a round too, or was to and did not."""
    return event.kind is Kind.SECOND or bool(event.data.get("second"))


def the_agent_is_what_the_log_teaches(seen: Seen, lesson: str) -> ModelAgent:
    """Three ways to the same bits: from a checkpoint, from nothing, and by hand."""
    with seen.database.read() as connection:
        kept = list(
            connection.execute(
                select(checkpoints.c.learned).where(checkpoints.c.lesson == lesson)
            ).scalars()
        )
        found = find_lesson(connection, lesson)
        rebuilt = LessonAgent(DEFINITIONS[lesson])
        rebuilt.learn_new(partial(read_active, connection, lesson))
    learner = Learner(seen.database, found)
    assert learner.agent.active == rebuilt.active == seen.active(lesson)
    agent = by_hand(seen, lesson)
    assert same_state(learner.agent.state(), rebuilt.state())
    assert same_state(learner.agent.state(), agent.state())
    if len(rebuilt.active) > 3 * 64:
        assert kept, "no checkpoint was ever kept"
    return agent


def by_hand(seen: Seen, lesson: str) -> ModelAgent:
    """An agent that is taught what the log says, without the code of the classroom."""
    agent = DEFINITIONS[lesson].build()
    questions = {event.round: event for event in seen.events[lesson] if event.kind is Kind.ASKED}
    with seen.database.read() as connection:
        shown = {
            row.round: features_from(bytes(row.features), DIM)
            for row in connection.execute(select(tasks).where(tasks.c.lesson == lesson))
        }
    for number, seq in seen.active(lesson).items():
        asked = questions[number].data
        task = Task(None, asked["instruction"], Listed(shown[number]))
        choice = task.choose(asked["response"])
        agent.learn(task, choice, seen.event(lesson, seq).data["description"])
    return agent


def a_restarted_server_answers_as(
    agent: ModelAgent,
    service: Service,
    seen: Seen,
    lesson: str,
    logins: tuple[list[Login], list[Login]],
) -> None:
    features = [[0.125 * i, 0.5, 0.25, 0.0625 * i] for i in range(4)]
    headers = {"Authorization": f"Bearer {logins[1][0].token}"}
    number = len(seen.rounds[lesson])
    for instruction in (1, 5) if lesson == TABLE else ("the red cup", "the blue lamp"):
        task = Task(None, instruction, Listed(features))
        body = {"instruction": instruction, "features": features}
        place = f"{service.place}/api/v1/lessons/{lesson}"
        thought = httpx.post(
            f"{place}/preview", json=body, headers=headers, timeout=PATIENCE
        ).json()
        estimates = agent.model.estimates(instruction, task.responses)
        assert thought["learned"] == len(seen.active(lesson))
        assert thought["estimate"] == estimates[thought["response"]] == estimates.max()
        number += 1
        answer = httpx.post(f"{place}/rounds", json=body, headers=headers, timeout=PATIENCE).json()
        choice = agent.respond(task, Stream(DEFINITIONS[lesson].seed, "agent").at(number))
        assert answer["round"] == number
        assert (answer["response"], answer["estimate"]) == (choice.response, choice.estimate)


def complaints(log: Path) -> str:
    """What the server logged that is no request."""
    lines = [line for line in log.read_text().splitlines() if '"level": "info"' not in line]
    return "\n".join(lines[-40:])


def figures(plan: Plan, memories: list[Any], seen: Seen) -> str:
    """What happened, in a few numbers."""
    refused = sum((Counter(memory.refused) for memory in memories), Counter[str]())
    kinds = Counter(event.kind.value for lesson in LESSONS for event in seen.events[lesson])
    acknowledged = sum(len(memory.said) for memory in memories)
    unanswered = sum(memory.unanswered for memory in memories)
    return (
        f"{plan}: {dict(kinds)}; {acknowledged} descriptions acknowledged, "
        f"{unanswered} tries unanswered, refused {dict(refused)}"
    )
