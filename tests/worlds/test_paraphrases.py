"""The world of free wordings: no words are shared, and the reward goes by meaning."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from tellback import Task, check, play, rounds
from tellback.agents import Uniform
from tellback.encoders import NGrams, Thumbnail, plain_words
from tellback.errors import SettingError
from tellback.roles import Facts, WorldSpec
from tellback.specs import spec_from_data
from tellback.streams import Stream
from tellback.worlds import Demonstrations, Paraphrases, pictures, wordings
from tellback.worlds.images import Scene
from tellback.worlds.paraphrases import ParaphrasesTruth
from tellback.worlds.pictures import Shape
from tellback.worlds.wordings import ASKING, COLOURS, TEACHING, TYPES, Meaning, Synonyms, worded
from tests.test_truth_is_hidden import Spy, reachable

WORLD = Paraphrases(encoder=Thumbnail(cells=2))
OBJECTS = WORLD.gallery.objects


def all_names(names: Synonyms) -> tuple[str, ...]:
    return (names.main, *names.also, *names.only_asked)


def read(sentence: str) -> Meaning:
    """What a sentence means, found by looking for names: an oracle that knows no wordings."""
    said = f" {' '.join(plain_words(sentence))} "

    def named(names: dict[str, Synonyms]) -> str | None:
        found = [key for key, of in names.items() if any(f" {n} " in said for n in all_names(of))]
        assert len(found) <= 1, (sentence, found)
        return found[0] if found else None

    return Meaning(named(TYPES), named(COLOURS))


# --- the wordings ------------------------------------------------------------------------------


def test_there_are_as_many_wordings_as_the_world_says() -> None:
    assert (len(TEACHING), len(ASKING)) == (44, 24)
    assert "44 wordings" in str(Paraphrases.__doc__).replace("\n    ", " ")
    assert "24 other wordings" in str(Paraphrases.__doc__).replace("\n    ", " ")


def test_every_type_and_colour_has_names_that_mean_nothing_else() -> None:
    assert set(TYPES) == set(pictures.INSIDE)
    assert set(COLOURS) == set(pictures.COLOURS)
    names = [n for of in (*TYPES.values(), *COLOURS.values()) for n in all_names(of)]
    assert len(names) == len(set(names))
    for key, of in (*TYPES.items(), *COLOURS.items()):
        assert of.main == key
        assert of.also
        assert of.only_asked


def test_no_sentence_is_both_taught_and_asked() -> None:
    """Not even but for capitals, accents and punctuation."""
    taught, asked = (
        {
            tuple(plain_words(sentence))
            for wording in of
            for thing in OBJECTS
            for sentence in wordings.all_sentences(wording, thing)
        }
        for of in (TEACHING, ASKING)
    )
    assert not taught & asked
    assert len({tuple(plain_words(wording)) for wording in TEACHING + ASKING}) >= 60


def test_no_name_that_is_only_asked_for_is_ever_told() -> None:
    rng = np.random.default_rng(0)
    only = {name for of in (*TYPES.values(), *COLOURS.values()) for name in of.only_asked}
    for wording, thing in itertools.product(TEACHING, OBJECTS):
        assert not only & set(plain_words(worded(wording, thing, rng)))
        assert not only & set(plain_words(wording))


def test_names_are_drawn_as_often_as_is_said() -> None:
    rng, n = np.random.default_rng(1), 20_000
    asked = Counter(worded("{type}", ("circle", "red"), rng, asking=True) for _ in range(n))
    told = Counter(worded("{type}", ("circle", "red"), rng) for _ in range(n))
    expected = {"circle": 0.7, "disc": 0.14, "dot": 0.14, "ball": 0.02}
    for name, share in expected.items():
        assert asked[name] / n == pytest.approx(share, abs=4 * np.sqrt(share / n))
    assert set(told) == {"circle", "disc", "dot"}
    assert told["circle"] / n == pytest.approx(0.7, abs=0.015)


@pytest.mark.parametrize(
    ("wording", "sentence"),
    [
        ("{a_colour} {type}", "an orange square"),
        ("{a_type}, {colour}", "a square, orange"),
        ("{COLOUR} {TYPE}!", "ORANGE SQUARE!"),
        ("{Colour} {Type}", "Orange Square"),
    ],
)
def test_a_wording_has_forms_of_a_name(wording: str, sentence: str) -> None:
    assert sentence in wordings.all_sentences(wording, ("square", "orange"))


def test_what_a_wording_means_can_be_read_from_its_names() -> None:
    for wording, thing in itertools.product(TEACHING + ASKING, OBJECTS):
        meaning = wordings.meaning_of(wording, thing)
        assert meaning != (None, None)
        assert meaning.fits(thing)
        for sentence in wordings.all_sentences(wording, thing):
            assert read(sentence) == meaning


# --- the world -----------------------------------------------------------------------------------


def test_the_world_passes_also_with_demonstrations() -> None:
    """Every world is checked by itself elsewhere."""
    report = check(Demonstrations(WORLD))
    assert report, str(report)
    assert play(Demonstrations(WORLD), Uniform(), rounds=2).match is WORLD.match


def test_a_teacher_who_says_what_is_not_so_is_found_out() -> None:
    simulation = WORLD.build(np.random.default_rng(0))

    class Liar:
        def describe(self, context: Scene, response: int, rng: np.random.Generator) -> str:
            return simulation.teacher.describe(context, 0, rng)  # type: ignore[return-value]

    report = check(replace(simulation, teacher=Liar()))
    assert not report
    assert "to which the truth gives 0" in str(report)


def test_facts_follow_from_the_settings() -> None:
    assert WORLD.facts == Facts(dim=12, instructions=None)
    assert spec_from_data(WorldSpec, WORLD.to_data()) == WORLD
    with pytest.raises(SettingError, match="alike_by"):
        Paraphrases(encoder=Thumbnail(), alike_by="words")  # type: ignore[arg-type]


def test_a_round_has_what_was_asked_for_and_rewards_it_by_meaning() -> None:
    simulation = WORLD.build(np.random.default_rng(0))
    truth, stream = simulation.truth, Stream(4, "world")
    assert truth is not None
    for t in range(1, 200):
        task = simulation.world.task(t, [], stream.at(t))
        meaning = read(str(task.instruction))
        shapes = task.context.shapes
        rewards = [truth.reward(task, y) for y in range(len(shapes))]
        assert rewards == [float(meaning.fits((s.type, s.colour))) for s in shapes]
        assert truth.best(task) == max(rewards) == 1
        assert len({(s.type, s.colour) for s in shapes}) == 5


def test_the_teacher_says_only_what_is_true_in_all_its_wordings() -> None:
    simulation = WORLD.build(np.random.default_rng(0))
    scene = Scene((Shape("square", "red"), Shape("circle", "cyan")))
    rng = np.random.default_rng(3)
    told = {str(simulation.teacher.describe(scene, 1, rng)) for _ in range(3000)}
    assert all(read(sentence).fits(("circle", "cyan")) for sentence in told)
    assert {"THE CYAN CIRCLE!!!", "something turquoise", "It is a disc."} <= told


def test_words_that_nobody_says_here_are_not_rewarded() -> None:
    task = Task(Scene((Shape("square", "red"),)), "a red flamingo", None)
    assert ParaphrasesTruth(WORLD.gallery).reward(task, 0) == 0
    with pytest.raises(SettingError, match="A response is"):
        ParaphrasesTruth(WORLD.gallery).reward(task, 1)


def test_few_requests_use_a_name_that_is_never_taught() -> None:
    run = play(WORLD, Uniform(), rounds=3000, seed=1)
    only = {name for of in (*TYPES.values(), *COLOURS.values()) for name in of.only_asked}
    share = np.mean([bool(only & set(plain_words(x))) for x in run.instructions])
    assert 0.025 < share < 0.055
    assert not set(run.instructions) & set(run.descriptions)


def test_agents_of_one_seed_meet_the_same_tasks() -> None:
    one, two = (play(WORLD, Uniform(), rounds=20, seed=5) for _ in range(2))
    assert one.instructions == two.instructions
    assert one.descriptions == two.descriptions


def test_nothing_that_an_agent_is_given_leads_to_the_truth() -> None:
    simulation = WORLD.build(np.random.default_rng(0))
    spy = Spy()
    for _ in islice(rounds(simulation, spy, seed=3), 3):
        pass
    near = [thing for thing in spy.given if not isinstance(thing, np.random.Generator)]
    modules = [vars(module) for module in list(sys.modules.values())]
    found = reachable(near, apart_from=modules)
    assert len(found) > 100
    for person in (simulation, simulation.world, simulation.teacher, simulation.truth):
        assert id(person) not in found


# --- its match ---------------------------------------------------------------------------------


def test_the_match_states_the_error_rates_that_runs_show() -> None:
    """Rates of a run fall where the stated intervals and the run's own noise let them."""
    errors = WORLD.match.errors
    assert errors is not None
    assert errors.false_positives.n == errors.false_negatives.n == 1000
    assert errors.false_positives.high < 0.06
    assert errors.false_negatives.high < 0.12
    run = play(WORLD, Uniform(), rounds=3000, seed=2)
    assert run.match == WORLD.match
    for stated, rounds_, wrong in (
        (errors.false_positives, run.rewards == 0, run.matches == 1),
        (errors.false_negatives, run.rewards == 1, run.matches == 0),
    ):
        share, n = wrong[rounds_].mean(), int(rounds_.sum())
        noise = 3 * np.sqrt(stated.high * (1 - stated.high) / n)
        assert stated.low - noise < share < stated.high + noise
    _, low, high = run.reward_estimate()
    assert low[-1] < run.rewards.mean() < high[-1]


def test_no_asking_wording_teaches_the_match() -> None:
    told = {sentence for pair in WORLD.match.trained_on for sentence in pair}
    simulation = WORLD.build(np.random.default_rng(0))
    rng = np.random.default_rng(9)
    asked = {str(simulation.world.task(1, [], rng).instruction) for _ in range(2000)}
    assert not told & asked


def test_the_match_is_one_for_all_runs() -> None:
    assert WORLD.match is Paraphrases("free", encoder=Thumbnail(cells=3)).match
    assert WORLD.match.encoder == NGrams()
