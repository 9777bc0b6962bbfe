"""How paths are made of waypoints, of moves, or as the way to a cell."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback.errors import UnknownNameError
from tellback.worlds import House
from tellback.worlds.house_grammars import _marks_of
from tellback.worlds.house_plan import MOVES, ground_of
from tests.worlds.test_house import SMALL, a_task, cells_of

SEEDS = st.integers(0, 10_000)
MOST = 3


def made_of_waypoints(task: Any, rooms: int, weights: Any) -> dict[str, list[float]]:
    """Every path that waypoints make, with the probability of each way to make it."""
    plan, routes = task.context, task.responses.routes
    ways = ground_of(plan).ways
    marks = _marks_of(plan, routes, rooms)
    width = marks.shape[1]
    first, later, stop = (weights[i * (width + 1) :][: width + 1] for i in range(3))
    stops = [stop[-1], weights[-1]]
    found: dict[str, list[float]] = defaultdict(list)

    def options(cell: int, left: int, pull: Any) -> dict[int, float]:
        open_ = [w for w in range(len(marks)) if 0 < routes.lengths[w, cell] <= left]
        scores = {w: marks[w] @ pull[:-1] + pull[-1] * routes.lengths[w, cell] / 10 for w in open_}
        total = sum(np.exp(score) for score in scores.values())
        return {w: np.exp(score) / total for w, score in scores.items()}

    def go_on(path: str, cell: int, met: int, last: int, chance: float) -> None:
        further = options(cell, plan.steps - len(path), first if met == 0 else later)
        if met == MOST or not further:
            found[path].append(chance)
            return
        stopping = 0.0
        if met:
            odds = marks[last] @ stop[:-1] + stops[0 if met == 1 else 1]
            stopping = 1 / (1 + np.exp(-odds))
            found[path].append(chance * stopping)
        for w, likely in further.items():
            moves, here = "", cell
            while routes.towards[w, here] >= 0:
                direction = routes.towards[w, here]
                moves += MOVES[direction]
                here = ways[here, direction]
            assert len(moves) == routes.lengths[w, cell]
            go_on(path + moves, here, met + 1, w, chance * (1 - stopping) * likely)

    go_on("", plan.start, 0, -1, 1.0)
    return found


@given(SEEDS)
@settings(max_examples=6, deadline=None)
def test_waypoints_are_scored_as_an_enumeration_of_all_of_them_says(seed: int) -> None:
    task = a_task(SMALL, seed)
    steps = task.responses.grammar("waypoints")
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=steps.dim)
    ways = made_of_waypoints(task, SMALL.rooms, weights)
    assert sum(map(sum, ways.values())) == pytest.approx(1)
    drawn = steps.draw(weights, 3000, rng)
    assert set(drawn) <= set(ways)
    likeliest = max(ways, key=lambda path: sum(ways[path]))
    share, expected = drawn.count(likeliest) / 3000, sum(ways[likeliest])
    assert abs(share - expected) < 5 * np.sqrt(expected / 3000)
    for path in list(dict.fromkeys(drawn))[:3]:
        slope = steps.score(path, weights)
        along = rng.normal(size=steps.dim)
        up, down = (
            np.log(max(made_of_waypoints(task, SMALL.rooms, weights + h * along)[path]))
            for h in (1e-5, -1e-5)
        )
        assert slope @ along == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("name", ["moves", "cells"])
@pytest.mark.parametrize("seed", [1, 2])
def test_scores_of_what_is_drawn_are_0_on_average(name: str, seed: int) -> None:
    steps = a_task(SMALL, seed).responses.grammar(name)
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=steps.dim)
    slopes = np.array([steps.score(path, weights) for path in steps.draw(weights, 2000, rng)])
    error = slopes.std(axis=0) / np.sqrt(len(slopes))
    assert (np.abs(slopes.mean(axis=0)) <= 5 * error + 1e-9).all()
    assert error.max() > 0


@given(SEEDS, st.sampled_from(["waypoints", "moves", "cells"]))
@settings(max_examples=20, deadline=None)
def test_what_is_drawn_is_a_path_that_can_be_learned(seed: int, name: str) -> None:
    task = a_task(House(), seed)
    steps = task.responses.grammar(name)
    rng = np.random.default_rng(seed)
    weights = 3 * rng.normal(size=steps.dim)
    for path in steps.draw(weights, 10, rng):
        assert path in task.responses
        slope = steps.score(path, weights)
        assert slope is not None
        assert np.isfinite(slope).all()
    assert steps.score("N" * 30, weights) is None
    if name != "moves":
        cell = task.context.start
        there = next(
            m for m, to in zip(MOVES, ground_of(task.context).ways[cell], strict=True) if to >= 0
        )
        back = MOVES[(MOVES.index(there) + 2) % 4]
        assert steps.score((there + back) * 5, weights) is None


def test_the_way_to_a_cell_is_a_shortest_one() -> None:
    task = a_task(House(), 3)
    drawn = task.responses.grammar("cells").draw(
        np.zeros(task.responses.grammar("cells").dim), 200, np.random.default_rng(0)
    )
    walked = task.responses.draw(300, np.random.default_rng(1))
    far = {cells_of(task.context, path)[-1]: len(path) for path in drawn}
    for path in walked:
        assert len(path) >= far.get(cells_of(task.context, path)[-1], 0)
    assert len(far) > 50


def test_an_unknown_grammar_gets_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="waypoints"):
        a_task(SMALL, 1).responses.grammar("waypoint")
