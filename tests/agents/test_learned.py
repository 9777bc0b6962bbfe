"""Where g is not known it is learned with F, from which response was described as what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import Facts, Listed, Simulation, check, load, play
from tellback.agents import LORIL, AgentSpec, LearnedLORIL, OneHotLORIL, Uniform
from tellback.errors import SettingError
from tellback.models import LowRank, Mixture, Network
from tellback.models.low_rank import LowRankModel
from tellback.models.network import NetworkModel
from tellback.roles import WorldSpec
from tellback.worlds import Hard, OneHotFeatures, RawFeatures, Synthetic
from tests.support.oracles import Floats, hidden_f, random_simplex
from tests.test_truth_is_hidden import leaks, modules_of_others, played, reachable

SMALL = Synthetic(instructions=6, responses=5, rank=2, seed=4)
RAW = RawFeatures(Synthetic(instructions=6, responses=5, rank=2, contexts="fresh", seed=4), dim=3)
ONE_HOT = Listed(np.eye(5))
SOME_RAW = Listed(np.random.default_rng(0).normal(size=(7, 3)))


def low_rank(descriptions: int = 60, rank: int = 3, seed: int = 0, **others: Any) -> LowRankModel:
    """A model of five responses and six instructions that was taught at random."""
    rng = np.random.default_rng(seed)
    model = LowRank(rank=rank, **others).build(Facts(5, 6, fixed_responses=True), rng)
    for _ in range(descriptions):
        model.learn(ONE_HOT.features(int(rng.integers(5))), int(rng.integers(6) * rng.random()))
    return model


def network(descriptions: int = 40, seed: int = 0, **others: Any) -> NetworkModel:
    rng = np.random.default_rng(seed)
    model = Network(rank=3, hidden=4, batch=8, **others).build(Facts(3, 6), rng)
    for _ in range(descriptions):
        model.learn(rng.normal(size=3), int(rng.integers(6)))
    return model


def assert_same_state(one: Any, other: Any) -> None:
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


# The worlds.


def test_of_a_response_in_a_withheld_world_one_knows_only_which_it_is() -> None:
    simulation = OneHotFeatures(SMALL).build(np.random.default_rng(0))
    task = simulation.world.task(1, (), np.random.default_rng(1))
    np.testing.assert_array_equal(task.responses.matrix, np.eye(5))
    assert simulation.world.facts == Facts(5, 6, fixed_responses=True)


def test_responses_of_different_contexts_are_different_coordinates() -> None:
    spec = OneHotFeatures(SMALL.with_settings({"contexts": 3}))
    assert spec.facts == Facts(15, 6, fixed_responses=False)
    simulation = spec.build(np.random.default_rng(0))
    seen = {}
    for t in range(1, 30):
        task = simulation.world.task(t, (), np.random.default_rng(t))
        seen[task.context] = task.responses.matrix.argmax(axis=1).tolist()
    assert seen == {s: list(range(5 * s, 5 * s + 5)) for s in range(3)}


def test_withholding_features_changes_nothing_for_an_agent_that_ignores_them() -> None:
    shown = play(SMALL, OneHotLORIL(k=1.0), rounds=80, seed=3)
    hidden = play(OneHotFeatures(SMALL), OneHotLORIL(k=1.0), rounds=80, seed=3)
    np.testing.assert_array_equal(shown.responses, hidden.responses)
    np.testing.assert_array_equal(shown.regrets, hidden.regrets)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_no_chain_from_what_an_agent_receives_leads_to_the_truth_or_to_g() -> None:
    withheld, raw = (spec.build(np.random.default_rng(0)) for spec in (OneHotFeatures(SMALL), RAW))
    given_withheld, given_raw = played(None, withheld), played(None, raw)
    found = reachable(given_withheld + given_raw, apart_from=modules_of_others())
    hiding: Any = withheld.truth
    truth: Any = raw.truth
    inner = Simulation(truth._teacher, truth._teacher, truth._truth)  # who hold F
    secrets: list[tuple[Simulation, Floats]] = [
        (withheld, hiding._columns[0]),
        (inner, truth._inner_context(given_raw[0].context)),
    ]
    for simulation, secret in secrets:
        assert hidden_f(simulation).size
        assert leaks(found, simulation) == []
        arrays = [
            thing
            for thing in found.values()
            if isinstance(thing, np.ndarray) and thing.dtype == np.float64 and thing is not secret
        ]
        assert arrays
        assert not any(np.isin(array, secret).any() for array in arrays)


@pytest.mark.parametrize("units", ["tanh", "wave"])
def test_a_raw_vector_means_the_same_in_every_round(units: str) -> None:
    simulation: Any = RAW.with_settings({"units": units}).build(np.random.default_rng(0))
    task = simulation.world.task(1, (), np.random.default_rng(1))
    turned = Listed(task.responses.matrix[::-1])
    again = task._replace(context=turned.matrix, responses=turned)
    rewards = [simulation.truth.reward(task, y) for y in range(5)]
    assert len(set(rewards)) == 5
    np.testing.assert_allclose([simulation.truth.reward(again, 4 - y) for y in range(5)], rewards)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: OneHotFeatures(Synthetic(contexts="fresh")), "number of contexts"),
        (lambda: OneHotFeatures(Hard()), "synthetic"),
        (lambda: RawFeatures(Synthetic()), "fresh contexts"),
        (lambda: RawFeatures(dim=0), "dim"),
        (lambda: RawFeatures(units="sin"), "units"),
        (lambda: LowRank(rank=0), "rank"),
        (lambda: LowRank(smooth=0), "smooth"),
        (lambda: Network(steps=-1), "steps"),
        (lambda: LearnedLORIL(k=-1), "k"),
        (lambda: LearnedLORIL(lam=0), "lam"),
    ],
)
def test_nonsense_is_refused_by_name(make: Any, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        make()


# The low-rank model.


def test_before_anything_is_described_estimates_are_almost_uniform() -> None:
    np.testing.assert_allclose(low_rank(0).estimates(2, ONE_HOT), 1 / 6, rtol=0.1)


some_features = st.lists(st.floats(0, 1), min_size=5, max_size=5).filter(lambda v: sum(v) > 0.1)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.one_of(st.integers(0, 4), some_features), st.integers(0, 5))),
    st.integers(1, 7),
    st.sampled_from([1e-9, 0.5, 50.0]),
)
def test_estimates_are_distributions_whatever_was_described(
    told: list[tuple[Any, int]], rank: int, prior: float
) -> None:
    model = low_rank(0, rank, smooth=prior, spread=prior)
    for what, x in told:
        row = np.eye(5)[what] if isinstance(what, int) else np.array(what) / sum(what)
        model.learn(row, x)
    mixed = Listed(np.concatenate([np.eye(5), random_simplex(np.random.default_rng(1), 3, 5)]))
    estimates = np.array([model.estimates(x, mixed) for x in range(6)])
    assert (estimates >= 0).all()
    np.testing.assert_allclose(estimates.sum(axis=0), 1, rtol=1e-9)
    np.testing.assert_allclose(model.representation(mixed).sum(axis=1), 1, rtol=1e-9)
    assert model.described == len(told)


def independent_em(counts: Floats, f: Floats, g: Floats, smooth: float, part: float) -> Any:
    """One EM step as in a textbook: the posterior of the component for every cell at once."""
    posterior = f[:, :, None] * g[None]
    posterior = posterior / posterior.sum(axis=1, keepdims=True) * counts[:, None, :]
    new_f, new_g = posterior.sum(axis=2) + smooth, posterior.sum(axis=0) + part
    return new_f / new_f.sum(axis=0), new_g / new_g.sum(axis=0)


def test_a_sweep_is_a_step_of_textbook_em() -> None:
    model = low_rank()
    state: Any = model.state()
    f, g = model.f, model.g
    for _ in range(25):
        f, g = independent_em(state["counts"].T, f, g, 0.5, 2.0 / 3)
        model.sweep()
    np.testing.assert_allclose(model.f, f, rtol=1e-10)
    np.testing.assert_allclose(model.g, g, rtol=1e-10)
    described = state["counts"].T > 0
    likelihood = (state["counts"].T[described] * np.log((f @ g)[described])).sum()
    assert model.log_likelihood() == pytest.approx(likelihood)


@pytest.mark.parametrize("seed", range(5))
def test_a_full_sweep_never_lowers_the_penalised_likelihood(seed: int) -> None:
    model = low_rank(80, seed=seed, smooth=0.1)
    reached = [model.penalised()]
    for _ in range(60):
        model.sweep()
        reached.append(model.penalised())
    assert (np.diff(reached) >= -1e-9).all()
    assert reached[-1] > reached[0]


def test_to_renumber_the_components_changes_nothing() -> None:
    model, other = low_rank(), low_rank(0)
    order = [2, 0, 1]
    state: Any = model.state()
    renamed = {name: state[name][:, order] for name in ("f", "g", "expected")}
    other.restore({**state, **renamed})
    for x, y in [(0, 1), (5, 4), (2, 2)] * 10:
        for one in (model, other):
            one.learn(ONE_HOT.features(y), x)
        np.testing.assert_allclose(
            model.estimates(x, ONE_HOT), other.estimates(x, ONE_HOT), rtol=1e-9
        )
    np.testing.assert_allclose(model.g[order], other.g, rtol=1e-9)


def test_it_finds_a_low_rank_table_from_less_than_the_table_needs() -> None:
    """From 15 descriptions a response, a table of 40 instructions: closer than own counts."""
    rng = np.random.default_rng(3)
    f, g = random_simplex(rng, 2, 40, 0.3).T, random_simplex(rng, 60, 2, 0.3).T
    truth = f @ g
    model = LowRank(rank=2, smooth=0.1).build(Facts(60, 40, fixed_responses=True), rng)
    listed, counts = Listed(np.eye(60)), np.zeros((40, 60))
    for y in np.repeat(np.arange(60), 15).tolist():
        x = int(rng.choice(40, p=truth[:, y]))
        counts[x, y] += 1
        model.learn(listed.features(y), x)
    estimates = np.array([model.estimates(x, listed) for x in range(40)])
    far = np.abs(estimates - truth).sum(axis=0).mean()
    own = np.abs(counts / 15 - truth).sum(axis=0).mean()
    assert far < 0.5 * own


# The network.


def test_a_networks_estimates_are_distributions() -> None:
    model = network()
    estimates = np.array([model.estimates(x, SOME_RAW) for x in range(6)])
    assert (estimates > 0).all()
    np.testing.assert_allclose(estimates.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(model.representation(SOME_RAW).sum(axis=1), 1, rtol=1e-12)


def test_a_networks_derivative_is_that_of_autograd() -> None:
    torch = pytest.importorskip("torch")
    model = network(decay=0.01)
    state: Any = model.state()
    features, told = SOME_RAW.matrix, np.array([0, 5, 2, 2, 1, 0, 3])
    w = {
        name: torch.tensor(state[name], requires_grad=True)
        for name in ("inward", "bias", "outward", "theta")
    }
    inner = torch.tanh(torch.tensor(features) @ w["inward"] + w["bias"])
    g = torch.softmax(inner @ w["outward"], dim=1)
    f = torch.softmax(w["theta"], dim=0)[torch.tensor(told)]
    decay = sum((weight**2).sum() for weight in w.values())
    (-torch.log((f * g).sum(dim=1)).mean() + 0.005 * decay).backward()
    found = model.gradient(features, told)
    assert found.keys() == w.keys()
    for name, weight in w.items():
        np.testing.assert_allclose(found[name], weight.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_training_raises_the_likelihood_and_no_steps_learn_nothing() -> None:
    rng = np.random.default_rng(1)
    taught, still = network(0), network(0, steps=0)
    before = still.estimates(3, SOME_RAW)
    for _ in range(300):
        features = rng.normal(size=3)
        for model in (taught, still):
            model.learn(features, 0 if features[0] * features[1] > 0 else 3)
    np.testing.assert_array_equal(still.estimates(3, SOME_RAW), before)
    assert taught.log_likelihood() > still.log_likelihood() + 300 * 0.5


# Both.


@pytest.mark.parametrize("make", [low_rank, network])
def test_restored_from_its_state_a_model_goes_on_to_the_bit(make: Any) -> None:
    model, other = make(37), make(5, seed=9)
    other.restore(model.state())
    responses = ONE_HOT if make is low_rank else SOME_RAW
    for y, x in [(0, 3), (4, 3), (2, 5)] * 30:
        for one in (model, other):
            one.learn(responses.features(y), x)
    np.testing.assert_array_equal(model.estimates(3, responses), other.estimates(3, responses))
    assert_same_state(model.state(), other.state())


@pytest.mark.parametrize("make", [low_rank, network])
@pytest.mark.parametrize("fault", ["shape", "nan"])
def test_a_state_that_is_not_possible_is_refused_and_changes_nothing(make: Any, fault: str) -> None:
    model = make()
    before = model.state()
    for name in [name for name, value in before.items() if np.ndim(value) and np.size(value)]:
        if before[name].dtype.kind != "f":
            continue
        bad = before[name][:-1] if fault == "shape" else np.full_like(before[name], np.nan)
        with pytest.raises(SettingError):
            model.restore({**before, name: bad})
        assert_same_state(model.state(), before)


@pytest.mark.parametrize("make", [low_rank, network])
def test_what_cannot_be_learned_is_refused_and_changes_nothing(make: Any) -> None:
    model = make()
    before, size = model.state(), 5 if make is low_rank else 3
    faults: list[tuple[Any, Any]] = [
        (np.full(size, np.nan), 0),
        (np.eye(size + 1)[0], 0),
        (np.eye(size)[0], 6),
        (np.eye(size)[0], "red"),
    ]
    for features, x in faults:
        with pytest.raises(SettingError):
            model.learn(features, x)
    with pytest.raises(SettingError):
        model.estimates(0, Listed(np.eye(size + 1)))
    assert_same_state(model.state(), before)


# The agent.

PAIRS: list[tuple[WorldSpec, AgentSpec]] = [
    (OneHotFeatures(SMALL), LearnedLORIL(model=LowRank(rank=3))),
    (OneHotFeatures(SMALL.with_settings({"contexts": 2})), LearnedLORIL()),
    (RAW, LearnedLORIL(model=Network(rank=3, hidden=4, batch=8))),
]


@pytest.mark.parametrize(("world", "agent"), PAIRS, ids=["one-hot", "contexts", "raw"])
def test_the_agent_keeps_its_promises_in_the_worlds_it_is_for(
    world: WorldSpec, agent: AgentSpec
) -> None:
    assert check(agent, world=world), str(check(agent, world=world))


@pytest.mark.parametrize(("world", "agent"), PAIRS, ids=["one-hot", "contexts", "raw"])
def test_a_saved_agent_is_the_loaded_one(world: Any, agent: AgentSpec, tmp_path: Any) -> None:
    run: Any = play(world, agent, rounds=40)
    run.agent.save(tmp_path / "agent.npz")
    loaded: Any = load(tmp_path / "agent.npz")
    assert loaded.spec == agent.resolved(world.facts)
    assert_same_state(loaded.state(), run.agent.state())


def test_the_bonus_is_that_of_learned_and_given_features_side_by_side() -> None:
    run: Any = play(
        OneHotFeatures(SMALL), LearnedLORIL(k=0.5, lam=2.0, model=LowRank(3)), rounds=50
    )
    g, tried = run.agent.model.g, np.bincount(run.responses, minlength=5)
    joined = np.concatenate([g, np.eye(5)])  # a column a response
    sigma = 2.0 * np.eye(8)
    sigma[:3, :3] += (g * tried) @ g.T
    sigma[3:, 3:] += np.diag(tried)
    widths = np.sqrt(np.einsum("iy,ij,jy->y", joined, np.linalg.inv(sigma), joined))
    np.testing.assert_allclose(run.agent.explorer.bonuses(ONE_HOT), 0.5 * widths, rtol=1e-9)


def test_the_past_is_represented_as_it_is_now_also_where_responses_are_new() -> None:
    agent: Any = play(RAW, LearnedLORIL(model=Network(rank=3, hidden=4)), rounds=60).agent
    state = agent.state()
    g = agent.model.represent(state["explorer.rows"])
    assert len(g) == 60
    np.testing.assert_allclose(state["explorer.sigma"], np.eye(3) + g.T @ g, rtol=1e-9)


def test_the_weight_of_the_bonus_goes_by_the_number_of_instructions() -> None:
    resolved = LearnedLORIL().resolved(Facts(5, 200))
    assert (resolved.k, resolved.model) == (0.01, LowRank())
    assert LearnedLORIL(k=0.3).resolved(Facts(5, 200)).k == 0.3


def test_a_model_that_takes_features_as_they_are_is_refused() -> None:
    with pytest.raises(SettingError, match="use loril"):
        play(OneHotFeatures(SMALL), LearnedLORIL(model=Mixture()), rounds=1)


def regrets(world: WorldSpec, agent: AgentSpec, rounds: int, seeds: int) -> Floats:
    return np.array([play(world, agent, rounds, seed=seed).regret[-1] for seed in range(seeds)])


def test_structure_pays_though_g_is_unknown() -> None:
    """Twenty times as many responses as components, and as few rounds as cells of the table."""
    world = OneHotFeatures(Synthetic(instructions=30, responses=60, rank=3, temperature=0.4))
    learned = regrets(world, LearnedLORIL(model=LowRank(rank=3)), 2000, seeds=3)
    one_hot = regrets(world, OneHotLORIL(), 2000, seeds=3)
    assert learned.sum() < 0.75 * one_hot.sum()


def test_a_network_learns_what_raw_features_mean() -> None:
    within = Synthetic(
        instructions=6, responses=10, rank=3, temperature=0.3, contexts="fresh", seed=1
    )
    world = RawFeatures(within, dim=3, hidden=6)
    learned = regrets(world, LearnedLORIL(model=Network(rank=3)), 1000, seeds=2)
    still = regrets(world, LearnedLORIL(model=Network(rank=3, steps=0)), 1000, seeds=2)
    assert learned.sum() < 0.7 * still.sum()


@pytest.mark.slow
def test_structure_pays_at_a_larger_size_also_where_the_rank_is_overstated() -> None:
    world = OneHotFeatures(Synthetic(instructions=200, responses=100, rank=5))
    one_hot = regrets(world, OneHotLORIL(k=0.1, lam=0.05), 10_000, seeds=4)
    chance = regrets(world, Uniform(), 10_000, seeds=4)
    known = regrets(world.world, LORIL(k=0.01), 10_000, seeds=4)
    for rank, share in [(5, 0.7), (10, 0.85)]:
        learned = regrets(world, LearnedLORIL(model=LowRank(rank=rank)), 10_000, seeds=4)
        assert known.sum() < learned.sum() < share * one_hot.sum()
    assert one_hot.sum() < chance.sum()
