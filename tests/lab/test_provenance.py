"""Runs of another source of tellback are found, played again, or used with a warning."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from tellback.lab import Results, RunSpec, Store, run_missing, run_studies
from tellback.lab.report.page import DrawnStudy, page
from tellback.lab.run_one import Failure, Outcome, run_one
from tellback.lab.status import status_of
from tests.support.small_study import RUN, a_study
from tests.support.studies import Counting, Idle, Inline

ANOTHER = "0123456789abcdef"


def compute_by_another(store: Store, runs: Iterable[RunSpec], room: str = "agents") -> None:
    """As if the runs had been computed by tellback with another source of a room."""
    for run in runs:
        about = dict(store.about(run))
        about |= {"source": ANOTHER, "rooms": {**about["rooms"], room: "0" * 12}}
        store.path(run).with_suffix(".json").write_text(json.dumps(about))


def test_runs_by_another_source_of_what_they_depend_on_are_computed_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    runs = list(a_study().runs())
    run_missing(runs, store, on=Inline())
    compute_by_another(store, runs[:2])
    engine, watcher = Inline(), Counting()
    run_missing(runs, store, on=engine, listener=watcher)
    assert engine.computed == runs[:2]
    (note,) = watcher.notes
    assert note.startswith(f"2 of {len(runs)} stored runs")
    assert "(agents). They are played again" in note
    assert sum(watcher.rounds) == sum(run.rounds for run in runs)
    run_missing(runs, store, on=Idle())


def test_they_are_kept_with_a_warning_if_asked_for(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run_studies([a_study()], store, on=Inline())
    compute_by_another(store, list(a_study().runs())[:2], "models")
    watcher = Counting()
    (results,) = run_studies([a_study()], store, on=Idle(), listener=watcher, reuse=True)
    assert watcher.notes[0].startswith("Warning: 2 of 20 stored runs")
    assert "(models)" in watcher.notes[0]
    (warning,) = results.warnings()
    assert f"{ANOTHER} (2 runs)" in warning
    assert "(18 runs)" in warning
    assert Counter(results.finals()["source"])[ANOTHER] == 2
    assert ANOTHER in page("mixed", [DrawnStudy(results, [])])
    status = status_of(a_study(), store)
    assert status.provenance.sources.warning == warning


def test_runs_of_one_source_are_not_mixed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (results,) = run_studies([a_study()], store, on=Inline())
    assert results.warnings() == []
    (source,) = set(results.finals()["source"])
    assert f"{source} (20 runs)" in page("one", [DrawnStudy(results, [])])
    compute_by_another(store, a_study().runs())
    (warning,) = Results(a_study(), store).warnings()
    assert warning.startswith("20 runs depend on a part of tellback that has changed")
    # Of a source that differs in what they do not depend on, they are as good as of this one.
    for run in a_study().runs():
        about = {**store.about(run), "rooms": run.rooms().digests}
        store.path(run).with_suffix(".json").write_text(json.dumps(about))
    assert Results(a_study(), store).warnings() == []


def test_a_run_that_now_fails_has_no_result_of_another_source(store: Store) -> None:
    class Failing:
        def run_all(
            self, runs: Sequence[RunSpec], progress: Callable[[int], object]
        ) -> Iterator[Outcome]:
            yield from (Failure(run, "Traceback: no\n") for run in runs)

    compute_by_another(store, [RUN])
    assert len(run_missing([RUN], store, on=Failing())) == 1
    assert not store.has(RUN)


def test_a_result_that_was_kept_half_way_is_of_no_source(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute_by_another(store, [RUN])
    again = run_one(RUN)
    assert not isinstance(again, Failure)

    def killed(self: Path, text: str) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", killed)
        with pytest.raises(KeyboardInterrupt):
            store.write(again)
    assert store.about(RUN)["source"] == ANOTHER
    engine = Inline()
    run_missing([RUN], store, on=engine)
    assert engine.computed == [RUN]
