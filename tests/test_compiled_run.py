"""Runs that are compiled as a whole are those that ``play`` plays, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import compiled_run, play
from tellback.agents import (
    LORIL,
    Certified,
    EpsilonGreedy,
    Greedy,
    OneHotLORIL,
    Thompson,
    Uniform,
)
from tellback.compiled_run import play_compiled, play_thinned
from tellback.lab.run_spec import RunSpec
from tellback.models import Mixture, Ridge
from tellback.roles import AgentSpec, WorldSpec
from tellback.worlds import Adversarial, Hard, Realizable, Synthetic

pytestmark = pytest.mark.first

COLUMNS = ("instructions", "responses", "descriptions", "rewards", "regrets", "regret")
TIES = st.sampled_from(["random", "first"])
MODELS = st.builds(Mixture, refresh=st.sampled_from([1, 32]), smoothing=st.sampled_from([0.0, 0.1]))
AGENTS = st.one_of(
    st.builds(LORIL, k=st.sampled_from([0.1, 3]), lam=st.sampled_from([0.05, 1.0]), ties=TIES),
    st.builds(LORIL, model=MODELS, ties=TIES),
    st.builds(Greedy, model=MODELS, ties=TIES),
    st.builds(EpsilonGreedy, st.sampled_from([0.0, 0.3, 1.0]), ties=TIES),
    st.just(Uniform()),
    st.builds(OneHotLORIL, k=st.sampled_from([0.0, 0.3]), ties=TIES),
)
SYNTHETIC = st.builds(
    Synthetic,
    instructions=st.sampled_from([1, 7, 400]),
    responses=st.sampled_from([1, 6, 40]),
    rank=st.sampled_from([1, 4]),
    contexts=st.sampled_from([1, 1, 2, 5]),
    seed=st.sampled_from([None, 5]),
)
UNOPPOSED = st.one_of(SYNTHETIC, st.builds(Hard, gap=st.sampled_from(["repaired", "printed"])))
PICKS = st.sampled_from(["instructions", "both"])
WORLDS = st.one_of(UNOPPOSED, st.builds(Adversarial, UNOPPOSED, picks=PICKS))
SEEDS = st.one_of(st.integers(0, 2**70), st.integers(0, 9))


@settings(max_examples=50)
@given(
    AGENTS,
    WORLDS,
    st.integers(1, 500),
    SEEDS,
)
def test_it_is_the_run_that_play_plays(
    agent: AgentSpec, world: WorldSpec, rounds: int, seed: int
) -> None:
    run, compiled = play(world, agent, rounds, seed=seed), played(world, agent, rounds, seed)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(compiled, name), getattr(run, name), err_msg=name)
    assert compiled.match_check == run.match_check
    state, expected = compiled.agent.state(), run.agent.state()  # type: ignore[attr-defined]
    assert state.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(state[name], value, err_msg=name)


def test_it_grows_with_its_history_and_tells_every_round_once() -> None:
    """More distinct descriptions than there is room for at first, and several reports."""
    world, told = Synthetic(instructions=900, responses=30), list[int]()
    compiled = played(world, LORIL(), 2500, 3, told.append)
    assert sum(told) == 2500
    assert len(told) > 2
    run = play(world, LORIL(), 2500, seed=3)
    np.testing.assert_array_equal(compiled.regret, run.regret)


@pytest.mark.parametrize("rank", [1, 3, 4, 5, 8])
def test_it_is_the_same_with_very_many_responses_in_several_contexts(rank: int) -> None:
    world = Synthetic(instructions=5, responses=2**17 // rank**2 + 1, rank=rank, contexts=2)
    run, compiled = play(world, LORIL(), 40, seed=2), played(world, LORIL(), 40, 2)
    np.testing.assert_array_equal(compiled.responses, run.responses)
    np.testing.assert_array_equal(compiled.regret, run.regret)


def test_runs_of_one_seed_share_a_world_and_not_what_is_learned() -> None:
    world = Synthetic(instructions=20, contexts=3)
    once = played(world, LORIL(), 200, 1)
    played(world, EpsilonGreedy(0.3), 200, 1)
    again, other = played(world, LORIL(), 200, 1), played(world, LORIL(), 200, 2)
    np.testing.assert_array_equal(once.responses, again.responses)
    np.testing.assert_array_equal(other.regret, play(world, LORIL(), 200, seed=2).regret)


@pytest.mark.parametrize(
    ("world", "agent"),
    [
        (Synthetic(contexts="fresh"), LORIL()),
        (Adversarial(Synthetic(contexts="fresh")), LORIL()),
        (Adversarial(Adversarial(Synthetic())), LORIL()),
        (Synthetic(responses=2_000, rank=9, contexts=2), LORIL()),  # widths by the library
        (Realizable(), LORIL()),
        (Synthetic(instructions=3, asks=(0.5, 0.3, 0.2)), LORIL()),
        (Synthetic(), LORIL(model=Ridge())),
        (Synthetic(), LORIL(lam="1/t")),
        (Synthetic(), Certified(Greedy())),
        (Synthetic(), Thompson()),
    ],
    ids=repr,
)
def test_any_other_run_is_left_to_play(world: WorldSpec, agent: AgentSpec) -> None:
    assert play_compiled(world, agent, 10, 0) is None


def test_a_study_stores_the_regret_of_play() -> None:
    run = RunSpec(Synthetic(), EpsilonGreedy(0.2), 300, 4)
    curve, noted = run.perform()
    record = play(run.world, run.agent, 300, seed=4)
    np.testing.assert_array_equal(curve, record.regret[run.points() - 1])
    assert noted["match_check"] == record.match_check.data()  # type: ignore[union-attr]
    isolated, _ = run.perform(isolated=True)
    np.testing.assert_array_equal(curve, isolated)


@pytest.mark.parametrize("agent", [LORIL(), OneHotLORIL(), EpsilonGreedy(0.2)], ids=repr)
def test_a_long_run_keeps_some_rounds_at_a_time_and_gives_the_same(
    agent: AgentSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several blocks, points at their ends and beside them, and more entries than room."""
    monkeypatch.setattr(compiled_run, "BLOCK", 300)
    world, points = Adversarial(Synthetic(instructions=50, responses=20)), np.arange(1, 1001, 37)
    points = np.unique([*points, 300, 301, 600, 1000])
    told = list[int]()
    thinned = play_thinned(world, agent, 1000, 4, points, told.append)
    whole = played(world, agent, 1000, 4)
    assert thinned is not None
    assert sum(told) == 1000
    np.testing.assert_array_equal(thinned.curve, whole.regret[points - 1])
    state, expected = thinned.agent.state(), whole.agent.state()
    for name, value in expected.items():
        np.testing.assert_array_equal(state[name], value, err_msg=name)
    assert thinned.match_check is not None
    np.testing.assert_allclose(thinned.match_check, whole.match_check, rtol=1e-10, atol=1e-10)


def test_an_edit_of_the_compiled_loop_makes_its_runs_be_played_again() -> None:
    rooms = RunSpec(Synthetic(), LORIL(), 10, 0).rooms().digests
    assert "compiled_run" in rooms
    assert (
        "compiled_run" not in RunSpec(Synthetic(contexts="fresh"), LORIL(), 10, 0).rooms().digests
    )


def played(*arguments: Any) -> Any:
    """A run that must be of the compiled kind."""
    compiled = play_compiled(*arguments)
    assert compiled is not None
    return compiled
