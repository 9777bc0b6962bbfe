"""Studies from beginning to end: all settings on the tuning seeds, then the chosen ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tellback.errors import TellbackError
from tellback.lab.compute import Failure
from tellback.lab.engines import Engine
from tellback.lab.execute import execute
from tellback.lab.results import Results
from tellback.lab.store import Store
from tellback.lab.study import RunSpec, Study
from tellback.lab.watch import Watcher


class RunsFailedError(TellbackError):
    """Some runs raised an error; what is finished is kept.

    Attributes
    ----------
    failures : list of Failure
        The runs with their tracebacks.
    """

    def __init__(self, failures: list[Failure]) -> None:
        first = failures[0]
        super().__init__(
            f"{len(failures)} runs failed, {first.run.agent.label()} on seed {first.run.seed} "
            "among them."
        )
        self.failures = failures


def conduct(
    studies: Sequence[Study],
    store: Store,
    *,
    on: Engine | None = None,
    watch: Watcher | None = None,
) -> list[Results]:
    """Run studies and return their results; what the store has is not computed again.

    Parameters
    ----------
    studies : sequence of Study
        What to run, all together: their runs share the workers. Those that are to decide
        something get more seeds until it is decided or their budget is spent.
    store, on, watch
        As for ``execute``.

    Raises
    ------
    RunsFailedError
        After all other runs were tried, if some failed.
    """
    watch = watch or Watcher()
    found = _conducted(studies, store, on, watch)
    while not all(results.settled for results in found):
        studies = [one.study if one.settled else one.study.with_more_seeds() for one in found]
        found = _conducted(studies, store, on, watch)
    return found


def _conducted(
    studies: Sequence[Study], store: Store, on: Engine | None, watch: Watcher
) -> list[Results]:
    """Both passes: what can be done at once, and what waits for the choice of settings."""
    planned = {run for study in studies for run in study.planned()}  # some are in two studies
    watch.begin(len(planned), _rounds(planned))

    def run_all(runs: Iterable[RunSpec]) -> None:
        failures = execute(runs, store, on=on, watch=watch)
        if failures:
            raise RunsFailedError(failures)

    at_once = {run for study in studies for run in study.runs()}
    run_all(run for study in studies for run in study.runs())
    found = [Results(study, store) for study in studies]
    chosen = dict.fromkeys(run for results in found for run in results.chosen_runs())
    waited = [run for run in chosen if run not in at_once]
    if len(at_once) + len(waited) != len(planned):  # two studies have chosen the same, or not
        watch.begin(len(at_once) + len(waited), _rounds([*at_once, *waited]))
        watch.played(_rounds(at_once))
    run_all(waited)
    return [results.complete() for results in found]


def _rounds(runs: Iterable[RunSpec]) -> int:
    return sum(run.rounds for run in runs)
