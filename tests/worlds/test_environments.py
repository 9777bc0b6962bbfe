"""Gymnasium environments as worlds."""

from __future__ import annotations

import gc
from itertools import islice, product
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import Facts, Ledger, check, play, rounds
from tellback.agents import Greedy, LogLinear, Proposing, Uniform, recommended
from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.models import Ridge
from tellback.recordings import Columns, Recording, read, write
from tellback.streams import Streams
from tellback.worlds import Environment
from tellback.worlds.environments import ActionSequences, Start
from tellback.worlds.trajectories import Trajectory

LEFT, RIGHT = 0, 1


class Line(gymnasium.Env[Any, Any]):
    """Five places in a row; the episode ends at the right end."""

    observation_space = gymnasium.spaces.Discrete(5)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(3))
        return self.at, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.at = max(self.at + (1 if action == RIGHT else -1), 0)
        return self.at, 1.0, self.at == 4, False, {}


class Forgetful(Line):
    """Draws from a generator that a reset does not seed."""

    rng = np.random.default_rng(0)

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return int(self.rng.integers(5)), 1.0, False, False, {}


class Continuous(Line):
    action_space = gymnasium.spaces.Box(-1, 1)  # type: ignore[assignment]

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        return super().step(int(action[0] > 0))


def place(trajectory: Trajectory) -> str | None:
    return f"go to place {trajectory.last}" if trajectory.last else None


def one_hot(trajectory: Trajectory) -> Array:
    row: Array = np.eye(5)[trajectory.last]
    return row


def line(**others: Any) -> Environment:
    return Environment(Line, place, one_hot, **{"steps": 4, **others})


def episode(world: Environment, seed: int = 7) -> ActionSequences:
    responses: ActionSequences = world.recall(_recorded(world, seed))[0].responses
    return responses


def _recorded(world: Environment, seed: int) -> Any:
    return world.recorded("one", Start(0, seed), _whole(seed), "go")


def _whole(seed: int) -> tuple[int, ...]:
    return (LEFT,) * 4


def possible(responses: ActionSequences) -> list[tuple[int, ...]]:
    every = (y for n in range(5) for y in product((LEFT, RIGHT), repeat=n))
    return [y for y in every if y in responses]


def by_hand(start: int, actions: tuple[int, ...]) -> list[int]:
    places = [start]
    for action in actions:
        places.append(max(places[-1] + (1 if action == RIGHT else -1), 0))
    return places


@given(st.integers(0, 2**31 - 1))
@settings(max_examples=10)
def test_responses_are_the_actions_that_can_be_played(seed: int) -> None:
    for stops in (True, False):
        responses = episode(line(stops=stops), seed)
        start = int(Line().reset(seed=seed)[0])
        for n in range(6):
            for actions in product((LEFT, RIGHT), repeat=n):
                places = by_hand(start, actions)
                over = 4 in places[:-1]
                fits = 1 <= n <= 4 and not over and (stops or n == 4 or places[-1] == 4)
                assert (actions in responses) == fits
                if fits:
                    np.testing.assert_array_equal(
                        responses.features(actions), np.eye(5)[places[-1]]
                    )


@pytest.mark.parametrize("other", [None, 1, "0", [0], (0.0,), (True,), (2,), (-1,), (), ((0,),)])
def test_anything_else_is_no_response(other: object) -> None:
    assert other not in episode(line())


@pytest.mark.parametrize("stops", [True, False])
def test_the_grammar_is_a_distribution_whose_score_is_its_gradient(stops: bool) -> None:
    responses = episode(line(stops=stops))
    steps: Any = responses.grammar("moves")
    weights = np.random.default_rng(1).normal(size=steps.dim)
    every = possible(responses)
    drawn = list(steps.draw(weights, 4000, np.random.default_rng(2)))
    assert set(drawn) <= set(every)
    # The expected score of a distribution is 0; and drawn shares have the score's own shape.
    scores = np.array([steps.score(one, weights) for one in drawn])
    assert np.abs(scores.mean(axis=0)).max() < 5 * scores.std(axis=0).max() / np.sqrt(len(drawn))
    shares = np.array([drawn.count(one) / len(drawn) for one in every])
    nudge = 0.5 * np.random.default_rng(3).normal(size=steps.dim)
    # Integrate the score along a line: the log of how much likelier each response becomes.
    points = (np.arange(50) + 0.5) / 50
    rise = [sum(steps.score(y, weights + p * nudge) @ nudge for p in points) / 50 for y in every]
    other = list(steps.draw(weights + nudge, 4000, np.random.default_rng(4)))
    expected = shares * np.exp(rise)
    assert expected.sum() == pytest.approx(1, abs=0.05)
    found = np.array([other.count(one) / len(other) for one in every])
    np.testing.assert_allclose(found, expected, atol=0.05)


def test_without_weights_every_length_is_as_likely() -> None:
    world = line(steps=3)
    responses = next(found for seed in range(20) if start(found := episode_at(world, seed)) == 0)
    steps = responses.grammar("moves")
    for drawn in (
        steps.draw(np.zeros(steps.dim), 3000, np.random.default_rng(0)),
        responses.draw(3000, np.random.default_rng(0)),
    ):
        lengths = np.bincount([len(one) for one in drawn], minlength=4) / len(drawn)
        np.testing.assert_allclose(lengths, [0, 1 / 3, 1 / 3, 1 / 3], atol=0.04)


def episode_at(world: Environment, seed: int) -> ActionSequences:
    known = world.recorded("one", Start(0, seed), (LEFT,), "go")
    responses: ActionSequences = world.recall(known)[0].responses
    return responses


def start(responses: ActionSequences) -> int:
    return int(Line().reset(seed=responses.seed)[0])


@pytest.mark.parametrize(
    "world",
    [
        line(),
        line(success=lambda sentence, trajectory: sentence.endswith(str(trajectory.last))),
        line(requests=["go to place 1", "go to place 2"]),
        Environment("CartPole-v1", lambda t: f"{len(t.actions)}", lambda t: t.last, stops=False),
        Environment("Taxi-v4", lambda t: str(t.last % 4), lambda t: np.eye(4)[t.last % 4]),
    ],
    ids=["line", "by meaning", "requests", "cart", "taxi"],
)
def test_environments_keep_to_the_protocol(world: Environment) -> None:
    report = check(world)
    assert report, report


def test_every_request_can_be_met() -> None:
    for one in islice(rounds(line(), Uniform(), seed=3), 50):
        world = line()
        rewards = [world.reward(one.task, y) for y in possible(one.task.responses)]
        assert max(rewards) == 1 == world.best(one.task)


def test_an_agent_learns_to_follow_instructions() -> None:
    world = line()
    agent = Proposing(Greedy(model=Ridge()), LogLinear("moves"), candidates=8)
    learned, guessed = (
        np.mean([play(world, one, 200, seed=seed).rewards[100:] for seed in (1, 2, 3)])
        for one in (agent, Uniform())
    )
    assert learned > 0.9 > 0.5 > guessed
    advised: Any = recommended(world)
    assert advised.proposal == LogLinear("moves")


def test_nothing_that_an_agent_is_given_refers_to_what_describes() -> None:
    world = line()
    task = world.task(1, (), np.random.default_rng(0))
    reached, waiting = set[int](), list[Any]([task])
    while waiting:
        thing = waiting.pop()
        if id(thing) not in reached and not callable(thing):
            reached.add(id(thing))
            waiting += gc.get_referents(thing)
        assert thing is not world
        assert thing is not place


def test_an_isolated_agent_plays_the_same() -> None:
    agent = Proposing(Greedy(model=Ridge()), LogLinear("moves"), candidates=8)
    here, there = (play(line(), agent, 25, seed=1, isolated=how) for how in (False, True))
    assert list(here.responses) == list(there.responses)
    np.testing.assert_array_equal(here.estimates, there.estimates)


def test_an_environment_that_cannot_be_replayed_is_refused() -> None:
    with pytest.raises(SettingError, match="cannot be replayed"):
        Environment(Forgetful, place, one_hot)


def test_other_action_spaces_need_the_actions_to_choose_from() -> None:
    with pytest.raises(SettingError, match="not Discrete"):
        Environment(Continuous, place, one_hot)
    chosen = Environment(Continuous, place, one_hot, steps=4, actions=[(-1.0,), (1.0,)])
    known = line().recorded("one", Start(0, 5), (LEFT, RIGHT), "go")
    same = [one.recall(known)[0].responses.features((LEFT, RIGHT)) for one in (chosen, line())]
    np.testing.assert_array_equal(*same)


def test_summaries_of_several_sizes_are_refused() -> None:
    world = Environment(Line, place, lambda t: np.zeros(1 + len(t.actions)), steps=4, stops=True)
    with pytest.raises(SettingError, match="summary must always give"):
        play(world, Uniform(), 20)


def test_a_world_that_nobody_describes_needs_requests() -> None:
    with pytest.raises(SettingError, match="give requests"):
        play(Environment(Line, lambda t: None, one_hot, steps=4), Uniform(), 1)
    with pytest.raises(SettingError, match="requests must be a list"):
        line(requests=[])
    with pytest.raises(SettingError, match="requests must be a list"):
        line(requests="go left")


@pytest.mark.parametrize("given", [[[-1.0], [1.0]], [np.array([-1.0]), np.array([1.0])]])
def test_actions_of_a_box_may_be_lists_or_arrays(given: list[Any]) -> None:
    name = "MountainCarContinuous-v0"
    world = Environment(name, lambda t: "wait", lambda t: t.last, steps=3, actions=given)
    run = play(world, Uniform(), 3)
    assert {action for response in run.responses for action in response} <= {0, 1}


def recording_of(world: Environment) -> Recording:
    played = islice(rounds(world, Uniform(), seed=11), 150)
    return Recording(
        tuple(
            world.recorded(str(one.t), one.task.context, one.choice.response, one.description)
            for one in played
            if isinstance(one.description, str)
        )
    )


def test_recorded_trajectories_teach_the_estimate_and_the_proposal(tmp_path: Path) -> None:
    world = line()
    write(tmp_path / "line.jsonl", recording_of(world))
    recording = read(tmp_path / "line.jsonl")
    spec = Proposing(Greedy(model=Ridge()), LogLinear("moves"), candidates=8)

    def success(how: str) -> float:
        return float(np.mean([first_rounds(how, seed).mean() for seed in range(8)]))

    def first_rounds(how: str, seed: int) -> Array:
        agent: Any = spec.build(world.facts, np.random.default_rng(0))
        ledger = Ledger(agent, Streams(0).stream("agent"))
        if how != "untaught":
            taught = ledger.teach(recording, world=world if how == "world" else None)
            assert len(taught) == len(recording)
        learned = bool(np.size(agent.proposal.state()["proposal"]))
        assert learned == (how == "world")
        return play(world, agent, 10, seed=seed).rewards

    assert success("world") > success("numbers") > success("untaught")


def test_a_recorded_trajectory_is_replayed_as_it_was() -> None:
    world = line()
    known = recording_of(world)
    for one in known.responses[:20]:
        task, response = world.recall(one)
        np.testing.assert_array_equal(task.responses.features(response), one.features)
        assert world.describe(task.context, response, np.random.default_rng(0)) == str(
            one.descriptions[0].text
        )


@pytest.mark.parametrize(
    ("group", "steps"), [("kitchen", (("0",),)), ("5", (("up",),)), ("5", (("9",),)), ("5", ())]
)
def test_a_recording_of_something_else_is_refused_by_the_id(
    group: str, steps: tuple[tuple[str, ...], ...]
) -> None:
    from tellback.recordings import RecordedResponse, Said

    other = RecordedResponse("r1", group, (Said("go"),), features=(0.0,) * 5, steps=steps)
    with pytest.raises(SettingError, match="'r1' cannot be replayed"):
        line().recall(other)
    agent: Any = Greedy(model=Ridge()).build(Facts(5, None), np.random.default_rng(0))
    ledger = Ledger(agent, Streams(0).stream("agent"))
    with pytest.raises(SettingError, match="columns or a world"):
        ledger.teach(Recording((other,)), Columns(numbers=5), line())
