"""Exams on held-out tasks, what is found over seeds, and the film of one request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tellback.agents import Blind, Greedy, LogLinear, Proposing, Uniform
from tellback.errors import SettingError
from tellback.lab import Store
from tellback.models import Phrases
from tellback.trajectories.film import film_of, write_film
from tellback.trajectories.findings import PathFindings, responses_of, run_trajectories
from tellback.trajectories.held_out import MEASURES, HeldOutRun, held_out_tasks
from tellback.trajectories.house import house
from tellback.trajectories.plan import Bar, Condition, Fewer, Growth, Trajectories
from tellback.trajectories.report import bars_section
from tellback.worlds import House

SMALL = House(width=7, height=5, rooms=3, things=3, steps=6, synonyms=1)
AGENT = Proposing(Greedy(model=Phrases()), LogLinear("waypoints"), 8, 2)
WALKS = Proposing(Greedy(model=Phrases()), Blind(), 8)


def tiny() -> Trajectories:
    """All that a benchmark has, in small houses."""
    return Trajectories(
        "house",
        "Small houses",
        (
            Condition("agents", "learned", SMALL, AGENT, (0, 30)),
            Condition("agents", "walks", SMALL, WALKS, (0, 30)),
            Condition("agents", "random", SMALL, Uniform(), (0, 1)),
            Condition("steps", "4", SMALL.with_settings({"steps": 4}), AGENT, (20,)),
            Condition("steps", "6", SMALL, AGENT, (20,)),
        ),
        (Bar("agents", "learned", 30, "success", 0.01), Bar("agents", "walks", 30, "reward", 1.0)),
        Growth("steps", 0.05),
        Fewer("agents", "learned", "walks", 30),
        ("agents", "learned"),
        seeds=(0, 1),
        scale=0.01,
    )


def test_a_run_is_examined_at_its_marks_and_gives_the_same_again() -> None:
    run = HeldOutRun(SMALL, AGENT, 20, 3, marks=(0, 20), tasks=30)
    first, about = run.perform()
    again, _ = run.perform()
    np.testing.assert_array_equal(first, again)
    found = dict(zip(MEASURES, first.reshape(len(MEASURES), 2), strict=True))
    assert found["rounds"].tolist() == [0, 20]
    assert (found["success"] <= found["attainable"]).all()
    assert (found["reward"] <= found["success"]).all()
    assert found["regret"][0] == 0 <= found["regret"][1]
    assert [len(given) for given in about["answers"]] == [30, 30]
    with pytest.raises(SettingError, match="marks"):
        HeldOutRun(SMALL, AGENT, 20, 3, marks=(0, 10))


def test_no_round_of_a_run_has_a_task_of_its_exam() -> None:
    simulation = SMALL.build(np.random.default_rng(0))
    asked = held_out_tasks(SMALL, simulation, 40, seed=3)
    again = held_out_tasks(SMALL, simulation, 40, seed=3)
    assert [str(one) for one in asked.tasks] == [str(one) for one in again.tasks]
    from tellback.streams import Streams

    stream = Streams(3).stream("world")
    played = {
        simulation.world.task(t, (), stream.at(t)).context.rooms.tobytes() for t in range(1, 41)
    }
    both = {one.context.rooms.tobytes() for one in asked.tasks} & played
    assert len(both) < 10  # so small houses are sometimes alike by chance


def test_the_slope_is_that_of_log_regret_in_log_paths() -> None:
    benchmark = tiny()
    few, many = benchmark.conditions[3:]
    sizes = [responses_of(one.world) for one in (few, many)]
    assert sizes[0] + 0.5 < sizes[1]
    found = PathFindings(benchmark)
    for one, size in zip((few, many), sizes, strict=True):
        column = np.zeros((len(MEASURES), 1))
        column[MEASURES.index("regret")] = 3 * 10 ** (0.2 * size)
        found.curves[one] = [column, 2 * column, 3 * column]
    slope = found.slope()
    assert slope is not None
    assert slope.mean == pytest.approx(0.2)
    assert slope.low == pytest.approx(0.2)
    assert slope.n == 3
    assert PathFindings(replace(benchmark, growth=None)).slope() is None


def test_an_agent_is_so_many_times_quicker_to_anothers_final_success() -> None:
    benchmark = replace(tiny(), scale=1.0)
    learned, walks = (replace(one, marks=(0, 10, 100, 1000)) for one in benchmark.conditions[:2])
    found = PathFindings(replace(benchmark, conditions=(learned, walks)))

    def curve(*success: float) -> Any:
        rows = np.zeros((len(MEASURES), 4))
        rows[0] = success
        return rows

    found.curves = {learned: [curve(0, 0.4, 0.6, 1)] * 2, walks: [curve(0, 0.1, 0.2, 0.5)] * 2}
    assert found.fewer() == 10
    found.curves[walks] = [curve(0, 1, 1, 1)] * 2
    assert found.fewer() == 1
    found.curves[learned] = [curve(0, 0, 0, 0)] * 2
    assert found.fewer() == 0


def test_bars_are_judged_and_a_film_is_drawn(tmp_path: Path) -> None:
    found = run_trajectories(tiny(), Store(tmp_path / "runs"), on="inline")
    verdicts = [row[-1] for row in bars_section(found).rows]
    assert [str(one).split(",")[0] for one in verdicts[:2]] == ["reached", "not reached"]
    assert len(verdicts) == 4
    learned = found.named("agents", "learned")
    assert learned is not None
    film = film_of(found, learned)
    assert film is not None
    assert [one.caption.split(":")[0] for one in film.frames] == ["after 0 descriptions"]
    for path in write_film(film, tmp_path):
        ElementTree.fromstring(path.read_text())
    found.answers.clear()
    assert film_of(found, learned) is None


def test_the_benchmark_of_the_house_is_on_seeds_that_no_setting_was_chosen_on() -> None:
    plan = house()
    assert plan.seeds == tuple(range(20))
    runs = list(plan.runs())
    for bar in plan.bars:
        mine = [one for one, _ in runs if (one.panel, one.name) == (bar.panel, bar.name)]
        assert len(mine) == len(plan.seeds)
        assert bar.mark in mine[0].marks
    with pytest.raises(SettingError, match="seeds"):
        plan.smaller(1.0, (1, 1))
