"""Rivals: what is left of LORIL without features, with rewards alone, or with demonstrations."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellback
from tellback import Choice, Facts, Listed, Run, Simulation, Task, check, play, rounds
from tellback.agents import LORIL, AgentSpec, Imitation, OneHotLORIL, RewardOnly
from tellback.encoders import Thumbnail
from tellback.errors import ProtocolError, SettingError
from tellback.roles import DemonstratedContext, Instruction, WorldSpec
from tellback.specs import spec_from_data
from tellback.streams import Stream
from tellback.worlds import Demonstrations, Hard, Images, Realizable, Synthetic
from tests.support.oracles import Floats, random_simplex

SMALL = Synthetic(instructions=5, responses=6, rank=3, seed=2, temperature=0.5)
PICTURES = Images(responses=4, colours=("red", "blue", "grey"), encoder=Thumbnail(cells=2))


def begun(spec: AgentSpec, facts: Facts) -> Any:
    return spec.build(facts, np.random.default_rng(0))


def same_runs(one: Run, other: Run, exact: tuple[str, ...], close: tuple[str, ...] = ()) -> None:
    for name in exact:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in close:
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-12, err_msg=name
        )


# Without features.


@pytest.mark.parametrize(("k", "lam"), [(0.1, 1.0), (1.0, 0.3), (0.0, 1.0)])
@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize("seed", [0, 1])
def test_where_features_are_one_hot_it_is_loril(k: float, lam: float, ties: str, seed: int) -> None:
    world = Hard(responses=25, horizon=600, gap="printed")
    one = play(world, OneHotLORIL(k=k, lam=lam, ties=ties), 500, seed=seed)
    other = play(world, LORIL(k=k, lam=lam, ties=ties), 500, seed=seed)
    exact = ("responses", "descriptions", "instructions", "propensities", "regrets")
    same_runs(one, other, exact, ("estimates", "bonuses", "widths", "highest"))


class Labelled:
    """Contexts with numbers, features that say nothing, and descriptions that are known."""

    def __init__(self, contexts: int, responses: int, fixed: bool = False) -> None:
        self.facts = Facts(dim=2, instructions=3, fixed_responses=fixed)
        self.listed = [
            Listed(random_simplex(np.random.default_rng(s), responses, 2)) for s in range(contexts)
        ]

    def task(self, context: Any, x: int, of: int = 0) -> Task:
        return Task(context, x, self.listed[of])


def taught(agent: Any, task: Task, lessons: list[tuple[int, int]]) -> None:
    for y, told in lessons:
        agent.learn(task, task.choose(y), told)


def chosen(agent: Any, task: Task) -> Choice:
    choice: Choice = agent.respond(task, np.random.default_rng(0))
    return choice


def test_each_context_has_counts_of_its_own() -> None:
    place = Labelled(contexts=2, responses=3)
    agent = begun(OneHotLORIL(k=0.0, ties="first"), place.facts)
    taught(agent, place.task(0, 0), [(0, 0), (0, 1), (1, 1), (2, 0), (2, 0), (2, 2)])
    taught(agent, place.task(5, 0, of=1), [(1, 0)])
    found = chosen(agent, place.task(0, 0))
    assert found.response == 2
    assert found.estimate == pytest.approx(2 / 3)
    found = chosen(agent, place.task(0, 1))
    assert (found.response, found.estimate) == (1, 1.0)
    found = chosen(agent, place.task(5, 0, of=1))
    assert (found.response, found.estimate) == (1, 1.0)
    found = chosen(agent, place.task(7, 0))
    assert found.response == 0
    assert found.estimate == pytest.approx(1 / 3), "nothing is known"


def test_the_bonus_is_that_of_a_count() -> None:
    place = Labelled(contexts=1, responses=3, fixed=True)
    agent = begun(OneHotLORIL(k=2.0, lam=0.5, ties="first"), place.facts)
    taught(agent, place.task("here", 0), [(0, 0)] * 4 + [(1, 1)] * 3 + [(2, 0), (2, 1)])
    uppers = [
        1 + 2 / math.sqrt(0.5 + 4),
        0 + 2 / math.sqrt(0.5 + 3),
        0.5 + 2 / math.sqrt(0.5 + 2),
    ]
    found = chosen(agent, place.task("anywhere", 0))
    y = int(np.argmax(uppers))
    assert found.response == y
    assert found.highest == pytest.approx(uppers[y], rel=1e-14)
    assert found.bonus == found.width == pytest.approx(2 / math.sqrt(0.5 + [4, 3, 2][y]))


def test_contexts_without_a_number_never_come_again() -> None:
    place = Labelled(contexts=1, responses=3)
    agent = begun(OneHotLORIL(), place.facts)
    taught(agent, place.task(np.ones(2), 0), [(1, 0)] * 5)
    assert agent.state() == {}
    run = play(SMALL.with_settings({"contexts": "fresh"}), OneHotLORIL(), 30)
    np.testing.assert_allclose(run.estimates, 1 / 5)


def test_a_context_is_the_same_with_a_demonstration_beside_it() -> None:
    world = SMALL.with_settings({"contexts": 3})
    plain, shown = (play(one, OneHotLORIL(), 80, seed=3) for one in (world, Demonstrations(world)))
    same_runs(plain, shown, ("responses", "estimates", "bonuses", "regrets"))
    assert len(set(plain.estimates.tolist())) > 10


def test_it_is_loril_in_a_table_of_contexts_and_responses() -> None:
    """Several contexts are one table: features with a coordinate for each pair."""
    contexts, responses, instructions = 3, 4, 3
    rng = np.random.default_rng(1)
    chances = random_simplex(rng, contexts * responses, instructions).reshape(
        contexts, responses, instructions
    )
    unit = np.eye(contexts * responses)
    wide = [Listed(unit[s * responses : (s + 1) * responses]) for s in range(contexts)]
    narrow = [Listed(random_simplex(rng, responses, 2)) for _ in range(contexts)]
    agents = [
        begun(OneHotLORIL(k=0.5), Facts(2, instructions)),
        begun(LORIL(k=0.5), Facts(contexts * responses, instructions)),
    ]
    stream = Stream(3, "agent")
    for t in range(1, 300):
        s, x = int(rng.integers(contexts)), int(rng.integers(instructions))
        tasks = [Task(s, x, listed[s]) for listed in (narrow, wide)]
        made = [
            agent.respond(task, stream.at(t)) for agent, task in zip(agents, tasks, strict=True)
        ]
        assert made[0].response == made[1].response
        assert made[0].estimate == pytest.approx(made[1].estimate, rel=1e-9, abs=1e-12)
        told = int(rng.choice(instructions, p=chances[s, made[0].response]))
        for agent, task, choice in zip(agents, tasks, made, strict=True):
            agent.learn(task, choice, told)


def test_a_hundred_thousand_responses_need_no_square_of_them() -> None:
    count = 100_000
    listed = Listed(np.random.default_rng(0).random((count, 2)))
    agent = begun(OneHotLORIL(), Facts(2, 5, fixed_responses=True))
    task = Task(0, 3, listed)
    chosen(agent, task)
    tracemalloc.start()
    try:
        for t in range(20):
            choice = agent.respond(task, np.random.default_rng(t))
            agent.learn(task, choice, t % 5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30 * 8 * count, "a few rows, where a square would be 80 GB"


def test_a_context_whose_responses_change_in_number_is_refused() -> None:
    place = Labelled(contexts=1, responses=3)
    agent = begun(OneHotLORIL(), place.facts)
    taught(agent, place.task(4, 0), [(1, 0)])
    other = Task(4, 0, Listed(np.eye(2)))
    with pytest.raises(ProtocolError, match="Context 4 had 3 responses and now has 2"):
        chosen(agent, other)
    with pytest.raises(ProtocolError, match="Context 4"):
        agent.learn(other, other.choose(1), 0)


# With rewards alone.


class LinUCB:
    """Textbook: an inverse and a sum for each arm's model, of which there is one an instruction."""

    def __init__(self, instructions: int, dim: int, k: float, lam: float) -> None:
        self.sigma = [lam * np.eye(dim) for _ in range(instructions)]
        self.sums = np.zeros((instructions, dim))
        self.k = k

    def uppers(self, x: int, matrix: Floats) -> tuple[Floats, Floats]:
        inverse = np.linalg.inv(self.sigma[x])
        widths = self.k * np.sqrt([g @ inverse @ g for g in matrix])
        return matrix @ (inverse @ self.sums[x]), widths

    def learn(self, x: int, g: Floats, reward: float) -> None:
        self.sigma[x] = self.sigma[x] + np.outer(g, g)
        self.sums[x] += reward * g


@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
@pytest.mark.parametrize(("k", "lam"), [(0.1, 1.0), (1.0, 0.05)])
def test_with_rewards_alone_it_is_linucb_an_instruction(
    contexts: int | str, k: float, lam: float
) -> None:
    world = SMALL.with_settings({"contexts": contexts})
    plain = LinUCB(5, 3, k, lam)
    matched = 0
    for r in islice(rounds(world, RewardOnly(k=k, lam=lam), seed=4), 250):
        x: Any = r.task.instruction
        y, matrix = r.choice.response, r.task.responses.matrix
        estimates, widths = plain.uppers(x, matrix)
        uppers = estimates + widths
        assert uppers[y] >= uppers.max() - 2e-9 * abs(uppers.max())
        assert r.choice.estimate == pytest.approx(estimates[y], rel=1e-8, abs=1e-10)
        assert r.choice.bonus == pytest.approx(widths[y], rel=1e-8)
        assert r.choice.highest == pytest.approx(uppers.max(), rel=1e-8)
        plain.learn(x, matrix[y], float(r.description == x))
        matched += r.description == x
    assert 0 < matched < 250


class Rewording:
    """Says what the world's teacher says if it is what was asked for, else something else."""

    def __init__(self, teacher: Any, shift: int) -> None:
        self._teacher = teacher
        self.shift = shift
        self.asked = -1
        self.reworded = 0

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> Any:
        told = self._teacher.describe(context, response, rng)
        if told == self.asked:
            return told
        others = [x for x in range(5) if x != self.asked]
        said = others[(others.index(told) + self.shift) % 4]
        self.reworded += said != told
        return said


class Telling:
    """A world that lets a teacher of tests know what is asked for."""

    memory = 0

    def __init__(self, world: Any, teacher: Rewording) -> None:
        self.facts = world.facts
        self._world, self._teacher = world, teacher

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        task: Task = self._world.task(t, history, rng)
        asked: Any = task.instruction
        self._teacher.asked = asked
        return task


def reworded(agent: AgentSpec, shift: int) -> tuple[Run, int]:
    simulation = SMALL.build(np.random.default_rng(0))
    teacher = Rewording(simulation.teacher, shift)
    world = Telling(simulation.world, teacher)
    run = play(Simulation(world, teacher, simulation.truth), agent, 200, seed=6)
    return run, teacher.reworded


def test_of_descriptions_that_do_not_match_it_hears_no_more_than_that() -> None:
    plain, _ = reworded(RewardOnly(k=0.3), 0)
    for shift in (1, 2, 3):
        other, changed = reworded(RewardOnly(k=0.3), shift)
        assert changed > 50
        same_runs(plain, other, ("responses", "estimates", "bonuses", "propensities", "regrets"))
    one, other = (reworded(LORIL(k=0.3), shift)[0] for shift in (0, 1))
    assert not np.array_equal(one.responses, other.responses), "else this test could not fail"


def test_a_response_teaches_nothing_of_instructions_that_were_not_asked_for() -> None:
    listed = Listed(np.eye(3))
    agent = begun(RewardOnly(k=0.0, ties="first"), Facts(3, 4, fixed_responses=True))
    for _ in range(5):
        taught(agent, Task(0, 1, listed), [(2, 1), (0, 3), (1, 3)])
    assert chosen(agent, Task(0, 1, listed)).response == 2
    assert chosen(agent, Task(0, 3, listed)).response == 0
    assert chosen(agent, Task(0, 3, listed)).estimate == 0


# With demonstrations.


def no_regret_once_shown(run: Run) -> int:
    """The rounds whose instruction was shown before; what is shown in a round is learned in it."""
    shown: set[int] = set()
    counted = 0
    for t in range(1, len(run)):
        if run.instructions[t] in shown:
            counted += 1
            assert run.regrets[t] == pytest.approx(0, abs=1e-12), t
        shown.add(int(run.instructions[t - 1]))
    return counted


@pytest.mark.parametrize("gap", ["printed", "repaired"])
@pytest.mark.parametrize("lam", [1.0, 100.0])
def test_who_was_shown_a_response_of_one_hot_features_repeats_it(gap: str, lam: float) -> None:
    for seed in range(5):
        run = play(Demonstrations(Hard(gap=gap)), Imitation(lam=lam), 60, seed=seed)
        assert no_regret_once_shown(run) > 50


@pytest.mark.parametrize("seed", range(4))
def test_where_responses_are_independent_a_small_ridge_is_enough(seed: int) -> None:
    """Then some weights say 1 of the best and 0 of all others, and the ridge hardly matters."""
    world = Realizable(instructions=6, responses=5, rank=8, size=4)
    run = play(Demonstrations(world), Imitation(lam=1e-9), 80, seed=seed)
    assert no_regret_once_shown(run) > 60


def test_with_fewer_features_than_responses_showing_once_may_not_be_enough() -> None:
    """The middle of a line is no corner: no weights make it the highest."""
    agent = begun(Imitation(lam=1e-6, ties="first"), Facts(2, 1, fixed_responses=True))
    line = Listed([[1.0, 0.0], [0.7, 0.3], [0.2, 0.8]])
    shown = Task(DemonstratedContext(0, Task(0, 0, line), 1), 0, line)
    for _ in range(50):
        agent.learn(shown, shown.choose(0), 0)
    assert chosen(agent, shown).response != 1


def test_imitation_is_the_ridge_regression_of_being_the_best() -> None:
    rng = np.random.default_rng(3)
    agent = begun(Imitation(lam=0.7, ties="first"), Facts(4, 3))
    rows: dict[int, list[Floats]] = {x: [] for x in range(3)}
    marks: dict[int, list[float]] = {x: [] for x in range(3)}
    for _ in range(60):
        listed = Listed(rng.normal(size=(5, 4)))
        x, best = int(rng.integers(3)), int(rng.integers(5))
        task = Task(DemonstratedContext(0, Task(0, x, listed), best), 0, listed)
        agent.learn(task, task.choose(0), int(rng.integers(3)))
        rows[x] += list(listed.matrix)
        marks[x] += [float(y == best) for y in range(5)]
        asked = Listed(rng.normal(size=(6, 4)))
        for x in range(3):
            design = np.array([*rows[x], *(math.sqrt(0.7) * np.eye(4))])
            weights = np.linalg.lstsq(design, np.array([*marks[x], 0, 0, 0, 0]), rcond=None)[0]
            assert chosen(agent, Task(0, x, asked)).response == int(
                np.argmax(asked.matrix @ weights + 1e-12 * (np.arange(6) == 0))
            )


def test_imitation_does_not_listen_to_descriptions() -> None:
    world = Demonstrations(SMALL).build(np.random.default_rng(0))

    class Wrong:
        def describe(self, context: Any, response: Any, rng: np.random.Generator) -> int:
            return int(rng.integers(5))

    true = play(world, Imitation(), 150, seed=2)
    wrong = play(Simulation(world.world, Wrong(), world.truth), Imitation(), 150, seed=2)
    assert not np.array_equal(true.descriptions, wrong.descriptions)
    same_runs(true, wrong, ("responses", "regrets", "propensities"))


def test_imitation_learns_nothing_where_nothing_is_shown() -> None:
    run = play(SMALL, Imitation(), 40, seed=2)
    np.testing.assert_array_equal(run.propensities, np.full(40, 1 / 6))
    state: Any = run.agent.state()  # type: ignore[attr-defined]
    assert not state["grams"].any()
    assert not state["sums"].any()


def test_imitation_states_no_probabilities() -> None:
    run = play(Demonstrations(SMALL), Imitation(), 40, seed=2)
    assert np.isnan(run.estimates).all()
    assert np.isnan(run.widths).all()
    np.testing.assert_array_equal(run.bonuses, np.zeros(40))


# All of them.

RIVALS: list[tuple[AgentSpec, WorldSpec]] = [
    (OneHotLORIL(k=0.3), SMALL),
    (OneHotLORIL(k=0.3), SMALL.with_settings({"contexts": 3})),
    (RewardOnly(k=0.3), SMALL),
    (RewardOnly(k=0.3, lam=0.2, ties="first"), SMALL.with_settings({"contexts": 3})),
    (Imitation(), Demonstrations(SMALL)),
    (Imitation(lam=0.1, ties="first"), Demonstrations(SMALL.with_settings({"contexts": "fresh"}))),
]
IDS = [f"{type(agent).__name__} {n}" for n, (agent, _) in enumerate(RIVALS)]


@pytest.mark.parametrize(("spec", "world"), RIVALS, ids=IDS)
def test_from_a_file_they_go_on_to_the_bit(
    spec: AgentSpec, world: WorldSpec, tmp_path: Path
) -> None:
    whole, first = (play(world, spec, n, seed=5) for n in (120, 70))
    agent: Any = first.agent
    agent.save(tmp_path / "agent.npz")
    loaded = tellback.load(tmp_path / "agent.npz")
    assert loaded.spec == spec  # type: ignore[attr-defined]
    into = begun(spec, world.facts)
    into.restore(agent.state())
    for one in (loaded, into, agent):
        rest = play(world, one, 50, seed=5, start=70, history=first_history(world, spec))
        for name in ("responses", "descriptions", "estimates", "bonuses", "propensities"):
            np.testing.assert_array_equal(
                np.concatenate([getattr(first, name), getattr(rest, name)]),
                getattr(whole, name),
                err_msg=name,
            )


def first_history(world: WorldSpec, spec: AgentSpec) -> Any:
    return list(play(world, spec, 70, seed=5).history)


@pytest.mark.parametrize(("spec", "world"), RIVALS, ids=IDS)
def test_a_saved_state_does_not_follow_the_agent(spec: AgentSpec, world: WorldSpec) -> None:
    agent: Any = play(world, spec, 40, seed=5).agent
    state = agent.state()
    before = {name: np.array(value) for name, value in state.items()}
    assert before
    other = begun(spec, world.facts)
    other.restore(state)
    for one in (agent, other):
        play(world, one, 20, seed=6)
    for name, value in before.items():
        np.testing.assert_array_equal(state[name], value, err_msg=name)
    changed = agent.state()
    assert any(not np.array_equal(changed[name], value) for name, value in before.items())


BROKEN: dict[str, tuple[AgentSpec, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "counts below 0": (OneHotLORIL(), lambda s: {**s, "counts.0": -s["counts.0"]}),
    "counts of other instructions": (OneHotLORIL(), lambda s: {"counts.0": s["counts.0"][1:]}),
    "counts that are none": (OneHotLORIL(), lambda s: {"counts.0": s["counts.0"] * np.nan}),
    "sums of another size": (RewardOnly(), lambda s: {**s, "sums": s["sums"][:, 1:]}),
    "sums that are none": (RewardOnly(), lambda s: {**s, "sums": s["sums"] * np.inf}),
    "an instruction too many": (RewardOnly(), lambda s: {**s, "5.count": 1}),
    "an inverse of another size": (RewardOnly(), lambda s: {**s, "1.inverse": np.eye(2)}),
    "grams of another size": (Imitation(), lambda s: {**s, "grams": s["grams"][1:]}),
    "what was shown is none": (Imitation(), lambda s: {**s, "sums": s["sums"] * np.nan}),
}


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("what", BROKEN)
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(what: str) -> None:
    spec, broken = BROKEN[what]
    agent: Any = play(Demonstrations(SMALL), spec, 60, seed=5).agent
    before = agent.state()
    with pytest.raises(SettingError):
        agent.restore(broken(dict(before)))
    after = agent.state()
    assert after.keys() == before.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)


def test_contexts_with_numbers_below_0_are_restored() -> None:
    place = Labelled(contexts=1, responses=3)
    agent, other = (begun(OneHotLORIL(k=0.0), place.facts) for _ in range(2))
    taught(agent, place.task(-2, 0), [(1, 0)])
    other.restore(agent.state())
    assert chosen(other, place.task(-2, 0)).response == 1


@pytest.mark.parametrize("spec", [OneHotLORIL(), RewardOnly(), Imitation()], ids=repr)
def test_they_keep_the_promises_of_agents(spec: AgentSpec) -> None:
    for report in (check(spec), check(spec, Demonstrations(SMALL))):
        assert report, str(report)


@pytest.mark.parametrize("spec", [OneHotLORIL(k=2), RewardOnly(lam=3), Imitation(lam=2)], ids=repr)
def test_their_settings_survive_as_plain_data(spec: AgentSpec) -> None:
    assert spec_from_data(AgentSpec, spec.to_data()) == spec


@pytest.mark.parametrize("spec", [OneHotLORIL(), RewardOnly(), Imitation()], ids=repr)
def test_sentences_are_no_table(spec: AgentSpec) -> None:
    with pytest.raises(SettingError, match=rf"{spec.kind} needs a table of instructions"):
        begun(spec, PICTURES.facts)


NONSENSE: dict[str, tuple[Callable[[], object], str]] = {
    "a weight below 0": (lambda: OneHotLORIL(k=-1), "k"),
    "no ridge": (lambda: OneHotLORIL(lam=0), "lam"),
    "no such ties": (lambda: OneHotLORIL(ties="last"), "ties"),
    "a reward's weight below 0": (lambda: RewardOnly(k=-1), "k"),
    "a reward's ridge": (lambda: RewardOnly(lam="1/t"), "lam"),  # type: ignore[arg-type]
    "a reward's ties": (lambda: RewardOnly(ties=""), "ties"),
    "an imitator's ridge": (lambda: Imitation(lam=math.nan), "lam"),
    "an imitator's ties": (lambda: Imitation(ties="best"), "ties"),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_is_refused_by_name(what: str) -> None:
    make, named = NONSENSE[what]
    with pytest.raises(SettingError, match=rf"^{named} must"):
        make()


@pytest.mark.parametrize("spec", [OneHotLORIL(), RewardOnly(), Imitation()], ids=repr)
@pytest.mark.parametrize("asked", [5, -1, True, "red"])
def test_what_is_no_instruction_is_not_answered(spec: AgentSpec, asked: Instruction) -> None:
    agent = begun(spec, SMALL.facts)
    with pytest.raises(SettingError, match="instruction"):
        agent.respond(Task(0, asked, Listed(np.eye(3))), np.random.default_rng(0))


def test_what_is_no_instruction_is_not_counted() -> None:
    agent = begun(OneHotLORIL(), SMALL.facts)
    task = Task(0, 0, Listed(np.eye(3)))
    for told in (5, -1, "red"):
        with pytest.raises(SettingError, match="instruction"):
            agent.learn(task, task.choose(0), told)
    assert agent.state() == {}


def test_what_is_lost_without_features_or_descriptions_shows() -> None:
    """Many responses, few dimensions: descriptions with features tell most."""
    world = Synthetic(instructions=10, responses=60, rank=3, temperature=0.3, seed=4)
    regret = {
        name: np.mean([play(world, spec, 1500, seed=s).regret[-1] for s in range(3)])
        for name, spec in {
            "loril": LORIL(k=0.1),
            "one-hot": OneHotLORIL(k=0.1),
            "rewards": RewardOnly(k=0.1),
        }.items()
    }
    assert regret["loril"] < 0.5 * regret["rewards"]
    assert regret["loril"] < 0.5 * regret["one-hot"]
