"""All experiments on the theory, in the order of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tellback.lab.results import Results
from tellback.lab.study import Study
from tellback.paper.claims import Claim
from tellback.paper.theory import certificates, coverage, feedback, horizon, lower, one_k, sizes
from tellback.paper.theory.experiment import Experiment, Findings

TITLE = "The theorems beside measurements"

EXPERIMENTS: tuple[Experiment, ...] = (
    lower.FAMILY_EXPERIMENT,
    lower.SCALING_EXPERIMENT,
    coverage.EXPERIMENT,
    certificates.EXPERIMENT,
    sizes.RESPONSES_EXPERIMENT,
    sizes.RANK_EXPERIMENT,
    one_k.EXPERIMENT,
    horizon.EXPERIMENT,
    feedback.EXPERIMENT,
)


def studies(scale: float = 1.0) -> list[Study]:
    """Every study; a scale below 1 shortens runs and takes fewer sizes and seeds."""
    return [study for experiment in EXPERIMENTS for study in experiment.studies(scale)]


def findings(found: Sequence[Results], scale: float) -> Findings:
    """The findings of all experiments, from the results of ``studies(scale)`` in their order."""
    left = list(found)
    parts = []
    for experiment in EXPERIMENTS:
        own = [left.pop(0) for _ in experiment.studies(scale)]
        parts.append(experiment.finds(own, scale) if own else simulated(experiment, scale))
    claims = [claim for part in parts for claim in part.claims]
    return Findings(claims, [picture for part in parts for picture in part.pictures])


@cache
def simulated(experiment: Experiment, scale: float) -> Findings:
    """The findings of an experiment that has no studies; simulated once in a process."""
    return experiment.finds([], scale)


def simulated_claims(which: int, scale: float) -> list[Claim]:
    """The claims of an experiment that has no studies."""
    return list(simulated(EXPERIMENTS[which], scale).claims)


def reported(found: Sequence[Results], scale: float) -> list[Results]:
    """The results that the report shows one by one."""
    kinds = [experiment.reported for experiment in EXPERIMENTS for _ in experiment.studies(scale)]
    return [results for results, shown in zip(found, kinds, strict=True) if shown]
