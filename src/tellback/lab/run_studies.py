"""Studies from beginning to end: all settings on the tuning seeds, then the chosen ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tellback.errors import TellbackError
from tellback.lab.engines import Engine
from tellback.lab.listener import Listener, usual_listener
from tellback.lab.results import Results
from tellback.lab.run_missing import run_missing
from tellback.lab.run_one import Failure
from tellback.lab.store import Store
from tellback.lab.study import RunSpec, Study


class RunsFailedError(TellbackError):
    """Some runs raised an error; what is finished is kept.

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
    watch: Listener | None = None,
    reuse: bool = False,
) -> list[Results]:
    """Run studies and return their results; what the store has is not computed again.

    What it has from another source of tellback is, in as far as that can matter to it.

    Parameters
    ----------
    studies : sequence of Study
        What to run, all together: their runs share the workers. Those that are to decide
        something get more seeds until it is decided or their budget is spent.
    store, on, watch, reuse
        As for ``run_missing``.

    Raises
    ------
    RunsFailedError
        After all other runs were tried, if some failed.
    """
    watch = watch or usual_listener()
    for study in studies:
        if warning := study.shared_truth():
            watch.note(f"Warning: {warning}")
    failures: list[Failure] = []
    done: dict[int, Results] = {}
    going = dict(enumerate(studies))
    while going:
        found, failed = _conducted(list(going.values()), store, on, watch, reuse)
        if None in found and not failed:
            raise TellbackError(
                f"Runs that were just computed are no longer found in {store.folder}: their source "
                "has changed since, or somebody removed them. Start again."
            )
        failures += failed
        results = {i: one for i, one in zip(going, found, strict=True) if one is not None}
        done |= {i: one for i, one in results.items() if one.is_decided}
        going = {i: one.study.with_more_seeds() for i, one in results.items() if i not in done}
        if going:  # those that are done are part of what is to be done, too
            going |= {i: one.study for i, one in done.items()}
    ordered = [done[i] for i in sorted(done)]
    if failures:
        raise RunsFailedError(failures, ordered)
    return ordered


def _conducted(
    studies: Sequence[Study], store: Store, on: Engine | str | None, watch: Listener, reuse: bool
) -> tuple[list[Results | None], list[Failure]]:
    """Both passes: what can be done at once, and what waits for the choice of settings.

    Returns
    -------
    tuple
        The results of each study, None where a run failed, and the failures.
    """
    planned = {run for study in studies for run in study.planned()}  # some are in two studies
    watch.begin(len(planned), _rounds(planned))
    at_once = dict.fromkeys(run for study in studies for run in study.runs())
    failures = run_missing(at_once, store, on=on, watch=watch, reuse=reuse)
    found = [Results(study, store, partial=True) for study in studies]
    chosen = dict.fromkeys(run for results in found for run in results.chosen_runs())
    waited = [run for run in chosen if run not in at_once]
    if len(at_once) + len(waited) != len(planned):  # two studies have chosen the same, or not
        watch.begin(len(at_once) + len(waited), _rounds([*at_once, *waited]))
        watch.played(_rounds(at_once))
    failures += run_missing(waited, store, on=on, watch=watch, reuse=reuse)
    return [one.complete() if one.is_whole() else None for one in found], failures


def _rounds(runs: Iterable[RunSpec]) -> int:
    return sum(run.rounds for run in runs)
