"""Explorers do with the estimates what they say they do."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tellback import Facts, Listed, Task, play, rounds
from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, ModelAgent, Uniform
from tellback.agents.explorers import Dithering, Optimism
from tellback.streams import Stream
from tellback.worlds import Synthetic
from tests.support.explorers import (
    RESPONSES,
    WORLD,
    Fixed,
    a_task,
    check_propensities,
    chosen,
    trained,
)
from tests.support.oracles import random_simplex

AGENTS: list[AgentSpec] = [
    *(Greedy(ties=ties) for ties in ("random", "first")),
    *(EpsilonGreedy(epsilon=e, ties=t) for e in (0.3, 1.0) for t in ("random", "first")),
    *(LORIL(k=0.5, ties=ties) for ties in ("random", "first")),
    Uniform(),
]


@pytest.mark.parametrize("lessons", [0, 40])
@pytest.mark.parametrize("spec", AGENTS, ids=repr)
def test_responses_are_as_frequent_as_their_propensity(spec: AgentSpec, lessons: int) -> None:
    if lessons:
        agent = trained(spec, lessons)
    else:
        facts = Facts(dim=3, instructions=5, fixed_responses=True)
        agent = spec.build(facts, np.random.default_rng(0))  # type: ignore[assignment]
    check_propensities(chosen(agent, a_task()), RESPONSES)


@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_responses_that_tie_are_as_frequent_as_their_propensity(ties: str, epsilon: float) -> None:
    agent = ModelAgent(Fixed(0.1, 0.5, 0.2, 0.5, 0.5, 0.0), Dithering(epsilon, ties))
    choices = chosen(agent, a_task())
    check_propensities(choices, RESPONSES)
    seen = {choice.response for choice in choices}
    if epsilon == 0:
        assert seen == ({1, 3, 4} if ties == "random" else {1})


def test_propensities_sum_to_one_even_where_ties_are_a_matter_of_rounding() -> None:
    nearly = Fixed(1 - 0.9e-12, 1.0, 1 - 1.8e-12, 0.5, 0.5, 0.5)
    for ties in ("random", "first"):
        agent = ModelAgent(nearly, Dithering(0.5, ties))
        check_propensities(chosen(agent, a_task()), RESPONSES)


def test_values_that_differ_by_rounding_only_are_ties() -> None:
    agent = ModelAgent(Fixed(0.3, 0.1 + 0.2, 0.3 - 1e-9, 0, 0, 0), Dithering(0.0, "random"))
    assert {choice.response for choice in chosen(agent, a_task(), 200)} == {0, 1}


def tied_optimist(ties: str) -> ModelAgent:
    facts = Facts(dim=3, instructions=5, fixed_responses=True)
    return ModelAgent(Fixed(0.2, 0.2, 0.1, 0.2), Optimism(facts, 1.0, 1.0, ties))


@pytest.mark.parametrize("ties", ["random", "first"])
def test_optimists_break_ties_as_they_are_told(ties: str) -> None:
    same = Listed([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    choices = chosen(tied_optimist(ties), Task(0, 0, same))
    check_propensities(choices, 4)
    seen = {choice.response for choice in choices}
    assert seen == ({0, 1, 3} if ties == "random" else {0})


def test_the_bonus_is_k_times_the_elliptic_norm() -> None:
    for k, lam in ((0.1, 1.0), (2.0, 0.05)):
        sigma = lam * np.eye(3)
        for r in islice(rounds(WORLD, LORIL(k=k, lam=lam), seed=3), 200):
            g = r.choice.features
            np.testing.assert_array_equal(g, r.task.responses.matrix[r.choice.response])
            expected = k * np.sqrt(g @ np.linalg.inv(sigma) @ g)
            assert r.choice.bonus == pytest.approx(expected, rel=1e-9)
            sigma += np.outer(g, g)


@pytest.mark.parametrize("spec", [LORIL(k=0.7), EpsilonGreedy(), Uniform()], ids=repr)
def test_the_bonuses_of_all_responses_are_those_of_the_choices_and_asking_changes_nothing(
    spec: AgentSpec,
) -> None:
    asked, left_alone = trained(spec), trained(spec)
    task = a_task()
    others = Listed(random_simplex(np.random.default_rng(0), 4, 3))
    for responses in (others, task.responses, others):
        assert len(asked.explorer.bonuses(responses)) == len(responses)
    asked.explorer.bonuses(task.responses)[:] = 7  # a copy, not what the explorer keeps
    bonuses = asked.explorer.bonuses(task.responses)
    for choice in chosen(asked, task, 20):
        assert choice.bonus == bonuses[choice.response]
    states: Any = (asked.state(), left_alone.state())
    for name in states[0]:
        np.testing.assert_array_equal(states[0][name], states[1][name], err_msg=name)


@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize(("k", "lam"), [(0.1, 1.0), (1.0, 0.05)])
def test_loril_is_what_plain_numpy_makes_of_the_paper(
    contexts: int | str, ties: str, k: float, lam: float
) -> None:
    world = WORLD.with_settings({"contexts": contexts})
    facts = world.build(np.random.default_rng(0)).world.facts
    agent: Any = LORIL(k=k, lam=lam, ties=ties).build(facts, np.random.default_rng(0))
    stream = Stream(5, "agent")
    sigma = lam * np.eye(3)
    f = agent.model.f  # as it stands before the round
    ties_met = 0
    for r in islice(rounds(world, agent, seed=5), 300):
        g = r.task.responses.matrix
        estimates = g @ f[r.task.instruction]
        inverse = np.linalg.inv(sigma)
        upper = estimates + k * np.sqrt([row @ inverse @ row for row in g])
        best = np.flatnonzero(upper >= upper.max() * (1 - 1e-12))
        if ties == "first" or len(best) == 1:
            expected, propensity = best[0], 1.0
        else:
            expected = best[int(stream.at(r.t).random() * len(best))]
            propensity = 1 / len(best)
        ties_met += len(best) > 1
        assert r.choice.response == expected
        assert r.choice.propensity == (1.0 if ties == "first" else propensity)
        assert r.choice.estimate == pytest.approx(estimates[expected], rel=1e-12, abs=1e-15)
        f = agent.model.f
        chosen_g = g[r.choice.response]
        sigma += np.outer(chosen_g, chosen_g)
    assert ties_met < 300


def same_choices(one: AgentSpec, other: AgentSpec, world: Synthetic, total: int = 300) -> bool:
    runs = [play(world, spec, total, seed=4) for spec in (one, other)]
    columns = ("responses", "descriptions", "estimates", "propensities", "regrets")
    return all(
        np.array_equal(np.asarray(getattr(runs[0], name)), np.asarray(getattr(runs[1], name)))
        for name in columns
    )


@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
@pytest.mark.parametrize("ties", ["random", "first"])
def test_without_exploration_all_agents_are_greedy(contexts: int | str, ties: str) -> None:
    world = WORLD.with_settings({"contexts": contexts})
    greedy = Greedy(ties=ties)
    assert same_choices(LORIL(k=0, ties=ties), greedy, world)
    assert same_choices(EpsilonGreedy(epsilon=0, ties=ties), greedy, world)
    assert not same_choices(LORIL(k=1, ties=ties), greedy, world)
    assert not same_choices(EpsilonGreedy(epsilon=0.5, ties=ties), greedy, world)


def test_greedy_takes_the_highest_estimate() -> None:
    agent = trained(Greedy())
    for x in range(5):
        task = a_task(x)
        estimates = task.responses.matrix @ agent.model.f[x]  # type: ignore[attr-defined]
        for choice in chosen(agent, task, 20):
            assert estimates[choice.response] == pytest.approx(estimates.max(), rel=1e-12)
            assert choice.estimate == pytest.approx(estimates[choice.response], rel=1e-12)
            assert choice.bonus == 0


def test_epsilon_one_is_uniform() -> None:
    choices = chosen(trained(EpsilonGreedy(epsilon=1.0)), a_task(), 6000)
    counts = np.bincount([choice.response for choice in choices], minlength=RESPONSES)
    assert stats.chisquare(counts).pvalue > 1e-3
    assert {choice.propensity for choice in choices} == {1 / RESPONSES}


def test_uniform_is_uniform_and_has_no_estimate() -> None:
    choices = chosen(trained(Uniform()), a_task(), 6000)
    counts = np.bincount([choice.response for choice in choices], minlength=RESPONSES)
    assert stats.chisquare(counts).pvalue > 1e-3
    assert all(np.isnan(choice.estimate) and choice.bonus == 0 for choice in choices)


@pytest.mark.parametrize("spec", AGENTS, ids=repr)
def test_responding_changes_nothing(spec: AgentSpec) -> None:
    asked, left_alone = trained(spec), trained(spec)
    for x in range(5):
        chosen(asked, a_task(x), 20)
        chosen(asked, Task(0, x, Listed(random_simplex(np.random.default_rng(x), 4, 3))), 20)
    states: Any = (asked.state(), left_alone.state())
    assert states[0].keys() == states[1].keys()
    for name in states[0]:
        if name not in ("explorer.widths", "explorer.kept"):  # what is kept, not learned
            np.testing.assert_array_equal(states[0][name], states[1][name], err_msg=name)


@pytest.mark.parametrize("spec", AGENTS, ids=repr)
def test_the_same_round_gets_the_same_response(spec: AgentSpec) -> None:
    agent = trained(spec)
    first, second = (chosen(agent, a_task(), 30) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert one.response == other.response
        assert one.propensity == other.propensity


def test_learning_explores_less_than_chance_and_beats_it() -> None:
    world = Synthetic(instructions=10, responses=20, rank=5, temperature=0.3, seed=0)
    regret = {
        name: np.mean([play(world, spec, 1500, seed=s).regret[-1] for s in range(3)])
        for name, spec in {
            "loril": LORIL(k=0.3),
            "greedy": Greedy(),
            "dithering": EpsilonGreedy(epsilon=0.1),
            "chance": Uniform(),
        }.items()
    }
    for name in ("loril", "greedy", "dithering"):
        assert regret[name] < 0.6 * regret["chance"]
