"""Studies from beginning to end: all settings on the tuning seeds, then the chosen ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from tellback.errors import TellbackError
from tellback.lab.engines import Engine
from tellback.lab.listener import Listener, usual_listener
from tellback.lab.results import Results
from tellback.lab.run_missing import run_missing
from tellback.lab.run_one import Failure
from tellback.lab.run_spec import RunSpec
from tellback.lab.store import Store
from tellback.lab.study import Study
from tellback.lab.wording import counted


class RunsFailedError(TellbackError):
    """Some runs raised an error; finished runs are stored.

    Attributes
    ----------
    failures : list of Failure
        The runs with their tracebacks.
    complete : list of Results
        The results of the studies in which none failed.
    """

    def __init__(self, failures: list[Failure], complete: list[Results]) -> None:
        first = failures[0].run
        count = "One run" if len(failures) == 1 else f"{len(failures)} runs"
        super().__init__(f"{count} failed, {first.agent.label()} on seed {first.seed} among them.")
        self.failures = failures
        self.complete = complete


def run_studies(
    studies: Sequence[Study],
    store: Store,
    *,
    on: Engine | str | None = None,
    listener: Listener | None = None,
    reuse: bool = False,
) -> list[Results]:
    """Run studies and return their results; stored runs are not played again.

    Stored runs of another source of tellback are, if they depend on what has changed.

    Parameters
    ----------
    studies : sequence of Study
        What to run, all together: their runs share the workers. A study with ``decide`` gets
        more seeds until its comparison is decided or its budget is spent.
    store, on, listener, reuse
        As for ``run_missing``.

    Raises
    ------
    RunsFailedError
        After all other runs were tried, if some failed.
    """
    listener = listener or usual_listener()
    for study in studies:
        if warning := study.shared_truth():
            listener.note(f"Warning: {warning}")
    failures: list[Failure] = []
    done: dict[int, Results] = {}
    going = dict(enumerate(studies))
    while going:
        found, failed = _run_once(list(going.values()), store, on, listener, reuse)
        if None in found and not failed:
            raise TellbackError(
                f"Runs that were just played are no longer found in {store.folder}: their source "
                "has changed since, or their files were removed. Start again."
            )
        failures += failed
        results = {i: one for i, one in zip(going, found, strict=True) if one is not None}
        done |= {i: one for i, one in results.items() if one.is_decided}
        going = {i: one.study.with_more_seeds() for i, one in results.items() if i not in done}
        if going:  # the totals told to the listener include the studies that are done
            going |= {i: one.study for i, one in done.items()}
    ordered = [done[i] for i in sorted(done)]
    if failures:
        raise RunsFailedError(failures, ordered)
    return ordered


def _run_once(
    studies: Sequence[Study],
    store: Store,
    on: Engine | str | None,
    listener: Listener,
    reuse: bool,
) -> tuple[list[Results | None], list[Failure]]:
    """Both passes: the runs that can be played at once, and those of the chosen settings.

    Returns the results of each study, None where a run failed, and the failures.
    """
    planned = {run for study in studies for run in study.planned()}  # studies may share runs
    listener.begin(len(planned), _rounds(planned))
    at_once = dict.fromkeys(run for study in studies for run in study.runs())
    watch = _Watch(store, listener)
    for study in studies:
        if study.needs_no_choice:
            watch.expect(study, study.runs())
    how: Any = {"on": on, "listener": listener, "reuse": reuse, "stored": watch.stored}
    failures = run_missing(at_once, store, **how)
    found = [Results(study, store, partial=True) for study in studies]
    chosen = dict.fromkeys(run for results in found for run in results.chosen_runs())
    waited = [run for run in chosen if run not in at_once]
    total = len(at_once) + len(waited)
    if total != len(planned):  # studies share chosen runs, or do not
        listener.note(f"Settings are chosen: {counted(total, 'run')} in all.")
        listener.begin(total, _rounds([*at_once, *waited]))
        listener.played(_rounds(at_once))
    for results in found:
        if not results.study.needs_no_choice:
            watch.expect(results.study, {*results.chosen_runs()} & {*waited})
    failures += run_missing(waited, store, **how)
    return [one.complete() if one.has_all_runs() else None for one in found], failures


class _Watch:
    """Tells a listener of each study as soon as the last of its expected runs is stored."""

    def __init__(self, store: Store, listener: Listener) -> None:
        self._store, self._listener = store, listener
        self._waiting = defaultdict[RunSpec, list[tuple[Study, set[RunSpec]]]](list)

    def expect(self, study: Study, runs: Iterable[RunSpec]) -> None:
        left = set(runs)
        for run in left:
            self._waiting[run].append((study, left))
        if not left:
            self._told(study)

    def stored(self, run: RunSpec) -> None:
        for study, left in self._waiting.pop(run, ()):
            left.discard(run)
            if not left:
                self._told(study)

    def _told(self, study: Study) -> None:
        results = Results(study, self._store, partial=True)
        if results.has_all_runs() and results.complete().is_decided:
            self._listener.complete(results)


def _rounds(runs: Iterable[RunSpec]) -> int:
    return sum(run.rounds for run in runs)
