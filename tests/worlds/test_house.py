"""The house: plans, paths, what the teacher says of them, and the best of all paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import Ledger, Task, check, play
from tellback.agents import Greedy, LogLinear, Proposing, recommended
from tellback.errors import SettingError
from tellback.models import Keywords
from tellback.streams import Streams
from tellback.worlds import House
from tellback.worlds.house_drawing import Frame, draw_film, draw_house, draw_strip
from tellback.worlds.house_paths import Paths, count_paths
from tellback.worlds.house_plan import CELL, COLOUR, DOOR, MOVES, TYPE, WALL, Plan
from tellback.worlds.house_words import (
    ANY,
    ASKING,
    PAST,
    ROOM,
    TEACHING,
    THING,
    THROUGH,
    Meaning,
    speech,
)

SMALL = House(width=7, height=5, rooms=3, things=3, steps=7, synonyms=1)
SEEDS = st.integers(0, 10_000)
MODEL = Keywords(waves=0, lam=3.0, noise=6.0)


def a_task(world: House, seed: int) -> Task:
    live = world.build(np.random.default_rng(0)).world
    return live.task(1, (), np.random.default_rng(seed))


def beyond(plan: Plan, cell: int, move: str) -> int | None:
    """The cell that a move leads to, or None."""
    row, column = divmod(cell, plan.width)
    row += {"N": -1, "S": 1}.get(move, 0)
    column += {"W": -1, "E": 1}.get(move, 0)
    if not (0 <= row < plan.height and 0 <= column < plan.width):
        return None
    there = row * plan.width + column
    blocked = plan.rooms[there] == WALL or there in plan.things[:, CELL]
    return None if blocked else there


def cells_of(plan: Plan, path: str) -> list[int]:
    cells = [plan.start]
    for move in path:
        then = beyond(plan, cells[-1], move)
        assert then is not None
        cells.append(then)
    return cells


def beside(plan: Plan, cell: int) -> set[int]:
    """The things that a cell is beside."""
    row, column = divmod(cell, plan.width)
    places = [divmod(int(there), plan.width) for there in plan.things[:, CELL]]
    return {k for k, (y, x) in enumerate(places) if abs(y - row) + abs(x - column) == 1}


def all_paths(plan: Plan) -> Iterator[str]:
    waiting = [("", plan.start)]
    while waiting:
        path, cell = waiting.pop()
        yield path
        if len(path) < plan.steps:
            for move in MOVES:
                then = beyond(plan, cell, move)
                if then is not None:
                    waiting.append((path + move, then))


@given(SEEDS, st.sampled_from([House(), SMALL, House(20, 16, rooms=8, things=12)]))
@settings(max_examples=30, deadline=None)
def test_every_free_cell_can_be_reached_and_every_room_is_there(seed: int, world: House) -> None:
    plan = a_task(world, seed).context
    met, waiting = {plan.start}, [plan.start]
    while waiting:
        cell = waiting.pop()
        then = {beyond(plan, cell, move) for move in MOVES} - met - {None}
        met |= then
        waiting += then
    free = set(np.flatnonzero(plan.rooms != WALL).tolist()) - set(plan.things[:, CELL].tolist())
    assert met == free
    assert {int(room) for room in plan.rooms if room >= 0} == set(range(world.rooms))
    assert len({(kind, colour) for kind, colour, _ in plan.things.tolist()}) == world.things
    assert plan.rooms[plan.start] >= 0


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_responses_are_the_legal_paths_that_are_short_enough(seed: int) -> None:
    task = a_task(SMALL, seed)
    plan, paths = task.context, task.responses
    legal = set(all_paths(plan))
    assert count_paths(plan) == len(legal)
    rng = np.random.default_rng(seed)
    tried = {"".join(rng.choice(list(MOVES), rng.integers(0, 9))) for _ in range(200)}
    assert {path for path in tried if path in paths} == tried & legal
    for junk in (None, 3, ("N",), "n", "NX", "é", "N" * 31, b"N", np.str_("")):
        assert junk not in paths
    assert all(path in paths for path in paths.draw(20, rng))


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_the_best_is_the_best_of_all_paths(seed: int) -> None:
    for world in (SMALL, SMALL.with_settings({"wordings": "disjoint"})):
        truth: Any = world.build(np.random.default_rng(0)).truth
        task, other = a_task(world, seed), a_task(world, seed + 1)
        every = list(all_paths(task.context))
        for x in (task.instruction, other.instruction, "sing"):
            asked = task._replace(instruction=x)
            assert truth.best(asked) == pytest.approx(truth.rewards(asked, every).max(), abs=1e-12)
        assert truth.best(task) > 0
        assert truth.rewards(task, ["NX"])[0] == truth.reward(task, "") * 0


@given(SEEDS)
@settings(max_examples=8, deadline=None)
def test_probabilities_of_all_sentences_sum_to_1(seed: int) -> None:
    task = a_task(SMALL, seed)
    truth: Any = SMALL.build(np.random.default_rng(0)).truth
    spoken = speech(1, SMALL.rooms, TEACHING)
    byways, goals = spoken.phrases()
    ends = [" ".join(filter(None, [byway, "to", goal])) for byway in byways for goal in goals]
    for path in task.responses.draw(2, np.random.default_rng(seed)):
        total = sum(
            truth.reward(task._replace(instruction=f"{opening} {end}"), path)
            for opening in TEACHING[:1]
            for end in ends
        )
        assert total * len(TEACHING) == pytest.approx(1)


def chance_by_hand(plan: Plan, path: str, meant: Meaning) -> float:
    """The rule of ``house_rewards``, from the cells of a path alone."""
    cells = cells_of(plan, path)
    end, things = cells[-1], plan.things.tolist()
    near = beside(plan, end)
    passed = set().union(*(beside(plan, cell) for cell in cells)) - near
    met = {int(plan.rooms[cell]) for cell in cells} - {DOOR}
    between = met - {int(plan.rooms[plan.start]), int(plan.rooms[end])}
    if meant.way == PAST:
        named = [k for k in passed if things[k][TYPE] == meant.by]
        way = 0.25 * len(named) / max(1, len(passed))
    elif meant.way == THROUGH:
        way = 0.25 * (meant.by in between) / max(1, len(between))
    else:
        way = 1 - 0.25 * bool(passed) - 0.25 * bool(between)
    if meant.goal == THING:
        fitting = [
            k
            for k in near
            if things[k][TYPE] == meant.what and meant.colour in (ANY, things[k][COLOUR])
        ]
        return float(way * 0.75 * len(fitting) / max(1, len(near)))
    here = plan.rooms[end] == (meant.what if meant.goal == ROOM else DOOR)
    return float(way * here * (0.25 if near else 1.0))


@given(SEEDS)
@settings(max_examples=8, deadline=None)
def test_rewards_are_the_probabilities_of_the_rule_for_every_path(seed: int) -> None:
    simulation = SMALL.build(np.random.default_rng(0))
    truth: Any = simulation.truth
    task, rng = a_task(SMALL, seed), np.random.default_rng(seed)
    every = list(all_paths(task.context))
    told = speech(1, SMALL.rooms, TEACHING)
    for path in rng.choice(every, 4):
        said = str(simulation.teacher.describe(task.context, str(path), rng))
        meant, likely = told.understand(said) or pytest.fail(said)
        found = truth.rewards(task._replace(instruction=said), every)
        expected = [likely * chance_by_hand(task.context, one, meant) for one in every]
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert found[every.index(str(path))] > 0


def test_the_teacher_speaks_as_often_as_the_truth_says() -> None:
    simulation = SMALL.build(np.random.default_rng(0))
    task, rng = a_task(SMALL, 4), np.random.default_rng(4)
    path = task.responses.grammar("waypoints").draw(
        np.zeros(task.responses.grammar("waypoints").dim), 1, rng
    )[0]
    said = [str(simulation.teacher.describe(task.context, path, rng)) for _ in range(2000)]
    truth: Any = simulation.truth
    for sentence in set(said):
        expected = truth.reward(task._replace(instruction=sentence), path)
        error = np.sqrt(expected * (1 - expected) / len(said))
        assert abs(said.count(sentence) / len(said) - expected) < 5 * error


def test_every_sentence_has_one_meaning_and_is_understood() -> None:
    for openings in (TEACHING, ASKING):
        spoken = speech(3, 8, openings)
        byways, goals = spoken.phrases()
        assert len(set(byways)) == len(byways)
        assert len(set(goals)) == len(goals)
        for byway, goal in zip(byways, np.resize(goals, len(byways)), strict=True):
            sentence = " ".join(filter(None, [openings[-1], byway, "to", str(goal)]))
            assert spoken.understand(sentence) is not None
        assert spoken.understand("go to the moon") is None
    assert not set(TEACHING) & set(ASKING)


@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_features_say_where_a_path_ends_and_what_it_passes(seed: int) -> None:
    world = House()
    task = a_task(world, seed)
    plan, rng = task.context, np.random.default_rng(seed)
    drawn_paths = task.responses.draw(20, rng)
    for path, row in zip(drawn_paths, task.responses.matrix_of(drawn_paths), strict=True):
        cells = cells_of(plan, path)
        end = cells[-1]
        near = beside(plan, end)
        passed = set().union(*(beside(plan, cell) for cell in cells)) - near
        rooms = {int(plan.rooms[cell]) for cell in cells} - {DOOR}
        between = rooms - {int(plan.rooms[plan.start]), int(plan.rooms[end])}
        expected = np.zeros(len(row))
        if plan.rooms[end] >= 0:
            expected[plan.rooms[end]] = 1
        for room in between:
            expected[6 + room] = 1 / len(between)
        for k in near:
            expected[12 + plan.things[k, TYPE]] += 1 / len(near)
            expected[20 + plan.things[k, COLOUR]] += 1 / len(near)
        for k in passed:
            expected[26 + plan.things[k, TYPE]] += 1 / len(passed)
        expected[34:] = [plan.rooms[end] == DOOR, not between, not near, not passed]
        np.testing.assert_allclose(row, expected)
    with pytest.raises(SettingError, match="paths"):
        task.responses.matrix_of(["N" * 30])


def test_what_is_no_house_is_refused() -> None:
    for wrong, name in (
        ({"rooms": 9}, "rooms"),
        ({"things": 13}, "things"),
        ({"synonyms": 4}, "synonyms"),
        ({"wordings": "alike"}, "wordings"),
        ({"width": 4, "height": 4}, "no place"),
        ({"things": 12, "width": 7, "height": 6, "rooms": 4}, "no place"),
        ({"steps": 0}, "steps"),
    ):
        with pytest.raises(SettingError, match=name):
            House().with_settings(wrong)


@pytest.mark.parametrize("world", [House(), House(wordings="disjoint")], ids=["same", "disjoint"])
def test_a_house_keeps_to_the_protocol(world: House) -> None:
    report = check(world)
    assert report, str(report)


def test_with_disjoint_wordings_no_description_is_a_request_and_rewards_are_by_meaning() -> None:
    run = play(House(wordings="disjoint"), recommended(House()), 60, seed=3)
    assert run.by_meaning
    assert set(np.unique(run.rewards)) <= {0.0, 1.0}
    assert not run.matches.any()
    assert np.array_equal(run.rewards + run.regrets, np.ones(60))


def test_it_is_learned_saved_undone_and_played_in_a_process_of_its_own() -> None:
    agent = recommended(SMALL)
    run = play(SMALL, agent, 40, seed=2)
    alone = play(SMALL, agent, 40, seed=2, isolated=True)
    assert list(run.responses) == list(alone.responses)
    streams = Streams(2)
    live: Any = agent.build(SMALL.facts, streams.init("agent"))
    simulation = SMALL.build(streams.init("world"))
    ledger = Ledger(live, streams.stream("agent"), remember=True)
    before: Any = None
    for t in range(1, 9):
        task = simulation.world.task(t, (), streams.stream("world").at(t))
        choice = ledger.ask(t, task)
        told = simulation.teacher.describe(task.context, choice.response, np.random.default_rng(t))
        if t == 8:
            before = live.state()
        ledger.tell(t, str(told))
    assert ledger.withdraw(8)
    for name, value in live.state().items():
        np.testing.assert_array_equal(value, before[name])
    other: Any = agent.build(SMALL.facts, streams.init("agent"))
    other.restore(before)
    tried = simulation.world.task(9, (), streams.stream("world").at(9))
    first, second = (one.respond(tried, np.random.default_rng(0)) for one in (live, other))
    assert first.response == second.response


def test_an_agent_learns_to_follow_requests() -> None:
    agent = Proposing(Greedy(model=MODEL), LogLinear("waypoints"))
    run = play(House(), agent, 500, seed=1001)
    assert np.mean(run.rewards[-150:] > 0) > 0.85
    assert np.mean(run.rewards[-150:] > 0) > 1.2 * np.mean(run.rewards[:50] > 0)


def test_a_drawing_is_xml_with_names_and_a_path() -> None:
    task = a_task(House(), 5)
    path = task.responses.draw(1, np.random.default_rng(0))[0]
    svg = draw_house(task.context, path, "past <it> & on", width=300)
    texts = [one.text for one in ElementTree.fromstring(svg).iter()]
    assert {"kitchen", "hall", "past <it> & on"} <= set(texts)
    assert "polyline" in svg
    assert "polyline" not in draw_house(task.context)
    with pytest.raises(SettingError, match="no path"):
        draw_house(task.context, "X")


def test_a_film_needs_no_script_and_stands_still_for_who_wants_no_motion() -> None:
    task = a_task(House(), 5)
    drawn = task.responses.draw(3, np.random.default_rng(0))
    frames = [Frame(f"after {n} & more", path) for n, path in enumerate(drawn)]
    for draw in (draw_strip, draw_film):
        svg = draw(task.context, frames, "go <there>")
        texts = [one.text for one in ElementTree.fromstring(svg).iter()]
        assert {"after 0 & more", "after 2 & more", "go <there>"} <= set(texts)
        assert "<script" not in svg
        assert svg.count("http") == svg.count("http://www.w3.org/2000/svg")
        assert len(svg) < 150_000
        with pytest.raises(SettingError, match="no path"):
            draw(task.context, [Frame("", "X")], "")
    style, moving = draw_film(task.context, frames, "x").split("prefers-reduced-motion", 1)
    assert "animation" not in style
    assert ".frame2{opacity:1}" in style
    assert "infinite" in moving


def test_paths_cannot_be_changed() -> None:
    paths: Paths = a_task(SMALL, 1).responses
    with pytest.raises(AttributeError):
        paths.dim = 3
