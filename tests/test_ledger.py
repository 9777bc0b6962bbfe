"""Descriptions may come late, out of order, twice, or never."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from tellback import Choice, Facts, Ledger, Listed, Task
from tellback.agents import LORIL
from tellback.errors import ProtocolError, SettingError
from tellback.roles import Instruction
from tellback.streams import Stream
from tests.support.oracles import Diary, Mirror


def a_task(instruction: int = 0) -> Task:
    return Task("here", instruction, Listed(np.eye(3)))


def begun(rounds: int = 0) -> tuple[Ledger, Diary]:
    agent = Diary()
    ledger = Ledger(agent, Stream(0, "agent"))
    for t in range(1, rounds + 1):
        ledger.ask(t, a_task(t % 3))
    return ledger, agent


def test_descriptions_out_of_order_reach_the_round_they_belong_to() -> None:
    ledger, agent = begun()
    chosen = {t: ledger.ask(t, a_task()).response for t in (1, 2, 3, 4)}
    order = [3, 1, 4, 2]
    for t in order:
        assert ledger.tell(t, 10 + t) is True
    assert agent.learned == [(chosen[t], 10 + t) for t in order]
    assert ledger.open == []


def test_a_description_may_come_long_after_its_round() -> None:
    ledger, agent = begun(1)
    for t in range(2, 300):
        ledger.ask(t, a_task())
        ledger.tell(t, 0)
    assert ledger.open == [1]
    assert ledger.tell(1, 2)
    assert agent.learned[-1][1] == 2
    assert len(agent.learned) == 299


def test_a_description_told_twice_is_learned_once() -> None:
    ledger, agent = begun(2)
    assert ledger.tell(1, 0) is True
    assert ledger.tell(1, 0) is False
    assert ledger.tell(1, 2) is False
    assert len(agent.learned) == 1


def test_a_round_may_stay_without_a_description() -> None:
    ledger, agent = begun(3)
    assert ledger.drop(2) is True
    assert ledger.drop(2) is False
    assert ledger.tell(2, 0) is False
    assert ledger.open == [1, 3]
    assert agent.learned == []


def test_an_open_round_asked_again_answers_the_same_without_the_agent() -> None:
    ledger, agent = begun()
    first = ledger.ask(1, a_task())
    ledger.ask(2, a_task())
    assert ledger.ask(1, a_task(2)) is first
    assert len(agent.asked) == 2


@pytest.mark.parametrize("close", ["tell", "drop"])
def test_a_round_that_is_over_cannot_be_asked_again(close: str) -> None:
    ledger, _ = begun(2)
    assert ledger.tell(1, 0) if close == "tell" else ledger.drop(1)
    with pytest.raises(ProtocolError, match="Round 1 is over"):
        ledger.ask(1, a_task())


def test_rounds_only_grow() -> None:
    ledger, _ = begun()
    ledger.ask(10, a_task())
    with pytest.raises(ProtocolError, match="above 10"):
        ledger.ask(5, a_task())
    ledger.ask(12, a_task())
    assert ledger.open == [10, 12]


@pytest.mark.parametrize("t", [4, 100, 0, -1])
def test_a_round_that_was_never_asked_is_refused_by_its_number(t: int) -> None:
    ledger, _ = begun(3)
    with pytest.raises(ProtocolError, match=f"Round {t} was never asked"):
        ledger.tell(t, 0)
    with pytest.raises(ProtocolError, match=f"Round {t} was never asked"):
        ledger.drop(t)


class Answers:
    """An agent that always gives the same answer."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return self.answer  # type: ignore[return-value]

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None: ...


@pytest.mark.parametrize("answer", [0, None, "left", (0, np.zeros(3), 0.0, 0.0, None), Choice])
def test_only_a_choice_is_an_answer(answer: object) -> None:
    ledger = Ledger(Answers(answer), Stream(0, "agent"))
    with pytest.raises(ProtocolError, match="respond must return a Choice"):
        ledger.ask(1, a_task())
    assert ledger.open == []


@pytest.mark.parametrize("response", [-1, 3, 1.0, True, None, "0", float("nan")])
def test_a_response_that_is_not_possible_is_refused(response: object) -> None:
    ledger = Ledger(Answers(Choice(response, np.zeros(3))), Stream(0, "agent"))
    with pytest.raises(ProtocolError, match=r"not among the possible responses.*3 responses"):
        ledger.ask(1, a_task())
    assert ledger.open == []


def test_a_round_whose_answer_was_refused_can_be_asked_again() -> None:
    agent = Answers(None)
    ledger = Ledger(agent, Stream(0, "agent"))
    with pytest.raises(ProtocolError):
        ledger.ask(1, a_task())
    agent.answer = a_task().choose(2)
    assert ledger.ask(1, a_task()).response == 2


def test_a_failed_lesson_leaves_the_round_open() -> None:
    facts = Facts(dim=3, instructions=3, fixed_responses=True)
    agent = LORIL().build(facts, np.random.default_rng(0))
    ledger = Ledger(agent, Stream(0, "agent"))
    ledger.ask(1, a_task())
    for wrong in (3, -1, "red", 1.0, True):
        with pytest.raises(SettingError, match="instruction"):
            ledger.tell(1, wrong)  # type: ignore[arg-type]
    assert ledger.open == [1]
    assert agent.model.described == 0  # type: ignore[attr-defined]
    assert agent.explorer.ellipsoid.count == 0  # type: ignore[attr-defined]
    assert ledger.tell(1, 2) is True
    assert agent.model.described == 1  # type: ignore[attr-defined]


def test_the_ledger_remembers_open_rounds_only() -> None:
    ledger = Ledger(Mute(), Stream(0, "agent"))
    tasks = []
    for t in range(1, 101):
        task = a_task()
        tasks.append(weakref.ref(task.responses))
        ledger.ask(t, task)
        del task
        if t % 10:
            ledger.tell(t, 0) if t % 2 else ledger.drop(t)
    gc.collect()
    alive = [t for t, task in enumerate(tasks, start=1) if task() is not None]
    assert alive == ledger.open == list(range(10, 101, 10))


class Mute:
    """An agent that keeps nothing."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(0)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None: ...


def test_the_agent_draws_from_the_place_of_the_round() -> None:
    one, other = begun()[0], begun()[0]
    world = Mirror(size=3)
    task = world.task(1, (), np.random.default_rng(0))
    late = [one.ask(t, task).response for t in range(50, 90)]
    for t in range(1, 50):
        other.ask(t, task)
    assert [other.ask(t, task).response for t in range(50, 90)] == late
