"""Which words in places have columns, and what a model with them learns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tellback import Facts, Listed, Task, play
from tellback.agents import Greedy
from tellback.models import Keywords
from tellback.models.keywords import MOST_PLACED, MOST_WORDS, KeywordsModel
from tellback.models.telling_places import RIDGE, candidates, telling
from tests.support.oracles import Floats

COLOURS = ("red", "green", "blue", "grey")
TYPES = ("ball", "box", "key")
Event = tuple[int, int]
Events = tuple[Event, ...]
Say = Callable[[Events, np.random.Generator], str]


def named(event: Event) -> str:
    return f"the {COLOURS[event[0]]} {TYPES[event[1]]}"


def put(events: Events, rng: np.random.Generator) -> str:
    first, second = map(named, events)
    return (f"put {first} next to {second}", f"move {first} beside {second}")[rng.integers(2)]


def sequence(events: Events, rng: np.random.Generator) -> str:
    first, second = map(named, events)
    return (f"go to {first}, then to {second}", f"go to {second} after {first}")[rng.integers(2)]


def bag(events: Events, rng: np.random.Generator) -> str:
    """The place of a thing tells nothing about which of the two it is."""
    one, other = rng.permutation([named(event) for event in events])
    return f"{one} and {other}"


def features(events: Events) -> Floats:
    shown = np.zeros((len(events), len(COLOURS) + len(TYPES)))
    for row, (colour, kind) in zip(shown, events, strict=True):
        row[[colour, len(COLOURS) + kind]] = 1.0
    return shown.ravel()


def two(rng: np.random.Generator) -> Events:
    one, other = rng.integers([len(COLOURS), len(TYPES)], size=(2, 2)).tolist()
    return (tuple(one), tuple(other))


def taught(say: Say, number: int, seed: int, waves: int = 0) -> KeywordsModel:
    rng = np.random.default_rng(seed)
    model = Keywords(waves=waves).build(Facts(2 * (len(COLOURS) + len(TYPES)), None), rng)
    for _ in range(number):
        events = two(rng)
        model.learn(features(events), say(events, rng))
    return model


def success(model: KeywordsModel, say: Say, tasks: int = 200) -> float:
    """The share of requests met among 12 candidates, one of them with the two things exchanged."""
    rng = np.random.default_rng(77)
    met = 0
    for _ in range(tasks):
        asked = two(rng)
        shown = [asked, asked[::-1], *(two(rng) for _ in range(10))]
        estimates = model.estimates(say(asked, rng), Listed([features(one) for one in shown]))
        met += shown[int(rng.permutation(np.flatnonzero(estimates == estimates.max()))[0])] == asked
    return met / tasks


@pytest.mark.parametrize("say", [put, sequence])
@pytest.mark.parametrize("waves", [0, 50])
def test_order_is_learned_where_a_bag_of_words_stalls(
    say: Say, waves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert success(taught(say, 300, 0, waves), say) >= 0.98
    monkeypatch.setattr("tellback.models.keywords.telling", lambda *_: [])
    assert success(taught(say, 300, 0, waves), say) < 0.7


def placed_columns(model: KeywordsModel) -> list[str]:
    return [name for name in model._columns._column if " " in name]


def test_places_that_tell_nothing_have_no_columns() -> None:
    found = [placed_columns(taught(bag, 512, seed)) for seed in range(5)]
    assert sum(map(len, found)) <= 2
    assert placed_columns(taught(put, 512, 0))


def test_candidates_occur_in_the_place_and_elsewhere() -> None:
    sentences = [["red", "to", "box"]] * 3 + [["box", "to", "red"]] * 3 + [["red", "to", "key"]] * 2
    found = candidates(sentences)
    assert sorted(found.names) == ["box -", "box to", "red -", "red to"]
    by_name = dict(zip(found.names, found.placed.T.tolist(), strict=True))
    assert by_name["red to"] == [0, 0, 0, 1, 1, 1, 0, 0]


def test_what_is_left_over_is_computed_without_the_description_itself() -> None:
    rng = np.random.default_rng(3)
    events = [two(rng) for _ in range(60)]
    sentences = [put(one, rng).split() for one in events]
    points = np.array([features(one) for one in events])
    weights = rng.uniform(0.5, 1.0, 60)
    plain = rng.integers(2, size=(60, 4)).astype(np.float64)
    names, placed = candidates(sentences)
    told = np.hstack([plain, np.ones((60, 1))])

    def solved(inputs: Floats, outputs: Floats, w: Floats) -> Floats:
        gram = inputs.T @ (inputs * w[:, None]) + RIDGE * np.eye(inputs.shape[1])
        found: Floats = np.linalg.solve(gram, inputs.T @ (outputs * w[:, None])).astype(float)
        return found

    beyond = placed - told @ solved(told, placed, weights)
    left = np.zeros(len(names))
    for n in range(60):
        without = weights * (np.arange(60) != n)
        left += weights[n] * (beyond[n] - points[n] @ solved(points, beyond, without)) ** 2
    gain = weights @ beyond**2 - left
    chance = 2 * np.log(len(names)) * left / 60
    chosen = telling(sentences, plain, points, weights, len(names))
    assert set(chosen) == {name for i, name in enumerate(names) if gain[i] > chance[i]}
    assert 0 < len(chosen) < len(names)
    assert telling(sentences, plain, points, weights, 2) == chosen[:2]


def test_the_columns_stay_bounded() -> None:
    rng = np.random.default_rng(4)
    model = Keywords(waves=0).build(Facts(2, None), rng)
    for n in range(1024):
        side = n % 2
        first, second = rng.integers(150, size=2)[[side, 1 - side]]
        model.learn(np.eye(2)[side], f"w{first} next w{second} rare{n}")
    assert len(model._columns) == MOST_WORDS
    assert len(placed_columns(model)) <= MOST_PLACED


@pytest.mark.parametrize("cut", [150, 256, 300])
def test_a_restored_model_with_placed_words_goes_on_to_the_bit(cut: int) -> None:
    model, rng = taught(put, cut, 5), np.random.default_rng(6)
    assert placed_columns(model)
    other = taught(bag, 3, 7)
    other.restore(model.state())
    responses = Listed([features(two(rng)) for _ in range(5)])
    for _ in range(512 - cut):
        events = two(rng)
        said = put(events, rng)
        for each in (model, other):
            each.learn(features(events), said)
        np.testing.assert_array_equal(
            model.estimates(said, responses), other.estimates(said, responses)
        )
    one, same = model.state(), other.state()
    for name in one:
        np.testing.assert_array_equal(one[name], same[name], err_msg=name)


class Six:
    """Six responses, each with one name, and requests by name."""

    facts = Facts(6, None)
    responses = Listed(np.eye(6))

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return Task(None, f"go {int(rng.integers(6))}", self.responses)

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> str:
        return f"go {response}"

    def reward(self, task: Task, response: Any) -> float:
        return float(task.instruction == f"go {response}")

    def best(self, task: Task) -> float:
        return 1.0


@pytest.mark.parametrize("waves", [0, 200])
def test_a_word_never_heard_leads_to_a_response_never_described(waves: int) -> None:
    for seed in range(5):
        run = play(Six(), Greedy(model=Keywords(waves=waves)), 120, seed=seed)
        assert run.regrets[-40:].mean() <= 0.05
