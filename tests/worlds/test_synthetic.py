"""The synthetic world is what the paper says it is."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tellback import Simulation, Task, play, rounds
from tellback.agents import LORIL, Uniform
from tellback.streams import Stream
from tellback.worlds import Synthetic
from tests.support.oracles import Floats, hidden_f

CONTEXTS: list[int | str] = [1, 3, "fresh"]
SMALL = Synthetic(instructions=6, responses=4, rank=3, seed=1)


def begun(spec: Synthetic, seed: int = 0) -> Simulation:
    return spec.build(np.random.default_rng(seed))


def tasks(simulation: Simulation, number: int, seed: int = 0) -> list[Task]:
    stream = Stream(seed, "world")
    return [simulation.world.task(t, (), stream.at(t)) for t in range(1, number + 1)]


def teaching(simulation: Simulation, task: Task) -> Floats:
    """P, a column a response."""
    p: Floats = hidden_f(simulation) @ task.responses.matrix.T
    return p


def p_value(observed: Any, expected: Floats) -> float:
    """Pearson's chi-square test of counts."""
    expected = expected * (np.sum(observed) / expected.sum())
    return float(stats.chisquare(observed, expected).pvalue)


@pytest.mark.parametrize("contexts", CONTEXTS)
@pytest.mark.parametrize("temperature", [0.01, 0.75, 20.0])
def test_all_columns_are_distributions(contexts: int | str, temperature: float) -> None:
    spec = Synthetic(
        instructions=50, responses=7, rank=5, contexts=contexts, temperature=temperature
    )
    simulation = begun(spec)
    f = hidden_f(simulation)
    assert f.shape == (50, 5)
    assert (f >= 0).all()
    np.testing.assert_allclose(f.sum(axis=0), 1, rtol=1e-13)
    for task in tasks(simulation, 5):
        g = task.responses.matrix
        assert g.shape == (7, 5)
        assert (g >= 0).all()
        np.testing.assert_allclose(g.sum(axis=1), 1, rtol=1e-13)
        np.testing.assert_allclose(teaching(simulation, task).sum(axis=0), 1, rtol=1e-13)


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_the_teacher_describes_as_often_as_the_truth_says(contexts: int | str) -> None:
    simulation = begun(SMALL.with_settings({"contexts": contexts}))
    stream = Stream(2, "teacher")
    as_if_of_another = []
    for task in tasks(simulation, 3):
        for y in range(4):
            told = [simulation.teacher.describe(task.context, y, stream.at(t)) for t in range(5000)]
            counts = np.bincount(np.array(told, dtype=np.int64), minlength=6)
            assert p_value(counts, teaching(simulation, task)[:, y]) > 1e-3
            other = teaching(simulation, task)[:, (y + 1) % 4]
            as_if_of_another.append(p_value(counts, other))
    assert np.median(as_if_of_another) < 1e-6, "the test must be able to tell responses apart"


def test_the_teacher_draws_the_edges_of_the_unit_interval_too() -> None:
    class Fixed:
        def __init__(self, u: float) -> None:
            self.u = u

        def random(self) -> float:
            return self.u

    simulation = begun(SMALL)
    edges = (0.0, 5e-324, 0.5, 1 - 2**-53)
    for u in edges:
        for y in range(4):
            told = simulation.teacher.describe(0, y, Fixed(u))  # type: ignore[arg-type]
            assert isinstance(told, int)
            assert 0 <= told < 6


def test_what_cannot_be_described_never_is() -> None:
    spec = Synthetic(instructions=30, responses=5, rank=4, temperature=0.004, seed=3)
    simulation = begun(spec)
    (task,) = tasks(simulation, 1)
    p = teaching(simulation, task)
    assert (p == 0).any()
    stream = Stream(0, "teacher")
    for y in range(5):
        for t in range(1000):
            assert p[simulation.teacher.describe(0, y, stream.at(t)), y] > 0  # type: ignore[index]


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_uniform_asks_are_uniform(contexts: int | str) -> None:
    simulation = begun(SMALL.with_settings({"contexts": contexts}))
    asked = np.bincount([int(task.instruction) for task in tasks(simulation, 12_000)], minlength=6)
    assert p_value(asked, np.full(6, 1 / 6)) > 1e-3


@pytest.mark.parametrize("contexts", [1, 3])
def test_marginal_asks_are_descriptions_of_uniform_responses(contexts: int) -> None:
    simulation = begun(SMALL.with_settings({"contexts": contexts, "asks": "marginal"}))
    seen = tasks(simulation, 12_000)
    for s in range(contexts):
        here = [task for task in seen if task.context == s]
        assert len(here) > 12_000 / contexts * 0.9
        asked = np.bincount([int(task.instruction) for task in here], minlength=6)
        marginal = teaching(simulation, here[0]).mean(axis=1)
        assert p_value(asked, marginal) > 1e-3
        assert p_value(asked, np.full(6, 1 / 6)) < 1e-6


def test_marginal_asks_follow_fresh_contexts() -> None:
    simulation = begun(SMALL.with_settings({"contexts": "fresh", "asks": "marginal"}))
    expected, chosen = np.zeros(6), np.zeros(6)
    likelihood, entropy = [], []
    for task in tasks(simulation, 6000):
        marginal = teaching(simulation, task).mean(axis=1)
        expected += marginal
        chosen[int(task.instruction)] += 1
        likelihood.append(np.log(marginal[int(task.instruction)]))
        entropy.append(float(marginal @ np.log(marginal)))
    assert p_value(chosen, expected) > 1e-3
    surprise = np.array(likelihood) - np.array(entropy)
    assert abs(surprise.mean()) < 3 * surprise.std() / np.sqrt(len(surprise))


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_given_asks_are_as_given(contexts: int | str) -> None:
    given = (0.0, 0.5, 0.25, 0.0, 0.25, 0.0)
    simulation = begun(SMALL.with_settings({"contexts": contexts, "asks": given}))
    asked = np.bincount([int(task.instruction) for task in tasks(simulation, 12_000)], minlength=6)
    assert asked[[0, 3, 5]].sum() == 0
    assert p_value(asked[[1, 2, 4]], np.array([0.5, 0.25, 0.25])) > 1e-3


def test_contexts_are_drawn_uniformly() -> None:
    simulation = begun(SMALL.with_settings({"contexts": 5}))
    met = np.bincount([task.context for task in tasks(simulation, 10_000)], minlength=5)
    assert len(met) == 5
    assert p_value(met, np.full(5, 0.2)) > 1e-3


def test_context_and_instruction_are_drawn_apart() -> None:
    simulation = begun(SMALL.with_settings({"contexts": 3}))
    table = np.zeros((3, 6))
    for task in tasks(simulation, 12_000):
        table[task.context, int(task.instruction)] += 1
    assert stats.chi2_contingency(table).pvalue > 1e-3


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_the_best_reward_is_the_highest_and_its_response_has_no_regret(
    contexts: int | str,
) -> None:
    simulation = begun(SMALL.with_settings({"contexts": contexts, "responses": 50, "rank": 9}))
    truth = simulation.truth
    assert truth is not None
    for task in tasks(simulation, 200) * 2:  # twice: the second time it may be remembered
        p = teaching(simulation, task)[int(task.instruction)]
        rewards = [truth.reward(task, y) for y in range(50)]
        np.testing.assert_allclose(rewards, p, rtol=1e-13)
        assert truth.best(task) == pytest.approx(p.max(), rel=1e-13)
        assert truth.best(task) == max(rewards), "to the bit"


def test_contexts_change_g_and_nothing_else() -> None:
    simulation = begun(SMALL.with_settings({"contexts": 3}))
    by_context = {task.context: task for task in tasks(simulation, 100)}
    assert sorted(by_context) == [0, 1, 2]
    matrices = [task.responses.matrix for task in by_context.values()]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert np.abs(matrices[i] - matrices[j]).max() > 0.1
    again = {task.context: task for task in tasks(simulation, 100, seed=9)}
    for s, task in by_context.items():
        assert again[s].responses is task.responses


def test_fresh_contexts_are_new_every_round() -> None:
    simulation = begun(SMALL.with_settings({"contexts": "fresh"}))
    firsts = {float(task.responses.matrix[0, 0]) for task in tasks(simulation, 300)}
    assert len(firsts) == 300
    one, other = (tasks(simulation, 1)[0] for _ in range(2))
    np.testing.assert_array_equal(one.responses.matrix, other.responses.matrix)


def test_the_agent_is_told_whether_responses_stay_the_same() -> None:
    for contexts in CONTEXTS:
        facts = begun(SMALL.with_settings({"contexts": contexts})).world.facts
        assert facts.fixed_responses == (contexts == 1)
        assert (facts.dim, facts.instructions) == (3, 6)


def test_a_world_without_a_seed_varies_with_the_run_and_one_with_a_seed_does_not() -> None:
    def features(spec: Synthetic, seed: int) -> Floats:
        (first,) = islice(rounds(spec, Uniform(), seed=seed), 1)
        matrix: Floats = first.task.responses.matrix
        return matrix

    free, fixed = SMALL.with_settings({"seed": None}), SMALL.with_settings({"seed": 0})
    assert not np.array_equal(features(free, 1), features(free, 2))
    np.testing.assert_array_equal(features(free, 1), features(free, 1))
    np.testing.assert_array_equal(features(fixed, 1), features(fixed, 2))
    np.testing.assert_array_equal(hidden_f(begun(fixed, seed=1)), hidden_f(begun(fixed, seed=2)))
    assert not np.array_equal(hidden_f(begun(free, seed=1)), hidden_f(begun(free, seed=2)))
    other = SMALL.with_settings({"seed": 1})
    assert not np.array_equal(features(fixed, 1), features(other, 1))


def test_a_fixed_world_still_asks_by_the_seed_of_the_run() -> None:
    one, other = (play(SMALL, Uniform(), 50, seed=seed).instructions for seed in (1, 2))
    assert list(one) != list(other)


def test_f_and_g_are_softmaxes_of_gaussians_divided_by_the_temperature() -> None:
    spec = Synthetic(instructions=3000, responses=400, rank=8, seed=4)
    logs = {}
    for temperature in (0.25, 1.0, 3.0):
        simulation = begun(spec.with_settings({"temperature": temperature}))
        (task,) = tasks(simulation, 1)
        f, g = hidden_f(simulation), task.responses.matrix
        # temperature * log softmax(z / temperature) is z, but for a constant a distribution.
        z_f, z_g = temperature * np.log(f), temperature * np.log(g)
        logs[temperature] = (
            z_f - z_f.mean(axis=0, keepdims=True),
            z_g - z_g.mean(axis=1, keepdims=True),
        )
    for temperature in (0.25, 3.0):
        np.testing.assert_allclose(logs[temperature][0], logs[1.0][0], atol=1e-10)
        np.testing.assert_allclose(logs[temperature][1], logs[1.0][1], atol=1e-10)
    z = logs[1.0][0]
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-3
    assert abs(z.std() - 1) < 0.02
    # Centring a row of 8 takes one degree of freedom.
    assert abs(logs[1.0][1].std() * np.sqrt(8 / 7) - 1) < 0.05


def test_a_million_responses_fit() -> None:
    world = Synthetic(instructions=5, responses=1_000_000, rank=4, seed=0)
    run = play(world, LORIL(), 3)
    assert len(run) == 3
    assert (run.regrets >= 0).all()
    assert (run.bonuses > 0).all()


@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 3, 2), (3, 1, 2), (2, 2, 1)])
@pytest.mark.parametrize("contexts", CONTEXTS)
def test_the_smallest_worlds_can_be_played(
    sizes: tuple[int, int, int], contexts: int | str
) -> None:
    world = Synthetic(*sizes, contexts=contexts, asks="marginal")
    run = play(world, LORIL(), 20)
    assert np.isfinite(run.regrets).all()
    if sizes[1] == 1 or sizes[0] == 1:
        assert run.regrets.max() <= 1e-15


@pytest.mark.parametrize("temperature", [0.001, 0.005, 0.02, 1e6])
def test_extreme_temperatures_can_be_played(temperature: float) -> None:
    for seed in range(5):
        world = Synthetic(20, 40, 12, temperature=temperature, asks="marginal")
        run = play(world, LORIL(), 150, seed=seed)
        assert np.isfinite(run.estimates).all()
        assert np.isfinite(run.regrets).all()
