"""How trajectories in BabyAI are made: of large steps, and of single actions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.worlds.babyai import BabyAI
from tellback.worlds.babyai_grid import DONE, DROP, PICKUP, Things, take_step, things_of
from tests.support.babyai_env import started

LARGE, SINGLE = "waypoints", "moves"
SMALL = {LARGE: BabyAI("PutNextS5N1", steps=20), SINGLE: BabyAI("GoToObjS4", steps=3)}
"""Scenes with few trajectories, so that each is drawn often."""


def grammar_of(name: str, number: int = 0) -> Any:
    return SMALL[name].mission(number).responses.grammar(name)


def log_ratio(grammar: Any, response: str, before: Array, after: Array) -> float:
    """The change of a log-probability, by Simpson's rule over the scores on the way."""
    total = 0.0
    for i, part in enumerate((1, 4, 2, 4, 2, 4, 2, 4, 1)):
        total += part * (
            grammar.score(response, before + i / 8 * (after - before)) @ (after - before)
        )
    return total / 24


@pytest.mark.parametrize("name", [LARGE, SINGLE])
@pytest.mark.parametrize("number", [0, 1])
def test_scores_are_the_gradients_of_the_probabilities_of_draws(name: str, number: int) -> None:
    grammar, rng = grammar_of(name, number), np.random.default_rng(number)
    before, after = rng.normal(scale=0.5, size=(2, grammar.dim))
    n = 20_000
    first, second = (Counter(grammar.draw(w, n, rng)) for w in (before, after))
    often = [one for one in first if first[one] > 200 and second[one] > 200]
    assert len(often) >= 4
    for one in often:
        found = np.log(second[one] / first[one])
        error = np.sqrt(1 / first[one] + 1 / second[one])
        assert abs(found - log_ratio(grammar, one, before, after)) < 5 * error, one


@pytest.mark.parametrize("name", [LARGE, SINGLE])
@pytest.mark.parametrize("level", ["PutNextLocal", "GoToSeqS5R2"])
def test_the_mean_score_of_draws_is_zero(name: str, level: str) -> None:
    grammar = BabyAI(level, steps=24).mission(3).responses.grammar(name)
    rng = np.random.default_rng(0)
    weights = rng.normal(scale=0.3, size=grammar.dim)
    drawn = grammar.draw(weights, 1500, rng)
    along = rng.normal(size=(grammar.dim, 20))
    scores = np.array([grammar.score(one, weights) @ along for one in drawn])
    error = scores.std(axis=0) / np.sqrt(len(scores))
    assert (np.abs(scores.mean(axis=0)) <= 4 * error).all()


def test_without_weights_every_sort_of_large_step_is_as_likely() -> None:
    """With one thing, and empty hands, those are: go to it, and take it."""
    grammar = BabyAI("GoToObjS4").mission(1).responses.grammar(LARGE)
    drawn = grammar.draw(np.zeros(grammar.dim), 4000, np.random.default_rng(0))
    first = Counter(min(one.find(a) % 99 for a in ".p") == one.find(".") % 99 for one in drawn)
    assert first[True] == pytest.approx(2000, abs=5 * np.sqrt(1000))


def played(things: Things, response: str) -> Things:
    state = Things(*(part.copy() for part in things))
    for letter in response:
        parts = (state.grid, state.types, state.colours, state.doors, state.agent)
        take_step(ord(letter), *parts)
    return state


@pytest.mark.parametrize("level", ["PutNextLocal", "GoToSeqS5R2", "UnblockPickup"])
def test_large_steps_end_in_front_of_a_thing_take_one_or_put_one_down(level: str) -> None:
    task = BabyAI(level).mission(2)
    things, grammar = things_of(task.context), task.responses.grammar(LARGE)
    for response in grammar.draw(np.zeros(grammar.dim), 60, np.random.default_rng(0)):
        assert response in task.responses
        for end, letter in enumerate(response):
            before, after = played(things, response[:end]), played(things, response[: end + 1])
            held, holds = before.agent[3] >= 0, after.agent[3] >= 0
            x, y, towards = after.agent[:3]
            dx, dy = ((1, 0), (0, 1), (-1, 0), (0, -1))[towards]
            if ord(letter) == DONE:
                assert after.grid[x + dx, y + dy] >= 0
            elif ord(letter) in (PICKUP, DROP):
                assert held != holds
        assert ord(response[-1]) in (DONE, PICKUP, DROP)


@pytest.mark.parametrize("level", ["PutNextLocal", "GoToSeqS5R2"])
def test_single_actions_all_change_something_and_destroy_nothing(level: str) -> None:
    task = BabyAI(level).mission(2)
    things, grammar = things_of(task.context), task.responses.grammar(SINGLE)
    for response in grammar.draw(np.zeros(grammar.dim), 20, np.random.default_rng(0)):
        assert response in task.responses
        state = things
        for letter in response:
            after = played(state, letter)
            same = all(np.array_equal(a, b) for a, b in zip(state, after, strict=True))
            assert same == (ord(letter) == DONE)
            assert (after.grid >= 0).sum() + (after.agent[3] >= 0) == len(things.types)
            state = after


@pytest.mark.parametrize("name", [LARGE, SINGLE])
def test_what_a_grammar_cannot_make_has_no_score(name: str) -> None:
    task = BabyAI("PutNextLocal").mission(0)
    grammar = task.responses.grammar(name)
    weights = np.zeros(grammar.dim)
    for response in ("", "d", "t" * 64):
        assert grammar.score(response, weights) is None
    assert task.responses.grammar(name) is grammar


def test_a_grammar_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(SettingError, match="'waypoints' and 'moves', not 'cells'"):
        BabyAI().mission(0).responses.grammar("cells")


def test_the_way_through_closed_doors_is_found() -> None:
    task = BabyAI("GoTo").mission(0)
    grammar = task.responses.grammar(LARGE)
    drawn = grammar.draw(np.zeros(grammar.dim), 200, np.random.default_rng(0))
    through = [one for one in drawn if "t" in one]
    assert through
    for one in through[:5]:
        assert grammar.score(one, np.zeros(grammar.dim)) is not None
    env = started("GoTo", 0)
    assert env.mission == task.instruction
