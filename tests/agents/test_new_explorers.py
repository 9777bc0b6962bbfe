"""Explorers beyond the elliptic bonus do what they say, and say how often they do it."""

from __future__ import annotations

import copy
import itertools
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tellback import Choice, Facts, Listed, Task, check, load, play, rounds
from tellback.agents import (
    LORIL,
    AgentSpec,
    Certified,
    EnsembleSampling,
    EpsilonGreedy,
    Fisher,
    Greedy,
    InverseGap,
    ModelAgent,
    Thompson,
    Uniform,
)
from tellback.agents.ensemble import EnsembleModel
from tellback.agents.inverse_gap import GapWeights, SpannerWeights
from tellback.agents.randomized import drawn, leaders, votes
from tellback.agents.spanner import barycentric_spanner
from tellback.agents.thompson import PosteriorSampling
from tellback.encoders import Thumbnail
from tellback.errors import ProtocolError, SettingError
from tellback.lab import RunSpec
from tellback.lab.diagnose import diagnose
from tellback.models import FiniteClass, MixtureByAdam, Posterior, Sentence
from tellback.models.mixture import MixtureModel
from tellback.roles import Instruction, State
from tellback.worlds import Images, Synthetic
from tests.agents.test_explorers import a_task, chosen, trained
from tests.support.oracles import Floats, random_simplex

RESPONSES = 6
WORLD = Synthetic(instructions=5, responses=RESPONSES, rank=3, seed=2)
PICTURES = Images(responses=4, colours=("red", "blue", "grey"), encoder=Thumbnail(cells=2))
TINY = Sentence(steps=1, batch=4)
NEW: list[AgentSpec] = [
    Thompson(draws=7),
    Thompson(draws=1),
    InverseGap(scale=3.0),
    InverseGap(scale=3.0, tried="spanner"),
    EnsembleSampling(members=4),
    EnsembleSampling(members=3, bootstrap="double-or-nothing"),
    Fisher(),
]


class Fixed:
    """A model that always estimates the same, and draws by the toss of a coin."""

    def __init__(self, *estimates: float, second: float = 0.0) -> None:
        self.values = np.array(estimates)
        self.second = second

    def estimates(self, instruction: Instruction, responses: Listed) -> Floats:
        return self.values

    def draws(
        self, instruction: Instruction, responses: Listed, count: int, rng: np.random.Generator
    ) -> Floats:
        best = (rng.random(count) < self.second).astype(int)
        corners: Floats = np.eye(len(responses))[best]
        return corners

    def learn(self, features: Floats, description: Instruction) -> None: ...

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None: ...


def simplex_task(responses: int, dim: int = 3, seed: int = 0) -> Task:
    return Task(0, 0, Listed(random_simplex(np.random.default_rng(seed), responses, dim)))


def check_propensities(choices: list[Choice], responses: int) -> Floats:
    """Each response has one propensity; they sum to 1, and are the frequencies."""
    stated = {choice.response: choice.propensity for choice in choices}
    assert all(stated[choice.response] == choice.propensity for choice in choices)
    propensity = np.array([stated.get(y, 0.0) for y in range(responses)], dtype=float)
    assert propensity.sum() == pytest.approx(1, rel=1e-12)
    counts = np.bincount([choice.response for choice in choices], minlength=responses)
    possible = propensity > 0
    if possible.sum() > 1:
        expected = propensity[possible] * counts.sum()
        assert stats.chisquare(counts[possible], expected).pvalue > 1e-3
    return propensity


# Posterior draws


def taught_mixture(lessons: int = 60) -> tuple[MixtureModel, Floats]:
    """A mixture, and the features it was taught with."""
    rng = np.random.default_rng(4)
    model, features = MixtureModel(5, 3), random_simplex(rng, lessons, 3)
    for g in features:
        model.learn(g, int(rng.integers(4)))  # instruction 4 is never said
    return model, features


@pytest.mark.parametrize("prior", [None, 0.7])
@pytest.mark.parametrize("x", [0, 4])
def test_mixture_draws_are_beta_with_the_expected_counts(x: int, prior: float | None) -> None:
    model, _ = taught_mixture()
    state: Any = model.state()
    expected, totals = state["expected"][x], state["totals"]
    a = 1 / 5 if prior is None else prior
    units = Listed(np.eye(3))  # whose estimates are the components of f(x)
    draws = model.draws(x, units, 4000, np.random.default_rng(0), prior=prior)
    for i in range(3):
        beta = stats.beta(a + expected[i], 4 * a + totals[i] - expected[i])
        assert stats.kstest(draws[:, i], beta.cdf).pvalue > 1e-3
    together = np.corrcoef(draws[:, 0], draws[:, 1])[0, 1]
    assert -0.06 < together < 0.06


def test_mixture_draws_mix_the_components_of_a_response_and_change_nothing() -> None:
    model, _ = taught_mixture()
    before = copy.deepcopy(dict(model.state()))
    g = random_simplex(np.random.default_rng(1), 7, 3)
    units, mixed = (
        model.draws(1, Listed(rows), 5, np.random.default_rng(3)) for rows in (np.eye(3), g)
    )
    np.testing.assert_allclose(mixed, units @ g.T, rtol=1e-12)
    after: Any = model.state()
    for name, value in before.items():
        np.testing.assert_array_equal(value, after[name])


def test_draws_of_what_was_described_a_thousand_times_are_near_the_estimate() -> None:
    model = MixtureModel(3, 2)
    for n in range(2000):
        model.learn(np.eye(2)[n % 2], n % 3)
    corners = Listed(np.eye(2))
    draws = model.draws(0, corners, 500, np.random.default_rng(0))
    assert float(np.abs(draws - model.estimates(0, corners)).max()) < 0.1
    np.testing.assert_allclose(draws.std(axis=0), np.sqrt(2 / 9 / 1000), rtol=0.2)


def test_the_only_instruction_there_is_is_certain() -> None:
    model = MixtureModel(1, 2)
    assert (model.draws(0, Listed(np.eye(2)), 3, np.random.default_rng(0)) == 1).all()


@pytest.mark.parametrize(
    ("count", "prior", "name"), [(0, None, "count"), (2, 0.0, "prior"), (2, -1.0, "prior")]
)
def test_impossible_draws_are_refused(count: int, prior: float | None, name: str) -> None:
    with pytest.raises(SettingError, match=name):
        MixtureModel(3, 2).draws(0, Listed(np.eye(2)), count, np.random.default_rng(0), prior)


# Thompson sampling


def test_a_model_that_cannot_draw_is_refused_with_the_way_out() -> None:
    for spec, facts in (
        (Thompson(model=Sentence()), Facts(3, None)),
        (Thompson(model=FiniteClass()), Facts(3, 5)),
        (Certified(Thompson(model=FiniteClass())), Facts(3, 5)),
    ):
        with pytest.raises(SettingError, match=r"draws.*EnsembleSampling"):
            spec.build(facts, np.random.default_rng(0))
    assert isinstance(MixtureModel(3, 2), Posterior)


@pytest.mark.parametrize("draws", [1, 12])
def test_thompson_follows_one_draw_of_the_posterior(draws: int) -> None:
    agent = ModelAgent(Fixed(0.9, 0.1, second=0.3), PosteriorSampling(1.0, draws, "random"))
    choices = chosen(agent, simplex_task(2), 4000)
    counts = np.bincount([choice.response for choice in choices])
    assert stats.chisquare(counts, [2800, 1200]).pvalue > 1e-3
    assert {choice.estimate for choice in choices} == {0.9, 0.1}


@pytest.mark.parametrize(("draws", "second"), [(2, 0.3), (5, 0.3), (5, 0.05), (50, 0.05)])
def test_inverse_propensity_weighting_loses_only_what_is_never_drawn(
    draws: int, second: float
) -> None:
    agent = ModelAgent(Fixed(0, 0, second=second), PosteriorSampling(1.0, draws, "first"))
    weights = [
        1 / choice.propensity if choice.response == 1 and choice.propensity else 0.0
        for choice in chosen(agent, simplex_task(2), 6000)
    ]
    error = np.std(weights) / np.sqrt(len(weights))
    assert np.mean(weights) == pytest.approx(1 - (1 - second) ** draws, abs=4 * error)


def test_with_one_draw_thompson_states_no_propensity() -> None:
    agent = trained(Thompson(draws=1))
    assert agent.propensities == "none are stated"
    assert {choice.propensity for choice in chosen(agent, a_task(), 20)} == {None}


def test_draws_that_are_not_stretched_at_all_are_greedy() -> None:
    agent = trained(Thompson(scale=0.0, draws=3))
    for x in range(5):
        estimates = agent.model.estimates(x, a_task().responses)
        for choice in chosen(agent, a_task(x), 10):
            assert choice.estimate == pytest.approx(estimates.max(), rel=1e-9)


def test_wider_draws_explore_more() -> None:
    model = trained(Greedy()).model
    means = []
    for scale in (0.0, 0.5, 2.0):
        agent = ModelAgent(model, PosteriorSampling(scale, 1, "random"))
        means.append(np.mean([choice.estimate for choice in chosen(agent, a_task(2), 500)]))
    assert means[0] > means[1] > means[2]


# Inverse-gap weighting


@pytest.mark.parametrize("tried", ["all", "spanner"])
@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize("lessons", [0, 40])
def test_inverse_gap_states_the_frequencies(tried: str, ties: str, lessons: int) -> None:
    spec = InverseGap(scale=1.0, tried=tried, ties=ties)
    facts = Facts(dim=3, instructions=5, fixed_responses=True)
    agent: Any = spec.build(facts, np.random.default_rng(0)) if not lessons else trained(spec)
    propensity = check_propensities(chosen(agent, a_task()), RESPONSES)
    assert (propensity > 0).all() or tried == "spanner"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 50), st.integers(0, 30))
@settings(max_examples=50, deadline=None)
def test_square_cb_is_the_printed_formula(
    estimates: list[float], scale: float, described: int
) -> None:
    explorer = GapWeights(scale, "first")
    for _ in range(described):
        explorer.learn(np.ones(1))
    K, gamma = len(estimates), scale * np.sqrt(len(estimates) * (described + 1))
    task = Task(0, 0, Listed(np.ones((K, 1))))
    _, chances = explorer.chances(task, Fixed(*estimates), np.random.default_rng(0))
    highest = max(estimates)
    best = next(y for y in range(K) if estimates[y] >= highest * (1 - 1e-9))
    for y in range(K):
        if y != best:
            assert chances[y] == pytest.approx(1 / (K + gamma * (highest - estimates[y])))
    assert chances.sum() == pytest.approx(1, rel=1e-12)
    assert (chances > 0).all()


def test_equally_good_responses_share_the_rest() -> None:
    task = Task(0, 0, Listed(np.ones((4, 1))))
    model = Fixed(0.5, 0.2, 0.5, 0.5)
    agent = ModelAgent(model, GapWeights(2.0, "random"))
    propensity = check_propensities(chosen(agent, task), 4)
    assert propensity[1] == pytest.approx(1 / (4 + 2 * 2 * 0.3))
    np.testing.assert_allclose(propensity[[0, 2, 3]], (1 - propensity[1]) / 3)


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 10**6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_row_is_a_small_combination_of_the_spanner(
    rows: int, dim: int, seed: int, flat: bool
) -> None:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((rows, dim)) * np.exp(rng.standard_normal((rows, 1)))
    if flat:  # fewer directions than features
        features = features[:, :1] @ rng.standard_normal((1, dim))
    for C in (1.1, 2.0):
        members, coefficients = barycentric_spanner(features, C)
        assert len(set(members.tolist())) == np.linalg.matrix_rank(features) == len(members)
        solved = np.linalg.lstsq(features[members].T, features.T, rcond=None)[0]
        np.testing.assert_allclose(coefficients, solved, atol=1e-6)
        np.testing.assert_allclose(solved.T @ features[members], features, atol=1e-8)
        assert abs(solved).max() <= C * (1 + 1e-6)


def test_with_c_of_one_no_other_rows_span_more() -> None:
    features = np.random.default_rng(3).standard_normal((9, 3))
    members, _ = barycentric_spanner(features, C=1.0)
    own = abs(np.linalg.det(features[members]))
    for i, y in itertools.product(range(3), range(9)):
        swapped = features[members].copy()
        swapped[i] = features[y]
        assert abs(np.linalg.det(swapped)) <= own * (1 + 1e-6)


def test_no_features_have_no_spanner_and_c_is_at_least_one() -> None:
    members, coefficients = barycentric_spanner(np.zeros((3, 2)))
    assert len(members) == 0
    assert coefficients.shape == (0, 3)
    with pytest.raises(SettingError, match="C"):
        barycentric_spanner(np.eye(2), C=0.5)


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_tried_spans_the_features_with_gaps(scale: float, seed: int) -> None:
    task = simplex_task(40, dim=4, seed=seed)
    g = task.responses.matrix
    estimates = g @ np.random.default_rng(seed).random(4)
    explorer = SpannerWeights(scale, "first")
    for _ in range(8):
        explorer.learn(g[0])
    _, chances = explorer.chances(task, Fixed(*estimates), np.random.default_rng(0))
    eta, gaps = scale * np.sqrt(9 / 4), estimates.max() - estimates
    tried = np.flatnonzero(chances)
    best = int(estimates.argmax())
    for y in tried:
        if y != best:
            assert chances[y] == pytest.approx(1 / (8 * (1 + eta * gaps[y])))
    assert chances[best] >= 0.5
    assert chances.sum() == pytest.approx(1, rel=1e-12)
    shrunk = g / np.sqrt(1 + eta * gaps)[:, None]
    # The best has a share whether it is a member or not: four of the rows are the spanner.
    assert any(
        abs(np.linalg.solve(shrunk[list(four)].T, shrunk.T)).max() <= 2 + 1e-6
        for four in itertools.combinations(tried, 4)
    )


def test_a_spanner_that_is_kept_is_the_one_that_is_found_anew() -> None:
    agent = trained(InverseGap(scale=3.0, tried="spanner"))
    for x in range(5):
        task = a_task(x)
        copied = task._replace(responses=Listed(task.responses.matrix))
        for one, other in zip(chosen(agent, task, 30), chosen(agent, copied, 30), strict=True):
            assert (one.response, one.propensity) == (other.response, other.propensity)


# Ensembles


def test_every_member_learned_what_fell_to_it() -> None:
    agent = trained(EnsembleSampling(members=3))
    ensemble: Any = agent.model
    alone = [MixtureModel(5, 3) for _ in range(3)]
    lessons = list(islice(rounds(WORLD, EnsembleSampling(members=3), seed=1), 40))
    for n, lesson in enumerate(lessons):
        for model, times in zip(alone, ensemble.times(n), strict=True):
            for _ in range(times):
                assert lesson.description is not None
                model.learn(lesson.choice.features, lesson.description)
    for member, model in zip(ensemble.members, alone, strict=True):
        np.testing.assert_array_equal(member.f, model.f)
    assert not np.array_equal(alone[0].f, alone[1].f)
    responses = a_task().responses
    mean = np.mean([model.estimates(2, responses) for model in alone], axis=0)
    np.testing.assert_allclose(ensemble.estimates(2, responses), mean, rtol=1e-12)


@pytest.mark.parametrize("bootstrap", ["poisson", "double-or-nothing"])
def test_a_description_is_seen_once_on_average_and_the_first_by_all(bootstrap: str) -> None:
    ensemble = EnsembleModel([Fixed(1.0)] * 400, 12345, bootstrap)
    assert (ensemble.times(0) >= 1).all()
    later = np.concatenate([ensemble.times(n) for n in range(1, 21)])
    if bootstrap == "poisson":
        counts = np.bincount(np.minimum(later, 4), minlength=5)
        chances = [*stats.poisson(1).pmf(range(4)), stats.poisson(1).sf(3)]
    else:
        assert set(later.tolist()) == {0, 2}
        counts, chances = np.bincount(later // 2), [0.5, 0.5]
    assert stats.chisquare(counts, np.array(chances) * len(later)).pvalue > 1e-3
    assert not np.array_equal(ensemble.times(1), ensemble.times(2))


def test_the_propensity_is_the_share_of_members_that_would_choose_so() -> None:
    agent = trained(EnsembleSampling(members=6), lessons=15)
    members: Any = agent.model.members  # type: ignore[attr-defined]
    several = 0
    for x in range(5):
        task = a_task(x)
        shares = np.zeros(RESPONSES)
        for member in members:
            estimates = member.estimates(x, task.responses)
            best = np.isclose(estimates, estimates.max(), rtol=1e-9, atol=0)
            shares += best / best.sum() / len(members)
        propensity = check_propensities(chosen(agent, task), RESPONSES)
        np.testing.assert_allclose(propensity, shares, atol=1e-12)
        several += (propensity > 0).sum() > 1
    assert several


def test_one_member_is_greedy() -> None:
    agent = trained(EnsembleSampling(members=1))
    for x in range(5):
        estimates = agent.model.estimates(x, a_task().responses)
        assert chosen(agent, a_task(x), 1)[0].estimate == pytest.approx(estimates.max())


FAULTS = {
    "another number of members": lambda s: {**s, "model.members": 5},
    "a key that is too large": lambda s: {**s, "model.key": 2**63},
    "a member that does not fit": lambda s: {**s, "model.2.totals": np.zeros(9)},
    "a member that lacks something": lambda s: {
        name: value for name, value in s.items() if name != "model.2.totals"
    },
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_ensemble_that_does_not_fit_is_refused_and_changes_nothing(fault: str) -> None:
    agent, other = trained(EnsembleSampling(members=3)), trained(EnsembleSampling(members=3), 9)
    before = copy.deepcopy(dict(other.state()))
    with pytest.raises((SettingError, KeyError)):
        other.restore(FAULTS[fault](dict(agent.state())))
    after: Any = other.state()
    for name, value in before.items():
        np.testing.assert_array_equal(value, after[name], err_msg=name)


# Fisher information


@pytest.mark.parametrize("contexts", [1, "fresh"])
def test_the_bonus_is_k_standard_errors_under_the_information_on_the_instruction(
    contexts: int | str,
) -> None:
    world = WORLD.with_settings({"contexts": contexts})
    facts = world.build(np.random.default_rng(0)).world.facts
    k, lam, floor = 0.7, 0.3, 0.08
    agent: Any = Fisher(k=k, lam=lam, floor=floor).build(facts, np.random.default_rng(0))
    f = agent.model.f
    described: list[Floats] = []
    for r in islice(rounds(world, agent, seed=3), 120):
        information = lam * np.eye(3)
        for g in described:  # one description after the other, nothing compressed
            p = float(f[r.task.instruction] @ g)
            information += np.outer(g, g) / max(p * (1 - p), floor)
        g = r.choice.features
        error = np.sqrt(g @ np.linalg.inv(information) @ g)
        assert r.choice.bonus == pytest.approx(k * error, rel=1e-9)
        f = agent.model.f
        described.append(g)


def test_where_every_description_counts_the_same_it_is_loril() -> None:
    world = Synthetic(instructions=5, responses=30, rank=4, seed=1)
    fisher = play(world, Fisher(k=0.8, lam=2.0, floor=0.25), 300, seed=4)
    loril = play(world, LORIL(k=0.4, lam=0.5), 300, seed=4)
    np.testing.assert_array_equal(fisher.responses, loril.responses)
    unequal = play(world, Fisher(k=0.8, lam=2.0, floor=0.01), 300, seed=4)
    assert not np.array_equal(unequal.responses, loril.responses)


def test_a_tiny_ridge_beside_a_million_descriptions_stays_a_number() -> None:
    agent: Any = Fisher(lam=1e-9, floor=1e-6).build(Facts(3, 2), np.random.default_rng(0))
    corner = Listed([[1.0, 0, 0], [0, 0, 1.0], [0.5, 0.5, 0]])
    agent.learn(Task(0, 0, corner), Choice(0, corner.features(0)), 1)
    state = dict(agent.state()) | {"explorer.counts": np.array([10**6])}
    agent.restore(state)
    choice = agent.respond(Task(0, 0, corner), np.random.default_rng(0))
    assert choice.response == 1
    assert choice.bonus == pytest.approx(1 / np.sqrt(1e-9))


@pytest.mark.parametrize(
    "damage",
    [
        {"explorer.counts": np.array([0])},
        {"explorer.counts": np.array([1, 1])},
        {"explorer.features": np.array([[np.nan, 0, 1]])},
        {"explorer.features": np.ones((1, 2))},
    ],
    ids=repr,
)
def test_descriptions_that_do_not_fit_are_refused(damage: dict[str, Any]) -> None:
    agent: Any = Fisher().build(Facts(3, 5), np.random.default_rng(0))
    task = a_task()
    agent.learn(task, Choice(0, task.responses.features(0)), 1)
    with pytest.raises(SettingError, match="saved"):
        agent.restore(dict(agent.state()) | damage)
    assert agent.state()["explorer.counts"].tolist() == [1]


def test_a_bonus_that_depends_on_the_instruction_can_be_diagnosed() -> None:
    assert np.isnan(trained(Fisher()).explorer.bonuses(a_task().responses)).all()
    assert str(diagnose(RunSpec(WORLD, Fisher(), rounds=60, seed=1)))


# All of them


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (Greedy(), "exact"),
        (EpsilonGreedy(), "exact"),
        (Uniform(), "exact"),
        (LORIL(), "exact"),
        (InverseGap(), "exact"),
        (Fisher(), "exact"),
        (EnsembleSampling(), "exact given the members"),
        (Thompson(draws=100), "exact given 100 draws"),
    ],
    ids=repr,
)
def test_every_agent_says_how_its_propensities_are_known(spec: AgentSpec, words: str) -> None:
    agent: Any = spec.build(WORLD.facts, np.random.default_rng(0))
    assert agent.propensities == words


@pytest.mark.parametrize("spec", NEW, ids=repr)
def test_the_promises_of_an_agent_are_kept(spec: AgentSpec) -> None:
    report = check(spec)
    assert report, str(report)


@pytest.mark.parametrize(
    "spec",
    [
        InverseGap(model=TINY),
        InverseGap(model=TINY, tried="spanner"),
        Fisher(model=TINY),
        EnsembleSampling(model=TINY, members=2),
    ],
    ids=repr,
)
def test_the_promises_are_kept_where_instructions_are_sentences(spec: AgentSpec) -> None:
    report = check(spec, world=PICTURES)
    assert report, str(report)


@pytest.mark.parametrize("spec", NEW, ids=repr)
def test_any_of_them_can_be_certified(spec: Any) -> None:
    plain: Any = play(WORLD, spec, 50, seed=2)
    certified: Any = play(WORLD, Certified(spec, k=1.0), 50, seed=2)
    np.testing.assert_array_equal(plain.responses, certified.responses)
    assert certified.agent.propensities == plain.agent.propensities


@pytest.mark.slow  # PyTorch takes its time to be imported
def test_an_ensemble_takes_any_model() -> None:
    pytest.importorskip("torch")
    run = play(WORLD, EnsembleSampling(members=2, model=MixtureByAdam(learning_rate=0.1)), 30)
    assert np.isfinite(run.regret).all()


@pytest.mark.parametrize("spec", NEW, ids=repr)
def test_a_saved_agent_goes_on_as_if_nothing_had_happened(spec: AgentSpec, tmp_path: Path) -> None:
    whole = play(WORLD, spec, 60, seed=5)
    half: Any = play(WORLD, spec, 30, seed=5).agent
    half.save(tmp_path / "agent.npz")
    rest = play(WORLD, load(tmp_path / "agent.npz"), 30, seed=5, start=30)
    np.testing.assert_array_equal(whole.responses[30:], rest.responses)


@pytest.mark.parametrize("spec", NEW, ids=repr)
def test_estimates_that_are_no_numbers_are_refused(spec: AgentSpec) -> None:
    begun: Any = spec.build(Facts(dim=3, instructions=5), np.random.default_rng(0))
    broken: Any = Fixed(*[np.nan] * RESPONSES)
    broken.draws = lambda instruction, responses, count, rng: np.full((count, 6), np.nan)
    if isinstance(begun.model, EnsembleModel):
        broken = EnsembleModel([broken, broken], 1)
    with pytest.raises(ProtocolError, match="not all numbers"):
        begun.explorer.choose(a_task(), broken, np.random.default_rng(0))


@pytest.mark.parametrize("spec", NEW, ids=repr)
def test_every_new_agent_beats_chance(spec: AgentSpec) -> None:
    world = Synthetic(instructions=10, responses=20, rank=5, temperature=0.3, seed=0)
    regret, chance = (
        np.mean([play(world, one, 800, seed=s).regret[-1] for s in range(2)])
        for one in (spec, Uniform())
    )
    assert regret < 0.6 * chance


@pytest.mark.parametrize(
    ("spec", "values", "name"),
    [
        (Thompson, {"scale": -1}, "scale"),
        (Thompson, {"draws": 0}, "draws"),
        (InverseGap, {"scale": float("nan")}, "scale"),
        (InverseGap, {"tried": "some"}, "tried"),
        (EnsembleSampling, {"members": 0}, "members"),
        (EnsembleSampling, {"bootstrap": "poison"}, "Did you mean 'poisson'"),
        (Fisher, {"k": -1}, "k"),
        (Fisher, {"lam": 0}, "lam"),
        (Fisher, {"floor": 0}, "floor"),
        (Fisher, {"floor": 0.3}, "floor"),
    ],
)
def test_nonsense_is_refused(spec: type[AgentSpec], values: dict[str, Any], name: str) -> None:
    with pytest.raises(SettingError, match=name):
        spec(**values)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.floats(0, 1, exclude_max=True))
@settings(max_examples=50, deadline=None)
def test_only_what_is_possible_is_drawn(weights: list[int], u: float) -> None:
    if not any(weights):
        weights[0] = 1
    chances = np.array(weights) / sum(weights)
    response = drawn(chances, u)
    assert chances[response] > 0
    assert chances[:response].sum() <= u + 1e-12
    assert u <= chances[: response + 1].sum() + 1e-12


def test_votes_are_shared_among_equals_or_go_to_the_first() -> None:
    ballots = np.array([[0.1, 0.3, 0.3], [0.3, 0.2, 0.1]])
    np.testing.assert_allclose(votes(ballots, True), [0.5, 0.25, 0.25])
    np.testing.assert_allclose(votes(ballots, False), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(leaders(np.array([-1.0, -2.0]), True), [1, 0])
