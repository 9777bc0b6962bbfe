"""Bounds on a policy's reward hold at every look."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.arrays import Array
from tellback.off_policy.running import running_gain, running_value

ACTING = np.array([0.7, 0.2, 0.1])
REWARDS = np.array([0.3, 0.8, 0.5])
LOOKS = (20, 60, 150, 400)


def drawn(rng: np.random.Generator, target: Array, rounds: int) -> tuple[Array, Array, Array]:
    """The acting policy's propensities, whether the target agreed, and matches."""
    acted = rng.choice(3, rounds, p=ACTING)
    advised = rng.choice(3, rounds, p=target)
    matches = rng.random(rounds) < REWARDS[acted]
    return ACTING[acted], (acted == advised).astype(np.float64), matches.astype(np.float64)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("target", [(0.0, 1.0, 0.0), (0.2, 0.2, 0.6)])
def test_bounds_hold_at_all_looks_together(target: tuple[float, ...], known: bool) -> None:
    target_shares = np.array(target)
    value = float(target_shares @ REWARDS)
    gain = value - float(ACTING @ REWARDS)
    rng, missed = np.random.default_rng(5), 0
    for _ in range(40):
        p, agreed, matches = drawn(rng, target_shares, LOOKS[-1])
        weights = agreed / p if known else agreed
        held = True
        for n in LOOKS:
            low, high = running_value(weights[:n], matches[:n])
            least, most = running_gain(weights[:n], matches[:n])
            held &= low <= value <= high and least <= gain <= most
        missed += not held
    assert missed <= 2  # at most 5% are expected, and these bounds are not tight


def test_enough_rounds_tell_the_better_policy_and_the_worse() -> None:
    rng = np.random.default_rng(1)
    p, agreed, matches = drawn(rng, np.array([0.0, 1.0, 0.0]), 2000)
    assert running_gain(agreed / p, matches)[0] > 0
    p, agreed, matches = drawn(rng, np.array([1.0, 0.0, 0.0]), 4000)
    assert running_gain(agreed / p, matches)[1] < 0


def test_a_log_that_left_nothing_to_chance_never_decides() -> None:
    rng = np.random.default_rng(2)
    agreed = (rng.random(1000) < 0.9).astype(np.float64)
    matches = (rng.random(1000) < 0.5).astype(np.float64)
    low, high = running_gain(agreed, matches)
    assert low < 0 < high
    assert low == pytest.approx(-np.mean((1 - agreed) * matches), abs=0.08)
