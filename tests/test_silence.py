"""Silence teaches: a response that nobody describes is not tried for ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellback import Facts, Ledger, Listed, Run, Task, load, play
from tellback.agents import (
    LORIL,
    Blind,
    Certified,
    Greedy,
    OneHotLORIL,
    Proposing,
    RewardOnly,
    SelfNormalized,
    Uniform,
)
from tellback.models import Keywords, Ridge
from tellback.roles import AgentSpec, State
from tellback.streams import Streams
from tellback.worlds import Synthetic
from tests.support.coloured_steps import MostlySilent

SEEDS = range(10)
ROUNDS = 120
OPTIMIST = Proposing(LORIL(k=2.0, model=Ridge()), Blind())
GREEDY = Proposing(Greedy(model=Keywords(waves=0)), Blind())


def share_described(agent: AgentSpec, seed: int) -> float:
    run = play(MostlySilent(), agent, ROUNDS, seed=seed)
    return float(np.mean(run.described))


def test_optimism_starves_where_silence_is_dropped_and_not_where_it_is_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learned = np.array([share_described(OPTIMIST, seed) for seed in SEEDS])
    monkeypatch.setattr(Ledger, "silence", Ledger.drop)
    dropped = np.array([share_described(OPTIMIST, seed) for seed in SEEDS])
    assert dropped.max() < 0.1
    assert learned.min() > 10 * dropped.max(), (learned, dropped)


def test_a_greedy_agent_with_key_words_leaves_what_nobody_describes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learned = np.array([share_described(GREEDY, seed) for seed in SEEDS])
    monkeypatch.setattr(Ledger, "silence", Ledger.drop)
    dropped = np.array([share_described(GREEDY, seed) for seed in SEEDS])
    assert (learned > dropped + 0.2).all(), (learned, dropped)
    assert learned.mean() > 0.6, learned


def test_lost_descriptions_are_no_silence() -> None:
    def lose(t: int, rng: np.random.Generator) -> int | None:
        return None

    spec = LORIL(model=Ridge())
    world = Synthetic(instructions=5, responses=4, rank=3)
    agent: Any = play(world, spec, 20, delay=lose).agent
    assert agent.model.ellipsoid.count == 0
    agent = play(world, spec, 20, delay=lambda t, rng: None if t % 2 else 0).agent
    assert agent.model.ellipsoid.count == 10


@pytest.mark.parametrize(
    "spec",
    [
        OPTIMIST,
        GREEDY,
        Proposing(LORIL(lam=0.5, model=Ridge()), Blind(), candidates=8),
        Proposing(Greedy(model=Ridge()), Blind(), candidates=8),
    ],
    ids=lambda spec: spec.agent.brief(),
)
def test_withdrawing_is_exact_with_silent_rounds_in_between(spec: AgentSpec) -> None:
    world, streams = MostlySilent(), Streams(3)
    tasks = [world.task(t, (), streams.stream("world").at(t)) for t in range(1, 41)]
    silent = [t for t in range(1, 41) if t % 3]

    def taught(told: list[int], then_withdrawn: list[int]) -> tuple[Ledger, State]:
        agent: Any = spec.build(world.facts, streams.init("agent"))
        ledger = Ledger(agent, streams.stream("agent"), remember=True)
        for t, task in enumerate(tasks, start=1):
            response = 40 * t + t % 5  # the same one, whatever the agent has learned
            ledger.resume(t, task, task.choose(response))
            if t in silent:
                assert ledger.silence(t)
            elif t in told:
                assert ledger.tell(t, f"kind {response % 40}")
        for t in then_withdrawn:
            assert ledger.withdraw(t)
        return ledger, agent.state()

    every = [t for t in range(1, 41) if t not in silent]
    gone = every[2:9:3]
    ledger, state = taught(every, gone)
    _, expected = taught([t for t in every if t not in gone], [])
    assert_near(state, expected)
    assert not ledger.withdraw(silent[0]), "there is no description to withdraw"
    assert ledger.told == len(every) - len(gone)


def assert_near(one: State, other: Mapping[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        if name == "model.labels" or np.asarray(one[name]).dtype == np.uint8:
            continue  # a vocabulary may keep a word that is no longer used
        np.testing.assert_allclose(one[name], other[name], atol=1e-9, err_msg=name)


def test_a_certified_agent_shrinks_both_ellipsoids() -> None:
    spec = Certified(LORIL(model=Ridge(), lam=2.0), k=1.0)
    world = MostlySilent()
    agent: Any = spec.build(world.facts, np.random.default_rng(0))
    task = world.task(1, (), np.random.default_rng(0))
    ledger = Ledger(agent, Streams(0).stream("agent"))
    ledger.resume(1, task, task.choose(7))
    assert ledger.silence(1)
    assert not ledger.silence(1)
    assert agent.widths.ellipsoid.count == agent.agent.explorer.ellipsoid.count == 1
    assert agent.model.ellipsoid.count == 1


def test_silent_rounds_are_the_same_in_a_process_of_its_own() -> None:
    runs: list[Run] = [
        play(MostlySilent(), OPTIMIST, 40, seed=4, isolated=isolated) for isolated in (False, True)
    ]
    here, there = runs
    assert not here.described.all()
    assert list(here.responses) == list(there.responses)
    states: list[Any] = [run.agent.state() for run in runs]  # type: ignore[attr-defined]
    for name, value in states[0].items():
        np.testing.assert_array_equal(value, states[1][name], err_msg=name)


def test_an_agent_that_does_not_learn_from_silence_is_not_asked_to() -> None:
    class Plain:
        def respond(self, task: Any, rng: np.random.Generator) -> Any:
            return task.choose(5)

        def learn(self, task: Any, choice: Any, description: Any) -> None:
            raise AssertionError("nothing was said")

    run = play(MostlySilent(), Plain(), 5)
    assert not run.described.any()
    assert not play(MostlySilent(), Uniform(), 5, isolated=True).described.all()


# Where responses are listed.


class Mute:
    """Two of four responses are described, by their number."""

    memory = 0
    facts = Facts(4, 2, fixed_responses=True)
    responses = Listed(np.eye(4))

    def task(self, t: int, history: Sequence[Any], rng: np.random.Generator) -> Task:
        return Task(0, int(rng.integers(2)), self.responses)

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> int | None:
        return response if response < 2 else None

    def reward(self, task: Task, response: int) -> float:
        return float(task.instruction == response)

    def best(self, task: Task) -> float:
        return 1.0


OPTIMISTS = [
    LORIL(k=9.0),
    LORIL(k=9.0, model=Ridge()),
    LORIL(k=9.0, lam=0.5, model=Ridge()),
    OneHotLORIL(k=9.0),
    RewardOnly(k=9.0),
]


@pytest.mark.parametrize("spec", OPTIMISTS, ids=AgentSpec.label)
def test_every_optimist_leaves_what_nobody_describes(
    spec: AgentSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert play(Mute(), spec, 80).described.mean() > 0.4
    monkeypatch.setattr(Ledger, "silence", Ledger.drop)
    assert play(Mute(), spec, 80).described.mean() < 0.2


@pytest.mark.parametrize("spec", OPTIMISTS, ids=AgentSpec.label)
def test_what_silence_taught_is_saved_and_restored(spec: AgentSpec, tmp_path: Path) -> None:
    run = play(Mute(), spec, 41)
    assert not run.described.all()
    run.agent.save(tmp_path / "agent")  # type: ignore[attr-defined]
    again = [play(Mute(), one, 20, start=41) for one in (run.agent, load(tmp_path / "agent"))]
    assert list(again[0].responses) == list(again[1].responses)
    np.testing.assert_array_equal(again[0].bonuses, again[1].bonuses)
    assert_near(again[0].agent.state(), again[1].agent.state())  # type: ignore[attr-defined]


@pytest.mark.parametrize("spec", OPTIMISTS, ids=AgentSpec.label)
def test_a_withdrawn_description_leaves_what_silence_taught(spec: AgentSpec) -> None:
    task = Mute().task(1, (), np.random.default_rng(0))

    def taught(rounds: int) -> tuple[Ledger, Any]:
        agent: Any = spec.build(Mute.facts, np.random.default_rng(0))
        ledger = Ledger(agent, Streams(0).stream("agent"), remember=True)
        for t in range(1, rounds + 1):
            ledger.resume(t, task, task.choose(t % 4))
            assert ledger.silence(t) if t % 4 > 1 else ledger.tell(t, t % 4)
        return ledger, agent

    ledger, agent = taught(9)
    assert ledger.withdraw(9)
    assert_near(agent.state(), taught(8)[1].state())


def test_a_round_stays_open_if_its_silence_cannot_be_learned() -> None:
    def fail(task: Any, choice: Any) -> None:
        raise ValueError("not now")

    agent: Any = Uniform().build(Mute.facts, np.random.default_rng(0))
    agent.learn_silence = fail
    ledger = Ledger(agent, Streams(0).stream("agent"))
    ledger.ask(1, Mute().task(1, (), np.random.default_rng(0)))
    with pytest.raises(ValueError, match="not now"):
        ledger.silence(1)
    assert ledger.open == [1]


@pytest.mark.parametrize(("wait", "learned"), [(0, 20), (5, 14), (None, 0)])
def test_silence_comes_as_late_as_a_description_would(wait: int | None, learned: int) -> None:
    agent: Any = play(Mute(), LORIL(), 20, delay=lambda t, rng: wait).agent
    assert agent.explorer.ellipsoid.count == learned


def test_an_agent_that_met_silence_is_not_proven_when_it_plays_on(tmp_path: Path) -> None:
    spec = Certified(Greedy(model=Ridge()), k=SelfNormalized(), lam=1.0)
    run = play(Mute(), spec, 30)
    assert run.proof is None
    assert "rounds were not described" in run.caveat
    run.agent.save(tmp_path / "agent")  # type: ignore[attr-defined]
    later = play(Talkative(), load(tmp_path / "agent"), 30, start=30)
    assert later.described.all()
    assert later.proof is None
    fresh = play(Talkative(), spec, 30).agent
    assert play(Talkative(), fresh, 30, start=30).proof is not None


class Talkative(Mute):
    def describe(self, context: Any, response: int, rng: np.random.Generator) -> int | None:
        return response % 2

    def reward(self, task: Task, response: int) -> float:
        return float(task.instruction == response % 2)
