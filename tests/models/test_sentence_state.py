"""A model of sentences keeps a compressed log, and comes back from its state to the bit."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellback
from tellback import play, rounds
from tellback.agents import LORIL, AgentSpec, Greedy, ModelAgent
from tellback.errors import SettingError, TellbackError
from tellback.models import Sentence
from tellback.roles import State
from tests.support.sentence_models import (
    DIM,
    SAID,
    WORLD,
    assert_same_state,
    estimated,
    new_model,
    some_lessons,
    taught,
    teach,
)

# What is kept.


def test_repeated_descriptions_are_kept_as_few_entries() -> None:
    rng = np.random.default_rng(0)
    pairs = [(rng.standard_normal(DIM), SAID[i % len(SAID)]) for i in range(20)]
    model = new_model()
    sizes = []
    for time in range(100):
        teach(model, [pairs[i] for i in rng.permutation(20)])
        if time in (0, 49, 99):
            sizes.append(sum(np.asarray(value).nbytes for value in model.state().values()))
    state: Any = model.state()
    assert model.described == len(state["described"]) == 2000
    assert len(state["entry_features"]) == len(state["entry_sentences"]) == 20
    assert len(state["sentences"]) == len(SAID)
    # Nothing but one number a description is added.
    assert (sizes[1] - sizes[0], sizes[2] - sizes[1]) == (49 * 20 * 8, 50 * 20 * 8)
    np.testing.assert_array_equal(np.bincount(state["described"]), np.full(20, 100))


def test_features_that_are_equal_in_single_precision_are_one_entry() -> None:
    g = np.array([0.1, -0.0, 3.0])
    model = taught(
        [(g, "A red square"), (g * (1 + 1e-12), "a RED square"), (abs(g), "a red square")]
    )
    state: Any = model.state()
    assert len(state["entry_features"]) == 1
    assert model.described == 3
    teach(model, [(g, "A red circle"), (g + 0.01, "A red square")])
    state = model.state()
    assert len(state["entry_features"]) == 3


def test_a_long_run_needs_no_more_memory_than_a_short_one() -> None:
    played = rounds(WORLD, Greedy(model=Sentence(steps=0, hidden=2, embedding=2)), seed=1)
    for _ in islice(played, 500):  # by then nearly all that can be said was said
        pass
    tracemalloc.start()
    try:
        for _ in islice(played, 500):
            pass
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 500 * 200  # bytes a round, some new entries among them


# Saved and restored.

TEXTS = st.sampled_from([*SAID, "", "so", "Совсем другое дело", "many new words at once, indeed!"])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), TEXTS), min_size=1, max_size=12), st.data())
def test_a_restored_model_goes_on_to_the_bit(told: list[tuple[int, str]], data: Any) -> None:
    features = np.random.default_rng(0).standard_normal((4, DIM))
    lessons = [(features[y], sentence) for y, sentence in told]
    half = data.draw(st.integers(0, len(lessons)))
    settings_: dict[str, Any] = {"steps": 2, "vocabulary": 8, "learning_rate": 0.01, "batch": 5}
    whole, first = taught(lessons, **settings_), taught(lessons[:half], **settings_)
    second = new_model(seed=77, **settings_)
    second.restore(first.state())
    assert_same_state(second.state(), first.state())
    teach(second, lessons[half:])
    assert_same_state(second.state(), whole.state())
    np.testing.assert_array_equal(estimated(second), estimated(whole))
    assert second.speak(features[0], np.random.default_rng(0)) == whole.speak(
        features[0], np.random.default_rng(0)
    )


def test_a_saved_state_does_not_follow_the_model() -> None:
    model = taught(some_lessons(5), steps=2)
    state = model.state()
    kept = {name: np.array(value) for name, value in state.items()}
    other = new_model(steps=2)
    other.restore(state)
    for one in (model, other):
        teach(one, some_lessons(5, seed=9))
    for name, value in kept.items():
        np.testing.assert_array_equal(state[name], value, err_msg=name)


@pytest.mark.parametrize("spec", [Greedy(), LORIL(k=0.3)], ids=lambda spec: spec.kind)
def test_a_run_saved_half_way_goes_on_to_the_bit(spec: AgentSpec, tmp_path: Path) -> None:
    agent = spec.with_settings({"model": Sentence(steps=3, hidden=6, learning_rate=0.01)})
    path = tmp_path / "agent.npz"
    whole = play(WORLD, agent, 60, seed=3)
    half: Any = play(WORLD, agent, 25, seed=3).agent
    half.save(path)
    loaded: Any = tellback.load(path)
    assert loaded.spec == half.spec
    assert_same_state(loaded.state(), half.state())
    rest = play(WORLD, loaded, 35, seed=3, start=25)
    np.testing.assert_array_equal(rest.estimates, whole.estimates[25:])
    np.testing.assert_array_equal(rest.responses, whole.responses[25:])
    of_whole: Any = whole.agent
    assert_same_state(
        {name: value for name, value in loaded.state().items() if name.startswith("model.")},
        {name: value for name, value in of_whole.state().items() if name.startswith("model.")},
    )


def first_row(change: Any) -> Callable[[Any], Any]:
    """Change the first entry of an array."""

    def damage(old: Any) -> Any:
        new = np.array(old)
        new[:1] = change
        return new

    return damage


def text(content: bytes) -> Callable[[Any], Any]:
    return lambda old: np.frombuffer(content, dtype=np.uint8)


def without_last_word(old: Any) -> Any:
    return np.frombuffer(old.tobytes().rsplit(b"\n", 1)[0], dtype=np.uint8)


def first_word_again(old: Any) -> Any:
    return np.frombuffer(old.tobytes() + b"\n" + old.tobytes().split(b"\n")[0], dtype=np.uint8)


DAMAGE: list[tuple[str, Callable[[Any], Any]]] = [
    ("words", text(b"\xff\xff")),
    ("words", text(b"")),
    ("words", without_last_word),
    ("words", first_word_again),
    ("vocabulary", lambda old: 2),
    ("vocabulary", lambda old: -1),
    ("vocabulary", lambda old: old + 1),
    ("vocabulary", lambda old: np.nan),
    ("words", lambda old: old.astype(np.float64)),
    *[
        (name, damage)
        for name in ("steps", "key")
        for damage in (
            lambda old: -1,
            lambda old: 2**63,
            lambda old: 0.5,
            lambda old: np.inf,
            lambda old: np.zeros(2),
        )
    ],
    ("second_moment", first_row(-1)),
    ("weights", lambda old: np.full(old.shape, 1e39)),
    ("described", lambda old: old[None]),
    ("described", lambda old: 0),
    ("described", lambda old: old + 0.5),
    ("entry_sentences", lambda old: 0),
    ("entry_features", lambda old: np.full(old.shape, 1e39)),
    ("described", first_row(-1)),
    ("described", lambda old: old + 1000),
    ("entry_features", first_row(np.nan)),
    ("entry_features", first_row(np.inf)),
    ("entry_features", lambda old: old[:-1]),
    ("entry_features", lambda old: old[:, :-1]),
    ("entry_features", lambda old: old.ravel()),
    ("entry_features", lambda old: old * 0),  # then entries repeat
    ("entry_sentences", first_row(-1)),
    ("entry_sentences", lambda old: old + 1000),
    ("entry_sentences", lambda old: old[:-1]),
    ("entry_sentences", lambda old: old[::-1]),
    ("sentences", first_row(-1)),
    ("sentences", first_row(1000)),
    ("sentences", lambda old: old[:-1]),
    ("sentences", lambda old: old[:, :1]),
    ("sentences", lambda old: old.ravel()),
    ("lengths", first_row(-1)),
    ("lengths", first_row(1000)),
    ("lengths", lambda old: old[:-1]),
    *[
        (name, damage)
        for name in ("weights", "first_moment", "second_moment")
        for damage in (
            first_row(np.nan),
            first_row(-np.inf),
            lambda old: old[:-1],
            lambda old: np.append(old, 0),
            lambda old: old[None],
            lambda old: 3.0,
        )
    ],
]


@pytest.fixture(scope="module")
def agents() -> tuple[ModelAgent, State]:
    """A live agent, and the state of one that has learned more and other things."""
    spec = Greedy(model=Sentence(steps=1, hidden=4, embedding=3))
    one, other = (play(WORLD, spec, number, seed=number).agent for number in (10, 30))
    assert isinstance(one, ModelAgent)
    assert isinstance(other, ModelAgent)
    return one, other.state()


@pytest.mark.parametrize(("name", "damage"), DAMAGE, ids=lambda part: str(part)[:20])
def test_a_damaged_state_is_refused_and_leaves_the_agent_as_it_was(
    name: str, damage: Callable[[Any], Any], agents: tuple[ModelAgent, State]
) -> None:
    agent, later = agents
    before = agent.state()
    with pytest.raises(SettingError):
        agent.restore({**later, f"model.{name}": damage(later[f"model.{name}"])})
    assert_same_state(agent.state(), before)


def test_a_state_that_lacks_something_leaves_the_agent_as_it_was(
    agents: tuple[ModelAgent, State],
) -> None:
    agent, later = agents
    before = agent.state()
    for name in later:
        with pytest.raises((KeyError, TellbackError)):
            agent.restore({key: value for key, value in later.items() if key != name})
        assert_same_state(agent.state(), before)


@pytest.mark.parametrize("change", [{"hidden": 5}, {"embedding": 4}, {"layers": 1}, {"dim": 4}])
def test_a_state_of_another_network_is_refused(change: dict[str, int]) -> None:
    model = taught(some_lessons(3))
    before = model.state()
    dim = change.pop("dim", DIM)
    other = new_model(dim=dim, **change)
    other.learn(np.zeros(dim), "A red square")
    with pytest.raises(SettingError, match="saved"):
        model.restore(other.state())
    assert_same_state(model.state(), before)


def test_a_file_with_a_damaged_model_is_named(
    agents: tuple[ModelAgent, State], tmp_path: Path
) -> None:
    path = tmp_path / "agent.npz"
    agents[0].save(path)
    with np.load(path) as file:
        arrays: dict[str, Any] = {name: file[name] for name in file.files}
    arrays["state.model.weights"] = arrays["state.model.weights"][:-1]
    np.savez(path, **arrays)
    with pytest.raises(TellbackError, match=r"agent\.npz.*The saved weights"):
        tellback.load(path)
