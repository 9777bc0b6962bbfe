"""How far a study is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tellback.errors import TellbackError
from tellback.lab.results import Results
from tellback.lab.store import Store
from tellback.lab.study import RunSpec, Study


@dataclass(frozen=True)
class Status:
    """What there is of a study, and what is still to come."""

    planned: int
    rounds_planned: int
    done: tuple[RunSpec, ...]
    damaged: tuple[RunSpec, ...]
    failed: Mapping[RunSpec, str]
    seconds: float

    @property
    def rounds_done(self) -> int:
        """The rounds of the runs that are done."""
        return sum(run.rounds for run in self.done)


def status_of(study: Study, store: Store) -> Status:
    """Look at what a store has of a study; nothing is computed."""
    study = _as_far_as_it_went(study, store)
    runs = list(dict.fromkeys(study.runs()))
    shelf = store.shelf(runs)
    if len(shelf.curves) == len(runs):  # then it is known which settings were chosen
        chosen = Results(study, store).chosen_runs()
        later = store.shelf(chosen)
        runs = list(dict.fromkeys([*runs, *chosen]))
        shelf.curves.update(later.curves)
        shelf.damaged.extend(later.damaged)
    missing = [run for run in runs if run not in shelf.curves]
    failures = {run: store.failure(run) for run in missing}
    planned = study.planned()
    return Status(
        planned=len(planned),
        rounds_planned=sum(run.rounds for run in planned),
        done=tuple(shelf.curves),
        damaged=tuple(shelf.damaged),
        failed={run: text for run, text in failures.items() if text is not None},
        seconds=sum(float(store.about(run).get("seconds", 0.0)) for run in shelf.curves),
    )


def finished(study: Study, store: Store) -> Results:
    """The results of a study that is done; an error that says what is missing."""
    study = _as_far_as_it_went(study, store)
    found = status_of(study, store)
    if len(found.done) < found.planned:
        raise TellbackError(
            f"Study {study.name!r} is not finished: {len(found.done):,} of {found.planned:,} runs "
            "are done. tellback study run goes on with it."
        )
    results = Results(study, store).complete()
    if not results.settled:
        raise TellbackError(
            f"Study {study.name!r} has decided nothing on {len(study.reported)} seeds, and may use "
            "more. tellback study run goes on with it."
        )
    return results


def _as_far_as_it_went(study: Study, store: Store) -> Study:
    """The study with the seeds that were added because it had decided nothing before."""
    while study.decide is not None and _is_done(study, store):
        if Results(study, store).complete().settled:
            break
        study = study.with_more_seeds()
    return study


def _is_done(study: Study, store: Store) -> bool:
    runs = set(study.runs())
    if len(store.shelf(runs).curves) < len(runs):
        return False
    chosen = set(Results(study, store).chosen_runs())
    return len(store.shelf(chosen).curves) == len(chosen)
