"""Descriptions can be withdrawn: the agent is then as if it had never been told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import Facts, Ledger, Listed, Task
from tellback.agents import LORIL, Certified, Greedy, InverseGap, Thompson
from tellback.encoders import NGrams
from tellback.errors import ProtocolError
from tellback.models import Keywords, Mixture, Ridge, Sentence
from tellback.roles import AgentSpec, Choice, Instruction, State
from tellback.streams import Stream
from tellback.undo_log import MOST_SNAPSHOTS, SNAPSHOT_EVERY, Told, ToldLog, UndoLog
from tests.support.oracles import Diary, random_simplex

RESPONSES = Listed(random_simplex(np.random.default_rng(0), 5, 3))
SAID = ("a red ball", "the blue cube", "a red cube", "")

UNLEARNING: dict[str, tuple[AgentSpec, bool]] = {
    "loril ridge": (LORIL(k=0.5, model=Ridge(), lam=1.0), False),
    "two sigmas": (LORIL(k=0.5, model=Ridge(lam=0.2), lam=1.0), False),
    "ridge of sentences": (Greedy(model=Ridge()), True),
    "ridge of embeddings": (Greedy(model=Ridge(labels=NGrams(dim=32))), True),
    "inverse gap": (InverseGap(model=Ridge()), False),
    "certified": (Certified(Greedy(model=Ridge()), k=1.0, lam=1.0), False),
    "thompson": (Thompson(model=Ridge(), draws=3), False),
}
REPLAYING: dict[str, tuple[AgentSpec, bool]] = {
    "mixture": (Greedy(model=Mixture()), False),
    "keywords": (Greedy(model=Keywords(waves=8)), True),
    "sentence": (
        Greedy(model=Sentence(hidden=3, embedding=3, layers=1, steps=1, batch=2, vocabulary=12)),
        True,
    ),
    "fading ridge": (LORIL(k=0.5, model=Ridge(), lam="1/t"), False),
    "tiny ridge": (Greedy(model=Ridge(lam=1e-9)), False),
    "certified, fading": (Certified(Greedy(model=Ridge()), k=1.0), False),
    "loril mixture": (LORIL(k=0.5, model=Mixture()), False),
}
ALL = UNLEARNING | REPLAYING


def built(spec: AgentSpec, words: bool) -> Any:
    facts = Facts(3, None if words else 4, fixed_responses=True)
    return spec.build(facts, np.random.default_rng(0))


def ledger_of(agent: Any) -> Ledger:
    return Ledger(agent, Stream(0, "agent"), remember=True)


def task(t: int, words: bool) -> Task:
    return Task("here", SAID[t % 4] if words else t % 4, RESPONSES)


def told(x: int, words: bool) -> Instruction:
    return SAID[x] if words else x


Step = tuple[str, int, int]


@st.composite
def lessons(draw: st.DrawFn) -> list[Step]:
    """Any order of asking, telling, withdrawing and dropping: what, which of the rounds, what."""
    what = st.sampled_from(["ask", "ask", "tell", "tell", "tell", "withdraw", "withdraw", "drop"])
    step = st.tuples(what, st.integers(0, 30), st.integers(0, 3))
    return draw(st.lists(step, min_size=5, max_size=40))


def followed(
    agent: Any, words: bool, steps: list[Step]
) -> tuple[Ledger, dict[int, tuple[Task, Choice, Instruction]]]:
    """The ledger after a lesson, and what remains told, in the order in which it was."""
    ledger, remaining, latest = ledger_of(agent), {}, 0
    choices: dict[int, tuple[Task, Choice]] = {}
    for what, which, x in steps:
        if what == "ask" or not latest:
            latest += 1
            choices[latest] = task(latest, words), ledger.ask(latest, task(latest, words))
            continue
        t = 1 + which % latest
        was_open, was_told = t in ledger.open, t in remaining
        if what == "tell":
            assert ledger.tell(t, told(x, words)) is was_open
            if was_open:
                remaining[t] = (*choices[t], told(x, words))
        elif what == "drop":
            assert ledger.drop(t) is was_open
        else:
            assert ledger.withdraw(t) is was_told
            if was_told:
                del remaining[t]
                assert t in ledger.open
                assert ledger.ask(t, task(t, words)).response == choices[t][1].response
    return ledger, remaining


def only_told(spec: AgentSpec, words: bool, remaining: dict[int, Any]) -> Any:
    agent = built(spec, words)
    for lesson in remaining.values():
        agent.learn(*lesson)
    return agent


def same(one: State, other: State, but: tuple[str, ...] = ()) -> None:
    assert one.keys() == other.keys()
    for name in one:
        if not name.endswith(but):
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("name", REPLAYING)
@settings(max_examples=15)
@given(steps=lessons())
def test_an_agent_that_is_restored_is_to_the_bit_one_that_was_only_told_the_rest(
    name: str, steps: list[Step]
) -> None:
    spec, words = REPLAYING[name]
    agent = built(spec, words)
    _, remaining = followed(agent, words, steps)
    # The widths of responses that stay the same are kept from when they were first asked
    # for: that is no part of what was told.
    same(agent.state(), only_told(spec, words, remaining).state(), ("kept", "widths"))


@pytest.mark.parametrize("name", UNLEARNING)
@settings(max_examples=15)
@given(steps=lessons())
def test_an_agent_that_unlearns_is_one_that_was_only_told_the_rest(
    name: str, steps: list[Step]
) -> None:
    spec, words = UNLEARNING[name]
    agent = built(spec, words)
    _, remaining = followed(agent, words, steps)
    never = only_told(spec, words, remaining)
    for x in range(4):
        asked = Task("here", told(x, words), RESPONSES)
        np.testing.assert_allclose(
            agent.model.estimates(asked.instruction, RESPONSES),
            never.model.estimates(asked.instruction, RESPONSES),
            atol=1e-9,
        )
        one, other = (each.respond(asked, Stream(1, "x").at(1)) for each in (agent, never))
        assert one.propensity == pytest.approx(other.propensity, rel=1e-9)
        assert one.width == pytest.approx(other.width, rel=1e-9, nan_ok=True)
        assert one.bonus == pytest.approx(other.bonus, rel=1e-9)
    state, expected = agent.state(), never.state()
    for key in state:
        if key.endswith(("inverse", "count")):
            np.testing.assert_allclose(state[key], expected[key], atol=1e-9, err_msg=key)


@pytest.mark.parametrize("name", ALL)
def test_only_those_that_can_say_that_they_unlearned(name: str) -> None:
    spec, words = ALL[name]
    agent = built(spec, words)
    ledger = ledger_of(agent)
    choice = ledger.ask(1, task(1, words))
    ledger.tell(1, told(1, words))
    before = agent.state()
    unlearned = agent.withdraw(task(1, words), choice, told(1, words))
    assert unlearned is (name in UNLEARNING)
    if not unlearned:
        same(agent.state(), before)


def test_a_withdrawal_that_one_part_refuses_is_made_undone_in_the_others() -> None:
    agent = built(LORIL(model=Ridge(lam=1.0), lam=1e-9), words=False)
    ledger = ledger_of(agent)
    ledger.ask(1, task(1, False))
    choice = ledger.ask(2, task(2, False))
    ledger.tell(1, 1)
    ledger.tell(2, 2)
    before = agent.state()
    assert agent.withdraw(task(2, False), choice, 2) is False
    same(agent.state(), before)
    assert ledger.withdraw(2)
    assert agent.model.described == agent.explorer.ellipsoid.count == 1


class Tally:
    """A user's agent that counts what it was told, and can do no more than it must."""

    def __init__(self) -> None:
        self.counts = np.zeros(4)
        self.learned = 0

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(int(self.counts.sum()) % len(task.responses))

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        self.counts[int(description)] += 1
        self.learned += 1


class Restorable(Tally):
    def state(self) -> State:
        return {"counts": self.counts.copy()}

    def restore(self, state: State) -> None:
        self.counts = np.array(state["counts"])


class Unlearning(Tally):
    def withdraw(self, task: Task, choice: Choice, description: Instruction) -> bool:
        self.counts[int(description)] -= 1
        return True


def asked_and_told(agent: Any, rounds: int) -> Ledger:
    ledger = ledger_of(agent)
    for t in range(1, rounds + 1):
        ledger.ask(t, task(t, False))
        ledger.tell(t, t % 4)
    return ledger


def test_an_agent_that_can_do_neither_is_refused_and_nothing_changes() -> None:
    for agent in (Tally(), Diary()):
        ledger = asked_and_told(agent, 5)
        with pytest.raises(ProtocolError, match=rf"{type(agent).__name__} can neither withdraw"):
            ledger.withdraw(3)
        assert ledger.open == []
        assert ledger.tell(3, 0) is False
    agent = Tally()
    ledger = asked_and_told(agent, 5)
    before = agent.counts.copy()
    with pytest.raises(ProtocolError):
        ledger.withdraw(3)
    np.testing.assert_array_equal(agent.counts, before)


@pytest.mark.parametrize("kind", [Restorable, Unlearning])
def test_a_users_agent_needs_either_a_state_or_a_way_to_unlearn(kind: Callable[[], Any]) -> None:
    agent = kind()
    ledger = asked_and_told(agent, 6)
    assert ledger.withdraw(3)
    np.testing.assert_array_equal(agent.counts, [1, 2, 2, 0])
    assert ledger.open == [3]
    assert ledger.tell(3, 0)
    np.testing.assert_array_equal(agent.counts, [2, 2, 2, 0])


def test_a_round_that_was_not_told_has_nothing_to_withdraw() -> None:
    agent = Restorable()
    ledger = asked_and_told(agent, 2)
    ledger.ask(3, task(3, False))
    ledger.ask(4, task(4, False))
    ledger.drop(4)
    assert ledger.withdraw(3) is False, "it is open"
    assert ledger.withdraw(4) is False, "it was dropped"
    assert ledger.withdraw(2) is True
    assert ledger.withdraw(2) is False, "it was withdrawn"
    assert ledger.drop(2) is True
    assert ledger.withdraw(2) is False
    assert ledger.open == [3]
    for t in (0, -1, 5, 100):
        with pytest.raises(ProtocolError, match=f"Round {t} was never asked"):
            ledger.withdraw(t)


def test_a_ledger_that_forgets_refuses() -> None:
    agent = Restorable()
    ledger = Ledger(agent, Stream(0, "agent"))
    ledger.ask(1, task(1, False))
    ledger.tell(1, 1)
    with pytest.raises(ProtocolError, match="remember=True"):
        ledger.withdraw(1)
    np.testing.assert_array_equal(agent.counts, [0, 1, 0, 0])


def test_a_replay_that_fails_changes_nothing() -> None:
    class Moody(Restorable):
        fails = False

        def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
            if self.fails and self.counts.sum() >= 3:
                raise ValueError("not again")
            super().learn(task, choice, description)

    agent = Moody()
    ledger = asked_and_told(agent, 200)
    before = agent.counts.copy()
    agent.fails = True
    with pytest.raises(ValueError, match="not again"):
        ledger.withdraw(2)
    np.testing.assert_array_equal(agent.counts, before)
    assert ledger.open == []
    agent.fails = False
    assert ledger.withdraw(2)
    np.testing.assert_array_equal(agent.counts, before - np.eye(4)[2])
    assert ledger.withdraw(199)
    np.testing.assert_array_equal(agent.counts, before - np.eye(4)[2] - np.eye(4)[3])


def log_of(agent: Any, rounds: int) -> ToldLog:
    """Told in threes: snapshots are multiples of 64 apart, and a missing round must show."""
    log = ToldLog(agent)
    for t in range(1, rounds + 1):
        one = Told(task(t, False), task(t, False).choose(0), t % 3)
        agent.learn(one.task, one.choice, t % 3)
        log.add(t, one)
    return log


def test_snapshots_thin_out_and_still_lead_back() -> None:
    agent = Restorable()
    rounds = 5 * MOST_SNAPSHOTS * SNAPSHOT_EVERY
    log = log_of(agent, rounds)
    assert len(log._snapshots) <= MOST_SNAPSHOTS
    places = [place for place, _ in log._snapshots]
    assert places[0] == 0
    gaps = np.diff([*places, rounds])
    assert gaps.max() <= 4 * gaps[:-1].min() or gaps.max() <= 8 * SNAPSHOT_EVERY
    expected = agent.counts.copy()
    for t in (1, rounds, rounds // 2, 2, SNAPSHOT_EVERY, SNAPSHOT_EVERY + 1, rounds - 1):
        assert log.withdraw(t) is not None
        expected[t % 3] -= 1
        np.testing.assert_array_equal(agent.counts, expected)
        assert len(log._snapshots) <= MOST_SNAPSHOTS
    assert log.withdraw(1) is None


def test_the_way_back_is_short_again_after_an_early_withdrawal() -> None:
    agent = Restorable()
    rounds = 10 * SNAPSHOT_EVERY
    log = log_of(agent, rounds)
    agent.learned = 0
    log.withdraw(rounds)
    assert agent.learned < SNAPSHOT_EVERY
    log.withdraw(1)
    agent.learned = 0
    log.withdraw(rounds - 1)
    assert agent.learned < SNAPSHOT_EVERY


def test_a_snapshot_that_knows_an_unlearned_description_is_never_restored() -> None:
    class Fickle(Restorable):
        unlearns = True

        def withdraw(self, task: Task, choice: Choice, description: Instruction) -> bool:
            if self.unlearns:
                self.counts[int(description)] -= 1
            return self.unlearns

    agent = Fickle()
    rounds = 3 * SNAPSHOT_EVERY
    log = log_of(agent, rounds)
    expected = agent.counts.copy()
    for t, unlearns in ((1, True), (rounds, False), (SNAPSHOT_EVERY, True), (2, False)):
        agent.unlearns = unlearns
        log.withdraw(t)
        expected[t % 3] -= 1
        np.testing.assert_array_equal(agent.counts, expected)


@pytest.mark.parametrize("order", ["first", "last"])
def test_all_can_be_taken_back(order: str) -> None:
    agent = Restorable()
    log = log_of(agent, SNAPSHOT_EVERY + 40)
    rounds = list(range(1, SNAPSHOT_EVERY + 41))
    for t in rounds if order == "first" else reversed(rounds):
        log.withdraw(t)
    np.testing.assert_array_equal(agent.counts, 0)


def test_a_snapshot_does_not_follow_the_agent() -> None:
    """A snapshot that is restored twice is the same."""
    agent = built(Greedy(model=Mixture()), words=False)
    log = log_of(agent, 6)
    for t in (6, 5, 4, 3, 2):
        log.withdraw(t)
    expected = built(Greedy(model=Mixture()), words=False)
    expected.learn(task(1, False), task(1, False).choose(0), 1)
    same(agent.state(), expected.state())


def test_a_state_that_goes_on_changing_is_kept_as_it_was() -> None:
    class Counter:
        """An agent that gives away its own array."""

        def __init__(self) -> None:
            self.count = np.zeros(1)

        def respond(self, task: Task, rng: np.random.Generator) -> Choice:
            return task.choose(0)

        def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
            self.count += 1

        def state(self) -> State:
            return {"count": self.count}

        def restore(self, state: State) -> None:
            self.count = np.array(state["count"])

    agent = Counter()
    ledger = Ledger(agent, Stream(0, "agent"), remember=True)
    for t in (1, 2, 3):
        ledger.ask(t, Task(0, 0, Listed(np.eye(2))))
        ledger.tell(t, 0)
    ledger.withdraw(2)
    assert agent.count == 2


def test_what_was_withdrawn_leaves_ties_as_they_were() -> None:
    facts = Facts(3, 9)
    told, never = (
        LORIL(k=0.0, lam=1.0, model=Ridge()).build(facts, np.random.default_rng(0))
        for _ in range(2)
    )
    task = Task(0, 7, Listed(np.random.default_rng(1).dirichlet(np.ones(3), 6)))
    choice = told.respond(task, np.random.default_rng(3))
    told.learn(task, choice, 4)
    other = told.respond(Task(0, 4, task.responses), np.random.default_rng(4))
    told.learn(task, other, 7)
    assert told.withdraw(task, other, 7)
    assert told.withdraw(task, choice, 4)
    ours, theirs = (agent.respond(task, np.random.default_rng(5)) for agent in (told, never))
    assert ours.propensity == theirs.propensity == pytest.approx(1 / 6)
    assert ours.estimate == 0


class Chain:
    """An agent whose state depends on all that it was taught, and on the order."""

    def __init__(self) -> None:
        self.digest = 0
        self.learned = 0

    def teach(self, round: int, entry: int) -> None:
        self.digest = hash((self.digest, round, entry))
        self.learned += 1

    def state(self) -> State:
        return {"digest": self.digest}

    def restore(self, state: State) -> None:
        self.digest = int(state["digest"])


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 400), st.integers(0, 2)),
        min_size=1,
        max_size=8,
    )
)
def test_rewound_and_taught_the_rest_an_agent_was_taught_exactly_that(
    changes: list[tuple[int, int, int]],
) -> None:
    """Each change keeps some of the first descriptions, and then there are some more."""
    agent: Any = Chain()
    log: UndoLog[int] = UndoLog(agent, most=5)
    for kept, more, entry in changes:
        first = list(log.taught.items())[:kept]
        wanted = dict(first) | {1000 * entry + i: entry for i in range(len(first), more)}
        before, agent.learned = dict(log.taught), 0
        count = log.rewind(wanted)
        assert list(log.taught.items()) == list(wanted.items())[:count]
        assert agent.learned == 0
        for round, value in list(wanted.items())[count:]:
            agent.teach(round, value)
            log.add(round, value)
        fresh = Chain()
        for round, value in wanted.items():
            fresh.teach(round, value)
        assert log.taught == wanted
        assert agent.digest == fresh.digest
        assert len(log._snapshots) <= 5
        if list(wanted.items())[: len(before)] == list(before.items()):
            assert agent.learned == len(wanted) - len(before), "nothing was to be taken back"


def test_the_latest_descriptions_are_taken_back_quickly_in_a_long_log() -> None:
    agent = Restorable()
    log = ToldLog(agent, most=5)
    for t in range(1, 100 * SNAPSHOT_EVERY + 1):
        one = Told(task(t, False), task(t, False).choose(0), t % 3)
        agent.learn(one.task, one.choice, t % 3)
        log.add(t, one)
    for t in (100 * SNAPSHOT_EVERY, 100 * SNAPSHOT_EVERY - 1, 99 * SNAPSHOT_EVERY + 1):
        agent.learned = 0
        assert log.withdraw(t)
        assert agent.learned < SNAPSHOT_EVERY
