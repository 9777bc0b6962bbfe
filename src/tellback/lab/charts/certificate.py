"""Regret, the running certificate of it, and the bounds of the theory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tellback.lab.bounds import Bound
from tellback.lab.charts.bounded import draw_bounds
from tellback.lab.charts.chart import legend_below
from tellback.lab.run_one import curve_rounds
from tellback.proof import Proof
from tellback.run import Run

CERTIFIED, REGRET = "#cc79a7", "#0072b2"


def draw_certificate(axis: Any, run: Run, bounds: Mapping[str, Bound] | None = None) -> None:
    """Draw a run's regret, certificate and bounds, on double logarithmic axes.

    Parameters
    ----------
    axis : Axes
        Where to draw.
    run : Run
        A run; its regret is drawn if the truth is known.
    bounds : mapping of str to callable, optional
        Bounds on regret by name, each a function of the number of rounds.
    """
    t = _rounds(len(run))
    draw_bounds(axis, t, bounds or {})
    if not np.isnan(run.certificate).any():
        basis = _basis(run.proof)
        worth = "vacuous" if run.vacuous else f"{run.certificate[-1]:,.4g}"
        label = f"certificate ({basis}): {worth}"
        axis.loglog(t, run.certificate[t - 1], color=CERTIFIED, lw=1.6, label=label)
    if not np.isnan(run.regrets).any():
        shown = run.regret[t - 1] > 0
        label = f"regret: {run.regret[-1]:,.3g}"
        axis.loglog(t[shown], run.regret[t - 1][shown], color=REGRET, lw=1.8, label=label)
    axis.set(xlabel="round", ylabel="cumulative")
    legend_below(axis, f"calibration: {run.calibration().light}", columns=1)


def draw_reward_estimate(axis: Any, run: Run) -> None:
    """Draw the mean reward so far: estimated from matches, with its interval, and the truth."""
    told = np.flatnonzero(run.described)
    if not len(told):
        axis.set_title("nothing was described", fontsize=9.5)
        return
    estimate = run.reward_estimate()
    at = told + 1
    shown = np.unique(np.geomspace(1, len(at), min(len(at), 400)).astype(int)) - 1
    low, high = estimate.low[shown], estimate.high[shown]
    axis.fill_between(at[shown], low, high, color=CERTIFIED, alpha=0.2, lw=0)
    axis.plot(at[shown], estimate.mean[shown], color=CERTIFIED, label="matches, 95% at all times")
    if not np.isnan(run.rewards).any():
        truth = np.cumsum(run.rewards[told]) / np.arange(1, len(told) + 1)
        axis.plot(at[shown], truth[shown], color=REGRET, label="the hidden reward")
    axis.set_xscale("log")
    axis.set_ylim(0, min(1, 1.15 * float(estimate.high[len(at) // 20 :].max())))
    axis.set(xlabel="round", ylabel="mean reward so far")
    legend_below(axis, "the reward without the truth", columns=1)


def _basis(proof: Proof | None) -> str:
    """The status of the certificate, in a few words for the legend."""
    if proof is None:
        return "not proven"
    if proof.failed:
        return "bounds failed here"
    conditional = proof.conditions or not proof.known
    return f"proven, {proof.level}" + (", on conditions" if conditional else "")


def _rounds(count: int) -> Any:
    """The rounds to draw, closer together at the beginning."""
    early = np.geomspace(1, count, 200).round().astype(np.int64)
    return np.unique(np.concatenate([early, curve_rounds(count)]))
