"""Protocol 1: one loop, one place where regret is computed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter, deque
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellback
from tellback import Choice, Facts, Listed, Run, Simulation, Task, play, rounds
from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, Uniform
from tellback.errors import ProtocolError, SettingError
from tellback.models import Mixture
from tellback.protocol import Delay
from tellback.roles import Instruction
from tellback.worlds import Synthetic
from tests.support.oracles import Contrarian, Diary, Mirror, hidden_f

SMALL = Synthetic(instructions=7, responses=5, rank=3, seed=0)
CONTEXTS: list[int | str] = [1, 3, "fresh"]
COLUMNS = (
    "regrets",
    "rewards",
    "estimates",
    "bonuses",
    "propensities",
    "instructions",
    "responses",
    "descriptions",
)


def content(run: Run, since: int = 0) -> list[bytes]:
    return [np.asarray(getattr(run, name))[since:].tobytes() for name in COLUMNS]


def live(spec: AgentSpec, world: Synthetic) -> Any:
    facts = world.build(np.random.default_rng(0)).world.facts
    return spec.build(facts, np.random.default_rng(0))


# Regret.


@pytest.mark.parametrize("contexts", CONTEXTS)
@pytest.mark.parametrize("spec", [LORIL(), Uniform()])
def test_regret_is_equation_1(contexts: int | str, spec: AgentSpec) -> None:
    world = SMALL.with_settings({"contexts": contexts})
    f = hidden_f(world.build(np.random.default_rng(0)))
    total = 0.0
    for t, r in enumerate(islice(rounds(world, spec, seed=4), 200), start=1):
        x = int(r.task.instruction)
        possible = [float(f[x] @ g) for g in r.task.responses.matrix]
        assert r.t == t
        assert r.reward == pytest.approx(possible[r.choice.response], abs=1e-15)
        assert r.regret == pytest.approx(max(possible) - possible[r.choice.response], abs=1e-15)
        assert r.regret >= 0
        total += max(possible) - possible[r.choice.response]
    assert total > 0
    run = play(world, spec, 200, seed=4)
    assert run.regret[-1] == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(np.diff(run.regret), run.regrets[1:], atol=1e-12)


def test_without_a_truth_regret_and_reward_are_unknown() -> None:
    mirror = Mirror()
    run = play(Simulation(mirror, mirror, None), LORIL(), 20)
    assert np.isnan(run.regrets).all()
    assert np.isnan(run.rewards).all()
    assert not np.isnan(run.bonuses).any()


# The loop.


@pytest.mark.parametrize("spec", [LORIL(), EpsilonGreedy(), Greedy(), Uniform()])
def test_play_records_what_rounds_yields(spec: AgentSpec) -> None:
    run = play(SMALL, spec, 50, seed=3)
    one_by_one = list(islice(rounds(SMALL, spec, seed=3), 50))
    assert [r.regret for r in one_by_one] == run.regrets.tolist()
    assert [r.reward for r in one_by_one] == run.rewards.tolist()
    assert [r.task.instruction for r in one_by_one] == list(run.instructions)
    assert [r.choice.response for r in one_by_one] == list(run.responses)
    assert [r.description for r in one_by_one] == list(run.descriptions)
    assert [r.choice.propensity for r in one_by_one] == run.propensities.tolist()
    np.testing.assert_array_equal([r.choice.estimate for r in one_by_one], run.estimates)
    assert [r.choice.bonus for r in one_by_one] == run.bonuses.tolist()


def test_a_round_is_yielded_after_the_agent_has_learned_from_it() -> None:
    agent = Diary()
    for r in islice(rounds(SMALL, agent), 10):
        assert agent.learned[-1] == (r.choice.response, r.description)
        assert len(agent.learned) == r.t


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_two_agents_with_one_seed_meet_the_same_tasks(contexts: int | str) -> None:
    world = SMALL.with_settings({"contexts": contexts, "seed": None})
    plays = [
        list(islice(rounds(world, spec, seed=11), 60))
        for spec in (LORIL(), Uniform(), EpsilonGreedy(epsilon=0.5), Greedy(ties="first"))
    ]
    for others in plays[1:]:
        for one, other in zip(plays[0], others, strict=True):
            assert one.task.instruction == other.task.instruction
            np.testing.assert_array_equal(one.task.context, other.task.context)
            np.testing.assert_array_equal(one.task.responses.matrix, other.task.responses.matrix)
    assert len({tuple(r.choice.response for r in rs) for rs in plays}) > 1


def test_two_agents_that_do_the_same_are_told_the_same() -> None:
    runs = [play(SMALL, spec, 300, seed=2) for spec in (LORIL(), Uniform())]
    same = np.asarray(runs[0].responses) == np.asarray(runs[1].responses)
    assert same.sum() > 20
    told = [np.asarray(run.descriptions)[same] for run in runs]
    np.testing.assert_array_equal(told[0], told[1])


def test_seeds_give_other_runs_and_one_seed_the_same() -> None:
    assert content(play(SMALL, LORIL(), 50, seed=1)) == content(play(SMALL, LORIL(), 50, seed=1))
    assert content(play(SMALL, LORIL(), 50, seed=1)) != content(play(SMALL, LORIL(), 50, seed=2))


SCRIPT = """
import hashlib
import numpy as np
from tellback import play
from tellback.agents import LORIL, EpsilonGreedy
from tellback.worlds import Synthetic
digest = hashlib.sha256()
for contexts in (1, 3, "fresh"):
    for spec in (LORIL(), EpsilonGreedy(ties="first")):
        world = Synthetic(instructions=7, responses=5, rank=3, contexts=contexts)
        run = play(world, spec, 200, seed=5)
        for name in %r:
            digest.update(np.asarray(getattr(run, name)).tobytes())
        digest.update(run.agent.model.f.tobytes())
print(digest.hexdigest())
"""


def test_another_process_plays_the_same_run_to_the_bit() -> None:
    def digest(hash_seed: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT % (COLUMNS,)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        )
        return done.stdout.strip()

    here = hashlib.sha256()
    for contexts in CONTEXTS:
        specs: list[AgentSpec] = [LORIL(), EpsilonGreedy(ties="first")]
        for spec in specs:
            world = Synthetic(instructions=7, responses=5, rank=3, contexts=contexts)
            run = play(world, spec, 200, seed=5)
            for part in content(run):
                here.update(part)
            here.update(run.agent.model.f.tobytes())  # type: ignore[attr-defined]
    assert digest("1") == digest("2") == here.hexdigest()


def test_progress_adds_up_to_the_rounds() -> None:
    for total in (1, 999, 1000, 2500):
        steps: list[int] = []
        play(SMALL, Uniform(), total, progress=steps.append)
        assert sum(steps) == total
        assert min(steps) > 0


# Worlds that read history.


@pytest.mark.parametrize(("memory", "kept"), [("unset", 29), (None, 29), (4, 4), (1, 1), (0, 0)])
def test_a_world_reads_as_much_history_as_it_wants(memory: object, kept: int) -> None:
    world = Contrarian()
    if memory != "unset":
        world.memory = memory  # type: ignore[attr-defined]
    run = play(world, Diary(), 30)
    assert world.lengths == [min(t, kept) for t in range(30)]
    assert len(run.history) == min(30, kept + (kept == 29))


def test_the_history_is_what_happened() -> None:
    world = Contrarian()
    run = play(world, Diary(), 30)
    exchanges = list(run.history)
    assert [e.task.instruction for e in exchanges] == list(run.instructions)
    assert [e.response for e in exchanges] == list(run.responses)
    assert [e.description for e in exchanges] == list(run.descriptions)


def test_an_adversarial_world_asks_by_what_it_read() -> None:
    run = play(Contrarian(), Diary(), 40)
    xs, ys, ds = (list(map(int, c)) for c in (run.instructions, run.responses, run.descriptions))
    expected = [(sum(ds[: t - 1]) + 2 * sum(ys[: t - 1]) + t) % 3 for t in range(1, 41)]
    assert xs == expected


@pytest.mark.parametrize("memory", [-1, 1.5, "all", True])
def test_a_nonsensical_memory_is_refused(memory: object) -> None:
    world = Contrarian()
    world.memory = memory  # type: ignore[attr-defined]
    with pytest.raises(SettingError, match="memory"):
        play(world, Diary(), 3)


def test_a_world_that_wants_two_rounds_gets_two_from_a_longer_deque() -> None:
    past = play(Contrarian(), Diary(), 10).history
    world = Contrarian()
    world.memory = 2  # type: ignore[attr-defined]
    play(world, Diary(), 3, start=10, history=deque(past))
    assert world.lengths == [2, 2, 2]


# Descriptions that are missing or late.


class Taciturn(Mirror):
    """Describes nothing in every other context."""

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return Task(t, t % 3, self.responses)

    def describe(self, context: int, response: int, rng: np.random.Generator) -> int | None:
        return None if context % 2 else response


def test_a_round_nobody_described_teaches_no_words_but_shrinks_the_bonus() -> None:
    agent = Diary()
    run = play(Taciturn(), agent, 20)
    assert len(agent.learned) == 10
    assert [d == -1 for d in run.descriptions] == [t % 2 == 1 for t in range(1, 21)]
    taught = play(Taciturn(), LORIL(), 21).agent
    assert taught.explorer.ellipsoid.count == 21  # type: ignore[attr-defined]
    assert taught.model.described == 10  # type: ignore[attr-defined]


DELAYS: dict[str, Delay] = {
    "none": lambda t, rng: 0,
    "three rounds": lambda t, rng: 3 if t <= 40 else 0,
    "any time": lambda t, rng: int(rng.integers(0, 9)) if t <= 40 else 0,
    "later first": lambda t, rng: max(0, 40 - t),
}


@pytest.mark.parametrize("name", DELAYS)
def test_delayed_descriptions_teach_the_same_once_all_have_arrived(name: str) -> None:
    prompt, late = Diary(), Diary()
    play(SMALL, prompt, 55, seed=6)
    play(SMALL, late, 55, seed=6, delay=DELAYS[name])
    assert Counter(late.learned) == Counter(prompt.learned)
    assert len(late.learned) == 55
    assert (late.learned == prompt.learned) == (name == "none")


def test_a_delay_is_the_number_of_rounds_that_go_without_the_description() -> None:
    agent = Diary()
    play(SMALL, agent, 30, delay=lambda t, rng: 4)
    assert agent.known_when_told == [t + 4 for t in range(1, 26)]


@pytest.mark.parametrize("wait", [0, 1, 3])
def test_sigma_counts_only_the_descriptions_that_were_learned(wait: int) -> None:
    agent: Any = play(SMALL, LORIL(), 50, delay=lambda t, rng: wait).agent
    learned = 50 if wait == 0 else 50 - wait - 1
    assert agent.explorer.ellipsoid.count == learned
    assert agent.model.described == learned


def test_a_description_that_never_comes_is_never_learned() -> None:
    agent: Any = play(SMALL, LORIL(), 50, delay=lambda t, rng: None if t % 2 else 0).agent
    assert agent.explorer.ellipsoid.count == 25
    assert agent.model.described == 25


def test_random_delays_are_the_same_for_every_agent() -> None:
    waits: list[list[int]] = [[], []]

    def noted(which: int) -> Delay:
        def delay(t: int, rng: np.random.Generator) -> int:
            waits[which].append(int(rng.integers(0, 100)))
            return waits[which][-1]

        return delay

    play(SMALL, Uniform(), 30, seed=1, delay=noted(0))
    play(SMALL, LORIL(), 30, seed=1, delay=noted(1))
    assert waits[0] == waits[1]
    assert len(set(waits[0])) > 5


@pytest.mark.parametrize("wait", [-1, 0.5, "soon"])
def test_a_nonsensical_delay_is_refused(wait: Any) -> None:
    with pytest.raises(SettingError, match="delay"):
        play(SMALL, Uniform(), 5, delay=lambda t, rng: wait)


# Going on from a saved state.

AGENTS: list[AgentSpec] = [
    *(LORIL(k=1.0, lam=0.5, ties=ties) for ties in ("random", "first")),
    *(EpsilonGreedy(epsilon=0.3, ties=ties) for ties in ("random", "first")),
    *(Greedy(ties=ties) for ties in ("random", "first")),
    Uniform(),
]


@pytest.mark.parametrize("contexts", CONTEXTS)
@pytest.mark.parametrize("spec", AGENTS, ids=repr)
def test_a_run_that_was_taken_up_again_equals_one_never_stopped(
    spec: AgentSpec, contexts: int | str, tmp_path: Path
) -> None:
    world = Synthetic(instructions=9, responses=6, rank=4, contexts=contexts)
    whole = play(world, spec, 120, seed=7)
    first = play(world, spec, 45, seed=7)
    first.agent.save(tmp_path / "agent.npz")  # type: ignore[attr-defined]
    agent = tellback.load(tmp_path / "agent.npz")
    second = play(world, agent, 75, seed=7, start=45, history=first.history)
    assert content(first) == [part[: len(part) * 45 // 120] for part in content(whole)]
    assert content(second) == content(whole, since=45)
    final: Any = (whole.agent, second.agent)
    states = [agent.state() for agent in final]
    assert states[0].keys() == states[1].keys()
    for name, value in states[0].items():
        np.testing.assert_array_equal(value, states[1][name], err_msg=name)


def test_a_live_agent_may_go_on_without_being_saved() -> None:
    whole = play(SMALL, LORIL(), 60, seed=1)
    first = play(SMALL, LORIL(), 20, seed=1)
    second = play(SMALL, first.agent, 40, seed=1, start=20)
    assert content(second) == content(whole, since=20)
    assert second.table()["t"].to_list() == list(range(21, 61))


@pytest.mark.parametrize("memory", [None, 3])
def test_a_world_with_memory_is_taken_up_with_its_history(memory: int | None) -> None:
    def world() -> Contrarian:
        made = Contrarian()
        made.memory = memory  # type: ignore[attr-defined]
        return made

    whole = play(world(), LORIL(), 40, seed=3)
    first = play(world(), LORIL(), 15, seed=3)
    second = play(world(), first.agent, 25, seed=3, start=15, history=first.history)
    assert content(second) == content(whole, since=15)


def test_going_on_does_not_rewrite_the_first_run() -> None:
    first = play(Contrarian(), LORIL(), 15, seed=3)
    before = list(first.history)
    play(Contrarian(), first.agent, 25, seed=3, start=15, history=first.history)
    assert len(first.history) == 15
    assert list(first.history) == before


def test_the_history_one_gives_is_not_changed() -> None:
    past = deque(play(Contrarian(), Diary(), 5).history)
    play(Contrarian(), Diary(), 5, start=5, history=past)
    assert len(past) == 5


def test_a_run_without_the_history_that_its_world_reads_is_refused() -> None:
    first = play(Contrarian(), LORIL(), 15)
    for history in ((), list(first.history)[:14]):
        with pytest.raises(SettingError, match=r"history=run\.history"):
            play(Contrarian(), first.agent, 5, start=15, history=history)
    with pytest.raises(SettingError, match=r"history=run\.history"):
        rounds(Contrarian(), first.agent, start=15)


def test_a_run_with_delays_cannot_be_taken_up() -> None:
    with pytest.raises(SettingError, match="delayed"):
        play(SMALL, LORIL(), 5, start=10, delay=lambda t, rng: 2)


# What play refuses.


@pytest.mark.parametrize("bad", [0, -1, 1.5, "3", None, True])
def test_a_nonsensical_number_of_rounds_is_refused(bad: Any) -> None:
    with pytest.raises(SettingError, match="rounds"):
        play(SMALL, LORIL(), bad)


@pytest.mark.parametrize("bad", [-1, 1.5, "3", None, True])
def test_a_nonsensical_seed_or_start_is_refused(bad: Any) -> None:
    for name in ("seed", "start") if bad is not None else ("start",):
        with pytest.raises(SettingError, match=name):
            play(SMALL, LORIL(), 3, **{name: bad})
        with pytest.raises(SettingError, match=name):
            rounds(SMALL, LORIL(), **{name: bad})


def test_specs_given_as_classes_are_refused_with_the_remedy() -> None:
    with pytest.raises(ProtocolError, match="is a class"):
        play(Synthetic, LORIL(), 3)
    with pytest.raises(ProtocolError, match="is a class"):
        play(SMALL, LORIL, 3)  # type: ignore[arg-type]


class ClassOfWorld(Mirror):
    """Has all its members at the class, facts included."""

    facts = Facts(dim=3, instructions=3)


def test_classes_of_live_things_are_refused_with_the_remedy() -> None:
    with pytest.raises(ProtocolError, match="is a class"):
        play(SMALL, Diary, 3)  # type: ignore[arg-type]
    with pytest.raises(ProtocolError, match="is a class"):
        play(ClassOfWorld, LORIL(), 3)


class Deaf:
    """An agent that cannot learn."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(0)


def test_a_missing_method_is_named() -> None:
    with pytest.raises(ProtocolError, match="Agent: it has no learn"):
        play(SMALL, Deaf(), 3)  # type: ignore[arg-type]
    with pytest.raises(ProtocolError, match="has no task, facts, describe, reward, best"):
        play(object(), LORIL(), 3)
    with pytest.raises(ProtocolError, match="respond, learn"):
        play(SMALL, "loril", 3)  # type: ignore[arg-type]


def test_a_missing_method_is_named_for_the_parts_of_a_simulation_too() -> None:
    mirror: Any = Mirror()
    for parts, name in [
        ((object(), mirror, mirror), "task"),
        ((mirror, object(), mirror), "describe"),
        ((mirror, mirror, object()), "reward"),
    ]:
        with pytest.raises(ProtocolError, match=name):
            play(Simulation(*parts), LORIL(), 3)


def test_facts_that_are_none_are_refused() -> None:
    world = Mirror()
    world.facts = {"dim": 3}  # type: ignore[assignment]
    with pytest.raises(ProtocolError, match="facts must be Facts"):
        play(world, LORIL(), 3)


# Live things.


def test_one_live_object_may_be_world_teacher_and_truth() -> None:
    learned, drawn = (play(Mirror(), spec, 400, seed=1) for spec in (LORIL(), Uniform()))
    assert learned.regrets[-100:].mean() < 0.02
    assert drawn.regrets[-100:].mean() > 0.4


class Parrot:
    """Fifteen lines: does what was most often described as the instruction."""

    def __init__(self) -> None:
        self.told: Counter[tuple[Instruction, int]] = Counter()

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        order = rng.permutation(len(task.responses)).tolist()
        return task.choose(max(order, key=lambda y: self.told[task.instruction, y]))

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        self.told[description, choice.response] += 1


def test_a_live_agent_of_fifteen_lines_learns() -> None:
    parrot = Parrot()
    run = play(Mirror(), parrot, 300, seed=2)
    assert run.agent is parrot
    assert run.rewards[-200:].mean() > 0.5, "chance has a third"
    assert np.isnan(run.estimates).all()
    assert np.isnan(run.propensities).all()


def test_sentences_may_be_instructions() -> None:
    class Namer(Mirror):
        names = ("left", "middle", "right")

        def __init__(self) -> None:
            super().__init__()
            self.facts = Facts(dim=3, instructions=None, fixed_responses=True)

        def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
            return Task(None, self.names[t % 3], Listed(np.eye(3)))

        def describe(
            self, context: Any, response: int, rng: np.random.Generator
        ) -> Instruction | None:
            return self.names[response]

    run = play(Namer(), Parrot(), 60)
    assert run.matches[-20:].all()
    assert len(play(Namer(), LORIL(), 3)) == 3  # with a model of sentences, by itself
    with pytest.raises(SettingError, match="sentences"):
        play(Namer(), LORIL(model=Mixture()), 3)
