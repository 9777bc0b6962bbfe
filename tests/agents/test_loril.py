"""LORIL with the theory's radius does in every round what Algorithm 1 says, recomputed by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellback
from tellback import Facts, Listed, Round, Task, play, rounds
from tellback.agents import (
    LORIL,
    AgentSpec,
    Certified,
    Deviations,
    Greedy,
    ModelAgent,
    Printed,
    RadiusSpec,
    Repaired,
    SelfNormalized,
    Uniform,
)
from tellback.agents.radius import Moment
from tellback.encoders import Thumbnail
from tellback.errors import SettingError, TellbackError
from tellback.models import FiniteClass, Mixture, Ridge, Sentence
from tellback.proof import proof_status_of
from tellback.roles import Instruction, State
from tellback.specs import spec_from_data
from tellback.worlds import Images, Realizable, Synthetic
from tests.support.oracles import Floats, random_simplex

SIZE, X, Y, D = 12, 6, 9, 3
WORLD = Realizable(instructions=X, responses=Y, rank=D, size=SIZE, class_seed=4)
CLASS = FiniteClass(size=SIZE, seed=4)
PICTURES = Images(responses=4, colours=("red", "blue", "grey"), encoder=Thumbnail(cells=2))


@dataclass
class ByHand:
    """Algorithm 1 from the history alone: nothing is kept but who was described as what."""

    radius: Callable[[int, float], float]
    members: Floats
    described: list[tuple[Floats, int]]

    def bounds(self, task: Task) -> tuple[Floats, Floats]:
        """f-hat(x) . g and b of every response (lines 3 to 5)."""
        t = len(self.described) + 1
        lam = 1 / t
        likelihoods = [
            math.fsum(math.log(float(f[x] @ g)) for g, x in self.described) for f in self.members
        ]
        f_hat = self.members[int(np.argmax(likelihoods))]
        sigma = lam * np.eye(D)
        for g, _ in self.described:
            sigma = sigma + np.outer(g, g)
        matrix = task.responses.matrix
        norms = np.sqrt([g @ np.linalg.solve(sigma, g) for g in matrix])
        x: Any = task.instruction
        return matrix @ f_hat[x], self.radius(t, lam) * norms

    def learn(self, r: Round) -> None:
        told: Any = r.description
        self.described.append((r.task.responses.matrix[r.choice.response], int(told)))


def printed_by_hand(size: float, delta: float, B: float) -> Callable[[int, float], float]:
    """Line 5, with C of Freedman's inequality as the least that works for all t up to a million."""
    ratio = size / delta
    t = np.unique(np.logspace(0, 6, 4000).astype(int)).astype(float)
    C = max(2.0, float(np.max(np.log(12 * t**2 * ratio) / np.log(t * ratio))))
    constant = max((32 * C) ** 0.25, 2.0)
    return lambda t, lam: constant * (math.sqrt(math.log(t * ratio)) + math.sqrt(lam) * B)


def repaired_by_hand(size: float, delta: float, B: float) -> Callable[[int, float], float]:
    return lambda t, lam: math.sqrt(2 * math.log(size / delta) + 4 * lam * B**2)


def follows(spec: LORIL, by_hand: ByHand, seed: int, total: int = 120) -> None:
    for r in islice(rounds(WORLD, spec, seed=seed), total):
        estimates, bonuses = by_hand.bounds(r.task)
        y = r.choice.response
        upper = estimates + bonuses
        assert upper[y] >= upper.max() * (1 - 2e-9)
        assert r.choice.bonus == pytest.approx(bonuses[y], rel=1e-9)
        assert r.choice.estimate == pytest.approx(estimates[y], rel=1e-12)
        assert r.choice.width == r.choice.bonus
        assert r.choice.highest == pytest.approx(upper.max(), rel=1e-8)
        by_hand.learn(r)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("size", "delta", "B"), [(SIZE, 0.05, 1.5), (SIZE, 0.9, 4.0), (2, 0.9, 2.0)]
)
def test_as_printed_every_bonus_is_that_of_line_5(
    size: int, delta: float, B: float, seed: int
) -> None:
    """C is 2, but for a class as small as the last."""
    known = FiniteClass(size=size, seed=4)
    spec = LORIL.as_printed(delta, math.log(size), B, model=known)
    by_hand = ByHand(printed_by_hand(size, delta, B), known.members(X, D), [])
    follows(spec, by_hand, seed)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("delta", "B"), [(0.05, 1.5), (0.9, 4.0)])
def test_as_repaired_every_bonus_is_that_of_the_repaired_radius(
    delta: float, B: float, seed: int
) -> None:
    spec = LORIL.as_repaired(delta, math.log(SIZE), B, model=CLASS)
    by_hand = ByHand(repaired_by_hand(SIZE, delta, B), CLASS.members(X, D), [])
    follows(spec, by_hand, seed)


def test_without_a_size_and_a_bound_they_are_those_of_the_known_class() -> None:
    spec = LORIL.as_printed(0.05, model=CLASS)
    B = max(1, np.linalg.norm(CLASS.members(X, D), axis=2).max())
    by_hand = ByHand(printed_by_hand(SIZE, 0.05, float(B)), CLASS.members(X, D), [])
    follows(spec, by_hand, 0, total=30)


@pytest.mark.parametrize(
    ("radius", "message"),
    [
        (Repaired(log_class_size=math.log(SIZE) - 0.01), "log_class_size = 2.4749.* below"),
        (Printed(B=0.5), "B = 0.5 is below"),
    ],
)
def test_a_radius_for_a_smaller_class_than_the_models_is_refused(
    radius: RadiusSpec, message: str
) -> None:
    with pytest.raises(SettingError, match=message):
        play(WORLD, LORIL(k=radius, lam="1/t", model=CLASS), 1)
    with pytest.raises(SettingError, match=message):
        play(WORLD, Certified(Greedy(model=CLASS), k=radius), 1)


def test_with_a_constant_ridge_the_radius_has_that_ridge() -> None:
    spec = LORIL(k=Repaired(0.05, math.log(SIZE), 1.5), lam=0.25, model=CLASS)
    radius = math.sqrt(2 * math.log(SIZE / 0.05) + 4 * 0.25 * 1.5**2)
    sigma = 0.25 * np.eye(D)
    for r in islice(rounds(WORLD, spec, seed=1), 60):
        g = r.choice.features
        expected = radius * math.sqrt(g @ np.linalg.solve(sigma, g))
        assert r.choice.bonus == pytest.approx(expected, rel=1e-9)
        sigma += np.outer(g, g)


def log_brackets(t: int) -> float:
    """log (M + X choose X) for each of d columns, M = X t, in whole numbers."""
    return D * math.log(math.comb(X * t + X, X))


def softmax_by_hand(t: int, lam: float) -> float:
    """The width of the brackets is the first 2^-j below 1 / n, n having been described."""
    n, j, fineness = t - 1, 0, 1
    while fineness <= n:
        j, fineness = j + 1, 2 * fineness
    rho = 1 / fineness
    told = 2 * (log_brackets(fineness) + math.log((j + 1) * (j + 2)) + math.log(1 / 0.05))
    covered = math.sqrt(told + n * math.log(1 + rho)) + math.sqrt(n) * rho
    return math.sqrt(covered**2 + lam * D)


@pytest.mark.parametrize("form", ["printed", "repaired"])
def test_without_a_class_size_the_brackets_of_the_softmax_class_count(form: str) -> None:
    def printed(t: int, lam: float) -> float:
        ratio = log_brackets(t) - math.log(0.05)
        logarithm = math.log(t) + ratio
        C = max(2.0, 1 + math.log(12) / ratio)
        constant = max(math.sqrt(math.sqrt(32 * C)), 2.0)
        return constant * (math.sqrt(logarithm) + math.sqrt(lam) * math.sqrt(D))

    by_hand = printed if form == "printed" else softmax_by_hand
    spec = Printed() if form == "printed" else Repaired()
    assert spec.resolved(Mixture(), WORLD.facts) == spec, "a mixture's class is not finite"
    radius = spec.build(WORLD.facts)
    for t in (*range(1, 70), 1000, 1023, 1024, 1025):
        assert radius(Moment(t, 1 / t)) == pytest.approx(by_hand(t, 1 / t), rel=1e-12)


def test_a_radius_can_be_named_by_its_kind() -> None:
    assert LORIL(k="repaired", lam="1/t") == LORIL.as_repaired()  # type: ignore[arg-type]
    assert LORIL(k="printed", lam="1/t") == LORIL.as_printed()  # type: ignore[arg-type]
    assert Certified(k="printed") == Certified(k=Printed())  # type: ignore[arg-type]


RADII: list[RadiusSpec] = [
    Printed(),
    Repaired(),
    Printed(0.01, 3.5, 2.0),
    Repaired(delta=0.2, log_class_size=0.0),
    Repaired(B=0.5),
    SelfNormalized(),
    SelfNormalized(0.2, B=3.0),
]


@pytest.mark.parametrize("radius", RADII, ids=repr)
def test_radii_survive_as_plain_data_alone_and_within_an_agent(radius: RadiusSpec) -> None:
    assert spec_from_data(RadiusSpec, radius.to_data()) == radius
    lam = radius.ridge(CLASS)
    agents: list[AgentSpec] = [
        LORIL(k=radius, lam=lam, model=CLASS),
        Certified(agent=LORIL(k=radius, lam=0.5), k=radius, lam=lam),
    ]
    for agent in agents:
        again = spec_from_data(AgentSpec, agent.to_data())
        assert again == agent
        assert again.to_data() == agent.to_data()


def test_what_differs_in_its_radius_alone_differs() -> None:
    labels = {LORIL(k=radius, lam=1.0).label() for radius in RADII}
    assert len(labels) == len({LORIL(k=radius, lam=1.0) for radius in RADII}) == len(RADII)


NONSENSE: dict[str, tuple[Callable[[], object], str]] = {
    "delta 0": (lambda: Printed(delta=0), "delta"),
    "delta 1": (lambda: Repaired(delta=1), "delta"),
    "delta in words": (lambda: Repaired(delta="small"), "delta"),  # type: ignore[arg-type]
    "a class of less than one": (lambda: Printed(log_class_size=-1), "log_class_size"),
    "an infinite class": (lambda: Printed(log_class_size=math.inf), "log_class_size"),
    "no length": (lambda: Repaired(B=0), "B"),
    "no such radius": (lambda: LORIL(k="repared"), "k must .*Did you mean 'repaired'"),  # type: ignore[arg-type]
    "another spec": (lambda: LORIL(k=Greedy()), "k"),  # type: ignore[arg-type]
    "less than nothing": (lambda: LORIL(k=-0.1), "k"),
    "no such ridge": (lambda: LORIL(lam="1/t^2"), "lam must be a number, or '1/t'"),
    "no ridge": (lambda: LORIL(lam=0.0), "lam"),
    "a fading ridge with a radius for a constant one": (
        lambda: LORIL(k=SelfNormalized(), lam="1/t"),
        "lam must be a number where k is self-normalized",
    ),
    "the same, certified, by default": (
        lambda: Certified(Greedy(model=Ridge()), k=SelfNormalized()),
        "lam must be a number where k is self-normalized",
    ),
    "no length of f": (lambda: SelfNormalized(B=0), "B"),
    "the same, certified": (lambda: Certified(lam="t"), "lam"),
    "a weight, certified": (lambda: Certified(k=math.nan), "k"),
    "no agent with a model": (lambda: Certified(agent=Uniform()), "agent"),  # type: ignore[arg-type]
    "a class of none": (lambda: FiniteClass(size=0), "size"),
    "a seed below 0": (lambda: FiniteClass(seed=-1), "seed"),
    "no temperature": (lambda: FiniteClass(temperature=0), "temperature"),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_is_refused_by_name(what: str) -> None:
    make, named = NONSENSE[what]
    with pytest.raises(SettingError, match=rf"\b{named}"):
        make()


@pytest.mark.parametrize(
    "spec", [LORIL.as_printed(), LORIL.as_repaired(), Certified(), Greedy(model=CLASS)], ids=repr
)
def test_sentences_are_no_softmax_class(spec: AgentSpec) -> None:
    with pytest.raises(SettingError, match="sentences"):
        spec.build(PICTURES.facts, np.random.default_rng(0))


@pytest.mark.parametrize(
    "spec",
    [
        LORIL.as_printed(0.1, math.log(SIZE), model=CLASS),
        LORIL.as_repaired(),
        Certified(LORIL(k=0.2, lam="1/t"), k=Repaired(0.1, 2.0), lam=0.5),
        Certified(Greedy(model=CLASS)),
    ],
    ids=repr,
)
def test_saved_agents_go_on_to_the_bit(spec: AgentSpec, tmp_path: Path) -> None:
    whole = play(WORLD, spec, 90, seed=6)
    first = play(WORLD, spec, 50, seed=6)
    assert isinstance(first.agent, ModelAgent)
    first.agent.save(tmp_path / "agent.npz")
    loaded = tellback.load(tmp_path / "agent.npz")
    assert isinstance(loaded, ModelAgent)
    assert loaded.spec == first.agent.spec
    second = play(WORLD, loaded, 40, seed=6, start=50)
    for name in ("responses", "descriptions", "estimates", "bonuses", "widths", "highest"):
        np.testing.assert_array_equal(
            np.concatenate([getattr(first, name), getattr(second, name)]),
            getattr(whole, name),
            err_msg=name,
        )
    assert second.caveat == whole.caveat
    assert (second.proof is None) == (whole.proof is None)


def test_a_file_of_another_class_is_refused(tmp_path: Path) -> None:
    agent: Any = play(WORLD, Greedy(model=CLASS), 5).agent
    agent.save(tmp_path / "agent.npz")
    other: Any = Greedy(model=FiniteClass(size=5)).build(WORLD.facts, np.random.default_rng(0))
    with pytest.raises(TellbackError, match="5 members"):
        tellback.load(tmp_path / "agent.npz", into=other)
    np.testing.assert_array_equal(other.model.log_likelihoods, np.zeros(5))


# The finite class.


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("temperature", [0.75, 0.2])
def test_the_most_likely_member_is_that_of_a_search_through_all(
    seed: int, temperature: float
) -> None:
    spec = FiniteClass(size=20, seed=seed, temperature=temperature)
    facts = Facts(dim=D, instructions=X)
    model = spec.build(facts, np.random.default_rng(0))
    members = spec.members(X, D)
    rng = np.random.default_rng(seed)
    responses = Listed(random_simplex(rng, 8, D))
    past: list[tuple[Floats, int]] = []
    winners = set()
    for _ in range(60):
        g, x = responses.matrix[rng.integers(8)], int(rng.integers(X))
        model.learn(g, x)
        past.append((g, x))
        products = [math.fsum(math.log(float(f[x] @ g)) for g, x in past) for f in members]
        best = max(range(20), key=lambda m: products[m])
        winners.add(best)
        np.testing.assert_array_equal(model.f, members[best])
        np.testing.assert_allclose(model.log_likelihoods, products, rtol=1e-12)
        np.testing.assert_allclose(
            model.estimates(2, responses), responses.matrix @ members[best][2], rtol=1e-13
        )
    assert len(winners) > 1, "else this test could not fail"


def test_the_class_is_public_and_each_member_a_table_of_distributions() -> None:
    members = CLASS.members(X, D)
    assert members.shape == (SIZE, X, D)
    np.testing.assert_array_equal(members, FiniteClass(size=SIZE, seed=4).members(X, D))
    np.testing.assert_allclose(members.sum(axis=1), 1, rtol=1e-12)
    assert (members > 0).all()
    assert len({f.tobytes() for f in members}) == SIZE
    assert not np.isin(FiniteClass(size=SIZE, seed=5).members(X, D), members).any()


def test_a_member_that_says_never_is_ruled_out_by_one_description() -> None:
    """At so low a temperature members have probabilities of 0."""
    spec = FiniteClass(size=6, seed=0, temperature=0.001)
    members = spec.members(X, D)
    impossible = [(x, i) for x in range(X) for i in range(D) if (members[:, x, i] == 0).any()]
    x, i = next((x, i) for x, i in impossible if (members[:, x, i] > 0).any())
    model = spec.build(Facts(dim=D, instructions=X), np.random.default_rng(0))
    for _ in range(3):
        model.learn(np.eye(D)[i], x)
    assert model.f[x, i] == members[:, x, i].max()
    np.testing.assert_array_equal(np.isinf(model.log_likelihoods), members[:, x, i] == 0)
    again = spec.build(Facts(dim=D, instructions=X), np.random.default_rng(0))
    again.restore(model.state())
    np.testing.assert_array_equal(again.f, model.f)


@pytest.mark.parametrize("temperature", [0.001, 0.05])
def test_cold_worlds_can_be_played_with_their_own_class(temperature: float) -> None:
    world = WORLD.with_settings({"temperature": temperature})
    model = FiniteClass(size=SIZE, seed=4, temperature=temperature)
    run = play(world, LORIL.as_repaired(0.05, math.log(SIZE), model=model), 100, seed=1)
    assert (run.certificate >= run.regret - 1e-9).all()
    assert run.caveat == ""


def test_a_class_refuses_what_is_no_distribution_and_stays_as_it_was() -> None:
    model = CLASS.build(Facts(dim=D, instructions=X), np.random.default_rng(0))
    model.learn(np.array([0.2, 0.3, 0.5]), 1)
    before = model.log_likelihoods.copy()
    bad: list[tuple[Any, Any, str]] = [
        (np.array([0.5, -0.5, 1.0]), 1, "distribution"),
        (np.array([0.5, np.nan, 0.5]), 1, "distribution"),
        (np.zeros(D), 1, "distribution"),
        (np.full(D, np.inf), 1, "distribution"),
        (np.ones(D + 1) / (D + 1), 1, "3 numbers"),
        (np.ones(D) / D, X, "instruction"),
        (np.ones(D) / D, "red", "instruction"),
    ]
    for features, description, said in bad:
        with pytest.raises(SettingError, match=said):
            model.learn(features, description)
    with pytest.raises(SettingError, match="sum to 1"):
        model.estimates(0, Listed(2 * np.eye(D)))
    with pytest.raises(SettingError, match="instruction"):
        model.estimates(-1, Listed(np.eye(D)))
    for values in (np.zeros(SIZE + 1), np.full(SIZE, np.nan), np.full(SIZE, np.inf)):
        with pytest.raises(SettingError, match="log-likelihoods"):
            model.restore({"log_likelihoods": values})
    np.testing.assert_array_equal(model.log_likelihoods, before)


# What is proven, and what is a guess.


def caveat(spec: AgentSpec, world: Any = WORLD) -> str:
    status = proof_status_of(spec.build(world.facts, np.random.default_rng(0)))
    assert (status.proof is None) == (status.caveat != "")
    return status.caveat


def test_only_a_derived_radius_with_a_model_that_keeps_its_premises_is_proven() -> None:
    for radius in (Printed(), Repaired(), Printed(0.1, 3.0, 2.0), Repaired(0.1, math.log(SIZE))):
        assert caveat(LORIL(k=radius, lam="1/t", model=CLASS)) == ""
        assert caveat(LORIL(k=radius, lam=2.0, model=CLASS)) == ""
        assert caveat(Certified(Greedy(model=CLASS), k=radius)) == ""
        assert caveat(Certified(LORIL(k=0.3, model=CLASS), k=radius)) == ""
    assert caveat(LORIL.as_repaired(model=Mixture())) == ""
    assert caveat(Certified(Greedy(model=Mixture(smoothing=0.2)))) == ""
    assert caveat(LORIL(k=SelfNormalized(), lam=0.5, model=Ridge(0.5))) == ""
    assert caveat(Certified(Greedy(model=Ridge(0.5)), k=SelfNormalized(), lam=0.5)) == ""


def test_all_else_says_why_it_is_a_guess() -> None:
    chosen = r"k = 0.3 was chosen"
    no_term = "the printed radius has no term"
    squares, alone = "least squares and not maximum likelihood", "for the model ridge alone"
    other = "lam = 1.0 is not the model's, 0.5"
    infinite = "its class is infinite"
    cases: list[tuple[AgentSpec, Any, list[str]]] = [
        (LORIL(k=0.3, model=CLASS), WORLD, [chosen]),
        (LORIL(k=0.3, lam="1/t", model=CLASS), WORLD, [chosen]),
        (LORIL.as_printed(), WORLD, [no_term]),
        (LORIL.as_repaired(log_class_size=2.0), WORLD, [infinite]),
        (LORIL(k=0.3, model=Mixture()), WORLD, [chosen]),
        (LORIL.as_repaired(model=Ridge()), WORLD, [squares]),
        (LORIL(k=SelfNormalized(), lam=1.0), WORLD, [alone]),
        (Certified(Greedy(model=CLASS), k=SelfNormalized(), lam=1.0), WORLD, [alone]),
        (LORIL(k=SelfNormalized(), lam=1.0, model=Ridge(0.5)), WORLD, [other]),
        (Certified(LORIL.as_repaired(model=CLASS), k=0.3), WORLD, [chosen]),
        (Deviations(), WORLD, ["k = 1.2 was chosen"]),
        (Greedy(model=CLASS), WORLD, ["no widths"]),
        (LORIL.as_repaired(log_class_size=2.0, model=Sentence()), PICTURES, ["not linear"]),
    ]
    for spec, world, reasons in cases:
        said = caveat(spec, world)
        for reason in reasons:
            assert reason in said, (spec, said)


class Foreign:
    """A model that does not say how exact it is."""

    def estimates(self, instruction: Instruction, responses: Listed) -> Floats:
        return np.zeros(len(responses))

    def learn(self, features: Floats, description: Instruction) -> None: ...

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None: ...


def test_a_model_that_does_not_say_how_exact_it_is_proves_nothing() -> None:
    agent = LORIL.as_repaired(model=CLASS).build(WORLD.facts, np.random.default_rng(0))
    assert proof_status_of(agent).caveat == ""
    explorer: Any = agent.explorer
    swapped = ModelAgent(Foreign(), explorer)
    assert "for another model" in proof_status_of(swapped).caveat
    explorer.about(swapped.model)
    assert "does not bound how far" in proof_status_of(swapped).caveat


def test_a_run_says_what_its_agent_says() -> None:
    assert play(WORLD, LORIL.as_repaired(model=CLASS), 3).caveat == ""
    assert "chosen" in play(WORLD, LORIL(model=CLASS), 3).caveat
    assert (
        "proven" in play(WORLD, LORIL.as_repaired(model=CLASS), 3).summary()["regret certificate"]
    )
    assert "not proven: k = 0.1" in play(WORLD, LORIL(), 3).summary()["regret certificate"]


def test_the_printed_algorithm_plays_wherever_the_appendix_form_does() -> None:
    for contexts in (1, 3, "fresh"):
        world = Synthetic(instructions=5, responses=4, rank=3, contexts=contexts)
        assert len(play(world, LORIL.as_printed(), 30)) == 30
