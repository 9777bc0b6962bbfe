"""The lab: studies as data, run in parallel, kept in files, compared honestly."""

from tellback.extras import demand_extra

demand_extra("lab", ("polars", "matplotlib"), "The lab")

from tellback.lab.compare import Difference, Estimate, less_regret, mean_regret
from tellback.lab.compute import Failure
from tellback.lab.conduct import RunsFailedError, conduct
from tellback.lab.engines import Processes, RayCluster
from tellback.lab.execute import execute
from tellback.lab.plan import Plan
from tellback.lab.results import Results
from tellback.lab.sequential import running_less_regret
from tellback.lab.store import Store
from tellback.lab.study import Decide, RunSpec, Study
from tellback.lab.study_file import plan_from_toml, read_plan
from tellback.lab.watch import Watcher

__all__ = [
    "Decide",
    "Difference",
    "Estimate",
    "Failure",
    "Plan",
    "Processes",
    "RayCluster",
    "Results",
    "RunSpec",
    "RunsFailedError",
    "Store",
    "Study",
    "Watcher",
    "conduct",
    "execute",
    "less_regret",
    "mean_regret",
    "plan_from_toml",
    "read_plan",
    "running_less_regret",
]
