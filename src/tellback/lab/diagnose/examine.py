"""The diagnosis of a run."""

from __future__ import annotations

from collections.abc import Callable

from tellback.lab.diagnose.checks import run_checks
from tellback.lab.diagnose.diagnosis import Diagnosis
from tellback.lab.diagnose.evidence import measure
from tellback.lab.diagnose.readings import replay
from tellback.lab.diagnose.rules import decide
from tellback.lab.run_spec import RunSpec


def diagnose(run: RunSpec, progress: Callable[[int], object] | None = None) -> Diagnosis:
    """Say why the regret of a run is what it is: theory, tuning or a bug.

    The run is played again. In each round the agent's estimates are compared with the truth,
    before the agent learns from the description.

    Parameters
    ----------
    run : RunSpec
        The run. Its world must be a simulation that knows the truth.
    progress : callable, optional
        Called now and then with the number of rounds played since its last call.

    Returns
    -------
    Diagnosis
        A cause, a verdict and checks; ``print`` shows them.

    Examples
    --------
    >>> from tellback.agents import Uniform
    >>> from tellback.worlds import Synthetic
    >>> world = Synthetic(instructions=5, responses=3, rank=2)
    >>> diagnose(RunSpec(world, Uniform(), rounds=200, seed=1)).cause
    'not learning'
    """
    run.demand_unedited()
    read = replay(run, progress)
    run.demand_unedited()
    evidence = measure(read)
    cause, verdict = decide(evidence)
    return Diagnosis(cause, verdict, run_checks(evidence), read)
