"""What the benchmark in BabyAI runs."""

from __future__ import annotations

from tellback.trajectories.babyai import BOT, HARDER, LEVELS, RANDOM, babyai


def test_every_level_has_a_bound_from_above_and_one_from_below() -> None:
    conditions = babyai().conditions
    for level in (*LEVELS, *HARDER):
        names = {one.name: one for one in conditions if one.panel == level}
        assert {BOT, RANDOM} < set(names)
        assert all(one.world == names[BOT].world for one in names.values())
        assert names[BOT].agent.steps == names[BOT].world.steps  # type: ignore[attr-defined]


def test_every_bar_is_of_a_condition_that_is_examined_then() -> None:
    plan = babyai()
    examined = {(one.panel, one.name, mark) for one in plan.conditions for mark in one.marks}
    assert {(bar.panel, bar.name, bar.mark) for bar in plan.bars} <= examined


def test_every_run_of_the_plan_can_be_made() -> None:
    plan = babyai()
    assert {condition for condition, _ in plan.runs()} == set(plan.conditions)
