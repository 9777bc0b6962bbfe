"""The bounds and constants of the paper's theorems, as functions.

Where the paper slips, the form it prints and the repaired one are both here and named so.
The derivations are on the documentation's page of errata.
"""

from tellback.theory.lower import (
    FORMS,
    demand_conditions,
    hard_gap,
    information,
    lower_bound,
    lower_probability,
)
from tellback.theory.matches import Interval, running_mean, running_share
from tellback.theory.potential import (
    clipped_potential_bound,
    most_log_det,
    printed_potential_bound,
)
from tellback.theory.radius import (
    appendix_radius,
    freedman_constant,
    printed_constant,
    printed_radius,
    repaired_radius,
    self_normalized_radius,
    softmax_radius,
)
from tellback.theory.sampled import sampled_share
from tellback.theory.softmax_class import (
    SOFTMAX_SPREAD,
    bracketing_log_size,
    softmax,
    softmax_bound,
    softmax_class,
)
from tellback.theory.upper import (
    meaningful_from,
    printed_regret_bound,
    repaired_regret_bound,
    self_normalized_regret_bound,
    softmax_regret_bound,
)

__all__ = [
    "FORMS",
    "SOFTMAX_SPREAD",
    "Interval",
    "appendix_radius",
    "bracketing_log_size",
    "clipped_potential_bound",
    "demand_conditions",
    "freedman_constant",
    "hard_gap",
    "information",
    "lower_bound",
    "lower_probability",
    "meaningful_from",
    "most_log_det",
    "printed_constant",
    "printed_potential_bound",
    "printed_radius",
    "printed_regret_bound",
    "repaired_radius",
    "repaired_regret_bound",
    "running_mean",
    "running_share",
    "sampled_share",
    "self_normalized_radius",
    "self_normalized_regret_bound",
    "softmax",
    "softmax_bound",
    "softmax_class",
    "softmax_radius",
    "softmax_regret_bound",
]
