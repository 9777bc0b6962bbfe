"""The worlds of the lower bound."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from scipy import stats

from tellback import Facts, play, rounds
from tellback.agents import LORIL, AgentSpec, Greedy, Uniform
from tellback.streams import Stream, Streams
from tellback.worlds import Hard
from tests.support.theory_worlds import begun, listed, rewards_of

# The lower bound's worlds.


@pytest.mark.parametrize(("form", "share"), [("printed", 1.0), ("repaired", 0.25)])
@pytest.mark.parametrize(("K", "T"), [(22, 500), (100, 2000), (125, 500)])
@pytest.mark.parametrize("better", [0, 7, 21])
def test_one_response_is_described_as_a_more_often_by_the_gap(
    form: str, share: float, K: int, T: int, better: int
) -> None:
    table = rewards_of(begun(Hard(responses=K, horizon=T, better=better, gap=form)))
    expected = np.full((2, K), 0.5)
    gap = share * math.sqrt(K / T)
    expected[:, better] = 0.5 + gap, 0.5 - gap
    np.testing.assert_allclose(table, expected, rtol=1e-15, atol=1e-16)


def test_its_teacher_describes_with_those_frequencies() -> None:
    simulation = begun(Hard(responses=22, horizon=500, better=3, gap="printed"))
    stream = Stream(5, "teacher")
    for y, chance in ((3, 0.5 + math.sqrt(22 / 500)), (4, 0.5)):
        told = [simulation.teacher.describe(0, y, stream.at(t)) for t in range(1, 6001)]
        assert set(told) == {0, 1}
        assert stats.binomtest(told.count(0), len(told), chance).pvalue > 1e-6
        other = chance + (0.1 if y == 4 else -0.1)
        assert stats.binomtest(told.count(0), len(told), other).pvalue < 1e-9


def test_a_and_b_are_asked_for_equally_often() -> None:
    run = play(Hard(), Uniform(), 4000, seed=1)
    assert stats.binomtest(int(np.sum(run.instructions)), 4000).pvalue > 1e-3


def test_features_tell_nothing_of_responses_that_were_not_tried() -> None:
    spec = Hard(responses=30, horizon=900)
    np.testing.assert_array_equal(listed(begun(spec)).matrix, np.eye(30))
    assert spec.facts == Facts(dim=30, instructions=2, fixed_responses=True)
    assert begun(spec).world.facts == spec.facts


def test_the_better_response_is_drawn_from_the_seed_unless_it_is_named() -> None:
    def found(spec: Hard, seed: int) -> list[int]:
        table = rewards_of(spec.build(Streams(seed).init("world")))
        return np.flatnonzero(table[0] != 0.5).tolist()

    drawn = [found(Hard(), seed) for seed in range(60)]
    assert all(len(one) == 1 for one in drawn)
    assert len({one[0] for one in drawn}) > 20
    assert drawn == [found(Hard(), seed) for seed in range(60)]
    assert {found(Hard(better=9), seed)[0] for seed in range(5)} == {9}
    assert [found(Hard(better="none"), seed) for seed in range(5)] == [[]] * 5


@pytest.mark.parametrize("form", ["printed", "repaired"])
def test_what_each_response_costs_is_as_the_paper_says(form: str) -> None:
    """Asked for A, all but i cost the gap; asked for B, only i does."""
    spec = Hard(responses=22, horizon=500, better=5, gap=form)
    gap = math.sqrt(22 / 500) * (1 if form == "printed" else 0.25)
    seen = set()
    for r in islice(rounds(spec, Uniform(), seed=2), 1500):
        x, better = r.task.instruction, r.choice.response == 5
        assert r.regret == pytest.approx(gap if (x == 0) != better else 0.0, abs=1e-15)
        assert r.reward == pytest.approx(
            0.5 if not better else 0.5 + gap if x == 0 else 0.5 - gap, rel=1e-14
        )
        seen.add((x, better))
    assert len(seen) == 4


@pytest.mark.parametrize("agent", [Uniform(), LORIL(k=1.0), Greedy()], ids=repr)
def test_in_the_empty_world_nothing_costs_anything(agent: AgentSpec) -> None:
    run = play(Hard(better="none"), agent, 200, seed=3)
    np.testing.assert_array_equal(run.regret, np.zeros(200))
    np.testing.assert_array_equal(run.rewards, np.full(200, 0.5))


def test_the_least_that_the_conditions_allow_is_allowed() -> None:
    least = rewards_of(begun(Hard(responses=22, horizon=434, better=0)))
    assert least[0, 0] == pytest.approx(0.5 + math.sqrt(22 / 434) / 4, rel=1e-14)
    extreme = rewards_of(begun(Hard(responses=200, horizon=800, gap="printed", better=0)))
    np.testing.assert_allclose(extreme[:, 0], [1, 0])
    assert rewards_of(begun(Hard(responses=600, horizon=600, better=0)))[0, 0] == 0.75
