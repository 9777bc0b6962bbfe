"""Off-policy evaluation: the mean reward of another agent, from the log of one that played.

1[x' = x] is an unbiased sample of the hidden reward P(x | y, s), as long as the teacher has not
seen x. A log of tasks, responses, the probabilities with which they were chosen, and
descriptions is therefore enough to say what mean reward another policy would have had on the
same tasks: a round counts pi(y) / p times, where p is the probability with which the logging
agent chose y and pi(y) that with which the target would have. Regret is the best reward less
the reward, and the best does not depend on who plays: differences of rewards are differences
of regrets.

Why it is right although the agent learned while it logged: p_t may depend on the whole past,
but given that past and the task, y_t was drawn with it. So each weighted match is right on
average given everything before it, and the deviations are martingale differences: inverse
propensity and doubly robust estimates are unbiased for any agent whose stated propensities are
true, tasks chosen by an adversary included. The intervals need more, a central limit theorem:
that no single round's weight dominates the sum, and that the variance of a round, given the
past, settles on average. It does where propensities have a floor (Uniform, EpsilonGreedy) and
the agent's choices settle or the floor holds the variance steady; where an agent wanders
between very different propensities for ever, studentised intervals may be too short (Hadad et
al. 2021).

The target must not have been fitted to the rounds that judge it, nor the model of a doubly
robust estimate: part the log (``log[:n]``, ``log[n:]``), or let the model learn as it goes.
"""

from tellback.off_policy.estimators import (
    RewardModel,
    ValueEstimate,
    doubly_robust,
    inverse_propensity,
    self_normalised,
)
from tellback.off_policy.log import Log, Matching
from tellback.off_policy.overlap import Overlap, OverlapError, demand_overlap, overlap
from tellback.off_policy.policies import AgentPolicy, Greedily, Policy, Uniformly

__all__ = [
    "AgentPolicy",
    "Greedily",
    "Log",
    "Matching",
    "Overlap",
    "OverlapError",
    "Policy",
    "RewardModel",
    "Uniformly",
    "ValueEstimate",
    "demand_overlap",
    "doubly_robust",
    "inverse_propensity",
    "overlap",
    "self_normalised",
]
