"""The image world is the paper's second experiment."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tellback import Choice, Facts, Simulation, Task, check, play, rounds
from tellback.agents import Uniform
from tellback.encoders import Autoencoder, EncoderSpec, Thumbnail
from tellback.errors import ProtocolError, SettingError, UnknownNameError
from tellback.roles import Instruction, WorldSpec
from tellback.specs import spec_from_data
from tellback.streams import Stream
from tellback.worlds import Images
from tellback.worlds import images as module
from tellback.worlds.pictures import Shape
from tests.support.image_worlds import (
    COLOURS,
    OBJECTS,
    SMALL,
    TYPES,
    begun,
    probability,
    rewards_of,
    said_of,
)
from tests.support.oracles import Diary, Floats
from tests.test_truth_is_hidden import (
    Careless,
    Hearing,
    Silent,
    modules_of_others,
    played,
    reachable,
)

VARIANTS = ("canon", "jitter", "free")


def tasks(simulation: Simulation, number: int, seed: int = 0) -> list[Task]:
    stream = Stream(seed, "world")
    return [simulation.world.task(t, (), stream.at(t)) for t in range(1, number + 1)]


def objects_of(task: Task) -> list[tuple[str, str]]:
    return [(shape.type, shape.colour) for shape in task.context.shapes]


def mean_colours(task: Task) -> Floats:
    """What a thumbnail of one cell gives, from the pictures themselves."""
    return np.array([picture.reshape(-1, 3).mean(axis=0) / 255 for picture in pictures_of(task)])


def pictures_of(task: Task) -> list[Floats]:
    return [shape.picture().astype(np.float64) for shape in task.context.shapes]


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of the test's own, and nothing remembered from other tests."""
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    module._features_under_spec.cache_clear()
    yield tmp_path
    module._features_under_spec.cache_clear()


# What is asked


@st.composite
def worlds(draw: st.DrawFn) -> Images:
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, unique=True))
    colours = draw(st.lists(st.sampled_from(COLOURS), min_size=1, unique=True))
    responses = draw(st.integers(1, min(8, len(types) * len(colours))))
    variant = draw(st.sampled_from(VARIANTS))
    return Images(variant, responses, tuple(types), tuple(colours), Thumbnail(cells=1))


@settings(max_examples=40, deadline=None)
@given(worlds(), st.integers(0, 1000))
def test_no_two_pictures_of_a_round_show_the_same_object_and_one_is_described(
    world: Images, seed: int
) -> None:
    simulation = begun(world)
    assert simulation.truth is not None
    for task in tasks(simulation, 3, seed):
        shown = objects_of(task)
        assert len(task.responses) == len(shown) == world.responses
        assert len(set(shown)) == len(shown)
        assert set(shown) <= set(product(world.types, world.colours))
        fits = [task.instruction in said_of(*thing) for thing in shown]
        assert any(fits)
        assert [p > 0 for p in rewards_of(simulation, task)] == fits
        assert simulation.truth.best(task) == max(rewards_of(simulation, task)) == 0.1
        np.testing.assert_allclose(task.responses.matrix, mean_colours(task), rtol=1e-12)


def test_all_objects_can_be_shown_at_once() -> None:
    (task,) = tasks(begun(SMALL.with_settings({"responses": 32})), 1)
    assert sorted(objects_of(task)) == sorted(OBJECTS)


def test_objects_places_and_templates_are_asked_for_equally_often() -> None:
    places, wanted, templates = np.zeros(5), Counter[tuple[str, str]](), np.zeros(10)
    for task in tasks(begun(), 6000):
        shown = objects_of(task)
        said = [said_of(*thing) for thing in shown]
        fitting = [y for y in range(5) if task.instruction in said[y]]
        templates[said[fitting[0]].index(str(task.instruction))] += 1
        if len(fitting) > 1:
            continue  # which of them was meant, nobody can say
        places[fitting[0]] += 1
        wanted[shown[fitting[0]]] += 1
    assert stats.chisquare(templates).pvalue > 1e-3
    assert stats.chisquare(places).pvalue > 1e-3
    assert len(wanted) == 32
    assert stats.chisquare(list(wanted.values())).pvalue > 1e-3


def test_objects_are_shown_equally_often_in_every_place() -> None:
    counts = np.zeros((5, 32))
    for task in tasks(begun(), 8000, seed=4):
        for y, thing in enumerate(objects_of(task)):
            counts[y, OBJECTS.index(thing)] += 1
    for of_place in counts:
        assert stats.chisquare(of_place).pvalue > 1e-3


class Stubborn:
    """A live agent that always takes the last picture, and draws a lot for nothing."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        rng.random(1000)
        return task.choose(len(task.responses) - 1)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        pass


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_seed_and_round_give_the_same_task_whichever_agent_plays(variant: str) -> None:
    world = Images(variant, encoder=Thumbnail(cells=2))
    agents: list[Any] = [Uniform(), Stubborn(), Diary()]
    runs = [list(islice(rounds(world, agent, seed=6), 20)) for agent in agents]
    late = list(islice(rounds(world, Uniform(), seed=6, start=10), 10))
    responses = [[r.choice.response for r in run] for run in runs]
    assert responses[0] != responses[1] != responses[2]
    for run, first in ((runs[1], 0), (runs[2], 0), (late, 10)):
        for one, other in zip(runs[0][first:], run, strict=True):
            assert one.t == other.t
            assert one.task.context == other.task.context
            assert one.task.instruction == other.task.instruction
            np.testing.assert_array_equal(one.task.responses.matrix, other.task.responses.matrix)


def test_another_seed_gives_other_tasks() -> None:
    one, other = (tasks(begun(), 20, seed) for seed in (1, 2))
    assert [task.context for task in one] != [task.context for task in other]


def test_variants_show_the_same_objects_and_ask_the_same_otherwise_drawn() -> None:
    by_variant = {
        variant: tasks(begun(SMALL.with_settings({"variant": variant})), 30, seed=7)
        for variant in VARIANTS
    }
    for one, two, three in zip(*by_variant.values(), strict=True):
        assert objects_of(one) == objects_of(two) == objects_of(three)
        assert one.instruction == two.instruction == three.instruction
        assert one.context != two.context != three.context


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_object_looks_the_same_in_all_rounds_of_canon_only(variant: str) -> None:
    looks: dict[tuple[str, str], set[Shape]] = {}
    often: Counter[tuple[str, str]] = Counter()
    for task in tasks(begun(SMALL.with_settings({"variant": variant})), 40):
        for shape in task.context.shapes:
            looks.setdefault(shape[:2], set()).add(shape)
            often[shape[:2]] += 1
    assert max(often.values()) > 3
    for thing, different in looks.items():
        assert len(different) == (1 if variant == "canon" else often[thing])


def test_the_agent_is_told_that_instructions_are_sentences_and_responses_change() -> None:
    facts = begun(SMALL.with_settings({"encoder": Thumbnail(cells=3)})).world.facts
    assert facts == Facts(dim=27, instructions=None, fixed_responses=False)
    assert Images().facts.dim == 16, "the paper's, known without any training"


# Regret


def expected_regret_of_chance() -> float:
    """Of one round with five pictures: chance takes the wanted one, or one of the others."""
    of_another = [
        probability(sentence, *wanted) - probability(sentence, *chosen)
        for wanted, chosen in product(OBJECTS, OBJECTS)
        if wanted != chosen
        for sentence in said_of(*wanted)
    ]
    return 4 / 5 * float(np.mean(of_another))


def test_playing_at_random_has_the_regret_that_theory_gives() -> None:
    expected = expected_regret_of_chance()
    assert expected == pytest.approx(0.1 * 0.8 * (1 - 0.1 * 3 / 31 - 0.1 * 7 / 31), rel=1e-12)
    regrets = play(SMALL, Uniform(), 20_000, seed=3).regrets
    assert set(regrets) == {0.0, 0.1}
    error = np.sqrt(expected * (0.1 - expected) / len(regrets))  # of a mean of zeros and tenths
    assert abs(regrets.mean() - expected) < 4 * error


# Features


@pytest.mark.parametrize("variant", VARIANTS)
def test_features_are_those_of_the_pictures_whoever_asks(variant: str) -> None:
    world = Images(variant, encoder=Thumbnail(cells=2))
    for task in tasks(begun(world), 5, seed=8):
        corners = list(product((0, 100), (0, 100)))
        for picture, row in zip(pictures_of(task), task.responses.matrix, strict=True):
            cells = [picture[i : i + 100, j : j + 100].mean(axis=(0, 1)) for i, j in corners]
            np.testing.assert_allclose(row, np.concatenate(cells) / 255, rtol=1e-12)
        np.testing.assert_array_equal(world.features(task.context.shapes), task.responses.matrix)
        assert task.context.pictures().shape == (5, 200, 200, 3)
        np.testing.assert_array_equal(task.context.pictures(), np.array(pictures_of(task)))


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_done_to_features_does_not_reach_those_given_later(variant: str) -> None:
    world = Images(variant, encoder=Thumbnail(cells=1))
    (task,) = tasks(begun(world), 1, seed=10)
    features = world.features(task.context.shapes)
    with suppress(ValueError):  # it may as well be refused
        features[:] = 7
    again = world.features(task.context.shapes)
    np.testing.assert_array_equal(again, task.responses.matrix)
    np.testing.assert_allclose(again, mean_colours(task), rtol=1e-12)


def test_agents_on_one_seed_have_each_scene_encoded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoded: list[int] = []
    encode = Thumbnail._encode

    def counting(self: Thumbnail, pictures: Any) -> Floats:
        encoded.append(len(pictures))
        return encode(self, pictures)

    module._features_under_spec.cache_clear()
    monkeypatch.setattr(Thumbnail, "_encode", counting)
    for variant, expected in (("jitter", [5] * 30), ("canon", [32])):
        encoded.clear()
        for agent in (Uniform(), Stubborn()):
            play(Images(variant, encoder=Thumbnail(cells=1)), agent, 30, seed=9)
        assert encoded == expected
    module._features_under_spec.cache_clear()  # what it holds counts


@pytest.mark.parametrize("variant", VARIANTS)
def test_features_of_the_autoencoder_are_those_of_the_pictures(
    variant: str, own_cache: Path
) -> None:
    encoder = Autoencoder(steps=2, pictures=8, batch=2)
    world = Images(variant, encoder=encoder)
    live = encoder.build(world.gallery)
    for task in tasks(begun(world), 3):
        assert task.responses.matrix.shape == (5, 16)
        # In canon all objects are encoded together, which may round otherwise.
        np.testing.assert_allclose(
            task.responses.matrix, live(task.context.pictures()), rtol=1e-4, atol=1e-5
        )
        assert np.abs(task.responses.matrix).max() > 1e-3


# Settings


def no_numbers(pictures: Any) -> Any:
    return np.full((len(pictures), 2), "x")


def not_a_number(pictures: Any) -> Any:
    return np.full((len(pictures), 2), np.nan)


def infinite(pictures: Any) -> Any:
    return np.full((len(pictures), 2), np.inf)


def a_row_too_many(pictures: Any) -> Any:
    return np.ones((len(pictures) + 1, 2))


def a_number_each(pictures: Any) -> Any:
    return np.ones(len(pictures))


def nothing_each(pictures: Any) -> Any:
    return np.ones((len(pictures), 0))


def nothing(pictures: Any) -> Any:
    return None


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("responses", 33, r"responses must be at most 32, .* \(4 types in 8 colours\), not 33"),
        ("responses", 0, "responses must be at least 1, not 0"),
        ("responses", 2.5, "responses must be a whole number, not 2.5"),
        ("responses", True, "responses must be a whole number, not True"),
        ("variant", "jiter", "variant must be 'canon' or 'jitter' or 'free', .* mean 'jitter'"),
        ("variant", ["canon"], "variant must be 'canon'"),
        ("colours", ("red", "blue", "red"), "colours names one twice: red, blue, red"),
        ("types", ("circle", "circle"), "types names one twice: circle, circle"),
        ("colours", "red", "colours must be a sequence of names, not 'red'"),
        ("types", "square", "types must be a sequence of names, not 'square'"),
        ("colours", (), r"colours must be a sequence of names, not \(\)"),
        ("types", None, "types must be a sequence of names, not None"),
        ("encoder", 7, "encoder must be .*, not 7"),
        ("encoder", None, "encoder must be .*, not None"),
        ("encoder", Thumbnail, "encoder must be .*, not <class .*Thumbnail"),
        ("encoder", Uniform(), r"encoder must be .*, not Uniform\(\)"),
    ],
)
def test_a_bad_setting_is_refused_by_its_name(setting: str, value: Any, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        SMALL.with_settings({setting: value})


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("colours", ("red", "gren"), "There is no colour 'gren'. Did you mean 'green'?"),
        ("colours", ["Red"], "There is no colour 'Red'. Did you mean 'red'?"),
        ("types", ("sqare",), "There is no type 'sqare'. Did you mean 'square'?"),
        ("types", (3,), "There is no type '3'. Known: circle, rectangle, square, triangle."),
    ],
)
def test_an_unknown_name_gets_the_nearest_known_one(setting: str, value: Any, message: str) -> None:
    with pytest.raises(UnknownNameError, match=re.escape(message)):
        SMALL.with_settings({setting: value})


def test_the_most_pictures_are_as_many_as_objects_of_the_chosen_kinds() -> None:
    few: dict[str, object] = {"types": ("circle",), "colours": ("red", "blue", "grey")}
    assert SMALL.with_settings({**few, "responses": 3}).responses == 3
    with pytest.raises(SettingError, match=r"at most 3, .* \(1 types in 3 colours\), not 4"):
        SMALL.with_settings({**few, "responses": 4})


@pytest.mark.parametrize(
    "encoder",
    [no_numbers, not_a_number, infinite, a_row_too_many, a_number_each, nothing_each, nothing],
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_an_encoder_that_gives_no_features_is_named(
    encoder: Callable[[Any], Any], variant: str
) -> None:
    world = Images(variant, encoder=encoder)
    message = f"^Encoder {encoder.__name__} "
    with pytest.raises(SettingError, match=message):
        _ = world.facts
    with pytest.raises(SettingError, match=message):
        play(world, Uniform(), 1)


def grid(pictures: Any) -> Any:
    """Whole numbers, and not in a row: 2 x 3 for each picture."""
    return pictures[:, 99:101, 100, :].astype(np.int32)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_live_encoder_can_be_played_with_but_not_kept(variant: str) -> None:
    world = Images(variant, encoder=grid)
    assert world.facts.dim == 6
    run = play(world, Uniform(), 20)
    assert len(run) == 20
    assert 0 < run.regrets.sum() < 2
    for task in tasks(begun(world), 3):
        np.testing.assert_array_equal(
            task.responses.matrix, grid(task.context.pictures()).reshape(5, 6)
        )
    with pytest.raises(SettingError, match="live object, which has no identity"):
        world.to_data()
    assert check(world), check(world)


encoders = st.one_of(
    st.builds(Thumbnail, st.integers(1, 200)),
    st.builds(
        Autoencoder,
        summed_over=st.sampled_from(["channels", "places"]),
        pictures=st.integers(1, 1000),
        steps=st.integers(0, 10_000),
        batch=st.integers(1, 64),
        learning_rate=st.floats(1e-6, 1),
        clip=st.floats(1e-3, 100),
        seed=st.integers(0, 2**40),
    ),
)


@given(worlds(), encoders)
def test_a_world_comes_back_from_its_data(world: Images, encoder: EncoderSpec) -> None:
    world = world.with_settings({"encoder": encoder})
    data = world.to_data()
    for copy in (data, json.loads(json.dumps(data))):
        again = spec_from_data(WorldSpec, copy)
        assert again == world
        assert hash(again) == hash(world)
        assert again.to_data() == data


def test_names_may_be_given_in_a_list() -> None:
    listed = SMALL.with_settings({"types": list(TYPES), "colours": list(COLOURS)})
    assert listed == SMALL
    assert hash(listed) == hash(SMALL)


# Promises of the protocol


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_world_keeps_to_the_protocol(variant: str) -> None:
    report = check(Images(variant, encoder=Thumbnail(cells=2)))
    assert report, report


def told_of(found: dict[int, Any], simulation: Simulation) -> list[str]:
    """What was found that should be hidden: the roles, or a table of probabilities."""
    roles = [simulation, simulation.world, simulation.teacher, simulation.truth]
    told = [type(role).__name__ for role in roles if id(role) in found]
    for thing in found.values():
        if type(thing) is dict and isinstance(thing.get("A red square"), Mapping):
            told.append("probabilities of sentences")
    return told


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_no_chain_from_what_an_agent_receives_leads_to_the_truth() -> None:
    simulations = [begun(SMALL.with_settings({"variant": variant})) for variant in VARIANTS]
    given = [thing for simulation in simulations for thing in played(None, simulation)]
    found = reachable(given, apart_from=modules_of_others())
    assert len(found) > 10_000, "the walk must have gone through modules and types"
    for simulation in simulations:
        assert told_of(found, simulation) == []


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("how", ["truth", "its method", "teacher", "world", "its table", "a copy"])
def test_the_walk_finds_what_a_careless_world_gives_away(how: str) -> None:
    simulation = begun()
    truth: Any = simulation.truth
    ways: dict[str, Any] = {
        "truth": truth,
        "its method": truth.reward,
        "teacher": [simulation.teacher],
        "world": simulation.world,
        "its table": truth._probabilities,
        "a copy": dict(truth._probabilities),
    }
    world = Careless(simulation, ways[how])
    if how in ("its method", "world"):  # functions in a context do not even reach the agent
        with pytest.raises(ProtocolError, match="A context holds"):
            played(None, Simulation(world, Hearing(simulation), Silent()), rounds_=2)
        return
    given = played(None, Simulation(world, Hearing(simulation), Silent()), rounds_=2)
    near = [thing for thing in given if not isinstance(thing, np.random.Generator)]
    modules = [vars(loaded) for loaded in list(sys.modules.values())]
    found = reachable(near, apart_from=modules)
    # A context is given to agents as a copy, so that what it gives away is a copy, too.
    copied = [type(part) for part in (simulation.world, simulation.teacher)]
    assert told_of(found, simulation) or [one for one in found.values() if type(one) in copied]
