"""Studies from beginning to end: all settings on the tuning seeds, then the chosen ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tellback.errors import TellbackError
from tellback.lab.execute import Failure, execute
from tellback.lab.results import Results
from tellback.lab.store import Store
from tellback.lab.study import RunSpec, Study
from tellback.roles import Preparing


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
    workers: int | None = None,
    progress: Callable[[int], object] | None = None,
    preparing: Preparing | None = None,
) -> list[Results]:
    """Run studies and return their results; what the store has is not computed again.

    Parameters
    ----------
    studies : sequence of Study
        What to run, all together: their runs share the processes.
    store, workers, progress, preparing
        As for ``execute``.

    Raises
    ------
    RunsFailedError
        After all other runs were tried, if some failed.
    """

    def run_all(runs: Iterable[RunSpec]) -> None:
        failures = execute(runs, store, workers=workers, progress=progress, preparing=preparing)
        if failures:
            raise RunsFailedError(failures)

    run_all(run for study in studies for run in study.runs())
    found = [Results(study, store) for study in studies]
    run_all(run for results in found for run in results.chosen_runs())
    return [results.complete() for results in found]
