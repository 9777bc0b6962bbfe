"""The cost of a ridge that changes every round: lambda_t = 1/t, and a constant one."""

from __future__ import annotations

import time
from statistics import median

import numpy as np

from tellback.agents.fading import FadingEllipsoid
from tellback.arrays import Array
from tellback.models.ellipsoid import Ellipsoid
from tellback.responses import Listed

SIZES = ((10, 10), (10, 2_000), (64, 10), (64, 2_000))  # d, K
ROUNDS, REPEATS = 300, 5


class ByNumPy:
    """The same widths in plain NumPy: a sum, inverted every round."""

    def __init__(self, dim: int) -> None:
        self._sum = np.zeros((dim, dim))
        self._count = 0

    def add(self, features: Array) -> None:
        """Add g g'."""
        self._sum += np.outer(features, features)
        self._count += 1

    def squared_widths(self, responses: Listed, keep: bool) -> Array:
        """g' Sigma^-1 g for every response."""
        g = responses.matrix
        inverse = np.linalg.inv(self._sum + np.eye(g.shape[1]) / (self._count + 1))
        widths: Array = np.einsum("yi,ij,yj->y", g, inverse, g, optimize=True)
        return widths


Way = Ellipsoid | FadingEllipsoid | ByNumPy


def _seconds(ellipsoid: Way, responses: Listed) -> float:
    rng = np.random.default_rng(0)
    began = time.perf_counter()
    for y in rng.integers(len(responses), size=ROUNDS).tolist():
        ellipsoid.squared_widths(responses, keep=True)
        ellipsoid.add(responses.features(y))
    return (time.perf_counter() - began) / ROUNDS


def ridge() -> bool:
    """Print microseconds a round of each way, measured in turn; no bar but that both are exact."""
    print("Widths under lambda_t = 1/t (microseconds a round, medians):")
    print("   d      K  constant     1/t  numpy 1/t  ratio to constant")
    for dim, count in SIZES:
        responses = Listed(np.random.default_rng(1).dirichlet(np.ones(dim), size=count))
        times: list[list[float]] = [[], [], []]
        for _ in range(REPEATS + 1):  # the first compiles
            ways: list[Way] = [Ellipsoid(dim, 1.0), FadingEllipsoid(dim), ByNumPy(dim)]
            for way, own in zip(ways, times, strict=True):
                own.append(_seconds(way, responses))
        constant, fading, plain = (1e6 * median(own[1:]) for own in times)
        ratio = fading / constant
        print(f"{dim:>4} {count:>6} {constant:>9.1f} {fading:>7.1f} {plain:>10.1f} {ratio:>18.1f}")
    return True


if __name__ == "__main__":
    ridge()
