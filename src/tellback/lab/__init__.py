"""The lab: studies as data, run in parallel, kept in files, compared honestly."""

from tellback.lab.compare import Difference, Estimate, less_regret, mean_regret
from tellback.lab.conduct import RunsFailedError, conduct
from tellback.lab.execute import Failure, execute
from tellback.lab.results import Results
from tellback.lab.store import Store
from tellback.lab.study import RunSpec, Study

__all__ = [
    "Difference",
    "Estimate",
    "Failure",
    "Results",
    "RunSpec",
    "RunsFailedError",
    "Store",
    "Study",
    "conduct",
    "execute",
    "less_regret",
    "mean_regret",
]
