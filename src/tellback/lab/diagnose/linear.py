"""Whether the truth is linear in the features, as f(x) . g(y, s) must be."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.optimize import nnls

from tellback.lab.diagnose.readings import Readings, TrueRewards
from tellback.models.mixture import MixtureModel
from tellback.models.mixture_by_adam import MixtureByAdamModel
from tellback.roles import Instruction

ROWS_A_FEATURE = 20
"""Rows for each feature; the data have no noise, so more would change nothing."""

MOST_INSTRUCTIONS = 50


def unexplained(read: Readings) -> float:
    """The share of the truth's variance over responses that no f(x) . g(y, s) explains.

    Least squares on the truth itself, instruction by instruction, with f(x) >= 0. There is no
    noise, so any residual is misspecification. NaN for models that are not mixtures, and where
    no instruction was seen with more responses than features (unless those are all responses).
    """
    if not isinstance(getattr(read.agent, "model", None), MixtureModel | MixtureByAdamModel):
        return float("nan")
    left = total = 0.0
    for of_instruction in _by_instruction(read).values():
        features = np.concatenate([one.responses.matrix for one in of_instruction])
        rewards = np.concatenate([one.rewards for one in of_instruction])
        if read.facts.fixed_responses or len(rewards) > features.shape[1]:
            left += float(nnls(features, rewards)[1]) ** 2
            total += float(((rewards - rewards.mean()) ** 2).sum())
    return left / total if total > 0 else float("nan")


def _by_instruction(read: Readings) -> dict[Instruction, list[TrueRewards]]:
    """Enough rounds of each instruction; one where the responses stay the same."""
    grouped: dict[Instruction, list[TrueRewards]] = defaultdict(list)
    for one in read.true_rewards:
        known = one.instruction in grouped
        rows = sum(len(other.rewards) for other in grouped[one.instruction]) if known else 0
        full = read.facts.fixed_responses or rows >= ROWS_A_FEATURE * read.facts.dim
        if (known and full) or (not known and len(grouped) >= MOST_INSTRUCTIONS):
            continue
        grouped[one.instruction].append(one)
    return grouped
