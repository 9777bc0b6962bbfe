"""Whether the truth is linear in the features at all, as f(x) . g(y, s) must be."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.optimize import nnls

from tellback.lab.diagnose.readings import Glimpse, Readings
from tellback.models.mixture import MixtureModel
from tellback.models.mixture_by_adam import MixtureByAdamModel
from tellback.roles import Instruction

ROWS_A_FEATURE = 20
"""So many rows for each feature are plenty for a fit without noise."""

MOST_INSTRUCTIONS = 50


def unexplained(read: Readings) -> float:
    """The share of how the truth varies over responses that no f(x) . g(y, s) explains.

    Least squares on the truth itself, instruction by instruction, f(x) being no less than
    zero: there is no noise, so anything left over is misspecification. It says nothing (NaN)
    of models that are not mixtures, or where no instruction was seen with more responses
    than there are features (unless those are all the responses there are).
    """
    if not isinstance(getattr(read.agent, "model", None), MixtureModel | MixtureByAdamModel):
        return float("nan")
    left = total = 0.0
    for glimpses in _by_instruction(read).values():
        features = np.concatenate([glimpse.responses.matrix for glimpse in glimpses])
        truths = np.concatenate([glimpse.truths for glimpse in glimpses])
        if read.facts.fixed_responses or len(truths) > features.shape[1]:
            left += float(nnls(features, truths)[1]) ** 2
            total += float(((truths - truths.mean()) ** 2).sum())
    return left / total if total > 0 else float("nan")


def _by_instruction(read: Readings) -> dict[Instruction, list[Glimpse]]:
    """Enough rounds of each instruction; one where the responses stay the same."""
    grouped: dict[Instruction, list[Glimpse]] = defaultdict(list)
    for glimpse in read.glimpses:
        known = glimpse.instruction in grouped
        rows = sum(len(one.truths) for one in grouped[glimpse.instruction]) if known else 0
        full = read.facts.fixed_responses or rows >= ROWS_A_FEATURE * read.facts.dim
        if (known and full) or (not known and len(grouped) >= MOST_INSTRUCTIONS):
            continue
        grouped[glimpse.instruction].append(glimpse)
    return grouped
