"""How far a study is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tellback.arrays import Array
from tellback.errors import TellbackError
from tellback.lab.provenance import Provenance, provenance_of
from tellback.lab.results import Results
from tellback.lab.store import Store
from tellback.lab.study import RunSpec, Study


@dataclass(frozen=True)
class StudyStatus:
    """The runs of a study that are done, damaged or failed."""

    study: Study  # with the seeds added so far, if it is to decide a comparison
    store: Store
    done: tuple[RunSpec, ...]  # with an intact file
    damaged: tuple[RunSpec, ...]
    failed: Mapping[RunSpec, str]  # with the traceback of the last attempt
    results: Results | None  # if all runs are done

    @cached_property
    def planned(self) -> set[RunSpec]:
        """All runs, with a first setting in place of those not chosen yet."""
        return self.study.planned()

    @property
    def rounds_planned(self) -> int:
        """The rounds of all runs."""
        return sum(run.rounds for run in self.planned)

    @property
    def rounds_done(self) -> int:
        """The rounds of the runs that are done."""
        return sum(run.rounds for run in self.done)

    @cached_property
    def provenance(self) -> Provenance:
        """Time, machines and versions of the runs that are done."""
        return provenance_of({run.identity: run for run in self.done}, self.store)


def status_of(study: Study, store: Store) -> StudyStatus:
    """The status of a study in a store; nothing is played."""
    known: dict[RunSpec, Array] = {}
    damaged: dict[RunSpec, None] = {}

    def all_there(runs: list[RunSpec]) -> bool:
        stored = store.read(run for run in runs if run not in known)
        known.update(stored.curves)
        damaged.update(dict.fromkeys(stored.damaged))
        return all(run in known for run in runs)

    results = None
    while True:
        runs = list(study.runs())
        complete = all_there(runs)
        if not all(run in known for run in runs if run.seed in study.tuning):
            break
        so_far = Results(study, store, known, partial=True)
        chosen = so_far.chosen_runs()
        runs += chosen
        if not (all_there(chosen) and complete):
            break
        if so_far.complete().is_decided:
            results = so_far
            break
        study = study.with_more_seeds()
    failures = {run: store.failure(run) for run in runs if run not in known}
    return StudyStatus(
        study=study,
        store=store,
        done=tuple(known),
        damaged=tuple(damaged),
        failed={run: text for run, text in failures.items() if text is not None},
        results=results,
    )


def finished(study: Study, store: Store) -> Results:
    """The results of a study; an error that says how far it is if runs are missing."""
    found = status_of(study, store)
    if found.results is None:
        raise TellbackError(
            f"Study {study.name!r} is not finished: {len(found.done):,} of {len(found.planned):,} "
            f"runs are done in {store.folder}. Continue it with tellback study run."
        )
    return found.results
