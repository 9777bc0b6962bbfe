"""Sentences read phrase by phrase."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tellback import check, play
from tellback.agents import LORIL, Greedy, Proposing
from tellback.errors import SettingError
from tellback.models import Phrases
from tellback.models.phrases import FLOOR, LEAST, SURE, PhrasesModel
from tellback.responses import Listed
from tellback.roles import Facts
from tellback.worlds import House

ROOMS = ("hall", "study", "attic")
SMALL = House(width=7, height=5, rooms=3, things=3, steps=7, synonyms=1)
Lesson = tuple[Any, str]


def taught(lessons: list[Lesson], lam: float = 1.0) -> PhrasesModel:
    model = Phrases(lam=lam).build(Facts(2 * len(ROOMS), None), np.random.default_rng(0))
    for features, sentence in lessons:
        model.learn(features, sentence)
    return model


def walks(count: int, seed: int = 0, names: tuple[str, ...] = ROOMS) -> list[Lesson]:
    """Descriptions of walks past one room to another: the features say which, one-hot."""
    rng = np.random.default_rng(seed)
    lessons: list[Lesson] = []
    for _ in range(count):
        past, to = rng.integers(len(ROOMS), size=2)
        verb = rng.choice(["go", "walk"])
        way = f" past the {names[past]}" if rng.random() < 0.6 else ""
        lessons.append((features_of(past, to), f"{verb}{way} to the {names[to]}"))
    return lessons


def features_of(past: int, to: int) -> Any:
    return np.concatenate([np.eye(len(ROOMS))[past], np.eye(len(ROOMS))[to]])


EVERY = Listed([features_of(past, to) for past in range(3) for to in range(3)])


def by_hand(lessons: list[Lesson], phrases: dict[str, set[str]], row: Any) -> float:
    """The formula of the module, written out. Phrases: the words of each link, "" for none."""
    points = np.array([np.append(features, 1.0) for features, _ in lessons])
    sigma = np.eye(points.shape[1]) + points.T @ points
    point = np.append(row, 1.0)

    def split(sentence: str) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        link = ""
        for word in sentence.split():
            if word in ("past", "to"):
                link = word
            else:
                found.setdefault(link, set()).add(word)
        return found

    parts = [split(sentence) for _, sentence in lessons]

    def chance(has: list[bool]) -> float:
        told = np.array(has, dtype=float)
        usual = told.mean()
        f = np.linalg.solve(sigma, points.T @ told)
        explained = told @ points @ f - len(told) * usual**2
        by_chance = (len(point) - 1) * usual * (1 - usual)
        share = max(0.0, 1 - by_chance / explained) if explained > 0 else 0.0
        return float(np.clip(usual + share * (f @ point - usual), FLOOR * usual, 1))

    result = 1.0
    for link in ("", "past", "to"):
        phrase = chance([link in part for part in parts])
        if link not in phrases:
            result *= 1 - min(phrase, SURE)
            continue
        result *= phrase
        for word in sorted(set().union(*(part.get(link, set()) for part in parts))):
            given = chance([word in part.get(link, set()) for part in parts]) / phrase
            given = min(given, SURE)
            result *= max(given, LEAST) if word in phrases[link] else 1 - given
    return result


def test_estimates_are_those_of_the_formula() -> None:
    lessons = walks(60)
    # "the" is in every phrase that "past" and "to" begin, and counts once there, as a sure word.
    model = taught(lessons)
    for sentence, phrases in (
        ("go to the hall", {"": {"go"}, "to": {"the", "hall"}}),
        (
            "walk past the study to the attic",
            {"": {"walk"}, "past": {"the", "study"}, "to": {"the", "attic"}},
        ),
    ):
        expected = [by_hand(lessons, phrases, row) for row in EVERY.matrix]
        np.testing.assert_allclose(model.estimates(sentence, EVERY), expected, rtol=1e-8)


def test_the_order_of_words_counts() -> None:
    model = taught(walks(300))
    for past, to in ((0, 1), (1, 0), (2, 0), (2, 1)):
        asked = f"go past the {ROOMS[past]} to the {ROOMS[to]}"
        assert model.estimates(asked, EVERY).argmax() == 3 * past + to


def test_words_that_always_occur_together_count_once() -> None:
    double = tuple(f"{name} room" if name == "attic" else name for name in ROOMS)
    one, two = taught(walks(200)), taught(walks(200, names=double))
    for asked in ("go to the hall", "walk past the hall to the attic"):
        np.testing.assert_allclose(
            two.estimates(asked.replace("attic", "attic room"), EVERY),
            one.estimates(asked, EVERY),
            rtol=1e-9,
        )


def test_words_that_features_do_not_explain_hardly_matter() -> None:
    model = taught(walks(400))
    one, other = (model.estimates(f"{verb} to the hall", EVERY) for verb in ("go", "walk"))
    ratios = one / other
    assert ratios.max() / ratios.min() < 1.05


def test_equal_responses_have_equal_estimates_and_unheard_sentences_some() -> None:
    model = taught(walks(50))
    twice = Listed(np.vstack([EVERY.matrix, EVERY.matrix[::-1]]))
    found = model.estimates("go past the study to the hall", twice)
    np.testing.assert_array_equal(found[:9], found[9:][::-1])
    for sentence in ("", "under the bridge", "...", "to past the"):
        estimates = model.estimates(sentence, EVERY)
        assert np.isfinite(estimates).all()
        assert (estimates > 0).all()
        assert (estimates <= 1).all()


def test_silence_lowers_all_estimates_of_such_a_response() -> None:
    model, silent = taught(walks(50)), taught(walks(50))
    for _ in range(30):
        silent.learn_silence(EVERY.matrix[0])
    asked = "go to the hall"
    assert silent.estimates(asked, EVERY)[0] < model.estimates(asked, EVERY)[0]


@pytest.mark.parametrize("thing", [Phrases(), LORIL(model=Phrases())], ids=lambda one: one.label())
def test_it_keeps_the_promises_of_a_model(thing: Any) -> None:
    from tests.models.test_keywords import SMALL as PICTURES

    report = check(thing, PICTURES)
    assert report, report


def test_a_restored_model_goes_on_alike_and_damaged_states_are_refused() -> None:
    model, other = taught(walks(40)), taught([])
    state = model.state()
    other.restore(state)
    for features, sentence in walks(10, seed=1):
        model.learn(features, sentence)
        other.learn(features, sentence)
    asked = "go past the study to the hall"
    np.testing.assert_array_equal(model.estimates(asked, EVERY), other.estimates(asked, EVERY))
    with pytest.raises(SettingError, match="sums"):
        other.restore({**state, "sums": np.zeros((3, 3))})
    with pytest.raises(SettingError, match="features"):
        model.learn(np.zeros(2), "go")
    with pytest.raises(SettingError, match="features"):
        model.estimates("go", Listed(np.eye(2)))
    with pytest.raises(SettingError, match="words"):
        Phrases().build(Facts(3, 4), np.random.default_rng(0))


def test_different_candidates_are_drawn_in_several_passes() -> None:
    shortlists = []
    for passes in (1, 4):
        agent = Proposing(Greedy(model=Phrases()), candidates=32, passes=passes)
        live = agent.build(SMALL.facts, np.random.default_rng(0))
        task = SMALL.build(np.random.default_rng(0)).world.task(1, (), np.random.default_rng(5))
        shortlists.append(live.shortlisted(task, np.random.default_rng(1)).responses.responses)
    once, more = shortlists
    assert len(once) < len(more) <= 32
    assert more[: len(once)] == once
    assert play(SMALL, agent, 20, seed=1).regrets.shape == (20,)
