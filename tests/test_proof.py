"""A certificate is called proven only if it is: every lie is made, and seen through."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from tellback import Facts, Ledger, Listed, Run, Simulation, Task, load, play, rounds, theory
from tellback.agents import (
    LORIL,
    Certified,
    EpsilonGreedy,
    Greedy,
    ModelAgent,
    Repaired,
    SelfNormalized,
)
from tellback.models import FiniteClass, Mixture, Ridge
from tellback.proof import DRAWN, IN_TIME, OWN_WORD, Proof, proof_status_of
from tellback.specs import all_parts
from tellback.streams import Streams
from tellback.worlds import Adversarial, OneHotFeatures, Realizable, Synthetic
from tests.support.oracles import Floats

WORLD = Realizable(instructions=4, responses=6, rank=2, size=8, class_seed=1, temperature=0.4)
CLASS = FiniteClass(size=8, seed=1, temperature=0.4)
PROVEN = Certified(Greedy(model=CLASS))
BY_RIDGE = Certified(EpsilonGreedy(epsilon=0.3, model=Ridge()), k=SelfNormalized(), lam=1.0)


def below(run: Run) -> bool:
    """Whether the certificate was ever below the regret."""
    return bool((run.certificate < run.regret).any())


def not_proven(run: Run, why: str) -> bool:
    said = run.summary()["regret certificate"]
    return run.proof is None and why in run.caveat and "not proven: " in said


# --- What a run voids ----------------------------------------------------------------------


def test_what_was_learned_elsewhere_voids_the_proof() -> None:
    """Another seed has another member as its truth: the certificate is below regret, often."""
    fallen = 0
    for seed in range(4):
        taught = play(WORLD, PROVEN, 600, seed=seed)
        assert taught.proof is not None
        run = play(WORLD, taught.agent, 150, seed=100 + seed)
        fallen += below(run)
        assert not_proven(run, "it had learned 600 descriptions before")
    assert fallen >= 2


def test_a_run_taken_up_again_is_proven_if_its_past_is_this_one() -> None:
    first = play(WORLD, PROVEN, 40, seed=3)
    second = play(WORLD, first.agent, 20, seed=3, start=40)
    assert second.proof is not None
    assert "if the 40 descriptions it had learned before are those of the first 40 rounds" in str(
        second.proof
    )
    third = play(WORLD, second.agent, 20, seed=3, start=40)
    assert not_proven(third, "learned 60 descriptions before the first round, and 40 rounds")
    fresh = play(WORLD, PROVEN, 20, seed=3, start=40)
    assert fresh.proof is not None
    assert not fresh.proof.conditions


def test_another_class_than_the_worlds_voids_the_proof() -> None:
    one = {"size": 1, "temperature": 0.2}
    fallen = 0
    for class_seed in (1, 5):
        world = WORLD.with_settings({**one, "class_seed": class_seed})
        run = play(world, Certified(Greedy(model=FiniteClass(seed=0, **one))), 600)  # type: ignore[arg-type]
        fallen += below(run)
        assert not_proven(run, "it is not so that the truth is one of the 1 members of its class")
    assert fallen == 2


COIN = np.array([[0.5, 0.9], [0.5, 0.1]])


class Coin:
    """Two responses, two words, and always the first asked for."""

    facts: ClassVar[Facts] = Facts(2, 2, True)
    memory: ClassVar[int | None] = 0
    f: ClassVar[Any] = COIN

    def __init__(self) -> None:
        self._responses = Listed(np.eye(2))

    def task(self, t: int, history: Sequence[Any], rng: np.random.Generator) -> Task:
        return Task(0, 0, self._responses)

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> int | None:
        return int(rng.random() > COIN[0, response])

    def reward(self, task: Task, response: int) -> float:
        return float(COIN[0, response])

    def best(self, task: Task) -> float:
        return 0.9


class Shy(Coin):
    """Silent exactly when a certain word is due."""

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> int | None:
        word = super().describe(context, response, rng)
        return None if (word, response) == (0, 1) else word


def test_silence_when_a_certain_word_is_due_voids_the_proof() -> None:
    run = play(Shy(), BY_RIDGE, 6000, seed=0)
    assert below(run)
    assert not_proven(run, f"{6000 - run.described.sum():,.0f} of 6,000 rounds were not described")
    honest = play(Coin(), BY_RIDGE, 300, seed=0)
    assert honest.proof is not None
    assert not honest.proof.known, "it is seen of chosen responses alone"
    assert "if every description is drawn from P(x | y, s)" in str(honest.proof)


def test_descriptions_withdrawn_by_what_they_said_void_the_proof() -> None:
    agent: Any = BY_RIDGE.build(Coin.facts, np.random.default_rng(0))
    ledger, world = Ledger(agent, Streams(0).stream("agent"), remember=True), Coin()
    rng = np.random.default_rng(1)
    for t in range(1, 2001):
        choice = ledger.ask(t, world.task(t, (), rng))
        word = world.describe(0, choice.response, rng)
        assert word is not None
        ledger.tell(t, word)
        if (word, choice.response) == (0, 1):
            ledger.withdraw(t)
            ledger.drop(t)
    run = play(world, agent, 200, start=agent.widths.ellipsoid.count)
    assert below(run)
    assert not_proven(run, f"{2000 - ledger.told:,} descriptions were taken back")


def test_going_back_to_a_checkpoint_counts_as_taking_back() -> None:
    agent: Any = PROVEN.build(WORLD.facts, np.random.default_rng(0))
    assert not agent.withdraws
    ledger = Ledger(agent, Streams(0).stream("agent"), remember=True)
    task = next(rounds(WORLD, Greedy())).task
    for t in (1, 2, 3):
        ledger.ask(t, task)
        ledger.tell(t, t % 2)
    assert proof_status_of(agent).proof is not None
    ledger.withdraw(2)
    assert ledger.told == proof_status_of(agent).learned == 2
    assert "1 descriptions were taken back" in proof_status_of(agent).caveat


def test_late_and_lost_descriptions_leave_the_proof_where_the_world_does_not_read_them() -> None:
    """Which of them arrive, and when, does not depend on what they say."""

    def delay(t: int, rng: np.random.Generator) -> int | None:
        return None if rng.random() < 0.2 else t % 7

    for seed in range(5):
        run = play(WORLD, PROVEN, 200, seed=seed, delay=delay)
        assert run.proof is not None
        assert run.proof.known
        assert run.proof.conditions == (IN_TIME,), "a delay may have read them"
        assert not below(run)
    reactive = play(Adversarial(WORLD), PROVEN, 50, delay=delay)
    assert not_proven(reactive, "descriptions came late in a world that reads them at once")
    assert play(Adversarial(WORLD), PROVEN, 50).proof is not None


def test_what_the_agent_is_taught_beside_the_run_voids_the_proof() -> None:
    agent: Any = PROVEN.build(WORLD.facts, np.random.default_rng(0))

    class Whispering:
        """A teacher who tells the agent more than the run knows of."""

        def __init__(self, teacher: Any) -> None:
            self._teacher = teacher

        def describe(self, context: Any, response: Any, rng: np.random.Generator) -> Any:
            agent.model.learn(np.array([0.5, 0.5]), 0)
            return self._teacher.describe(context, response, rng)

    simulation = WORLD.build(np.random.default_rng(0))
    teacher = Whispering(simulation.teacher)
    run = play(Simulation(simulation.world, teacher, simulation.truth), agent, 10)
    assert not_proven(run, "its model was taught other descriptions than its ellipsoid")
    other = PROVEN.build(WORLD.facts, np.random.default_rng(0))

    class Teaching(Whispering):
        def describe(self, context: Any, response: Any, rng: np.random.Generator) -> Any:
            task = next(rounds(WORLD, Greedy())).task
            other.learn(task, task.choose(0), 0)
            return self._teacher.describe(context, response, rng)

    teaching = Simulation(simulation.world, Teaching(simulation.teacher), simulation.truth)
    assert not_proven(play(teaching, other, 10), "told 10 descriptions in the run, and learned 20")


def test_features_that_are_not_the_truths_void_the_proof() -> None:
    simulation = WORLD.build(np.random.default_rng(0))

    class Turned:
        """The world with the features of its responses in another order."""

        facts = simulation.world.facts
        memory = 0

        def __init__(self) -> None:
            self._listed: Listed | None = None

        def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
            task = simulation.world.task(t, history, rng)
            self._listed = self._listed or Listed(task.responses.matrix[::-1])
            return task._replace(responses=self._listed)

    turned = Simulation(Turned(), simulation.teacher, simulation.truth)
    assert not_proven(play(turned, PROVEN, 30), "F is for other features")
    # One-hot features have an F of their own, of another size: nothing is known of it.
    # A simulation that somebody put together may have another teacher, too.
    same = play(Simulation(simulation.world, simulation.teacher, simulation.truth), PROVEN, 30)
    assert same.proof is not None
    assert not same.proof.known
    assert same.proof.conditions == (DRAWN,)
    withheld = play(OneHotFeatures(Synthetic(4, 6, 2)), BY_RIDGE, 30)
    assert withheld.proof is not None
    assert not withheld.proof.known
    assert str(withheld.proof).endswith(
        f"if the truth is f(x) . g(y, s) with no f(x) longer than B = {math.sqrt(6):.4g}"
    )


def test_an_f_longer_than_b_voids_the_proof() -> None:
    short = Certified(Greedy(model=Ridge()), k=SelfNormalized(B=0.1), lam=1.0)
    assert not_proven(play(WORLD, short, 30), "no f(x) longer than B = 0.1")


# --- Who can have a proof -------------------------------------------------------------------


class Boastful:
    """Says that it is proven, and states widths of nothing."""

    caveat = ""
    heuristic = ""
    proof = proof_status = "proven"

    def respond(self, task: Task, rng: np.random.Generator) -> Any:
        return task.choose(0, estimate=0.5)._replace(width=0.0, highest=0.5)

    def learn(self, task: Task, choice: Any, description: Any) -> None: ...


class Wrapper:
    """Hands everything on to another agent, but its choice."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def respond(self, task: Task, rng: np.random.Generator) -> Any:
        return self._agent.respond(task, rng)._replace(response=0)

    def learn(self, task: Task, choice: Any, description: Any) -> None:
        self._agent.learn(task, choice, description)


class Bold(ModelAgent):
    """States half the widths."""

    def respond(self, task: Task, rng: np.random.Generator) -> Any:
        choice = super().respond(task, rng)
        return choice._replace(width=choice.width / 2, highest=choice.highest / 2)


def test_an_agents_own_word_is_no_proof() -> None:
    inner: Any = LORIL.as_repaired(model=CLASS).build(WORLD.facts, np.random.default_rng(0))
    assert proof_status_of(inner).proof is not None
    for agent in (Boastful(), Wrapper(inner), Bold(inner.model, inner.explorer)):
        assert not_proven(play(WORLD, agent, 3), OWN_WORD)


@dataclass(frozen=True)
class Tight(SelfNormalized):
    """A thousandth of the radius."""

    def build(self, facts: Facts) -> Any:
        radius = super().build(facts)
        return lambda now: 0.001 * radius(now)


@dataclass(frozen=True)
class Warm(Ridge):
    """Ridge regression with a belief beforehand."""

    def build(self, facts: Facts, rng: np.random.Generator) -> Any:
        model = super().build(facts, rng)
        model._sums[:, 0] += 300.0
        return model


@dataclass(frozen=True)
class Deaf(Greedy):
    """Hears one word, whatever is said."""

    def build(self, facts: Facts, rng: np.random.Generator) -> ModelAgent:
        agent = super().build(facts, rng)
        learn = agent.learn
        agent.__dict__["learn"] = lambda task, choice, said: learn(task, choice, 1)
        return agent


@pytest.mark.parametrize(
    "spec",
    [
        Certified(Greedy(model=Ridge()), k=Tight(), lam=1.0),
        Certified(Greedy(model=Warm()), k=SelfNormalized(), lam=1.0),
        Certified(Deaf(model=Ridge()), k=SelfNormalized(), lam=1.0),
    ],
    ids=["radius", "model", "agent"],
)
def test_a_spec_of_ones_own_inherits_no_proof(spec: Certified) -> None:
    run = play(WORLD, spec, 300)
    own = {type(one) for one in all_parts(spec)} & {Tight, Warm, Deaf}
    assert not_proven(run, f"{own.pop().__name__} is a spec of your own")


ALTERED: dict[str, Callable[[Any], object]] = {
    "its state is not": lambda a: a.model._sums.fill(5.0),
    "agent.agent.learn is not": lambda a: setattr(a.agent, "learn", lambda *told: None),
    "agent.widths._radius is not": lambda a: setattr(a.widths, "_radius", lambda now: 0.001),
    "agent.model.estimates is not": lambda a: setattr(a.model, "estimates", a.model.f),
    "agent.widths._lam is not": lambda a: setattr(a.widths, "_lam", 2.0),
}


@pytest.mark.parametrize("said", ALTERED)
def test_an_altered_agent_has_no_proof(said: str) -> None:
    agent = BY_RIDGE.build(Coin.facts, np.random.default_rng(0))
    assert proof_status_of(agent).proof is not None
    ALTERED[said](agent)
    assert proof_status_of(agent).proof is None
    if "_lam" not in said:  # refused before, as it is not the model's
        assert said in proof_status_of(agent).caveat


UNTAUGHT: dict[str, Callable[[Any], object]] = {
    "a tight ellipsoid": lambda a: a.widths.ellipsoid.inverse.__imul__(1e-8),
    "a belief beforehand": lambda a: a.model._sums.fill(0.01),
    "the state of another ridge": lambda a: a.restore(
        Certified(Greedy(model=Ridge(3.0)), k=SelfNormalized(), lam=3.0)
        .build(Coin.facts, np.random.default_rng(0))
        .state()
    ),
}


@pytest.mark.parametrize("how", UNTAUGHT)
@pytest.mark.parametrize("world", [Coin, Shy])
def test_an_untaught_agent_that_was_altered_gets_no_proof_by_playing(how: str, world: Any) -> None:
    agent = BY_RIDGE.build(Coin.facts, np.random.default_rng(0))
    UNTAUGHT[how](agent)
    run = play(world(), agent, 200)
    assert not_proven(run, "its state is not that of an agent without descriptions")


def test_an_altered_spec_has_no_proof() -> None:
    model = Ridge()
    object.__setattr__(model, "build", Warm().build)
    spec = Certified(Greedy(model=model), k=SelfNormalized(), lam=1.0)
    assert not_proven(play(WORLD, spec, 5), "its spec Ridge has more than its settings")


def test_other_members_than_those_of_the_spec_void_the_proof() -> None:
    agent: Any = PROVEN.build(WORLD.facts, np.random.default_rng(0))
    with pytest.raises(ValueError, match="read-only"):
        agent.model._members[:] = 0.1
    agent.model._members = agent.model._members / 2
    assert "agent.agent.model._members is not" in proof_status_of(agent).caveat


def test_an_agent_that_was_asked_and_not_told_is_still_a_fresh_one() -> None:
    for spec in (PROVEN, BY_RIDGE, LORIL.as_repaired(model=Mixture())):
        agent = spec.build(WORLD.facts, np.random.default_rng(0))
        agent.respond(next(rounds(WORLD, Greedy())).task, np.random.default_rng(0))
        assert proof_status_of(agent).proof is not None


class Crooked(Coin):
    """Shows an F, and has a response that is never chosen with another reward than by that F."""

    def __init__(self) -> None:
        self._responses = Listed(np.array([[1.0, 0.0], [0.05, 0.0]]))

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> int | None:
        return int(rng.random() > 0.5)

    def reward(self, task: Task, response: int) -> float:
        return (0.5, 1.0)[response]

    def best(self, task: Task) -> float:
        return 1.0


def test_the_truth_of_another_world_is_a_condition_and_failed_bounds_are_told() -> None:
    spec = Certified(Greedy(model=Ridge(), ties="first"), k=SelfNormalized(), lam=1.0)
    run = play(Crooked(), spec, 600)
    assert below(run)
    assert run.proof is not None
    assert not run.proof.known
    assert run.proof.failed
    assert not run.proof  # so that ``run.proof or run.caveat`` says it
    assert run.caveat == str(run.proof)
    said = run.summary()["regret certificate"]
    assert run.certificate[-1] < run.regret[-1]
    assert said.startswith(f"failed: {run.certificate[-1]:.4g} of 600, and the regret is ")
    assert "(bounds failed in this run, so that a condition is not met or" in said
    assert ", if the truth is f(x) . g(y, s)" in said
    assert "proven" not in said


def test_descriptions_lost_for_what_they_said_are_a_condition_that_is_not_met() -> None:
    world = Coin()
    heard: list[tuple[int, int | None]] = []

    class Overheard(Coin):
        def describe(self, context: Any, response: int, rng: np.random.Generator) -> int | None:
            heard.append((response, world.describe(context, response, rng)))
            return heard[-1][1]

    def delay(t: int, rng: np.random.Generator) -> int | None:
        return None if heard[-1] == (1, 0) else 0

    run = play(Overheard(), BY_RIDGE, 6000, delay=delay)
    assert below(run)
    assert run.proof is not None
    assert run.proof.failed
    assert IN_TIME in run.proof.conditions


class Flattering(Coin):
    """Says what was asked for, whatever the response."""

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> int | None:
        return 0


def test_matches_that_differ_from_rewards_void_the_proof() -> None:
    assert not_proven(play(Flattering(), BY_RIDGE, 300), "did not match as often as the rewards")


def test_withdrawals_are_remembered_in_files(tmp_path: Path) -> None:
    agent: Any = BY_RIDGE.build(Coin.facts, np.random.default_rng(0))
    task = Coin().task(1, (), np.random.default_rng(0))
    for word in (0, 1):
        agent.learn(task, task.choose(word), word)
    agent.save(tmp_path / "told.npz")
    assert proof_status_of(load(tmp_path / "told.npz")).proof is not None
    assert agent.withdraw(task, task.choose(0), 0)
    agent.save(tmp_path / "withdrawn.npz")
    caveat = proof_status_of(load(tmp_path / "withdrawn.npz")).caveat
    assert caveat.startswith("1 descriptions were taken back")


def test_no_probability_below_1_is_printed_as_100_percent() -> None:
    said = [Proof(delta, "printed", "").level for delta in (0.05, 1e-5, 1e-8, 1e-300)]
    assert said == ["95%", "99.999%", "1 - 1e-08", "1 - 1e-300"]


def test_what_stands_behind_an_agent_can_be_sent_to_another_process() -> None:
    for spec in (PROVEN, BY_RIDGE, Certified(Greedy(model=Mixture()))):
        status = proof_status_of(spec.build(WORLD.facts, np.random.default_rng(0)))
        again = pickle.loads(pickle.dumps(status))
        assert again == status
        f = WORLD.build(np.random.default_rng(0)).truth.f  # type: ignore[union-attr]
        assert again.proof.holds(f)
        assert not again.proof.holds(3 * f)


# --- The radius for ridge regression ----------------------------------------------------------


@pytest.mark.parametrize("certified", [False, True])
@pytest.mark.parametrize(("lam", "delta", "B"), [(0.5, 0.05, None), (2.0, 0.3, 1.2)])
def test_by_ridge_every_bound_is_that_of_the_formula_on_the_whole_past(
    lam: float, delta: float, B: float | None, certified: bool
) -> None:
    k, model = SelfNormalized(delta, B), Ridge(lam)
    spec = (
        Certified(EpsilonGreedy(epsilon=0.5, model=model), k=k, lam=lam)
        if certified
        else LORIL(k=k, lam=lam, model=model)
    )
    past: list[tuple[Floats, int]] = []
    length = math.sqrt(2) if B is None else B
    game = rounds(WORLD, spec, seed=4)
    for _ in range(80):
        r = next(game)
        g = np.array([row for row, _ in past]).reshape(-1, 2)
        said = np.array([word == r.task.instruction for _, word in past], dtype=float)
        sigma = lam * np.eye(2) + g.T @ g
        f = np.linalg.solve(sigma, g.T @ said)
        determinant = np.linalg.det(sigma) / lam**2
        radius = 0.5 * math.sqrt(math.log(determinant) + 2 * math.log(4 / delta))
        radius += math.sqrt(lam) * length
        matrix = r.task.responses.matrix
        widths = radius * np.sqrt((matrix * np.linalg.solve(sigma, matrix.T).T).sum(axis=1))
        assert r.choice.estimate == pytest.approx(f @ r.choice.features, abs=1e-10)
        assert r.choice.width == pytest.approx(widths[r.choice.response], rel=1e-9)
        assert r.choice.highest == pytest.approx((matrix @ f + widths).max(), rel=1e-9)
        assert isinstance(r.description, int)
        past.append((r.choice.features, r.description))


# --- The likelihood gap ----------------------------------------------------------------------


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_repaired_counts_how_far_the_likelihood_is_from_its_maximum(smoothing: float) -> None:
    spec = LORIL.as_repaired(0.05, model=Mixture(refresh=1, smoothing=smoothing))
    agent: Any = spec.build(WORLD.facts, np.random.default_rng(0))
    game = rounds(WORLD, agent, seed=2)
    gaps = []
    for t in range(1, 61):
        gap = agent.model.likelihood_gap()
        responses = next(rounds(WORLD, Greedy(), seed=2)).task.responses
        squared = agent.explorer.ellipsoid.squared_widths(responses, False).copy()
        r = next(game)
        radius = theory.softmax_radius(t, 1 / t, 4, 2, 0.05, gap)
        width = radius * math.sqrt(squared[r.choice.response])
        assert r.choice.width == pytest.approx(width, rel=1e-12)
        gaps.append(gap)
    assert max(gaps) > 0.01, "else it would not matter"
    # It is a bound: no F has a likelihood that is higher by more.
    reached, gap = agent.model.log_likelihood(), agent.model.likelihood_gap()
    best: Any = Mixture().build(WORLD.facts, np.random.default_rng(0))
    counts = agent.model._counts
    for x, g, n in zip(counts.rows, counts.features, counts.counts, strict=True):
        for _ in range(int(n)):
            best.learn(g.copy(), int(x))
    best.fit(1e-6)
    assert reached < best.log_likelihood() <= reached + gap
    if smoothing:
        assert agent.model.gap() != gap


def test_a_finite_class_has_no_gap_and_the_radius_it_had() -> None:
    agent: Any = LORIL.as_repaired(0.05, model=CLASS).build(WORLD.facts, np.random.default_rng(0))
    assert agent.model.likelihood_gap() == 0
    resolved = Repaired(0.05).resolved(CLASS, WORLD.facts)
    assert resolved.log_class_size is not None
    assert resolved.B is not None
    assert agent.explorer.k == theory.repaired_radius(
        1.0, resolved.log_class_size, 0.05, resolved.B
    )
