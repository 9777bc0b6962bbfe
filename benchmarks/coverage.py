"""How often the intervals of ``less_regret`` hold the true share: the table of its docstring."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tellback.arrays import Array
from tellback.lab import less_regret

REPEATS = 4000
NUMBERS = (3, 5, 10, 20, 40)
Draw = Callable[[np.random.Generator, int], tuple[Array, Array]]


def gamma(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """A part common to both agents, the world's, and a part of each agent."""
    common = rng.gamma(8.0, 1.0, n)
    return 0.8 * (common + rng.gamma(2.0, 0.5, n)), common + rng.gamma(2.0, 0.5, n)


def lognormal(spread: float) -> Draw:
    """Worlds and agents that multiply."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        common = rng.lognormal(0, spread, n)
        own, other = rng.lognormal(0, spread / 2, (2, n))
        return 0.8 * common * own, common * other

    return draw


def rare_failure(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Equal agents, but for the worlds in which the other one fails."""
    common = rng.gamma(8.0, 1.0, n)
    failed = 50.0 * (rng.random(n) < 0.05)
    return common + rng.gamma(2.0, 0.5, n), common + rng.gamma(2.0, 0.5, n) + failed


CASES: dict[str, tuple[Draw, float]] = {
    "gamma, alike for both agents": (gamma, 0.2),
    "lognormal(0, 0.3) times a common part": (lognormal(0.3), 0.2),
    "lognormal(0, 0.9) times a common part": (lognormal(0.9), 0.2),
    "one fails utterly in 5% of worlds": (rare_failure, 2.5 / 11.5),
}


def coverage(draw: Draw, share: float, n: int) -> float:
    rng = np.random.default_rng(n)
    found = [less_regret(*draw(rng, n)) for _ in range(REPEATS)]
    return float(np.mean([one.low <= share <= one.high for one in found]))


if __name__ == "__main__":
    for name, (draw, share) in CASES.items():
        print(f"{name:<38}", *(f"{coverage(draw, share, n):.3f}" for n in NUMBERS))
