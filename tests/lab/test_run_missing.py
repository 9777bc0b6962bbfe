"""Studies are data; runs have an identity; what is done is never done again."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellback
from tellback import play
from tellback.agents import LORIL, OneHotLORIL, Uniform
from tellback.agents.agent import ModelAgentSpec
from tellback.agents.explorers import Explorer
from tellback.errors import TellbackError
from tellback.lab import Processes, Results, RunSpec, Store, Study, run_missing, run_studies
from tellback.lab.report.page import DrawnStudy, page
from tellback.lab.run_spec import curve_rounds
from tellback.roles import Facts, WorldSpec
from tellback.specs import Spec
from tellback.worlds import OneHotFeatures, Synthetic
from tests.support.studies import Counting, Inline

WORLD = Synthetic(instructions=20, responses=4, rank=3)


@pytest.fixture
def study() -> Study:
    return Study(
        name="small",
        world=WORLD,
        agents={"LORIL": (LORIL(k=0.1), LORIL(k=10.0)), "random": (Uniform(),)},
        rounds=50,
        tuning=(10, 11),
        reported=(0, 1, 2),
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def contents(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.folder.rglob("*.parquet")}


def test_a_folder_that_cannot_be_written_to_is_found_out_first(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TellbackError, match="Nothing can be written"):
        run_missing([RunSpec(WORLD, Uniform(), 10, 0)], Store(tmp_path / "file"), on=Processes(1))


def test_results_are_those_of_bare_play_whatever_runs_beside_them(
    study: Study, store: Store
) -> None:
    assert run_missing(study.runs(), store, on=Processes(2)) == []
    for run in study.runs():
        alone = play(run.world, run.agent, run.rounds, seed=run.seed).regret
        kept = store.curve(run)
        np.testing.assert_array_equal(kept, alone[curve_rounds(run.rounds) - 1])


def test_what_is_done_is_not_computed_again(study: Study, store: Store) -> None:
    run_missing(list(study.runs())[:5], store, on=Inline())
    stamps = {path: path.stat().st_mtime_ns for path in store.folder.rglob("*.parquet")}
    reported: list[int] = []
    run_missing(study.runs(), store, on=Inline(), listener=Counting(reported))
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())
    assert sum(reported) == study.rounds * len(list(study.runs()))


def test_a_truncated_file_is_computed_again_and_is_then_the_same(
    study: Study, store: Store
) -> None:
    run_missing(study.runs(), store, on=Inline())
    before = contents(store)
    run = next(study.runs())
    store.path(run).write_bytes(store.path(run).read_bytes()[:-7])
    assert not store.has(run)
    run_missing(study.runs(), store, on=Inline())
    assert contents(store) == before


def test_an_unreadable_file_is_named(study: Study, store: Store) -> None:
    run = next(study.runs())
    store.path(run).parent.mkdir(parents=True)
    store.path(run).write_bytes(b"PAR1 not quite PAR1")
    with pytest.raises(TellbackError, match=store.path(run).name):
        store.curve(run)


@dataclass(frozen=True)
class Broken(ModelAgentSpec):
    """An agent that cannot begin."""

    def explorer(self, facts: Facts) -> Explorer:
        raise RuntimeError("the explorer is out of order")


def test_a_run_that_fails_is_reported_and_does_not_stop_the_others(store: Store) -> None:
    good, bad = RunSpec(WORLD, Uniform(), 20, 0), RunSpec(WORLD, Broken(), 20, 0)
    failures = run_missing([bad, good], store, on=Processes(1))
    assert [failure.run for failure in failures] == [bad]
    assert "the explorer is out of order" in failures[0].traceback
    assert store.has(good)
    assert not store.has(bad)


def test_settings_are_tuned_on_tuning_seeds_and_reported_on_others(
    study: Study, store: Store
) -> None:
    run_missing(study.runs(), store, on=Inline())
    results = Results(study, store)
    means = {agent: results.final(agent, study.tuning).mean() for agent in study.agents["LORIL"]}
    assert results.tuned("LORIL") == min(means, key=lambda agent: means[agent])
    assert len(results.final(Uniform())) == len(study.reported)
    assert results.curves(Uniform()).shape == (3, len(results.t))


def test_the_table_of_results_has_every_curve(study: Study, store: Store) -> None:
    run_missing(study.runs(), store, on=Inline())
    table = Results(study, store).table()
    assert table.height == 3 * 5 * 50
    assert set(table["seeds"].unique()) == {"tuning", "reported"}


@pytest.mark.parametrize("rounds", [1, 7, 200, 10_000])
def test_a_curve_ends_with_the_last_round(rounds: int) -> None:
    at = curve_rounds(rounds)
    assert at[-1] == rounds
    assert at[0] == 1
    assert (np.diff(at) > 0).all()


@pytest.fixture(autouse=True)
def forget_broken() -> Iterator[None]:
    """Take test agents out of the list of known ones."""
    yield
    Spec._known.pop(("agent", "broken"), None)


OWN_AGENT = """
from dataclasses import dataclass

from tellback.agents import Greedy

@dataclass(frozen=True)
class Mine(Greedy):
    note: str = "{note}"
"""


def own_agent(folder: Path, module: str, note: str) -> RunSpec:
    """A run of an agent that is defined outside the package."""
    path = folder / f"{module}.py"
    path.write_text(OWN_AGENT.format(note=note))
    spec = importlib.util.spec_from_file_location(module, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded
    Spec._known.pop(("agent", "mine"), None)
    spec.loader.exec_module(loaded)
    return RunSpec(WORLD, loaded.Mine(note=""), 10, 0)


def test_another_source_of_ones_own_agent_is_another_run(tmp_path: Path) -> None:
    first = own_agent(tmp_path, "mine_one", "a").identity
    assert own_agent(tmp_path, "mine_one", "a").identity == first
    assert own_agent(tmp_path, "mine_one", "bb").identity != first
    assert own_agent(tmp_path, "mine_two", "a").identity != first
    again = RunSpec.from_data(own_agent(tmp_path, "mine_two", "a").to_data())
    assert again.agent.kind == "mine"


@pytest.mark.parametrize("world", [replace(WORLD, seed=3), OneHotFeatures(replace(WORLD, seed=3))])
def test_settings_that_are_chosen_in_the_truth_that_is_reported_are_said(
    world: WorldSpec, tmp_path: Path
) -> None:
    grid = (OneHotLORIL(k=0.1), OneHotLORIL(k=1.0))
    study = Study("one truth", world, {"LORIL": grid}, 5, (10,), (0, 1))
    watcher = Counting()
    (results,) = run_studies([study], Store(tmp_path), on=Inline(), listener=watcher)
    (note,) = watcher.notes
    assert re.match("Warning: .*settings are chosen in the truth that is reported.*seed.*3", note)
    assert note.removeprefix("Warning: ") in unescape(page("one", [DrawnStudy(results, [])]))
    assert replace(study, agents={"LORIL": grid[:1]}).shared_truth() == ""
    assert replace(study, world=WORLD).shared_truth() == ""


class OneTruth:
    """Nothing in it can depend on a seed."""

    facts = Facts(2, 2)

    def __init__(self, load: float = 1.0) -> None: ...

    def task(self, *given: Any) -> Any: ...

    def describe(self, *given: Any) -> Any: ...


class Truths(OneTruth):
    def __init__(self, load: float = 1.0, rng: Any = None) -> None: ...


def test_a_world_of_ones_own_that_takes_no_rng_has_one_truth() -> None:
    grid = (OneHotLORIL(k=0.1), OneHotLORIL(k=1.0))
    said, nothing = (
        Study("own", tellback.world(own)(), {"LORIL": grid}, 5, (10,), (0, 1)).shared_truth()
        for own in (OneTruth, Truths)
    )
    assert "in the truth that is reported: one-truth takes no rng" in said
    assert nothing == ""


def test_the_agents_of_a_study_cannot_be_changed(study: Study) -> None:
    with pytest.raises(TypeError):
        study.agents["more"] = (Uniform(),)  # type: ignore[index]
