"""A run has one name; its file is whole and its own, or it is computed again."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import play
from tellback.agents import LORIL, Uniform
from tellback.errors import TellbackError
from tellback.lab import Results, RunSpec, Store, run_missing, run_studies
from tellback.lab.run_one import Failure, run_one
from tellback.lab.run_spec import curve_rounds
from tests.support.small_study import AGENTS, RUN, WORLD, a_study
from tests.support.studies import Counting, Idle, Inline


def truth(run: RunSpec) -> np.ndarray:
    """The kept regret, from bare play."""
    played = play(run.world, run.agent, run.rounds, seed=run.seed)
    kept: np.ndarray = np.cumsum(played.regrets)[curve_rounds(run.rounds) - 1]
    return kept


def contents(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.folder.rglob("*.parquet")}


# Files.


def test_a_result_is_one_file_of_what_follows_from_the_configuration(tmp_path: Path) -> None:
    one, other = run_one(RUN), run_one(RUN)
    assert not isinstance(one, Failure)
    assert not isinstance(other, Failure)
    stores = Store(tmp_path / "one"), Store(tmp_path / "other")
    stores[0].write(one)
    stores[1].write(replace(other, about={"host": "elsewhere", "seconds": 1e9}))
    assert contents(stores[0]) == contents(stores[1])
    assert list(contents(stores[0])) == [f"{RUN.identity}.parquet"]
    table = polars.read_parquet(stores[0].path(RUN))
    np.testing.assert_array_equal(table["t"], curve_rounds(RUN.rounds))
    np.testing.assert_array_equal(table["regret"], truth(RUN))
    assert stores[1].about(RUN)["host"] == "elsewhere"
    assert stores[0].about(RUN)["seconds"] > 0
    # Nothing but the result and its sidecar is left: no temporary file.
    files = {path.suffix for path in stores[0].folder.rglob("*") if path.is_file()}
    assert files == {".parquet", ".json"}
    assert len(list(stores[0].folder.rglob("*.*"))) == 2


@pytest.mark.parametrize("sidecar", [None, b"", b"{", b"\xff\xfe\x00", b"[1]", b"null"])
def test_a_result_whose_sidecar_is_lost_is_sound_but_of_an_unknown_source(
    sidecar: bytes | None, store: Store
) -> None:
    path = store.path(RUN).with_suffix(".json")
    if sidecar is None:
        path.unlink()
    else:
        path.write_bytes(sidecar)
    np.testing.assert_array_equal(store.curve(RUN), truth(RUN))
    assert run_missing([RUN], store, on=Idle(), reuse=True) == []
    engine = Inline()
    assert run_missing([RUN], store, on=engine) == []
    assert engine.computed == [RUN]
    assert run_missing([RUN], store, on=Idle()) == []


def test_no_result_is_ever_beside_the_sidecar_of_another(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = run_one(RUN)
    assert not isinstance(again, Failure)
    rename = Path.replace

    def killed_after_the_sidecar(self: Path, target: Path) -> Path:
        if target.suffix == ".parquet":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", killed_after_the_sidecar)
    with pytest.raises(KeyboardInterrupt):
        store.write(replace(again, about={"sources": "others"}))
    assert store.about(RUN)["sources"] == "others"
    assert not store.has(RUN)


def test_a_write_that_fails_leaves_what_was_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.read_bytes() for path in store.folder.rglob("*") if path.is_file()}

    def half(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[:99])
        raise OSError("the disk is full")

    again = run_one(RUN)
    assert not isinstance(again, Failure)
    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="disk is full"):
        store.write(replace(again, about={}))
    after = {path: path.read_bytes() for path in store.folder.rglob("*.parquet")}
    assert after == {store.path(RUN): before[store.path(RUN)]}
    assert not list(store.folder.rglob(".partial-*"))


# What is done and what is not.


def test_changing_one_agent_computes_only_its_runs(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run_studies([a_study()], store, on=Inline())
    before = contents(store)
    engine = Inline()
    other = {**AGENTS, "LORIL": (LORIL(k=0.1), LORIL(k=3.0))}
    run_studies([a_study(agents=other)], store, on=engine)
    assert {run.agent for run in engine.computed} == {LORIL(k=3.0)}
    assert sorted(run.seed for run in engine.computed) == [0, 1, 2, 10, 11]
    assert before.items() < contents(store).items()


def test_adding_a_seed_computes_only_that_seed(tmp_path: Path) -> None:
    store, engine = Store(tmp_path), Inline()
    run_studies([a_study()], store, on=Inline())
    run_studies([a_study(reported=(0, 1, 2, 3))], store, on=engine)
    assert [run.seed for run in engine.computed] == [3] * 4


@pytest.mark.parametrize("change", [{"rounds": 31}, {"world": replace(WORLD, temperature=0.7)}])
def test_changing_what_all_runs_share_computes_all_of_them(
    change: dict[str, Any], tmp_path: Path
) -> None:
    store, engine = Store(tmp_path), Inline()
    run_studies([a_study()], store, on=Inline())
    (results,) = run_studies([a_study(**change)], store, on=engine)
    assert len(engine.computed) == len(a_study()) == 20
    for run in results.study.runs():
        np.testing.assert_array_equal(store.curve(run), truth(run))


def test_a_new_name_and_another_order_of_seeds_compute_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run_studies([a_study()], store, on=Inline())
    run_studies([a_study(name="renamed", reported=(2, 0, 1), everywhere=False)], store, on=Idle())


def test_the_results_of_two_machines_merge_by_copying_files(tmp_path: Path) -> None:
    runs = list(a_study().runs())
    here, there, whole = (Store(tmp_path / name) for name in ("here", "there", "whole"))
    run_missing(runs[::2], here, on=Inline())
    run_missing(runs[1::2], there, on=Inline())
    run_missing(runs, whole, on=Inline())
    shutil.copytree(there.folder, here.folder, dirs_exist_ok=True)
    (results,) = run_studies([a_study()], here, on=Idle())
    assert contents(here) == contents(whole)
    assert results.table().equals(Results(a_study(), whole).table())
    assert {here.about(run)["host"] for run in runs} == {whole.about(run)["host"] for run in runs}


# Damage.


def demand_found_out(store: Store, run: RunSpec, original: bytes) -> None:
    """The file is no result; it is named, computed again, and then as it was."""
    stored = store.read([run])
    assert (stored.curves, stored.damaged) == ({}, [run])
    assert not store.has(run)
    with pytest.raises(TellbackError, match=rf"{run.identity}\.parquet is damaged"):
        store.curve(run)
    watcher, engine = Counting(), Inline()
    assert run_missing([run], store, on=engine, listener=watcher) == []
    assert engine.computed == [run]
    (note,) = watcher.notes
    assert str(store.path(run)) in note
    assert sum(watcher.rounds) == run.rounds
    assert store.path(run).read_bytes() == original
    np.testing.assert_array_equal(store.curve(run), truth(run))


def test_a_file_cut_off_anywhere_is_found_out(store: Store) -> None:
    path = store.path(RUN)
    original = path.read_bytes()
    for length in range(len(original)):
        path.write_bytes(original[:length])
        assert store.read([RUN]).damaged == [RUN], length
    path.write_bytes(original[:-1])
    demand_found_out(store, RUN, original)


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=200))
def test_a_file_of_anything_else_is_found_out(junk: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        run_missing([RUN], store, on=Inline())
        original = store.path(RUN).read_bytes()
        store.path(RUN).write_bytes(junk)
        demand_found_out(store, RUN, original)


OTHERS = [
    replace(RUN, seed=8),
    replace(RUN, rounds=7),
    replace(RUN, agent=LORIL(k=0.6)),
    replace(RUN, world=replace(WORLD, temperature=0.7)),
]


@pytest.mark.parametrize("other", OTHERS)
def test_the_file_of_another_run_is_found_out(other: RunSpec, store: Store) -> None:
    original = store.path(RUN).read_bytes()
    run_missing([other], store, on=Inline())
    shutil.copy(store.path(other), store.path(RUN))
    demand_found_out(store, RUN, original)
    np.testing.assert_array_equal(store.curve(other), truth(other))


def test_a_curve_that_was_edited_is_found_out(store: Store) -> None:
    original = store.path(RUN).read_bytes()
    table = polars.read_parquet(store.path(RUN))
    table.with_columns(polars.col("regret") * 0.99).write_parquet(store.path(RUN))
    demand_found_out(store, RUN, original)


@pytest.mark.parametrize("column", ["regret", "t"])
def test_a_file_without_a_column_is_found_out(column: str, store: Store) -> None:
    original = store.path(RUN).read_bytes()
    polars.read_parquet(store.path(RUN)).drop(column).write_parquet(store.path(RUN))
    demand_found_out(store, RUN, original)


def test_a_link_to_nowhere_is_found_out(store: Store) -> None:
    original = store.path(RUN).read_bytes()
    store.path(RUN).unlink()
    store.path(RUN).symlink_to("nowhere")
    demand_found_out(store, RUN, original)
    assert not store.path(RUN).is_symlink()


def test_a_folder_in_the_place_of_a_file_is_no_result_and_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.path(RUN).mkdir(parents=True)
    assert store.read([RUN]).damaged == [RUN]
    with pytest.raises(OSError, match=RUN.identity):
        run_missing([RUN], store, on=Inline())


@contextmanager
def not_root() -> Iterator[None]:
    """As a user for whom permissions hold."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_file_that_may_not_be_read_is_found_out() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        store = Store(folder)
        run_missing([RUN, OTHERS[0]], store, on=Inline())
        store.path(RUN).chmod(0)
        with not_root():
            stored = store.read([RUN, OTHERS[0]])
        assert list(stored.curves) == [OTHERS[0]]
        assert stored.damaged == [RUN]


def test_damaged_files_among_sound_ones_are_all_found_and_only_they(tmp_path: Path) -> None:
    store = Store(tmp_path)
    lengths = (5, 6, 300)
    runs = [RunSpec(WORLD, Uniform(), rounds, s) for s in range(12) for rounds in lengths]
    run_missing(runs, store, on=Inline())
    before = contents(store)
    rng = np.random.default_rng(3)
    hurt = [runs[i] for i in rng.choice(len(runs), 9, replace=False)]
    for run in hurt:
        path = store.path(run)
        path.write_bytes(before[path.name][: int(rng.integers(len(before[path.name])))])
    stored = store.read(runs)
    assert set(stored.damaged) == set(hurt)
    assert len(stored.damaged) == len(hurt)
    assert set(stored.curves) == set(runs) - set(hurt)
    for run, curve in stored.curves.items():
        np.testing.assert_array_equal(curve, truth(run))
    engine, watcher = Inline(), Counting()
    run_missing(runs, store, on=engine, listener=watcher)
    assert set(engine.computed) == set(hurt)
    assert sorted(watcher.notes) == sorted(
        f"{store.path(run)} is damaged and will be played again." for run in hurt
    )
    assert contents(store) == before


def test_two_files_whose_lengths_make_up_for_each_other_give_no_wrong_curve(tmp_path: Path) -> None:
    store = Store(tmp_path)
    runs = [RunSpec(WORLD, Uniform(), 6, seed) for seed in range(2)]
    run_missing(runs, store, on=Inline())
    tables = [polars.read_parquet(store.path(run)) for run in runs]
    tables[0][:5].write_parquet(store.path(runs[0]))
    polars.concat([tables[0][5:], tables[1]]).write_parquet(store.path(runs[1]))
    assert [store.read([run]).damaged for run in runs] == [[run] for run in runs]
    for run, curve in store.read(runs).curves.items():
        np.testing.assert_array_equal(curve, truth(run))


# Failures.


def test_a_failure_is_kept_until_the_run_succeeds(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write_failure(Failure(RUN, "Traceback: éclair\n"))
    assert store.failure(RUN) == "Traceback: éclair\n"
    assert not store.has(RUN)
    assert store.read([RUN]).damaged == []
    run_missing([RUN], store, on=Inline())
    assert store.failure(RUN) is None
    assert not list(store.folder.rglob("*.failed"))


SHORT = RunSpec(WORLD, Uniform(), 4, 0)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with one run. What a test damages, it computes again."""
    store = Store(tmp_path_factory.mktemp("sound"))
    run_missing([SHORT], store, on=Inline())
    return store


@settings(max_examples=120, deadline=None)
@given(st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_any_changed_byte_is_found_out(sound: Store, where: float, flip: int) -> None:
    original = sound.path(SHORT).read_bytes()
    hurt = bytearray(original)
    hurt[int(where * len(hurt))] ^= flip
    sound.path(SHORT).write_bytes(hurt)
    assert sound.read([SHORT]).damaged == [SHORT]
    run_missing([SHORT], sound, on=Inline())
    assert sound.path(SHORT).read_bytes() == original


def test_equal_configurations_are_computed_once(tmp_path: Path) -> None:
    named = RunSpec(RUN.world, RUN.agent.resolved(RUN.world.facts), RUN.rounds, RUN.seed)
    assert named.identity == RUN.identity
    engine = Inline()
    run_missing([RUN, named, OTHERS[0]], Store(tmp_path), on=engine)
    assert len(engine.computed) == 2
