"""BabyAI as a world: missions, a teacher that says what was fulfilled last, and the truth."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import islice, product
from typing import Any

import numpy as np
import pytest
from minigrid.utils.baby_ai_bot import BabyAIBot

from tellback import Task, check, play, rounds
from tellback.agents import Uniform, recommended
from tellback.errors import SettingError
from tellback.streams import Streams
from tellback.trajectories.held_out import answer
from tellback.worlds import BabyAI
from tellback.worlds.babyai import HELD_OUT
from tellback.worlds.babyai_grid import COLOURS, TYPES, things_of
from tellback.worlds.babyai_levels import scene_of
from tests.support.babyai_env import ask, fulfilled_last, instruction, started, steps_needed
from tests.test_truth_is_hidden import Wanderer, reachable
from tests.worlds.test_babyai_grid import responses

pytestmark = pytest.mark.first

SMALL = BabyAI("GoToLocal", missions=64)


def built(level: str) -> Any:
    return BabyAI(level, missions=64).build(np.random.default_rng(0))


def all_sentences(level: str, env: Any) -> list[str]:
    """All sentences of one clause about things of the scene by colour and type."""
    things = things_of(scene_of(env))
    names = {f"{COLOURS[c]} {TYPES[t]}" for t, c in zip(things.types, things.colours, strict=True)}
    movable = [name for name in names if not name.endswith("door")]
    if level.startswith("PutNext"):
        said = [f"put a {one} next to a {other}" for one, other in product(movable, names)]
    elif level.startswith("GoTo"):
        said = [f"go to a {name}" for name in names]
    else:
        said = [f"pick up a {name}" for name in movable]
    return [instruction(one, env).surface(env) for one in said]


@pytest.mark.parametrize("level", ["GoToLocal", "GoToOpen", "UnblockPickup", "PutNextLocal"])
def test_the_teacher_says_what_minigrid_finds_fulfilled_last(level: str) -> None:
    teacher, described = built(level).teacher, 0
    for seed in range(4):
        env = started(level, seed)
        scene, sentences = scene_of(env), all_sentences(level, env)
        for response in responses(things_of(scene), seed):
            env = started(level, seed)
            said = set(teacher.probabilities(scene, response))
            assert said == fulfilled_last(env, response, sentences), (seed, response)
            described += bool(said)
    assert described > 10


@pytest.mark.parametrize("level", ["PickupLoc", "PickupDist", "GoToSeqS5R2", "MoveTwoAcrossS5N2"])
def test_whatever_the_teacher_may_say_is_true_for_minigrid(level: str) -> None:
    teacher, rng, verified = built(level).teacher, np.random.default_rng(0), 0
    for seed in range(6):
        scene = scene_of(started(level, seed))
        for response in responses(things_of(scene), seed)[4:]:
            may = list(teacher.probabilities(scene, response))
            for sentence in rng.permutation(may)[:5].tolist():
                env = started(level, seed)
                ask(env, sentence)
                assert steps_needed(env, response) > 0, (seed, sentence, response)
                verified += 1
    assert verified > 20


@pytest.mark.parametrize("level", ["PickupLoc", "PutNextLocal", "GoToSeqS5R2", "PickupDist"])
def test_probabilities_of_descriptions_sum_to_one_and_are_those_of_draws(level: str) -> None:
    simulation = built(level)
    rng, teacher = np.random.default_rng(1), simulation.teacher
    for t in range(1, 4):
        task = simulation.world.task(t, (), rng)
        steps = task.responses.grammar("waypoints")
        drawn = steps.draw(np.zeros(steps.dim), 30, rng)
        response = max(drawn, key=lambda one: len(teacher.probabilities(task.context, one)))
        chances = teacher.probabilities(task.context, response)
        assert sum(chances.values()) == pytest.approx(1.0)
        said = Counter(teacher.describe(task.context, response, rng) for _ in range(2000))
        assert set(said) <= set(chances)
        excess = [
            (said[one] - 2000 * p) / np.sqrt(2000 * p * (1 - p) + 1e-9)
            for one, p in chances.items()
        ]
        assert np.abs(excess).max() < 5


def test_the_teacher_is_silent_where_nothing_was_fulfilled() -> None:
    for level in ("PickupLoc", "PutNextLocal"):
        simulation = built(level)
        task = simulation.world.task(1, (), np.random.default_rng(0))
        assert simulation.teacher.probabilities(task.context, "l") == {}
        assert simulation.teacher.describe(task.context, "l", np.random.default_rng(0)) is None


@pytest.mark.parametrize("level", ["GoToLocal", "PickupLoc", "PutNextLocal", "GoToSeqS5R2"])
def test_success_on_held_out_missions_is_what_minigrid_itself_rewards(level: str) -> None:
    spec = BabyAI(level, missions=64)
    agent = recommended(spec).build(spec.facts, np.random.default_rng(0))
    play(spec, agent, 60, seed=1000)
    exams = spec.for_exams()
    truth, stream, rewards = exams.build(np.random.default_rng(0)).truth, Streams(0).stream("x"), []
    assert truth is not None
    for number in range(25):
        task, env = exams.mission(number), started(level, HELD_OUT + number)
        assert task.instruction == env.mission
        response, _ = answer(agent, task, stream.at(number + 1))
        rewards.append(truth.reward(task, response))
        assert rewards[-1] == (steps_needed(env, response) > 0)
    assert sum(rewards) >= 5


def test_no_exam_has_a_mission_of_the_rounds() -> None:
    seen = {SMALL.mission(number).context.cells.tobytes() for number in range(64)}
    exam = {SMALL.for_exams().mission(number).context.cells.tobytes() for number in range(64)}
    assert not seen & exam


def test_rewards_of_many_responses_are_those_of_each() -> None:
    simulation = built("GoToSeqS5R2")
    task = simulation.world.task(1, (), np.random.default_rng(0))
    steps = task.responses.grammar("waypoints")
    drawn = steps.draw(np.zeros(steps.dim), 200, np.random.default_rng(0))
    each = [simulation.truth.reward(task, one) for one in drawn]
    np.testing.assert_array_equal(simulation.truth.rewards(task, drawn), each)
    assert 0 < sum(each) < 200
    other = task._replace(instruction="sing a song")
    assert not simulation.truth.rewards(other, drawn).any()


@pytest.mark.parametrize("level", ["PickupLoc", "PutNextLocal"])
def test_the_world_keeps_to_its_role(level: str) -> None:
    report = check(BabyAI(level, missions=64))
    assert report, str(report)


def test_no_chain_from_a_mission_leads_to_the_teacher_or_the_truth() -> None:
    simulation, spy = built("PutNextLocal"), Wanderer()
    for _ in islice(rounds(simulation, spy, seed=3), 5):
        pass
    near = [thing for thing in spy.given if not isinstance(thing, np.random.Generator)]
    found = reachable(near, apart_from=[vars(module) for module in list(sys.modules.values())])
    assert id(near[0].context.cells) in found
    for person in (simulation, simulation.world, simulation.teacher, simulation.truth):
        assert id(person) not in found


def test_an_agent_learns_missions_that_it_never_saw() -> None:
    run = play(SMALL, recommended(SMALL), 150, seed=1000)
    blind = play(SMALL, Uniform(), 150, seed=1000)
    assert run.rewards[-50:].mean() > 0.9 > 0.5 > blind.rewards.mean()


def test_the_bot_never_teaches(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("somebody asked the bot")

    for name in ("__init__", "replan", "take_action"):
        monkeypatch.setattr(BabyAIBot, name, refuse, raising=False)
    run = play(BabyAI("PutNextLocal", missions=8), recommended(SMALL), 20, seed=1000)
    assert run.described.sum() > 10


def test_minigrid_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    for number in range(20):
        BabyAI("GoToSeqS5R2", steps=33).mission(number)
    assert capfd.readouterr() == ("", "")


def test_an_unknown_level_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingError, match="'GoToLocal'"):
        BabyAI("GotoLocal")


def test_only_texts_of_actions_are_responses() -> None:
    responses = SMALL.mission(0).responses
    assert "lrfpdt." in responses
    for wrong in ("", "x", "l l", "l" * 65, ("l",), 3, None):
        assert wrong not in responses
    drawn = responses.draw(50, np.random.default_rng(0))
    assert all(one in responses for one in drawn)


def test_the_features_tell_the_latest_events_in_the_order_of_time() -> None:
    spec = BabyAI("GoToSeqS5R2", missions=8)
    task: Task = spec.mission(0)
    teacher, width = built("GoToSeqS5R2").teacher, spec.summary.width
    steps = task.responses.grammar("waypoints")
    for response in steps.draw(np.zeros(steps.dim), 40, np.random.default_rng(0)):
        rows = task.responses.features(response).reshape(-1, width)
        told = rows[rows[:, 0] > 0]
        names = [
            f"{COLOURS[int(row[5:11].argmax())]} {TYPES[int(row[1:5].argmax())]}" for row in told
        ]
        said = list(teacher.probabilities(task.context, response))
        in_order = [one for one in said if "after" not in one]
        longest = max(in_order, key=len)
        places = [longest.find(name) for name in names]
        assert min(places) >= 0
        assert len(told) == 1 + longest.count(" and ") + longest.count("then")
