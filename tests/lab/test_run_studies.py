"""Studies whose settings are tuned on some seeds, and only the chosen ones run on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import play
from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, Uniform
from tellback.errors import SettingError
from tellback.lab import (
    Listener,
    Processes,
    Results,
    RunsFailedError,
    RunSpec,
    Store,
    Study,
    run_missing,
    run_studies,
)
from tellback.lab.run_spec import curve_rounds
from tellback.models import Sentence
from tellback.paper import images, synthetic
from tellback.paper.claims import ClaimedMargin, claim
from tellback.roles import Simulation
from tellback.worlds import Synthetic
from tests.support.studies import Counting, Inline

WORLD = Synthetic(instructions=12, responses=4, rank=3)
AGENTS: dict[str, tuple[AgentSpec, ...]] = {
    "LORIL": (LORIL(k=0.1), LORIL(k=1.0), LORIL(k=10.0)),
    "epsilon-greedy": (EpsilonGreedy(0.05), EpsilonGreedy(0.9)),
    "greedy": (Greedy(),),
    "random": (Uniform(),),
}
TUNING, REPORTED = (10, 11, 12), (0, 1, 2, 3)


def a_study(everywhere: bool, **changes: Any) -> Study:
    parts: dict[str, Any] = {
        "name": "small",
        "world": WORLD,
        "agents": AGENTS,
        "rounds": 80,
        "tuning": TUNING,
        "reported": REPORTED,
        "everywhere": everywhere,
    }
    return Study(**{**parts, **changes})


def pairs(runs: Iterator[RunSpec] | list[RunSpec]) -> list[tuple[AgentSpec, int]]:
    return [(run.agent, run.seed) for run in runs]


def done(study: Study, store: Store, workers: int = 1) -> Results:
    """Both phases, as a caller goes through them."""
    assert run_missing(study.runs(), store, on=Processes(workers)) == []
    results = Results(study, store)
    assert run_missing(results.chosen_runs(), store, on=Processes(workers)) == []
    return results.complete()


def kept_in(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.folder.rglob("*.parquet")}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Store]:
    """A folder for either kind of study: nothing that one has computed helps the other."""
    return {
        True: Store(tmp_path_factory.mktemp("everywhere")),
        False: Store(tmp_path_factory.mktemp("two-phase")),
    }


@pytest.fixture(scope="module")
def both(stores: dict[bool, Store]) -> dict[bool, Results]:
    return {everywhere: done(a_study(everywhere), store) for everywhere, store in stores.items()}


# Which runs there are.


def test_every_setting_plays_the_tuning_seeds_and_only_single_ones_the_reported() -> None:
    study = a_study(everywhere=False)
    every = [agent for grid in AGENTS.values() for agent in grid]
    expected = {(agent, seed) for agent in every for seed in TUNING}
    expected |= {(agent, seed) for agent in (Greedy(), Uniform()) for seed in REPORTED}
    runs = pairs(study.runs())
    assert set(runs) == expected
    assert len(runs) == len(expected)
    assert all((run.world, run.rounds) == (WORLD, 80) for run in study.runs())


def test_the_chosen_settings_play_the_reported_seeds() -> None:
    study = a_study(everywhere=False)
    chosen = {name: grid[-1] for name, grid in AGENTS.items()}
    expected = {(AGENTS[name][-1], s) for name in ("LORIL", "epsilon-greedy") for s in REPORTED}
    runs = pairs(study.chosen_runs(chosen))
    assert set(runs) == expected
    assert len(runs) == len(expected)
    assert not set(runs) & set(pairs(study.runs()))


def test_where_every_setting_plays_everywhere_nothing_has_to_wait() -> None:
    study = a_study(everywhere=True)
    every = [agent for grid in AGENTS.values() for agent in grid]
    assert set(pairs(study.runs())) == {(a, seed) for a in every for seed in (*TUNING, *REPORTED)}
    assert list(study.chosen_runs({name: grid[0] for name, grid in AGENTS.items()})) == []
    assert len(study) == len(list(study.runs())) == 7 * 7


def test_every_setting_plays_everywhere_unless_asked_otherwise() -> None:
    assert Study("small", WORLD, AGENTS, 80, TUNING, REPORTED) == a_study(everywhere=True)


def test_seed_by_seed_so_that_a_stop_leaves_whole_rows() -> None:
    for everywhere in (True, False):
        study = a_study(everywhere)
        seeds = [run.seed for run in study.runs()]
        assert list(dict.fromkeys(seeds)) == [*TUNING, *REPORTED]
        order = [(*TUNING, *REPORTED).index(seed) for seed in seeds]
        assert order == sorted(order)
    chosen = {name: grid[0] for name, grid in AGENTS.items()}
    seeds = [run.seed for run in a_study(everywhere=False).chosen_runs(chosen)]
    assert seeds == sorted(seeds)


SETTINGS = st.lists(
    st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.4, 0.5]), min_size=1, max_size=4, unique=True
)


@settings(max_examples=100, deadline=None)
@given(st.lists(SETTINGS, min_size=1, max_size=3), st.booleans(), st.data())
def test_the_length_of_a_study_is_the_number_of_runs_whatever_is_chosen(
    grids: list[list[float]], everywhere: bool, data: Any
) -> None:
    kinds: list[Callable[[float], AgentSpec]] = [
        EpsilonGreedy,
        lambda k: LORIL(k=k),
        lambda k: LORIL(k=k, ties="first"),
    ]
    agents: dict[str, tuple[AgentSpec, ...]] = {
        str(i): tuple(kind(value) for value in grid)
        for i, (kind, grid) in enumerate(zip(kinds, grids, strict=False))
    }
    tuning = tuple(range(100, 100 + data.draw(st.integers(1, 3))))
    reported = tuple(range(data.draw(st.integers(1, 3))))
    study = Study("s", WORLD, agents, 10, tuning, reported, everywhere)
    chosen = {name: data.draw(st.sampled_from(grid)) for name, grid in agents.items()}
    runs = [*study.runs(), *study.chosen_runs(chosen)]
    assert len(study) == len(runs) == len({run.identity for run in runs})
    # After both phases there is all that a comparison needs.
    have = set(pairs(runs))
    assert {(agent, seed) for agent in chosen.values() for seed in reported} <= have
    assert {(agent, s) for grid in agents.values() for agent in grid for s in tuning} <= have


# What comes of them.


def test_as_many_runs_are_done_as_the_study_says(
    both: dict[bool, Results], stores: dict[bool, Store]
) -> None:
    for everywhere, store in stores.items():
        assert len(kept_in(store)) == len(a_study(everywhere))
    assert len(a_study(everywhere=False)) == 7 * 3 + 2 * 4 + 2 * 4


def test_the_settings_chosen_are_those_best_on_the_tuning_seeds(both: dict[bool, Results]) -> None:
    for name, grid in AGENTS.items():
        means = {
            agent: np.mean([play(WORLD, agent, 80, seed=s).regrets.sum() for s in TUNING])
            for agent in grid
        }
        best = min(means, key=lambda agent: means[agent])
        assert both[False].tuned(name) == both[True].tuned(name) == best


def test_the_runs_that_waited_are_those_of_the_chosen_settings(both: dict[bool, Results]) -> None:
    results = both[False]
    expected = [(results.tuned(n), s) for s in REPORTED for n in ("LORIL", "epsilon-greedy")]
    assert pairs(results.chosen_runs()) == expected
    assert both[True].chosen_runs() == []


def test_the_comparison_is_the_same_either_way(both: dict[bool, Results]) -> None:
    one, other = both[True], both[False]
    for name in AGENTS:
        agent = one.tuned(name)
        assert other.tuned(name) == agent
        np.testing.assert_array_equal(other.final(agent), one.final(agent))
        np.testing.assert_array_equal(other.curves(agent), one.curves(agent))
        np.testing.assert_array_equal(other.final(agent, TUNING), one.final(agent, TUNING))
    np.testing.assert_array_equal(other.t, one.t)
    claims = [claim(results, ClaimedMargin("A task", 0.05, seeds=2)) for results in (one, other)]
    assert claims[0].measured == claims[1].measured
    assert claims[0].verdict == claims[1].verdict


def test_the_files_of_the_runs_are_the_same_either_way(
    both: dict[bool, Results], stores: dict[bool, Store]
) -> None:
    every, needed = kept_in(stores[True]), kept_in(stores[False])
    assert needed.items() <= every.items()
    assert len(needed) < len(every)


def test_curves_are_those_of_bare_play(both: dict[bool, Results]) -> None:
    results = both[False]
    for name in AGENTS:
        agent = results.tuned(name)
        alone = [play(WORLD, agent, 80, seed=s).regret[curve_rounds(80) - 1] for s in REPORTED]
        np.testing.assert_array_equal(results.curves(agent), alone)
        np.testing.assert_array_equal(results.final(agent), np.array(alone)[:, -1])


def test_the_table_has_every_run_that_was_done(both: dict[bool, Results]) -> None:
    for everywhere, results in both.items():
        table = results.table()
        points = len(results.t)
        assert table.height == len(a_study(everywhere)) * points
        assert set(table["agent"].unique()) == set(AGENTS)
        reported = table.filter(table["seeds"] == "reported")
        assert set(reported["seed"].unique()) == set(REPORTED)
        expected = {name: len(grid) if everywhere else 1 for name, grid in AGENTS.items()}
        for name, number in expected.items():
            rows = reported.filter(reported["agent"] == name)
            assert rows["setting"].n_unique() == number
            assert rows.height == number * len(REPORTED) * points
        tuned = results.tuned("LORIL")
        last = reported.filter((reported["setting"] == tuned.label()) & (reported["t"] == 80)).sort(
            "seed"
        )
        np.testing.assert_array_equal(last["regret"].to_numpy(), results.final(tuned))


def test_an_agent_is_labelled_with_the_settings_it_was_tuned_in(both: dict[bool, Results]) -> None:
    for name, grid in AGENTS.items():
        labels = {results.label(name) for results in both.values()}
        assert len(labels) == 1
        assert ("=" in labels.pop()) == (len(grid) > 1)


def test_completing_twice_changes_nothing(stores: dict[bool, Store], both: object) -> None:
    results = Results(a_study(everywhere=False), stores[False])
    assert results.complete() is results
    table = results.table()
    assert results.complete().table().equals(table)


def test_nothing_is_computed_again(both: object, stores: dict[bool, Store]) -> None:
    study, store = a_study(everywhere=False), stores[False]
    stamps = {path: path.stat().st_mtime_ns for path in store.folder.rglob("*.parquet")}
    reported: list[int] = []
    run_missing(study.runs(), store, on=Inline(), listener=Counting(reported))
    chosen = Results(study, store).chosen_runs()
    run_missing(chosen, store, on=Inline(), listener=Counting(reported))
    assert {p: p.stat().st_mtime_ns for p in store.folder.rglob("*.parquet")} == stamps
    assert sum(reported) == len(study) * study.rounds


def test_settings_without_seeds_to_tune_them_on_are_named() -> None:
    with pytest.raises(SettingError, match="no seeds to tune LORIL on"):
        a_study(everywhere=False, tuning=())


def test_single_settings_need_no_tuning_and_no_second_phase(tmp_path: Path) -> None:
    agents = {"greedy": (Greedy(),), "random": (Uniform(),)}
    study = a_study(everywhere=False, agents=agents, tuning=(), rounds=5, reported=(0, 1))
    results = done(study, Store(tmp_path))
    assert len(study) == 4
    assert results.chosen_runs() == []
    assert results.final(Uniform()).shape == (2,)


def test_how_much_is_computed_is_no_part_of_a_runs_identity() -> None:
    one = {run.identity for run in a_study(everywhere=True).runs()}
    assert {run.identity for run in a_study(everywhere=False).runs()} < one


# The paper's.


@pytest.mark.parametrize("full", [False, True])
def test_the_study_of_pictures_waits_and_that_of_tables_does_not(full: bool) -> None:
    for study in images.studies(full=full):
        assert not study.everywhere
        # 15 settings on 5 seeds; then 4 agents, one setting each, on 15 others.
        assert len(study) == 15 * 5 + 4 * 15
        assert not set(study.tuning) & set(study.reported)
        assert {name: len(grid) for name, grid in study.agents.items()} == {
            "LORIL": 9,
            "epsilon-greedy": 4,
            "greedy": 1,
            "random": 1,
        }
    assert len(images.studies(full=full)) == (4 if full else 1)
    assert all(study.everywhere for study in synthetic.studies())


def test_an_agent_is_not_listed_twice() -> None:
    with pytest.raises(SettingError, match=r"lists greedy .* twice"):
        Study("s", WORLD, {"a": (Greedy(),), "b": (Greedy(),)}, 10, (), (0,))


def test_a_setting_that_did_not_play_a_seed_is_named(both: dict[bool, Results]) -> None:
    results = both[False]
    idle = next(
        agent
        for name, grid in AGENTS.items()
        for agent in grid
        if len(grid) > 1 and agent != results.tuned(name)
    )
    with pytest.raises(SettingError, match="did not play seed"):
        results.final(idle)


def test_conducting_a_study_runs_both_phases(both: dict[bool, Results], tmp_path: Path) -> None:
    done: list[int] = []
    study = both[False].study
    (results,) = run_studies([study], Store(tmp_path), on=Processes(1), listener=Counting(done))
    assert sum(done) == len(study) * study.rounds
    for name in AGENTS:
        chosen = results.tuned(name)
        np.testing.assert_array_equal(results.final(chosen), both[False].final(chosen))


@dataclass(frozen=True)
class Breaking(Synthetic):
    """A world that cannot be played."""

    def build(self, rng: np.random.Generator) -> Simulation:
        raise ZeroDivisionError("broken on purpose")


def test_runs_that_failed_are_reported_with_their_tracebacks(tmp_path: Path) -> None:
    study = Study("broken", Breaking(), {"random": (Uniform(),)}, 5, (), (0, 1))
    with pytest.raises(RunsFailedError, match="2 runs failed, uniform on seed 0") as caught:
        run_studies([study], Store(tmp_path), on=Processes(1))
    assert "broken on purpose" in caught.value.failures[0].traceback


def test_an_agent_that_does_not_fit_the_world_is_refused_before_any_work(tmp_path: Path) -> None:
    study = Study("s", WORLD, {"greedy": (Greedy(model=Sentence()),)}, 5, (), (0,))
    with pytest.raises(SettingError, match="needs instructions in words"):
        run_studies([study], Store(tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()


@dataclass(frozen=True)
class FailsLate(Uniform):
    """An agent that cannot begin in a run."""

    def build(self, facts: Any, rng: Any) -> Any:
        raise RuntimeError("out of order")


def test_what_fails_in_one_study_keeps_nothing_else_from_being_done(tmp_path: Path) -> None:
    bad = a_study(
        name="bad",
        everywhere=False,
        agents={"LORIL": AGENTS["LORIL"], "bad": (FailsLate(),)},
    )
    good = a_study(everywhere=False)
    store = Store(tmp_path)
    with pytest.raises(RunsFailedError) as caught:
        run_studies([bad, good], store, on=Inline())
    assert {failure.run.agent for failure in caught.value.failures} == {FailsLate()}
    (complete,) = caught.value.complete
    assert complete.study == good
    # Also in the study in which it fails, the others are played to the end.
    tuned = complete.tuned("LORIL")
    assert all(store.has(bad.run(tuned, seed)) for seed in bad.reported)


def test_each_study_is_told_of_as_soon_as_its_runs_are_stored(tmp_path: Path) -> None:
    """Also studies whose settings must be chosen first, and runs that are stored already."""
    world = Synthetic(instructions=5, responses=3, rank=2)
    agents = {"LORIL": (LORIL(k=0.1), LORIL(k=1.0)), "random": (Uniform(),)}
    made: Any = {"rounds": 20, "tuning": (8, 9), "reported": (0, 1, 2)}
    studies = [
        Study("chosen", world, agents, everywhere=False, **made),
        Study("at once", world, agents, **made),
    ]
    told: list[tuple[str, int]] = []

    class Told(Listener):
        def complete(self, results: Results) -> None:
            regret = results.final(results.tuned("LORIL"))
            told.append((results.study.name, len(regret)))

    for _ in range(2):
        run_studies(studies, Store(tmp_path), on="inline", listener=Told())
    assert told == 2 * [("at once", 3), ("chosen", 3)]
