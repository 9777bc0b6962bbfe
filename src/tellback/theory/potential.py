"""The elliptic potential: how wide responses can be, summed over a run."""

from __future__ import annotations

import math

from tellback.errors import real, whole


def printed_potential_bound(rounds: int, dim: int, lam: float, length: float) -> float:
    """The paper's bound on the sum of ||v_t|| in the norm of Sigma_t^-1; false for small lambda.

    sqrt(2 T d log(1 + T L^2 / lambda)). A first vector has width L / sqrt(lambda), and there
    are d of those: with d = 64, T = 1000 and lambda = 1/T the sum reaches 2428, and this
    is 1330. It holds where lambda >= L^2, so that no width exceeds 1.
    """
    _demand(rounds, dim, lam, length)
    return math.sqrt(2 * rounds * dim * math.log1p(rounds * length**2 / lam))


def clipped_potential_bound(rounds: int, dim: int, lam: float, length: float) -> float:
    """A bound on the sum of min(1, ||v_t||), for every lambda > 0.

    min(1, u) <= log(1 + u) / log 2, the sum of log(1 + ||v_t||^2) is log det(Sigma / lambda),
    and that is at most d log(1 + T L^2 / (d lambda)); then Cauchy and Schwarz. Regret allows
    the clipping, because no round costs more than 1.
    """
    return math.sqrt(rounds * most_log_det(rounds, dim, lam, length) / math.log(2))


def most_log_det(rounds: int, dim: int, lam: float, length: float) -> float:
    """The largest that log det(Sigma / lambda) can be: d log(1 + T L^2 / (d lambda)).

    Its trace is at most d + T L^2 / lambda, and the determinant is largest where all
    eigenvalues are equal.
    """
    _demand(rounds, dim, lam, length)
    return dim * math.log1p(rounds * length**2 / (dim * lam))


def _demand(rounds: int, dim: int, lam: float, length: float) -> None:
    whole("rounds", rounds)
    whole("dim", dim)
    real("lam", lam, above=0)
    real("length", length, above=0)
