"""The lab: studies as data, run in parallel, stored in files, compared with intervals."""

from tellback.extras import demand_extra

demand_extra("lab", ("polars", "matplotlib"), "The lab")

from tellback.lab.compare import Difference, MeanInterval, less_regret, mean_regret
from tellback.lab.engines import Inline, Processes, RayCluster
from tellback.lab.listener import Listener
from tellback.lab.plan import Plan
from tellback.lab.results import Results
from tellback.lab.run_missing import run_missing
from tellback.lab.run_one import Failure
from tellback.lab.run_spec import RunSpec
from tellback.lab.run_studies import RunsFailedError, run_studies
from tellback.lab.sequential import running_less_regret
from tellback.lab.store import Store
from tellback.lab.study import Decide, Study
from tellback.lab.study_file import plan_from_toml, read_plan

__all__ = [
    "Decide",
    "Difference",
    "Failure",
    "Inline",
    "Listener",
    "MeanInterval",
    "Plan",
    "Processes",
    "RayCluster",
    "Results",
    "RunSpec",
    "RunsFailedError",
    "Store",
    "Study",
    "less_regret",
    "mean_regret",
    "plan_from_toml",
    "read_plan",
    "run_missing",
    "run_studies",
    "running_less_regret",
]
