"""Ridge regression: least squares in closed form, which can be taken back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import Facts, Listed, Simulation, check, play
from tellback.agents import LORIL, Certified, Greedy, Thompson
from tellback.encoders import NGrams, Thumbnail
from tellback.errors import SettingError
from tellback.models import Ridge
from tellback.models.ellipsoid import Ellipsoid
from tellback.models.ridge import RidgeModel
from tellback.streams import Streams
from tellback.worlds import Images, Synthetic
from tests.support.oracles import Floats, random_simplex

TABLE, WORDS = Facts(3, 4), Facts(3, None)
SAID = ("a red ball", "a red balls", "the blue cube", "")


def begun(spec: Ridge | None = None, facts: Facts = TABLE) -> RidgeModel:
    return (spec or Ridge()).build(facts, np.random.default_rng(0))


def same(one: Any, other: Any) -> None:
    """Two states are equal to the bit."""
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@st.composite
def histories(draw: st.DrawFn, most: int = 25) -> tuple[Floats, list[int]]:
    """Any real features, also repeated ones and zeros, each described as one of four."""
    numbers = st.floats(-3, 3, allow_subnormal=False).map(lambda v: round(v, 3))
    rows = draw(st.lists(st.tuples(*[numbers] * 3), min_size=1, max_size=6))
    which = draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=most))
    told = draw(st.lists(st.integers(0, 3), min_size=len(which), max_size=len(which)))
    return np.array(rows, dtype=np.float64)[which], told


def solved(features: Floats, labels: Floats, lam: float) -> Floats:
    """One f a column of labels, by the normal equations."""
    sigma = lam * np.eye(features.shape[1]) + features.T @ features
    solution: Any = np.linalg.solve(sigma, features.T @ labels)
    return np.asarray(solution, dtype=np.float64)


@settings(max_examples=60, deadline=None)
@given(histories(), st.sampled_from([0.01, 0.1, 1.0, 30.0]))
def test_estimates_are_the_least_squares_that_numpy_finds(
    history: tuple[Floats, list[int]], lam: float
) -> None:
    features, told = history
    model = begun(Ridge(lam=lam))
    for g, x in zip(features, told, strict=True):
        model.learn(g, x)
    f = solved(features, np.eye(4)[told], lam)
    responses = Listed(features)
    for x in range(4):
        np.testing.assert_allclose(model.f(x), f[:, x], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(model.estimates(x, responses), features @ f[:, x], atol=1e-8)
    assert model.described == len(told)


def test_estimates_minimise_squared_errors_plus_the_penalty() -> None:
    """Stated without normal equations: a step in any direction is worse."""
    rng = np.random.default_rng(1)
    features, told = rng.normal(size=(40, 3)), rng.integers(4, size=40)
    model = begun(Ridge(lam=0.3))
    for g, x in zip(features, told.tolist(), strict=True):
        model.learn(g, x)

    def loss(f: Floats) -> float:
        return float(((features @ f - (told == 2)) ** 2).sum() + 0.3 * f @ f)

    best = model.f(2)
    for step in 1e-3 * rng.normal(size=(200, 3)):
        assert loss(best + step) > loss(best)


@settings(max_examples=40, deadline=None)
@given(histories(most=12), st.data())
def test_embedded_labels_weigh_what_was_said_by_how_alike_it_is(
    history: tuple[Floats, list[int]], data: st.DataObject
) -> None:
    features, told = history
    encoder = NGrams(dim=64)
    model = begun(Ridge(lam=0.5, labels=encoder), WORDS)
    for g, x in zip(features, told, strict=True):
        model.learn(g, SAID[x])
    encode = encoder.build()
    embedded = np.array([encode(SAID[x]) for x in told])
    asked = data.draw(st.sampled_from([*SAID, "a green ball", "!"]))
    f = solved(features, embedded, 0.5) @ encode(asked)
    np.testing.assert_allclose(model.f(asked), f, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        model.estimates(asked, Listed(features)), features @ f, rtol=1e-8, atol=1e-8
    )


def test_one_wording_teaches_another_through_embeddings_only() -> None:
    g = np.array([1.0, 0.0, 0.0])
    alike, alone = begun(Ridge(labels=NGrams()), WORDS), begun(Ridge(), WORDS)
    for model in (alike, alone):
        for _ in range(20):
            model.learn(g, "There is a red ball")
            model.learn(g[::-1].copy(), "There is a blue cube")
    responses = Listed(np.eye(3))
    taught = alike.estimates("a red ball!", responses)
    assert taught[0] > 2 * taught[2] > 0
    np.testing.assert_array_equal(alone.estimates("a red ball!", responses), 0)
    assert alone.estimates("There is a red ball", responses)[0] > 0.4


@settings(max_examples=60, deadline=None)
@given(histories(), st.sampled_from([0.5, 2.0]), st.sampled_from([None, NGrams(dim=32)]), st.data())
def test_what_is_withdrawn_in_any_order_was_never_learned(
    history: tuple[Floats, list[int]], lam: float, labels: NGrams | None, data: st.DataObject
) -> None:
    features, told = history
    out = data.draw(st.lists(st.sampled_from(range(len(told))), unique=True))
    facts = data.draw(st.sampled_from([WORDS] if labels else [WORDS, TABLE]))
    say = (lambda x: x) if facts is TABLE else SAID.__getitem__
    model, never = begun(Ridge(lam, labels), facts), begun(Ridge(lam, labels), facts)
    for i, (g, x) in enumerate(zip(features, told, strict=True)):
        model.learn(g, say(x))
        if i not in out:
            never.learn(g, say(x))
    for i in out:
        model.withdraw(features[i], say(told[i]))
    assert model.described == never.described
    responses = Listed(np.vstack([features, np.eye(3)]))
    scale = float(np.abs(never.ellipsoid.inverse).max())
    assert np.abs(model.ellipsoid.inverse - never.ellipsoid.inverse).max() <= 1e-9 * scale
    for x in range(4):
        np.testing.assert_allclose(
            model.estimates(say(x), responses), never.estimates(say(x), responses), atol=1e-9
        )


@pytest.mark.parametrize("lam", [1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1.0])
def test_a_removal_is_accurate_or_refused_however_small_the_ridge(lam: float) -> None:
    rng = np.random.default_rng(7)
    refused = 0
    for trial in range(20):
        features = random_simplex(rng, 30, 5) if trial % 2 else rng.normal(size=(30, 5))
        if lam == 1e-9:  # which takes no features longer than 1
            features /= np.linalg.norm(features, axis=1).max()
        ellipsoid, left = Ellipsoid(5, lam), list(range(30))
        for g in features:
            ellipsoid.add(g)
        for i in rng.permutation(30)[:25].tolist():
            before = ellipsoid.inverse.copy()
            try:
                ellipsoid.remove(features[i])
            except SettingError:
                np.testing.assert_array_equal(ellipsoid.inverse, before)
                assert ellipsoid.count == len(left)
                refused += 1
            else:
                left.remove(i)
        expected = Ellipsoid(5, lam)
        for i in left:
            expected.add(features[i])
        error = np.linalg.norm(ellipsoid.inverse - expected.inverse)
        assert error <= 1e-9 * np.linalg.norm(expected.inverse)
        assert ellipsoid.count == len(left)
    assert refused == 0 if lam >= 0.1 else refused > 0


@settings(max_examples=60, deadline=None)
@given(histories(), st.data())
def test_kept_widths_follow_removals(
    history: tuple[Floats, list[int]], data: st.DataObject
) -> None:
    features, _ = history
    responses = Listed(np.vstack([features[:4], np.eye(3)]))
    ellipsoid = Ellipsoid(3, 0.5)
    keep_from = data.draw(st.integers(0, len(features)))
    for i, g in enumerate(features):
        if i == keep_from:
            ellipsoid.squared_widths(responses, keep=True)
        ellipsoid.add(g)
    for i in data.draw(st.lists(st.sampled_from(range(len(features))), unique=True)):
        ellipsoid.remove(features[i])
    kept = ellipsoid.squared_widths(responses, keep=True)
    anew = np.einsum("yi,ij,yj->y", responses.matrix, ellipsoid.inverse, responses.matrix)
    np.testing.assert_allclose(kept, anew, rtol=1e-9, atol=1e-10)


def test_features_that_cannot_have_been_added_are_refused() -> None:
    model = begun()
    with pytest.raises(SettingError, match="No description 0 is left to withdraw"):
        model.withdraw(np.zeros(3), 0)
    model.learn(np.array([0.5, 0.5, 0.0]), 0)
    before = model.state()
    for wrong in ([3.0, 0.0, 0.0], [0.0, 0.0, 1.0], [np.nan, 0.0, 0.0], [1e200, 0.0, 0.0]):
        with pytest.raises(SettingError, match="never added"):
            model.withdraw(np.array(wrong), 0)
    with pytest.raises(SettingError, match="3 numbers"):
        model.withdraw(np.ones(2), 0)
    same(model.state(), before)


def test_a_sentence_nobody_said_cannot_be_withdrawn() -> None:
    model = begun(facts=WORDS)
    model.learn(np.ones(3) / 3, "a red ball")
    before = model.state()
    with pytest.raises(SettingError, match="No description 'a blue ball' is left"):
        model.withdraw(np.ones(3) / 3, "a blue ball")
    same(model.state(), before)


@pytest.mark.parametrize(
    ("facts", "wrong"), [(TABLE, 4), (TABLE, -1), (TABLE, "red"), (TABLE, True), (WORDS, 1)]
)
@pytest.mark.parametrize("method", ["learn", "withdraw"])
def test_what_is_no_instruction_changes_nothing(facts: Facts, wrong: Any, method: str) -> None:
    model = begun(facts=facts)
    for g in random_simplex(np.random.default_rng(0), 9, 3):
        model.learn(g, 1 if facts is TABLE else "a red ball")
    before = model.state()
    with pytest.raises(SettingError, match="instruction"):
        getattr(model, method)(np.array([0.1, 0.2, 0.7]), wrong)
    same(model.state(), before)


@pytest.mark.parametrize("g", [[np.nan, 0, 0], [np.inf, 0, 0], [1e200, 0, 0], [1.0, 2.0]])
def test_what_are_no_features_changes_nothing(g: list[float]) -> None:
    model = begun(facts=WORDS)
    model.learn(np.ones(3), "a red ball")
    before = model.state()
    with pytest.raises(SettingError, match="features"):
        model.learn(np.array(g), "something new")
    same(model.state(), before)
    with pytest.raises(SettingError, match="3 features"):
        model.estimates("a red ball", Listed([[1.0, 2.0]]))


def test_draws_have_the_mean_and_the_covariance_that_are_stated() -> None:
    rng = np.random.default_rng(3)
    model = begun(Ridge(lam=0.5))
    for g in random_simplex(rng, 30, 3):
        model.learn(g, int(rng.integers(4)))
    responses = Listed(random_simplex(rng, 5, 3))
    before = model.state()
    drawn = model.draws(1, responses, 40_000, np.random.default_rng(4))
    estimates = model.estimates(1, responses)
    p = float(estimates.max())
    assert 1 / 32 < p < 0.5
    covariance = p * (1 - p) * responses.matrix @ model.ellipsoid.inverse @ responses.matrix.T
    spread = float(np.sqrt(np.diag(covariance).max()))
    np.testing.assert_allclose(drawn.mean(axis=0), estimates, atol=5 * spread / 200)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.04 * spread**2)
    same(model.state(), before)


@pytest.mark.parametrize(("told", "asked", "p"), [(0, 0, 0.5), (8, 3, 0.1), (200, 0, 0.5)])
def test_the_variance_of_draws_is_neither_nothing_nor_that_of_a_certainty(
    told: int, asked: int, p: float
) -> None:
    model = begun()
    for _ in range(told):
        model.learn(np.array([1.0, 0.0, 0.0]), 0)
    drawn = model.draws(asked, Listed(np.eye(3)), 20_000, np.random.default_rng(0))
    expected = p * (1 - p) * np.diag(model.ellipsoid.inverse)
    np.testing.assert_allclose(drawn.var(axis=0), expected, rtol=0.06)


@pytest.mark.parametrize(
    ("spec", "facts"),
    [(Ridge(), TABLE), (Ridge(), WORDS), (Ridge(labels=NGrams(dim=32)), WORDS)],
    ids=["table", "sentences", "embeddings"],
)
def test_a_restored_model_goes_on_to_the_bit(spec: Ridge, facts: Facts) -> None:
    rng = np.random.default_rng(5)
    said = ["", "é\ud800", "a\nb", *[f"sentence {i}" for i in range(40)]]
    lessons = [
        (rng.normal(size=3), int(rng.integers(4)) if facts is TABLE else said[rng.integers(43)])
        for _ in range(80)
    ]
    model, other = begun(spec, facts), begun(spec, facts)
    for g, x in lessons[:50]:
        model.learn(g, x)
    other.learn(*lessons[70])  # a past of its own, which it must forget
    other.restore(model.state())
    saved = model.state()
    kept = {name: np.array(value) for name, value in saved.items()}
    for g, x in lessons[50:]:
        model.learn(g, x)
        other.learn(g, x)
    other.withdraw(*lessons[10])
    model.withdraw(*lessons[10])
    same(model.state(), other.state())
    same(saved, kept)


@pytest.mark.parametrize("facts", [TABLE, WORDS], ids=["table", "sentences"])
def test_a_state_that_does_not_fit_changes_nothing(facts: Facts) -> None:
    def taught(*told: int) -> RidgeModel:
        model = begun(facts=facts)
        for x in told:
            model.learn(np.array([0.1, 0.2, 0.7]), x if facts is TABLE else SAID[x])
        return model

    model, good = taught(0, 1, 1), taught(2, 3)
    before, state = model.state(), good.state()
    bad: dict[str, list[Any]] = {
        "sums": [np.zeros((9, 3)), np.zeros((2, 2)), np.full_like(state["sums"], np.nan)],
        "inverse": [np.eye(2), np.full((3, 3), np.inf)],
        "count": [-1],
        "widths": [np.array([1.0])],
    }
    if facts is WORDS:
        bad |= {
            "sentences": [np.array([255, 255], dtype=np.uint8), np.zeros(3)],
            "lengths": [np.array([-1, 5]), np.array([1]), np.array([0.5])],
        }
    for name, values in bad.items():
        for value in values:
            with pytest.raises(SettingError):
                model.restore({**state, name: value})
            same(model.state(), before)
        with pytest.raises(KeyError):
            model.restore({key: value for key, value in state.items() if key != name})
        same(model.state(), before)
    model.restore(state)
    same(model.state(), state)


def test_an_optimist_with_the_same_ridge_keeps_one_sigma_only() -> None:
    facts = Facts(3, 4, fixed_responses=True)

    def inverses(agent: Any) -> list[str]:
        return [name for name in agent.state() if name.endswith("inverse")]

    def build(lam: float) -> Any:
        return LORIL(model=Ridge(lam=1.0), lam=lam).build(facts, np.random.default_rng(0))

    assert inverses(build(1.0)) == ["model.inverse"]
    assert len(inverses(build(0.5))) == 2


@pytest.mark.parametrize("contexts", [1, "fresh"])
def test_sharing_sigma_changes_no_choice(contexts: int | str) -> None:
    world = Synthetic(instructions=6, responses=9, rank=4, contexts=contexts)
    spec = LORIL(k=0.5, model=Ridge(lam=1.0), lam=1.0)
    shared = play(world, spec, rounds=300, seed=3)
    simulation = world.build(Streams(3).init("world"))
    apart: Any = spec.build(world.facts, Streams(3).init("agent"))
    apart.explorer = spec.explorer(world.facts)  # with a Sigma of its own
    assert len([name for name in apart.state() if name.endswith("inverse")]) == 2
    assert isinstance(simulation, Simulation)
    other = play(simulation, apart, rounds=300, seed=3)
    np.testing.assert_array_equal(shared.responses, other.responses)
    np.testing.assert_array_equal(shared.bonuses, other.bonuses)
    np.testing.assert_array_equal(shared.estimates, other.estimates)


def test_a_shared_sigma_survives_a_restore() -> None:
    facts = Facts(3, 4, fixed_responses=True)
    spec = LORIL(model=Ridge(), lam=1.0)
    agents: Any = [spec.build(facts, np.random.default_rng(0)) for _ in range(2)]
    for g in random_simplex(np.random.default_rng(0), 9, 3):
        agents[0].model.learn(g, 1)
    agents[1].restore(agents[0].state())
    agents[1].model.learn(np.array([1.0, 0.0, 0.0]), 2)
    assert agents[1].explorer.ellipsoid is agents[1].model.ellipsoid
    assert agents[1].explorer.ellipsoid.count == 10


@pytest.mark.parametrize(
    "thing",
    [
        Ridge(),
        Ridge(lam=0.05),
        LORIL(model=Ridge(), lam=1.0),
        Thompson(model=Ridge()),
        Certified(Greedy(model=Ridge()), k=1.0, lam=1.0),
    ],
    ids=lambda thing: thing.label(),
)
def test_it_keeps_the_promises_of_a_model(thing: Any) -> None:
    report = check(thing)
    assert report, report


def test_it_keeps_them_with_words_too() -> None:

    world = Images(responses=3, colours=("red", "blue"), encoder=Thumbnail(cells=2))
    for spec in (Ridge(), Ridge(labels=NGrams(dim=64))):
        report = check(spec, world)
        assert report, report


def test_labels_are_for_sentences_and_specs_of_encoders_only() -> None:
    with pytest.raises(SettingError, match="table of 4"):
        begun(Ridge(labels=NGrams()))
    with pytest.raises(SettingError, match="labels must be"):
        Ridge(labels="ngrams!")  # type: ignore[arg-type]
    for lam in (0.0, -1.0, float("nan"), 1e-12):
        with pytest.raises(SettingError, match="lam"):
            Ridge(lam=lam)
