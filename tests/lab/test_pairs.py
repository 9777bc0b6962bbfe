"""What is said of two agents, tuning on equal budgets, and how regret grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import lcm
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, Uniform
from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.lab import Decide, Results, Study, running_less_regret
from tellback.lab.pairs import Pair
from tellback.worlds import Synthetic
from tests.support.studies import MadeUp

WORLD = Synthetic(instructions=20, responses=5, rank=3)


def results_of(finals: Mapping[str, Sequence[float]], **changes: Any) -> Results:
    """Agents whose final regrets on seeds 0, 1, ... are these."""
    agents: dict[str, tuple[AgentSpec, ...]] = {
        name: (EpsilonGreedy(i / 100),) for i, name in enumerate(finals)
    }
    reported = tuple(range(max(map(len, finals.values()))))
    study = Study("made up", WORLD, agents, 100, (), reported, **changes)
    made_up = {agents[name][0]: dict(enumerate(values)) for name, values in finals.items()}
    return Results(study, MadeUp(made_up))


def the_pair(finals: Mapping[str, Sequence[float]], **changes: Any) -> Pair:
    (pair,) = results_of(finals, **changes).pairs()
    return pair


def share_and_interval(ours: Array, theirs: Array, level: float = 0.95) -> tuple[float, ...]:
    """The ratio of means with Student's interval, as SciPy has it, up to a saving of 100%."""
    share = 1 - ours.mean() / theirs.mean()
    residuals = ((theirs - ours) - share * theirs) / theirs.mean()
    found = stats.ttest_1samp(residuals, 0.0).confidence_interval(level)
    return float(share), float(share + found.low), min(float(share + found.high), 1.0)


OURS, THEIRS = [10.0, 12.0, 11.0, 9.0], [20.0, 22.0, 19.0, 21.0]


def test_the_sentence_can_be_quoted() -> None:
    share, low, high = share_and_interval(np.array(OURS), np.array(THEIRS))
    assert low > 0
    for finals in ({"mine": OURS, "other": THEIRS}, {"other": THEIRS, "mine": OURS}):
        pair = the_pair(finals)
        assert (pair.ours, pair.theirs, pair.n, pair.verdict) == ("mine", "other", 4, "less")
        assert pair.sentence == (
            f"mine has {100 * share:.1f}% less regret than other [+{100 * low:.1f}%, "
            f"+{100 * high:.1f}%] (95% interval), n = 4 paired seeds, nothing tuned."
        )


def test_where_the_interval_holds_zero_the_sentence_begins_with_that() -> None:
    ours, theirs = [10.0, 30.0, 11.0], [30.0, 9.0, 15.0]
    share, low, high = share_and_interval(np.array(ours), np.array(theirs))
    assert low < 0 < high
    pair = the_pair({"a": ours, "b": theirs})
    assert pair.verdict == "undecided"
    assert pair.sentence == (
        f"Undecided between a and b: a came out with {100 * share:.1f}% less regret "
        f"[{100 * low:+.1f}%, {100 * high:+.1f}%] (95% interval), n = 3 paired seeds, "
        "nothing tuned."
    )


def test_one_seed_gives_no_interval() -> None:
    pair = the_pair({"a": [3.0], "b": [5.0]})
    assert (pair.verdict, pair.difference, pair.joint) == ("unknown", None, None)
    assert pair.sentence == "Nothing can be said of a and b: one seed gives no interval."


@pytest.mark.parametrize("nothing", [0.0, float("nan")])
def test_where_there_is_no_regret_nothing_can_be_said(nothing: float) -> None:
    pair = the_pair({"a": [nothing] * 3, "b": [nothing] * 3})
    assert pair.verdict == "unknown"
    assert pair.sentence == "Nothing can be said of a and b: there is no regret to compare."


@pytest.mark.parametrize("decide", [None, Decide(("a", "b"), at_most=20)])
@pytest.mark.parametrize(("part", "said"), [(0.0, "100.0%"), (0.7, "30.0%"), (1.0, "0.0%")])
def test_pairs_that_all_differ_by_the_same_share_have_no_interval_and_no_verdict(
    part: float, said: str, decide: Decide | None
) -> None:
    """They would all agree as well where the agents differ by chance, and chance has no spread."""
    regrets = [1.0, 2.0, 4.1] * 4
    pair = the_pair({"a": [part * one for one in regrets], "b": regrets}, decide=decide)
    assert pair.verdict == "undecided"
    assert pair.sentence == (
        f"Undecided between a and b: a came out with {said} less regret "
        "(the same in all pairs: no interval), n = 12 paired seeds, nothing tuned."
    )


def test_agents_that_do_the_same_are_undecided() -> None:
    pair = the_pair({"a": OURS, "b": OURS})
    assert pair.verdict == "undecided"
    assert "0.0% less regret (the same in all pairs: no interval)" in pair.sentence


def test_what_holds_alone_may_not_hold_together_with_all_other_pairs() -> None:
    wave = np.tile([-1.0, 1.0], 5)
    # Student's t of the differences: above the limit for one pair, below that for three.
    gap = 2.5 * wave.std(ddof=1) / np.sqrt(10)
    one, three = stats.t.ppf(1 - 0.05 / 2, 9), stats.t.ppf(1 - 0.05 / 6, 9)
    assert one < 2.5 < three
    near = {"first": 100 + wave - gap, "second": np.full(10, 100.0)}
    together = "undecided when all pairs of the study are judged together"
    alone = the_pair({name: list(values) for name, values in near.items()})
    assert alone.verdict == "less"
    assert together not in alone.sentence
    far = {**near, "third": 500 + wave}
    pairs = results_of({name: list(values) for name, values in far.items()}).pairs()
    by_name = {(pair.ours, pair.theirs): pair for pair in pairs}
    close = by_name["first", "second"]
    assert close.difference == alone.difference
    assert close.verdict == "alone"
    assert close.joint is not None
    assert close.joint.verdict == "undecided"
    assert close.sentence.endswith(f"; {together}.")
    assert together not in by_name["first", "third"].sentence
    assert together not in by_name["second", "third"].sentence


REGRETS = st.floats(0.5, 1000)


@pytest.mark.filterwarnings("ignore:Precision loss")  # the oracle's, where all regrets are equal
@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(2, 4), st.integers(2, 8))
def test_every_two_agents_are_compared_the_better_one_first(
    data: st.DataObject, agents: int, n: int
) -> None:
    finals = {
        f"agent {i}": data.draw(st.lists(REGRETS, min_size=n, max_size=n)) for i in range(agents)
    }
    results = results_of(finals)
    pairs = results.pairs()
    assert {frozenset((p.ours, p.theirs)) for p in pairs} == {
        frozenset(two) for two in combinations(finals, 2)
    }
    assert len(pairs) == agents * (agents - 1) // 2
    for pair in pairs:
        ours, theirs = np.array(finals[pair.ours]), np.array(finals[pair.theirs])
        assert ours.mean() <= theirs.mean()
        assert pair.difference is not None
        assert pair.joint is not None
        found, joint = pair.difference, pair.joint
        expected = share_and_interval(ours, theirs)
        np.testing.assert_allclose((found.less, found.low, found.high), expected, atol=1e-9)
        expected = share_and_interval(ours, theirs, 1 - 0.05 / len(pairs))
        np.testing.assert_allclose((joint.less, joint.low, joint.high), expected, atol=1e-9)
        sure = "less" if joint.low > 0 else "alone"
        assert pair.verdict == (sure if found.low > 0 and n > 2 else "undecided")
        wins = f"{pair.ours} has "
        begins = {"less": wins, "alone": wins, "undecided": f"Undecided between {pair.ours} and "}
        assert pair.sentence.startswith(begins[pair.verdict])
    # A share does not depend on the unit of regret.
    scaled = results_of({name: [4 * value for value in values] for name, values in finals.items()})
    assert [pair.sentence for pair in scaled.pairs()] == [pair.sentence for pair in pairs]


def test_a_study_that_decides_gets_a_confidence_sequence() -> None:
    rng = np.random.default_rng(0)
    theirs = rng.normal(20, 2, 15)
    ours = theirs - rng.normal(8, 1, 15)
    decide = Decide(("a", "b"), at_most=100)
    pair = the_pair({"b": list(theirs), "a": list(ours)}, decide=decide)
    assert pair.running
    assert pair.difference == running_less_regret(ours, theirs)
    fixed = share_and_interval(ours, theirs)
    assert pair.difference.low < fixed[1] < fixed[2] < pair.difference.high
    assert "(95% confidence sequence), n = 15 paired seeds" in pair.sentence
    few = the_pair({"b": list(theirs[:9]), "a": list(ours[:9])}, decide=decide)
    assert few.verdict == "undecided"


def test_the_sentence_says_whether_something_was_tuned() -> None:
    grid = (LORIL(k=0.1), LORIL(k=1.0))
    agents: dict[str, tuple[AgentSpec, ...]] = {"LORIL": grid, "greedy": (Greedy(),)}
    agents["random"] = (Uniform(),)
    study = Study("s", WORLD, agents, 100, (8, 9), (0, 1, 2))
    finals = {
        grid[0]: {8: 5.0, 9: 5.0, 0: 1.0, 1: 1.0, 2: 1.0},
        grid[1]: {8: 1.0, 9: 1.0, 0: 4.0, 1: 5.0, 2: 6.0},  # chosen, though worse when reported
        Greedy(): {8: 0.0, 9: 0.0, 0: 7.0, 1: 8.0, 2: 9.0},
        Uniform(): {8: 0.0, 9: 0.0, 0: 20.0, 1: 22.0, 2: 25.0},
    }
    results = Results(study, MadeUp(finals))
    assert results.tuned("LORIL") == grid[1]
    said = {(pair.ours, pair.theirs): pair.sentence for pair in results.pairs()}
    assert set(said) == {("LORIL", "greedy"), ("LORIL", "random"), ("greedy", "random")}
    assert "tuned on other seeds" in said["LORIL", "greedy"]
    assert "tuned on other seeds" in said["LORIL", "random"]
    assert "nothing tuned" in said["greedy", "random"]
    assert "LORIL has 37.5% less regret than greedy" in said["LORIL", "greedy"]


# Labels.


@pytest.mark.parametrize(
    ("grid", "label"),
    [
        ([LORIL(k=0.1, lam=1.0)], "mine"),
        ([LORIL(k=0.1), LORIL(k=2.0)], "mine (k = 0.1)"),
        ([LORIL(lam=1.0, k=3.0), LORIL(lam=0.5, k=10.0)], "mine (k = 3, lam = 1)"),
        ([Greedy(ties="first"), Greedy(ties="random")], "mine (ties = first)"),
    ],
)
def test_a_label_has_the_chosen_settings_that_could_have_been_others(
    grid: list[AgentSpec], label: str
) -> None:
    study = Study("s", WORLD, {"mine": tuple(grid)}, 100, (8, 9), (0,))
    finals = {agent: dict.fromkeys((0, 8, 9), 1.0 + i) for i, agent in enumerate(grid)}
    assert Results(study, MadeUp(finals)).label("mine") == label


# Equal budgets for tuning.

LORILS = tuple(LORIL(k=k / 10) for k in range(12))
EPSILONS = tuple(EpsilonGreedy(k / 100) for k in range(12))


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 6), st.integers(2, 6), st.integers(1, 3), st.booleans())
def test_equal_budgets_give_every_tuned_agent_as_many_tuning_runs(
    ours: int, theirs: int, times: int, everywhere: bool
) -> None:
    budget = times * lcm(ours, theirs)
    tuning = tuple(range(100, 100 + budget))
    agents = {"ours": LORILS[:ours], "theirs": EPSILONS[:theirs]}
    study = Study("s", WORLD, agents, 10, tuning, (0, 1), everywhere, tuning_runs=budget)
    runs = [run for run in study.runs() if run.seed in tuning]
    assert len(runs) == len(set(runs))
    for name, grid in agents.items():
        share = budget // len(grid)
        assert sum(run.agent in grid for run in runs) == budget
        for agent in grid:
            assert [run.seed for run in runs if run.agent == agent] == list(tuning[:share])
        assert study.tuning_seeds(name) == tuning[:share]
    without = Study("s", WORLD, agents, 10, tuning, (0, 1), everywhere)
    reported = [{run for run in one.runs() if run.seed < 2} for one in (study, without)]
    assert reported[0] == reported[1]


def test_settings_are_chosen_on_the_tuning_seeds_that_were_played() -> None:
    grid = LORILS[:2]
    agents: dict[str, tuple[AgentSpec, ...]] = {"a": grid, "b": EPSILONS[:1]}
    study = Study("s", WORLD, agents, 10, (8, 9), (0,), tuning_runs=2)
    # On seed 9 the other one would have won, by far.
    finals: dict[AgentSpec, dict[int, float]] = {
        grid[0]: {8: 1.0, 9: 99.0, 0: 1.0},
        grid[1]: {8: 2.0, 9: 1.0, 0: 1.0},
        EPSILONS[0]: {8: 0.0, 9: 0.0, 0: 0.0},
    }
    assert Results(study, MadeUp(finals)).tuned("a") == grid[0]


@pytest.mark.parametrize(
    ("tuning_runs", "says"),
    [
        (7, "tuning_runs = 7 cannot be shared out evenly among the 2 settings of ours"),
        (2, "tuning_runs = 2 cannot be shared out evenly among the 3 settings of theirs"),
        (18, "needs 9 tuning seeds for each of the 2 settings of ours; study 's' has 4"),
        (0, "tuning_runs must be at least 1"),
        (6.0, "tuning_runs must be a whole number"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused(tuning_runs: Any, says: str) -> None:
    agents = {"ours": LORILS[:2], "theirs": EPSILONS[:3]}
    with pytest.raises(SettingError, match=says):
        Study("s", WORLD, agents, 10, (5, 6, 7, 8), (0,), tuning_runs=tuning_runs)


def test_a_regret_that_is_not_a_number_is_not_ranked_as_one() -> None:
    unknown, known = [float("nan")] * 3, [1.0, 2.0, 3.0]
    for finals in ({"a": unknown, "b": known}, {"b": known, "a": unknown}):
        assert the_pair(finals).verdict == "unknown"
