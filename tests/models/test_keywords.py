"""The closed-form model of words: which of them go with which features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import Facts, Listed, check, play
from tellback.agents import LORIL, Greedy, Thompson, Uniform
from tellback.encoders import Thumbnail
from tellback.errors import SettingError
from tellback.models import Keywords
from tellback.models.fourier import BIAS, FAR
from tellback.models.keywords import FLOOR, KeywordsModel
from tellback.models.words import words
from tellback.streams import Streams
from tellback.worlds import Images
from tests.support.oracles import Floats

SAID = ("a red ball", "there is a red ball", "a blue cube", "there is a blue cube", "", "...")
SMALL = Images(
    responses=3,
    types=("square", "circle"),
    colours=("red", "blue", "green"),
    encoder=Thumbnail(cells=2),
)


Lesson = tuple[Floats, str]


def begun(dim: int = 3, seed: int = 0, **settings: Any) -> KeywordsModel:
    spec = Keywords(**{"waves": 12, **settings})
    return spec.build(Facts(dim, None), np.random.default_rng(seed))


def taught(lessons: list[Lesson], **settings: Any) -> KeywordsModel:
    model = begun(len(lessons[0][0]), **settings)
    for g, sentence in lessons:
        model.learn(g, sentence)
    return model


def some_lessons(seed: int, number: int, dim: int = 3) -> list[Lesson]:
    """Features in single precision, as the model keeps them; red where the first is high."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(number, dim)).astype(np.float32).astype(np.float64)
    picks = rng.integers(2, size=number)
    return [(g, SAID[k + (0 if g[0] > 0 else 2)]) for g, k in zip(features, picks, strict=True)]


def vocabulary(model: KeywordsModel) -> list[str]:
    """The words in the order of their rows, which begin after the two marks."""
    saved: Any = model.state()["words"]
    return ["BEGIN", "END", *saved.tobytes().decode(errors="surrogatepass").split("\n")]


def fourier_by_hand(model: KeywordsModel, rows: Floats) -> Floats:
    """A constant, the standardised features, and cosines, from what the state says."""
    state: Any = model.state()
    z = np.clip((rows - state["centre"]) / state["spread"], -FAR, FAR)
    waves = np.cos(z @ state["directions"].T + state["phases"])
    waves *= math.sqrt(2 / max(1, waves.shape[1]))
    constant = np.full((len(rows), 1), BIAS)
    points: Floats = np.hstack([constant, z / math.sqrt(rows.shape[1]), waves])
    return points


def occurred(model: KeywordsModel, lessons: list[Lesson]) -> Floats:
    return np.array([[float(w in words(s)) for w in vocabulary(model)] for _, s in lessons])


def same(one: Any, other: Any) -> None:
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("number", [1, 2, 3, 37, 100])
@pytest.mark.parametrize("waves", [0, 12])
def test_frequencies_are_the_ridge_regression_that_numpy_solves(number: int, waves: int) -> None:
    lessons = some_lessons(0, number)
    model = taught(lessons, waves=waves, lam=0.3)
    points = fourier_by_hand(model, np.array([g for g, _ in lessons]))
    sigma = 0.3 * np.eye(points.shape[1]) + points.T @ points
    expected = np.linalg.solve(sigma, points.T @ occurred(model, lessons)).T
    state: Any = model.state()
    np.testing.assert_allclose(state["coefficients"], expected, atol=1e-9)
    np.testing.assert_allclose(state["inverse"], np.linalg.inv(sigma), atol=1e-9)


def test_features_are_measured_by_all_up_to_the_last_power_of_two() -> None:
    lessons = some_lessons(1, 45)
    state: Any = taught(lessons).state()
    features = np.array([g for g, _ in lessons[:32]])
    np.testing.assert_allclose(state["centre"], features.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(state["spread"], features.std(axis=0), rtol=1e-12)


def by_hand(model: KeywordsModel, lessons: list[Lesson], sentence: str, rows: Floats) -> Floats:
    """log P(x | y, s) - log P(x) for each row, by the formula of the module's docstring."""
    points = fourier_by_hand(model, np.array([g for g, _ in lessons]))
    lam = 0.1
    hat = points @ np.linalg.solve(lam * np.eye(points.shape[1]) + points.T @ points, points.T)
    asked = fourier_by_hand(model, rows)
    solve = np.linalg.solve(lam * np.eye(points.shape[1]) + points.T @ points, points.T)
    n, total = len(lessons), np.zeros(len(rows))
    for word in set(words(sentence)):
        y = np.array([float(word in words(said)) for _, said in lessons])
        if not y.any():
            continue
        usual = y.mean()
        if usual == 1:  # there is nothing to explain
            continue
        share = (float(y @ hat @ y) / n - usual**2) / (usual * (1 - usual))
        relevance = min(max(1 - (np.trace(hat) - 1) / n / share, 0.0), 1.0) if share > 0 else 0.0
        frequencies = np.maximum(asked @ solve @ y, 0.0)
        total += relevance * np.log(frequencies / usual + FLOOR)
    lift: Floats = total
    return lift


@pytest.mark.parametrize("sentence", ["a red ball", "there is a blue", "red cube cube zebra"])
def test_estimates_are_what_the_formula_says(sentence: str) -> None:
    lessons = some_lessons(2, 90)
    model = taught(lessons)
    rows = np.random.default_rng(3).normal(size=(20, 3))
    lift = by_hand(model, lessons, sentence, rows)
    estimates = model.estimates(sentence, Listed(rows))
    assert np.ptp(lift) > 0.5
    inside = estimates <= 0.5
    assert inside.sum() > 5
    ratio = np.log(estimates[inside]) - lift[inside]
    np.testing.assert_allclose(ratio, ratio[0], atol=1e-6)
    beyond = np.exp(ratio[0] + lift[~inside])
    np.testing.assert_allclose(estimates[~inside], 1 - 1 / (4 * beyond), atol=1e-6)


def test_words_that_say_nothing_have_no_relevance_and_words_that_are_determined_have_all() -> None:
    rng = np.random.default_rng(4)
    lessons = []
    for _ in range(600):
        g = rng.normal(size=3).astype(np.float32).astype(np.float64)
        chance = "perhaps" if rng.random() < 0.5 else "indeed"
        lessons.append((g, f"{chance} {'warm' if g[0] > 0 else 'cold'} thing"))
    model = taught(lessons, waves=60)
    row = {word: i for i, word in enumerate(vocabulary(model))}
    of = {word: float(model.relevance(np.array([row[word]]))[0]) for word in list(row)[2:]}
    assert of["perhaps"] < 0.4
    assert of["indeed"] < 0.4
    assert of["thing"] < 0.4
    assert min(of["warm"], of["cold"]) > 0.8


# Never anything but probabilities

LONG = " ".join(["red"] * 500), " ".join(f"word{i}" for i in range(500))
ASKED = (*SAID, "zebra", "A red zebra!", "?!", *LONG, "\ud800 é")


def sound(model: KeywordsModel, responses: Listed) -> None:
    before = model.state()
    for asked in ASKED:
        estimates = model.estimates(asked, responses)
        assert estimates.shape == (len(responses),)
        assert np.isfinite(estimates).all()
        assert (estimates >= 0).all()
        assert (estimates <= 1).all()
        np.testing.assert_array_equal(model.estimates(asked, responses), estimates)
        drawn = model.draws(asked, responses, 2, np.random.default_rng(0))
        assert drawn.shape == (2, len(responses))
        assert ((drawn >= 0) & (drawn <= 1)).all()
    said = model.speak(responses.features(0), np.random.default_rng(0))
    known = vocabulary(model) if model.described else []
    assert set(words(said)) <= set(known)
    same(model.state(), before)


def test_without_data_every_response_is_as_likely() -> None:
    model = begun()
    responses = Listed(np.random.default_rng(0).normal(size=(4, 3)))
    sound(model, responses)
    for asked in ASKED:
        assert np.ptp(model.estimates(asked, responses)) == 0
    assert model.speak(np.zeros(3), np.random.default_rng(0)) == ""


@pytest.mark.parametrize("said", ASKED)
def test_any_first_sentence_is_learned(said: str) -> None:
    model = taught([(np.ones(3), said)])
    sound(model, Listed(np.eye(3)))
    if said not in LONG:
        assert (
            model.estimates(said, Listed(np.ones((1, 3))))
            > begun().estimates(said, Listed(np.ones((1, 3))))
        ).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_features_that_can_be_learned_give_probabilities(data: st.DataObject) -> None:
    scale = data.draw(st.sampled_from([1e-44, 1e-20, 1.0, 1e10, 3e37]))
    number = st.floats(-10, 10, width=32).map(lambda v: v * scale)
    rows = np.array(data.draw(st.lists(st.tuples(number, number), min_size=1, max_size=5)))
    order = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=12))
    model = begun(2)
    for y in order:
        model.learn(rows[y], data.draw(st.sampled_from(SAID)))
    assert model.described == len(order)
    sound(model, Listed(np.vstack([rows, 1e300 * np.eye(2), np.zeros((1, 2))])))


@pytest.mark.parametrize("later", [1e-40, 1e3, 1e8, 1e30, 3e38])
def test_a_feature_that_first_is_constant_and_then_is_not_breaks_nothing(later: float) -> None:
    model = begun(2)
    for n in range(40):
        model.learn(np.array([1.0, later if n % 16 > 9 else 0.0]), SAID[2 * (n % 16 > 9)])
    responses = Listed([[1.0, 0.0], [1.0, later]])
    sound(model, responses)
    red, blue = (model.estimates(SAID[i], responses) for i in (0, 2))
    assert red[0] > 5 * red[1]
    assert blue[1] > 5 * blue[0]


def test_equal_features_have_equal_estimates() -> None:
    model = taught(some_lessons(7, 50))
    rows = np.random.default_rng(0).normal(size=(3, 3))
    estimates = model.estimates("a red ball", Listed(np.vstack([rows, rows])))
    np.testing.assert_array_equal(estimates[:3], estimates[3:])
    alone = [model.estimates("a red ball", Listed(row[None]))[0] for row in rows]
    np.testing.assert_allclose(estimates[:3], alone, rtol=1e-12)


@pytest.mark.parametrize(
    ("g", "said"),
    [
        ([np.nan, 0, 0], "a new word"),
        ([np.inf, 0, 0], "a new word"),
        ([1e39, 0, 0], "a new word"),
        ([1.0, 0.0], "a new word"),
        ([1.0, 0.0, 0.0], 3),
        ([1.0, 0.0, 0.0], None),
    ],
)
def test_what_is_refused_changes_nothing(g: list[float], said: Any) -> None:
    model = taught(some_lessons(8, 9))
    before = model.state()
    with pytest.raises(SettingError, match=r"features|sentence"):
        model.learn(np.array(g), said)
    with pytest.raises(SettingError, match="3 features"):
        model.estimates("red", Listed(np.eye(2)))
    same(model.state(), before)


def test_tables_need_another_model() -> None:
    with pytest.raises(SettingError, match="in words"):
        Keywords().build(Facts(3, 4), np.random.default_rng(0))


# States


@pytest.mark.parametrize("cut", [0, 1, 5, 16, 30])
def test_a_restored_model_goes_on_to_the_bit(cut: int) -> None:
    lessons = [*some_lessons(9, 20), (np.zeros(3), ""), *some_lessons(10, 50)]
    model, other = begun(), begun(seed=1)
    for lesson in lessons[:cut]:
        model.learn(*lesson)
    other.learn(np.ones(3), "something else to forget")
    saved = model.state()
    kept = {name: np.array(value) for name, value in saved.items()}
    other.restore(saved)
    responses = Listed(np.random.default_rng(0).normal(size=(4, 3)))
    for g, said in lessons[cut:]:
        for asked in ("a red ball", "something zebra"):
            np.testing.assert_array_equal(
                model.estimates(asked, responses), other.estimates(asked, responses)
            )
        model.learn(g, said)
        other.learn(g, said)
    same(model.state(), other.state())
    same(saved, kept)
    spoken = [each.speak(np.ones(3), np.random.default_rng(0)) for each in (model, other)]
    assert spoken[0] == spoken[1]


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    model, good = taught(some_lessons(11, 10)), taught(some_lessons(12, 21))
    before, state = model.state(), good.state()
    bad: dict[str, list[Any]] = {
        "sums": [np.zeros((0, 16)), np.zeros((3, 16)), np.full_like(state["sums"], np.nan)],
        "coefficients": [np.zeros((0, 16)), np.zeros((len(vocabulary(good)), 2))],
        "inverse": [np.eye(3), np.full((16, 16), np.nan)],
        "count": [-1, 3, 22],
        "words": [np.array([255], dtype=np.uint8), np.zeros(3)],
        "described": [np.array([99]), np.array([0.5])],
        "entry_features": [np.zeros((2, 3))],
        "sentences": [np.array([[500]])],
        "directions": [np.zeros((3, 3)), np.full((12, 3), np.inf)],
        "phases": [np.zeros(3)],
        "centre": [np.zeros(2), np.full(3, np.nan)],
        "spread": [np.zeros(3), -np.ones(3)],
    }
    for name, values in bad.items():
        for value in values:
            with pytest.raises(SettingError):
                model.restore({**state, name: value})
            same(model.state(), before)
        with pytest.raises(KeyError):
            model.restore({key: value for key, value in state.items() if key != name})
        same(model.state(), before)
    empty = {name: np.zeros((0, 16)) for name in ("sums", "coefficients")}
    with pytest.raises(SettingError, match=r"sums must be of shape .*, not \(0, 16\)"):
        model.restore({**state, **empty})
    same(model.state(), before)
    model.restore(state)
    same(model.state(), state)


# In a world


@pytest.fixture(scope="module")
def experienced() -> tuple[KeywordsModel, list[tuple[str, str]], Floats]:
    """A model after 300 descriptions, the objects of its world, and their features."""
    simulation = SMALL.build(Streams(1).init("world"))
    model = Keywords(waves=60).build(SMALL.facts, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    features: dict[tuple[str, str], Floats] = {}
    for t in range(1, 301):
        task = simulation.world.task(t, (), rng)
        y = int(rng.integers(len(task.responses)))
        shape = task.context.shapes[y]
        features[shape.type, shape.colour] = task.responses.features(y)
        said = simulation.teacher.describe(task.context, y, rng)
        assert said is not None
        model.learn(task.responses.features(y), said)
    assert len(features) == 6
    return model, list(features), np.array(list(features.values()))


def test_it_speaks_in_words_it_has_heard_and_mostly_of_what_it_sees(
    experienced: tuple[KeywordsModel, list[tuple[str, str]], Floats],
) -> None:
    model, objects, features = experienced
    rng = np.random.default_rng(2)
    right, named, known = 0, 0, set(vocabulary(model)[2:])
    attributes = {*SMALL.types, *SMALL.colours}
    for thing, g in zip(objects, features, strict=True):
        for _ in range(40):
            said = words(model.speak(g, rng))
            assert set(said) <= known
            about = [word for word in said if word in attributes]
            named += len(about)
            right += sum(word in thing for word in about)
    assert named > 200, "or it hardly says anything"
    assert right > 0.9 * named


def test_estimates_and_draws_rank_the_right_picture_first(
    experienced: tuple[KeywordsModel, list[tuple[str, str]], Floats],
) -> None:
    model, objects, features = experienced
    responses = Listed(features)
    for y, (kind, colour) in enumerate(objects):
        asked = f"There is a {colour} colored {kind}."
        estimates = model.estimates(asked, responses)
        assert estimates.argmax() == y
        drawn = model.draws(asked, responses, 300, np.random.default_rng(3))
        mean = drawn.mean(axis=0)
        assert mean.argmax() == y
        assert drawn.std(axis=0).min() > 0
        assert np.corrcoef(mean, estimates)[0, 1] > 0.9
        # Features hardly different are drawn together: what is unknown is f, not the response.
    near = Listed(np.vstack([features[0], features[0]]))
    pair = model.draws("A red square", near, 50, np.random.default_rng(4))
    np.testing.assert_allclose(pair[:, 0], pair[:, 1], rtol=1e-4)


def test_greedy_has_far_less_regret_with_it_than_chance() -> None:
    greedy, chance = (
        play(SMALL, agent, rounds=200, seed=5).regret[-1]
        for agent in (Greedy(model=Keywords(waves=60)), Uniform())
    )
    assert greedy < 0.35 * chance


@pytest.mark.parametrize(
    "thing",
    [
        Keywords(waves=20),
        Keywords(waves=0),
        LORIL(model=Keywords(waves=20)),
        Thompson(model=Keywords(waves=20), draws=3),
    ],
    ids=lambda thing: thing.label(),
)
def test_it_keeps_the_promises_of_a_model(thing: Any) -> None:
    report = check(thing, SMALL)
    assert report, report
