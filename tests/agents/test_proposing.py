"""An agent that draws candidates where responses cannot be listed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellback
from tellback import Choice, Ledger, Round, Task, check, play, rounds
from tellback.agents import (
    LORIL,
    Blind,
    EpsilonGreedy,
    Greedy,
    LogLinear,
    Proposing,
    Thompson,
    Uniform,
    load,
    recommended,
)
from tellback.agents.proposing import SHORTLIST_ONLY
from tellback.arrays import Array
from tellback.errors import ProtocolError, SettingError
from tellback.lab import RunSpec
from tellback.lab.diagnose import diagnose
from tellback.lab.diagnose.readings import replay
from tellback.lab.diagnose.rules import CAUSES
from tellback.models import Ridge
from tellback.off_policy import Log, Uniformly, inverse_propensity
from tellback.off_policy.policies import AgentPolicy
from tellback.responses import Shortlist
from tellback.roles import State
from tellback.streams import Streams
from tellback.worlds import Synthetic
from tests.support.coloured_steps import Beads, ColouredSteps, Kinds, MostlySilent

AGENT = Proposing(EpsilonGreedy(0.2, model=Ridge()), LogLinear("moves"), candidates=16)


def test_it_learns_in_a_world_that_cannot_be_listed() -> None:
    learned = play(Beads(), AGENT, 300, seed=1)
    guessed = play(Beads(), Uniform(), 300, seed=1)
    assert learned.rewards[100:].mean() > 0.4 > 0.25 > guessed.rewards.mean()


def test_candidates_are_counted_once_and_the_choice_is_one_of_them() -> None:
    for one in islice(rounds(Beads(), AGENT), 40):
        shortlist = one.choice.shortlist
        assert shortlist is not None
        assert len(set(shortlist.responses)) == len(shortlist) <= 16
        assert shortlist.responses[one.choice.place] == one.choice.response


def test_listed_tasks_are_played_as_by_the_inner_agent_bit_for_bit() -> None:
    world = Synthetic(instructions=6, responses=5, rank=3)
    inner = LORIL(k=0.5)
    alone, within = play(world, inner, 80), play(world, Proposing(inner), 80)
    assert list(alone.responses) == list(within.responses)
    assert_same_state(alone, within)
    assert np.isnan(within.attainable).all()
    assert "best in shortlist" not in str(within.summary())


def assert_same_state(one: Any, other: Any) -> None:
    states = one.agent.state(), other.agent.state()
    for name, value in states[0].items():
        np.testing.assert_array_equal(value, states[1][name], err_msg=name)


def test_no_bound_of_a_shortlist_is_called_proven() -> None:
    run = play(Beads(), Proposing(LORIL(model=Ridge()), Blind()), 20)
    assert run.proof is None
    assert run.caveat == SHORTLIST_ONLY


@pytest.mark.parametrize(
    ("inner", "known"),
    [
        (Greedy(model=Ridge()), "exact given the candidates"),
        (Thompson(draws=20, model=Ridge()), "exact given the candidates given 20 draws"),
        (Thompson(draws=1, model=Ridge()), "none are stated"),
    ],
    ids=lambda value: getattr(value, "kind", value),
)
def test_propensities_are_given_the_candidates(inner: Any, known: str) -> None:
    agent: Any = Proposing(inner, Blind()).build(Beads.facts, np.random.default_rng(0))
    assert agent.propensities == known


def test_its_state_is_saved_and_loaded_bit_for_bit(tmp_path: Path) -> None:
    agent: Any = play(Beads(), AGENT, 50).agent
    agent.save(tmp_path / "agent")
    both = (agent, load(tmp_path / "agent"))
    again = [play(Beads(), one, 50, start=50) for one in both]
    assert list(again[0].responses) == list(again[1].responses)


def test_an_isolated_agent_plays_the_same_run_bit_for_bit() -> None:
    here, there = (play(Beads(), AGENT, 40, seed=2, isolated=how) for how in (False, True))
    assert list(here.responses) == list(there.responses)
    for name in ("rewards", "attainable", "estimates", "propensities"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    assert_same_state(here, there)


def test_attainable_is_the_best_reward_in_the_shortlist() -> None:
    world = Beads()
    run = play(world, Proposing(Greedy(model=Ridge()), Blind(), candidates=2), 60, seed=3)
    played = islice(rounds(world, Proposing(Greedy(model=Ridge()), Blind(), 2), seed=3), 60)
    np.testing.assert_array_equal(run.attainable, [rewards_of(one).max() for one in played])
    assert (run.attainable >= run.rewards).all()
    assert 0 < run.attainable.mean() < 0.5
    share = f"{run.attainable.mean() / 0.5:.0%}"
    assert f"{run.attainable.mean():.3g} ({share})" in str(run.summary())


def rewards_of(one: Round) -> Array:
    assert one.choice.shortlist is not None
    return np.array([Beads().reward(one.task, y) for y in one.choice.shortlist.responses])


def test_a_log_has_the_shortlists_for_its_responses(tmp_path: Path) -> None:
    agent: Any = AGENT.build(Beads.facts, np.random.default_rng(0))
    played = list(islice(rounds(Beads(), agent, seed=1), 200))
    log = Log.of(played, propensities=agent.propensities)
    log.save(tmp_path / "log.jsonl")
    again = Log.load(tmp_path / "log.jsonl")
    for one, task, response in zip(played, again.tasks, again.responses, strict=True):
        shortlist = one.choice.shortlist
        assert shortlist is not None
        np.testing.assert_array_equal(task.responses.matrix, shortlist.matrix)
        assert response == one.choice.place
    guessed = inverse_propensity(again, Uniformly())
    true = np.mean([rewards_of(one).mean() for one in played])
    assert guessed.low <= true <= guessed.high
    chances = AgentPolicy(agent).probabilities(again.tasks[0])
    assert chances.sum() == pytest.approx(1.0)


def test_a_log_of_an_agent_without_shortlists_is_refused() -> None:
    played = islice(rounds(Beads(), Uniform()), 3)
    with pytest.raises(SettingError, match="shortlist"):
        Log.of(played)


def test_an_agent_without_a_proposal_says_what_it_lacks() -> None:
    with pytest.raises(SettingError, match=r"Proposing\(...\)"):
        play(Beads(), Greedy(), 1)


def test_a_choice_outside_its_own_shortlist_is_refused() -> None:
    class Liar:
        def respond(self, task: Task, rng: np.random.Generator) -> Choice:
            among = task.responses.shortlist([("red",)])
            return task.choose(("blue",))._replace(shortlist=among)

        def learn(self, task: Task, choice: Choice, description: Any) -> None: ...

    ledger = Ledger(Liar(), Streams(0).stream("agent"))
    with pytest.raises((ProtocolError, SettingError), match="not in the shortlist"):
        ledger.ask(1, Beads().task(1, (), np.random.default_rng(0)))


class Wrong:
    """Chooses ("blue",) and states a shortlist of its own."""

    def __init__(self, shortlist: Shortlist) -> None:
        self._shortlist = shortlist

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(("blue",))._replace(shortlist=self._shortlist)

    def learn(self, task: Task, choice: Choice, description: Any) -> None: ...


def test_a_shortlist_with_features_of_its_own_is_refused() -> None:
    agent = Wrong(Shortlist([("blue",)], np.ones((1, 6))))
    with pytest.raises(ProtocolError, match=r"other features for \('blue',\)"):
        play(Beads(), agent, 1)


def test_a_shortlist_of_listed_responses_is_refused() -> None:
    class Some(Wrong):
        def respond(self, task: Task, rng: np.random.Generator) -> Choice:
            return task.choose(0)._replace(shortlist=self._shortlist)

    agent = Some(Shortlist([0], np.ones((1, 3))))
    with pytest.raises(ProtocolError, match="a shortlist of Listed"):
        play(Synthetic(instructions=6, responses=5, rank=3), agent, 1)


@pytest.mark.parametrize("at_once", [False, True])
def test_a_shortlist_with_more_than_the_best_reward_is_refused(at_once: bool) -> None:
    class Generous(Beads):
        def reward(self, task: Task, response: Any) -> float:
            return 0.9 if response == ("pink",) else super().reward(task, response)

    if at_once:
        Generous.rewards = lambda self, task, some: [  # type: ignore[attr-defined]
            self.reward(task, one) for one in some
        ]
    features = ColouredSteps().matrix_of([("blue",), ("blue",)])
    with pytest.raises(ProtocolError, match=r"highest reward in the shortlist is 0\.9"):
        play(Generous(), Wrong(Shortlist([("blue",), ("pink",)], features)), 1)


class Remembers:
    """Keeps how long the shortlists were that it learned from."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        among = task.responses.shortlist(task.responses.draw(9, rng))
        return task.choose(among.responses[0])._replace(shortlist=among)

    def learn(self, task: Task, choice: Choice, description: Any) -> None:
        self.learn_silence(task, choice)

    def learn_silence(self, task: Task, choice: Choice) -> None:
        assert choice.shortlist is not None
        self.lengths.append(len(choice.shortlist))

    def state(self) -> State:
        return {"lengths": np.array(self.lengths)}

    def restore(self, state: State) -> None:
        self.lengths = np.asarray(state["lengths"]).tolist()


@pytest.mark.parametrize(
    ("world", "wait"), [(Beads(), 3), (MostlySilent(), 0)], ids=["late", "silent"]
)
def test_an_isolated_agent_learns_with_its_shortlist_late_and_silent_rounds_too(
    world: Any, wait: int
) -> None:
    runs = [
        play(world, Remembers(), 12, seed=1, isolated=isolated, delay=lambda t, rng: wait)
        for isolated in (False, True)
    ]
    here, there = (run.agent.state()["lengths"].tolist() for run in runs)  # type: ignore[attr-defined]
    assert here == there
    assert len(here) >= 8


def test_the_recommended_agent_uses_the_steps_that_there_are() -> None:
    with_steps: Any = recommended(Beads())
    assert with_steps.proposal == LogLinear("moves")
    without: Any = recommended(MostlySilent())
    assert without.proposal == Blind()


def test_the_agents_keep_to_the_protocol() -> None:
    report = check(AGENT, world=Beads())
    assert report, report


NUMBERS_OF_THIS_MODULE = np.ones(3)


class StepsWithAFunction(ColouredSteps):
    def __init__(self) -> None:
        self.weigh = lambda: NUMBERS_OF_THIS_MODULE.sum()


class BeadsWithAFunction(Beads):
    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return super().task(t, history, rng)._replace(responses=StepsWithAFunction())


def test_a_check_does_not_write_into_the_module_of_a_function() -> None:
    assert check(BeadsWithAFunction())
    assert NUMBERS_OF_THIS_MODULE.tolist() == [1, 1, 1]


class SilentLiar(Beads):
    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> Any:
        return super().describe(context, response, rng) if response[0] == "red" else None

    def reward(self, task: Task, response: Any) -> float:
        return 0.3


def test_a_wrong_truth_is_found_where_the_teacher_is_silent_about_most_responses() -> None:
    assert "probability of 0.3" in str(check(SilentLiar()))


BeadsSpec = tellback.world(Beads)
SilentSpec = tellback.world(MostlySilent)


@pytest.mark.parametrize("world", [BeadsSpec(), SilentSpec()], ids=lambda world: world.kind)
def test_a_diagnosis_replays_the_same_run(world: Any) -> None:
    agent = Proposing(LORIL(k=0.5, model=Ridge()), Blind(), candidates=8)
    run = play(world, agent, 100, seed=1)
    read = replay(RunSpec(world, agent, 100, 1))
    np.testing.assert_array_equal(read.regrets, run.regrets)
    assert np.isfinite(read.uniform_rewards).any()
    assert diagnose(RunSpec(world, agent, 100, 1)).cause in CAUSES


# Worlds with a fault, of which check() gives the name.


class Broken(ColouredSteps):
    pass


class DrawsOthers(Broken):
    def draw(self, count: int, rng: np.random.Generator) -> list[Any]:
        return [("pink",)] * count

    def matrix_of(self, responses: Sequence[Any]) -> Any:
        return np.zeros((len(responses), self.dim))


class TakesAnything(Broken):
    def __contains__(self, response: object, /) -> bool:
        return True


class TooNarrow(Broken):
    def matrix_of(self, responses: Sequence[Any]) -> Any:
        return super().matrix_of(responses)[:, :-1]


class Disagrees(Broken):
    def features(self, response: Any) -> Any:
        return super().features(response) + 1


class NotFinite(Broken):
    def matrix_of(self, responses: Sequence[Any]) -> Any:
        return np.full((len(responses), self.dim), np.inf)


class NotHashable(Broken):
    def __contains__(self, response: object, /) -> bool:
        return isinstance(response, list)

    def draw(self, count: int, rng: np.random.Generator) -> list[Any]:
        return [list(one) for one in super().draw(count, rng)]


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (DrawsOthers, r"it drew \('pink',\), which it says is no response"),
        (TakesAnything, "takes anything for a response"),
        (TooNarrow, r"array of shape \(20, 5\)"),
        (Disagrees, "do not agree"),
        (NotFinite, "not all finite"),
        (NotHashable, "unhashable"),
    ],
)
def test_check_names_the_fault_of_a_world_that_cannot_be_listed(kind: Any, fault: str) -> None:
    class World(Beads):
        def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
            return super().task(t, history, rng)._replace(responses=kind())

        def describe(self, context: Any, response: Any, rng: np.random.Generator) -> str:
            return "begin with red"

        def reward(self, task: Task, response: Any) -> float:
            return 0.5

    report = check(World())
    assert not report
    with pytest.raises(AssertionError, match=fault):
        raise AssertionError("\n".join(report.troubles))


@pytest.mark.parametrize("world", [Beads(), MostlySilent()], ids=lambda one: type(one).__name__)
def test_sound_worlds_pass_the_check(world: Any) -> None:
    report = check(world)
    assert report, report
    assert "can be drawn" in str(report)


class Scribbled(ColouredSteps):
    """Its weights decide the reward, and can be written to."""

    def __init__(self) -> None:
        self.weights = np.array([0.5])


def test_check_names_responses_through_which_an_agent_can_change_its_reward() -> None:
    class World(Beads):
        def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
            return super().task(t, history, rng)._replace(responses=Scribbled())

        def reward(self, task: Task, response: Any) -> float:
            return super().reward(task, response) * 2 * float(task.responses.weights[0])

    report = check(World())
    assert "an agent that wrote into the task got a reward" in "\n".join(report.troubles)


def test_kinds_are_what_they_say() -> None:
    drawn = Kinds().draw(2000, np.random.default_rng(0))
    assert np.mean([one % 40 < 2 for one in drawn]) == pytest.approx(0.05, abs=0.02)
