"""Lessons: their definitions, the agent rebuilt from the log, checkpoints, leases, the exam."""

from __future__ import annotations

import time

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import func, select, text, update

from tellback.agents import LORIL, Greedy
from tellback.classroom.learning import checkpoints as kept
from tellback.classroom.learning.background_jobs import BackgroundJobs
from tellback.classroom.learning.checkpoints import keep_checkpoint, packed, unpacked
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.demonstration import build_simulation, demonstration
from tellback.classroom.learning.exam import Exam
from tellback.classroom.learning.learner import Learner
from tellback.classroom.learning.lesson_agent import LessonAgent, same_state
from tellback.classroom.learning.progress import match_rate
from tellback.classroom.learning.sureness import Considered, verdict
from tellback.classroom.settings import Settings
from tellback.classroom.store.checkpoints import KEPT
from tellback.classroom.store.database import Database, open_database
from tellback.classroom.store.descriptions import describe, withdraw
from tellback.classroom.store.idempotency import KeyedRequest
from tellback.classroom.store.leases import take_lease
from tellback.classroom.store.lessons import LessonRow, create_lesson
from tellback.classroom.store.log import read_events, writing
from tellback.classroom.store.reports import Columns
from tellback.classroom.store.tables import checkpoints, leases, metadata, progress
from tellback.classroom.store.tasks import Content
from tellback.classroom.web.classroom import Classroom
from tellback.errors import FieldError, SettingError, TellbackError
from tellback.matching import Same
from tellback.models import Keywords, Mixture, Ridge
from tellback.responses import Listed
from tellback.roles import State
from tellback.streams import Streams
from tellback.theory import running_mean, running_share
from tellback.theory.shares import Share, share_of_counts
from tellback.undo_log import SNAPSHOT_EVERY
from tellback.worlds import Paraphrases, Synthetic
from tellback.worlds.paraphrases import ParaphrasesTeacher

SENTENCES = Definition(dim=3, agent=Greedy(model=Keywords(waves=0)), match=Same())


def new_lesson(database: Database, definition: Definition = SENTENCES) -> LessonRow:
    with database.write() as connection:
        return create_lesson(connection, "a lesson", definition.to_data())


def taught(database: Database, learner: Learner, count: int, seed: int = 0) -> None:
    """Ask and describe some rounds."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        features = rng.random((4, 3))
        asked = learner.ask("go left", Listed(features), Content(), "robot")
        said = f"went {'left' if features[asked.choice.response][0] > 0.5 else 'right'}"
        with writing(database, learner.lesson) as log:
            describe(log, asked.number, "ann", said, Same(), anyones=True)
    learner.catch_up()


# Definitions.


def test_a_definition_comes_back_from_data() -> None:
    for definition in (SENTENCES, Definition(dim=5, instructions=7), Definition("texts")):
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
    ],
)
def test_what_cannot_be_a_lesson_is_refused_by_field(
    settings: dict[str, object], field: str, says: str
) -> None:
    with pytest.raises(FieldError) as refused:
        Definition.from_data(settings)
    assert refused.value.field == field
    assert says in str(refused.value)


def test_an_agent_that_cannot_live_with_the_facts_is_refused_when_the_lesson_is_made() -> None:
    with pytest.raises(FieldError, match="brought to life"):
        Definition(dim=3, agent=LORIL(model=Mixture())).try_out()


def test_a_world_that_shows_no_pictures_cannot_be_a_demonstration(database: Database) -> None:
    lesson = new_lesson(database, Definition(instructions=5, world=Synthetic(instructions=5)))
    with pytest.raises(FieldError, match="shows pictures"):
        Learner(database, lesson)


# The agent, rebuilt from the log.


def test_two_learners_of_one_lesson_agree_to_the_last_bit(database: Database) -> None:
    lesson = new_lesson(database)
    one, other = Learner(database, lesson), Learner(database, lesson)
    for learner, seed in ((one, 0), (other, 1), (one, 2)):
        taught(database, learner, 3, seed)
    one.catch_up()
    other.catch_up()
    assert one.agent.learned == 9
    assert same_state(one.agent.state(), other.agent.state())
    assert one.agent.active == other.agent.active


def test_what_is_undone_was_never_taught_however_long_ago(database: Database) -> None:
    lesson = new_lesson(database)
    learner = Learner(database, lesson)
    taught(database, learner, 2 * SNAPSHOT_EVERY + 5)
    for number in (2 * SNAPSHOT_EVERY + 5, SNAPSHOT_EVERY + 1, 3):
        with writing(database, lesson.id) as log:
            withdraw(log, number, "ann", time.time() + 9, anyones=False)
        learner.catch_up()
        assert same_state(learner.agent.state(), Learner(database, lesson).agent.state())
    assert learner.agent.learned == 2 * SNAPSHOT_EVERY + 2
    with writing(database, lesson.id) as log:
        describe(log, 3, "ann", "went nowhere", Same())
    learner.catch_up()
    assert list(learner.agent.active)[-1] == 3  # said last, so taught last
    assert same_state(learner.agent.state(), Learner(database, lesson).agent.state())


def test_a_description_that_the_model_refuses_stays_in_the_log_and_does_no_harm(
    database: Database,
) -> None:
    lesson = new_lesson(database, Definition(dim=3, instructions=4))
    learner = Learner(database, lesson)
    asked = learner.ask(1, Listed(np.eye(3)), Content(), "robot")
    with writing(database, lesson.id) as log:
        describe(log, asked.number, "ann", 9, Same(), anyones=True)  # beyond the table
    learner.catch_up()
    assert same_state(learner.agent.state(), LessonAgent(learner.definition).state())
    assert learner.agent.was_taught(asked.number)


# Checkpoints.


def test_a_learner_that_starts_from_a_checkpoint_is_the_same(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = new_lesson(database)
    learner = Learner(database, lesson)
    taught(database, learner, 10)
    with writing(database, lesson.id) as log:
        keep_checkpoint(log, learner.agent)
    taught(database, learner, 3, seed=1)
    started: list[int] = []
    start = LessonAgent.start_from

    def noted(agent: LessonAgent, active: dict[int, int], state: State, refused: list[int]) -> None:
        started.append(len(active))
        start(agent, active, state, refused)

    monkeypatch.setattr(LessonAgent, "start_from", noted)
    again = Learner(database, lesson)
    assert started == [10]
    assert same_state(again.agent.state(), learner.agent.state())


def test_a_checkpoint_is_not_used_that_knows_what_was_withdrawn_or_is_damaged(
    database: Database,
) -> None:
    lesson = new_lesson(database)
    learner = Learner(database, lesson)
    taught(database, learner, 6)
    with writing(database, lesson.id) as log:
        keep_checkpoint(log, learner.agent)
    with writing(database, lesson.id) as log:
        withdraw(log, 2, "ann", time.time() + 9, anyones=False)
    learner.catch_up()
    assert same_state(Learner(database, lesson).agent.state(), learner.agent.state())
    taught(database, learner, 1)
    with writing(database, lesson.id) as log:
        keep_checkpoint(log, learner.agent)
        log.connection.execute(update(checkpoints).values(state=b"PK not a state"))
    assert same_state(Learner(database, lesson).agent.state(), learner.agent.state())


def test_checkpoints_of_other_code_are_not_used_and_old_ones_go(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = new_lesson(database)
    learner = Learner(database, lesson)
    for seed in range(KEPT + 2):
        taught(database, learner, 1, seed)
        with writing(database, lesson.id) as log:
            keep_checkpoint(log, learner.agent)
    with database.read() as connection:
        count = connection.execute(select(func.count()).select_from(checkpoints)).scalar_one()
    assert count == KEPT
    monkeypatch.setattr(kept, "_source", lambda: "another")
    monkeypatch.setattr(LessonAgent, "start_from", lambda *_: pytest.fail("of other code"))
    assert same_state(Learner(database, lesson).agent.state(), learner.agent.state())


def test_a_state_comes_back_from_its_bytes_which_hold_no_pickle() -> None:
    state: State = {"a": np.arange(6.0).reshape(2, 3), "n": 3, "x": 0.1}
    assert same_state(unpacked(packed(state)), state)
    with pytest.raises(ValueError, match=r"[Oo]bject"):
        packed({"a": np.array([object()])})


# BackgroundJobs and leases.


def test_a_lease_has_one_holder_until_it_ends(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.write() as connection:
        assert take_lease(connection, "learner", "one", 10)
        assert take_lease(connection, "learner", "one", 10)
        assert not take_lease(connection, "learner", "two", 10)
    later = time.time() + 11
    monkeypatch.setattr(time, "time", lambda: later)
    with database.write() as connection:
        assert take_lease(connection, "learner", "two", 10)
        assert not take_lease(connection, "learner", "one", 10)


def test_only_the_holder_of_a_lesson_writes_checkpoints_and_the_next_takes_over(
    database: Database,
) -> None:
    lesson = new_lesson(database)
    first, second = Learner(database, lesson), Learner(database, lesson)
    duties = [BackgroundJobs(database, lambda _: first), BackgroundJobs(database, lambda _: second)]
    for one in duties:
        one.turn()
    taught(database, first, 70)
    for one in duties[::-1]:
        one.turn()
    with database.read() as connection:
        assert connection.execute(select(checkpoints.c.learned)).scalars().all() == [70]
        holder = connection.execute(select(leases.c.holder)).scalar_one()
    assert holder == duties[0].holder
    with database.write() as connection:
        connection.execute(update(leases).values(until=0.0))  # the first has died
    taught(database, second, 70, seed=1)
    duties[1].turn()
    with database.read() as connection:
        assert 140 in connection.execute(select(checkpoints.c.learned)).scalars().all()


# The exam and what the agent is sure of.


def test_a_demonstration_lifts_held_out_requests_from_chance_to_four_in_five(
    database: Database,
) -> None:
    definition = demonstration(seed=11)
    lesson = new_lesson(database, definition)
    learner = Learner(database, lesson)
    jobs = BackgroundJobs(database, lambda _: learner)
    jobs.turn()
    simulation = build_simulation(definition)
    assert simulation is not None
    world, tasks = simulation.world, Streams(definition.seed).stream("world")
    teacher, rng = ParaphrasesTeacher(), np.random.default_rng(3)
    for _ in range(60):
        asked = learner.ask_from_world("ann")
        task = world.task(asked.number, (), tasks.at(asked.number))
        said = teacher.describe(task.context, asked.choice.response, rng)
        learner.describe(asked.number, "ann", said, anyones=True)
    again, effect = learner.describe(asked.number, "ann", said, anyones=True, effect=True)
    assert not again.new
    assert effect is not None
    assert effect.flips == []
    jobs.turn()
    assert effect.learned == 60
    assert effect.right is not None
    assert effect.right >= 80
    with database.read() as connection:
        points = connection.execute(
            select(progress.c.described, progress.c.right).order_by(progress.c.seq)
        ).all()
    assert points[-1] == (60, effect.right)
    assert points[0].described == 0
    assert 8 <= points[0].right <= 35  # by chance 20


def test_held_out_requests_are_never_asked() -> None:
    definition = demonstration()
    assert isinstance(definition.world, Paraphrases)
    from tellback.classroom.learning.exam import exam_of

    simulation = build_simulation(definition)
    assert simulation is not None
    exam = exam_of(definition, simulation)
    stream = Streams(definition.seed).stream("world")
    asked = [simulation.world.task(t, (), stream.at(t)) for t in range(1, 201)]
    scenes = {(task.context, task.instruction) for task in asked}
    assert not any((task.context, task.instruction) in scenes for task in exam.tasks)


def test_an_exam_without_a_referee_judges_nothing() -> None:
    from tellback.classroom.learning.exam import LATEST
    from tellback.roles import Task

    exam = Exam(Task(None, f"request {i}", Listed(np.eye(3))) for i in range(LATEST))
    answers = exam.answers(SENTENCES.build())
    assert exam.right(answers) is None
    flips = exam.flips(answers, (answers + 1) % 3)
    assert len(flips) == LATEST
    assert flips[0].is_right is None


@pytest.mark.parametrize(
    ("estimates", "bonuses", "learned", "sure", "why"),
    [
        ([0.9, 0.1], [0.0, 0.0], 0, False, "nothing was described"),
        ([0.9, 0.1], [0.0, 0.0], 5, True, "says so"),
        ([0.9, 0.6], [0.0, 0.0], 5, False, "hardly tells"),
        ([0.0, 0.0], [0.0, 0.0], 5, False, "hardly tells"),
        ([-0.2, -0.9], [0.0, 0.0], 5, False, "hardly tells"),
        ([0.9, 0.1], [0.0, 1.0], 5, False, "rather try another"),
        ([0.9, 0.1], [np.nan, np.nan], 5, True, "says so"),
    ],
)
def test_an_agent_says_that_it_does_not_know_when_optimism_and_not_evidence_drives_it(
    estimates: list[float], bonuses: list[float], learned: int, sure: bool, why: str
) -> None:
    found = verdict(Considered(np.array(estimates), np.array(bonuses), learned, 7))
    assert (found.best, found.second, found.sure) == (0, 1, sure)
    assert why in found.says
    assert found.says.startswith("I don't know yet") != sure


# The database.


def test_migrations_make_the_tables_that_the_code_expects(database: Database) -> None:
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_a_database_of_a_newer_version_is_refused(database: Database, database_url: str) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(TellbackError, match="newer tellback"):
        open_database(database_url)


@pytest.mark.parametrize(
    "url", ["nonsense", "mysql://localhost/x", "sqlite://", "sqlite:///:memory:"]
)
def test_a_database_that_cannot_be_used_is_refused_with_what_can(url: str) -> None:
    with pytest.raises(SettingError, match="sqlite"):
        open_database(url)


def test_a_database_that_does_not_answer_is_named_without_its_password() -> None:
    with pytest.raises(TellbackError, match="cannot be used") as refused:
        open_database("postgresql://ann:secret@127.0.0.1:9/lessons")
    assert "secret" not in str(refused.value)


def failing(*_: object) -> None:
    raise RuntimeError("half-way")


def test_a_transaction_that_fails_leaves_nothing_and_the_next_goes_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = new_lesson(database)
    learner = Learner(database, lesson)
    monkeypatch.setattr("tellback.classroom.learning.learner.add_answer", failing)
    request = KeyedRequest("robot", "key", "digest")
    with pytest.raises(RuntimeError, match="half-way"):
        learner.ask("go left", Listed(np.eye(3)), Content(), "robot", request)
    with database.read() as connection:
        assert not list(read_events(connection, lesson.id))
    taught(database, learner, 1)
    with database.read() as connection:
        events = list(read_events(connection, lesson.id))
    assert [(event.seq, event.round) for event in events] == [(1, 1), (2, 1)]


def test_an_agent_that_was_dropped_from_memory_is_rebuilt(database_url: str) -> None:
    room = Classroom(Settings(database_url, accounts=False))
    lesson = room.create("a lesson", SENTENCES)
    taught(room.database, room.learner(lesson.id), 3)
    before = room.learner(lesson.id)
    assert room.learner(lesson.id) is before
    room.forget(lesson.id)
    after = room.learner(lesson.id)
    assert after is not before
    assert same_state(after.agent.state(), before.agent.state())
    room.close()


def test_the_share_of_matches_has_an_interval_that_may_be_watched() -> None:
    """Of rounds in the order in which they were described, not in that in which they were asked."""
    nothing = np.full(5, np.nan)
    matched = np.array([1.0, np.nan, 0.0, 1.0, 1.0])
    described = np.array([9.0, np.nan, 4.0, 6.0, 11.0])
    found = match_rate(Columns(nothing, nothing, nothing, matched, described))
    mean, low, high = running_mean(np.array([0.0, 1.0, 1.0, 1.0]))
    assert found == Share(mean[-1], low[-1], high[-1], 4)
    assert match_rate(Columns(*([nothing] * 5))) is None


def test_a_share_that_is_shown_after_every_event_rarely_ever_excludes_the_truth() -> None:
    """Clopper and Pearson's interval, looked at as often, does in far more than 5% of lessons."""
    rng = np.random.default_rng(3)
    lessons = rng.random((200, 150)) < 0.5
    excluded = {"running": 0, "fixed": 0}
    for matches in lessons:
        counts = np.cumsum(matches)
        fixed = [share_of_counts(int(counts[n]), n + 1) for n in range(0, 150, 5)]
        shown = [running_share(matches[: n + 1]) for n in range(0, 150, 5)]
        for name, shares in (("running", shown), ("fixed", fixed)):
            excluded[name] += any(not one.low <= 0.5 <= one.high for one in shares)
    assert excluded["running"] <= 10
    assert excluded["fixed"] > 20


def test_progress_says_of_bounds_that_were_chosen_that_they_prove_nothing() -> None:
    from tellback.certificate import Calibration
    from tellback.classroom.web.api.progress import _with_caveat
    from tellback.proof import Proof, Standing, standing_of

    nan = float("nan")
    grey = Calibration(nan, nan, nan, "grey", "2 descriptions do not contradict the bounds")
    dark = Calibration(nan, nan, nan, "dark", "the agent states no widths")
    agent = LORIL(k=0.3, model=Ridge()).build(SENTENCES.facts, np.random.default_rng(0))
    chosen = standing_of(agent)
    assert "k = 0.3 was chosen and not derived" in _with_caveat(grey, chosen)
    assert _with_caveat(dark, chosen) == dark.says
    derived = Standing(Proof(0.05, "a radius", "the truth is in its class"), "")
    assert "no proof: nobody knows whether descriptions were skipped" in _with_caveat(grey, derived)
