"""Lemma 1: how far f-hat can be from f*, in the norm of Sigma-hat, at all times at once.

The printed radius, its appendix's and the repaired one, which are for maximum likelihood, and
one for ridge regression. All hold for any way of choosing responses, because descriptions
depend on nothing but context and response.
"""

from __future__ import annotations

import math

from tellback.errors import SettingError, real, whole
from tellback.theory.softmax_class import SOFTMAX_SPREAD, bracketing_log_size


def freedman_constant(log_class_size: float, delta: float) -> float:
    """C of the anytime Freedman inequality: the least with log(12 t^2 A) <= C log(t A) for t >= 1.

    A = |F| / delta, because the inequality is used once for each f. The ratio of the two
    goes from 1 + log(12) / log(A) at t = 1 to 2, and does not turn.
    """
    return max(2.0, 1 + math.log(12) / _log_ratio(log_class_size, delta))


def printed_constant(log_class_size: float, delta: float) -> float:
    """C' of Algorithm 1, line 5: the least that covers both terms of the appendix's radius."""
    return max(_fourth_root(32 * freedman_constant(log_class_size, delta)), 2.0)


def printed_radius(t: int, lam: float, log_class_size: float, delta: float, B: float) -> float:
    """Algorithm 1, line 5: C' (sqrt(log(t |F| / delta)) + sqrt(lambda_t) B)."""
    logarithm = math.log(whole("t", t)) + _log_ratio(log_class_size, delta)
    constant = printed_constant(log_class_size, delta)
    return constant * (math.sqrt(logarithm) + math.sqrt(_ridge(lam)) * _size(B))


def appendix_radius(t: int, lam: float, log_class_size: float, delta: float, B: float) -> float:
    """The lemma in the appendix: (32 C)^(1/4) sqrt(log(t |F| / delta)) + 2 sqrt(lambda_t) B."""
    logarithm = math.log(whole("t", t)) + _log_ratio(log_class_size, delta)
    constant = _fourth_root(32 * freedman_constant(log_class_size, delta))
    return constant * math.sqrt(logarithm) + 2 * math.sqrt(_ridge(lam)) * _size(B)


def repaired_radius(
    lam: float, log_class_size: float, delta: float, B: float, gap: float = 0.0
) -> float:
    """sqrt(2 log(|F| / delta) + gap + 4 lambda_t B^2), with probability 1 - delta for all t.

    For a fixed f, the product over rounds of sqrt(f(x') . g / f*(x') . g) exp(TV^2 / 2) is a
    supermartingale, because the mean of the square root is at most sqrt(1 - TV^2). By
    Ville's inequality and a union over F, the sum of TV^2 is at most
    2 log(|F| / delta) + gap for every f whose log-likelihood is within ``gap`` of the
    maximum; and |f(x) . g - f*(x) . g| is at most TV.

    Parameters
    ----------
    gap : float
        How much below the maximum the log-likelihood of the estimate in use may be.
    """
    told = 2 * _log_ratio(log_class_size, delta) + real("gap", gap, at_least=0)
    return math.sqrt(told + 4 * _ridge(lam) * _size(B) ** 2)


def softmax_radius(
    t: int, lam: float, instructions: int, dim: int, delta: float, gap: float = 0.0
) -> float:
    """The repaired radius for the whole softmax class, with brackets in place of its members.

    For t up to 2^j the width of the brackets is rho = 2^-j and their share of delta is
    1 / ((j + 1)(j + 2)), so that no horizon need be known. Rounding up costs
    n log(1 + rho), at most 1, in the likelihood and rho in each distance.
    """
    described = whole("t", t) - 1
    epoch = described.bit_length()
    rho = 2.0**-epoch
    log_size = bracketing_log_size(2**epoch, instructions, dim)
    log_size += math.log((epoch + 1) * (epoch + 2))
    told = 2 * _log_ratio(log_size, delta) + real("gap", gap, at_least=0)
    covered = math.sqrt(told + described * math.log1p(rho)) + math.sqrt(described) * rho
    return math.sqrt(covered**2 + _ridge(lam) * SOFTMAX_SPREAD * dim)


def self_normalized_radius(
    log_det: float, lam: float, instructions: int, delta: float, B: float
) -> float:
    """1/2 sqrt(log det(Sigma_t / lambda) + 2 log(|X| / delta)) + sqrt(lambda) B, for ridge.

    With probability 1 - delta no f-hat(x) of ridge regression with a constant lambda is
    farther than this from f*(x) in the norm of Sigma_t, for all x and t at once. For each x,
    1[x' = x] is f*(x) . g on average and within [0, 1], hence 1/2-sub-Gaussian (Hoeffding).
    With S_t the sum of g (1[x' = x] - f*(x) . g),

        f-hat(x) - f*(x) = Sigma_t^-1 (S_t - lambda f*(x)),

    the norm of S_t in Sigma_t^-1 stays below the first term with probability 1 - delta / |X|
    (Abbasi-Yadkori, Pal and Szepesvari 2011, Theorem 1), and that of lambda f*(x) below the
    second; then a union over x. The class may be infinite, and |X| counts by its logarithm.

    Parameters
    ----------
    log_det : float
        log det(Sigma_t / lambda), 0 before the first description.
    lam : float
        lambda, the same in every round.
    instructions : int
        |X|.
    delta : float
        The probability with which some f*(x) may be outside at some time.
    B : float
        No f*(x) is longer. How long the g are does not matter.
    """
    told = real("log_det", log_det, at_least=0)
    told += 2 * _log_ratio(math.log(whole("instructions", instructions)), delta)
    return 0.5 * math.sqrt(told) + math.sqrt(real("lam", lam, above=0)) * _size(B)


def _log_ratio(log_class_size: float, delta: float) -> float:
    """log(|F| / delta)."""
    delta = real("delta", delta, above=0)
    if delta >= 1:
        raise SettingError(f"delta must be below 1, not {delta!r}.")
    return real("log_class_size", log_class_size, at_least=0) - math.log(delta)


def _fourth_root(value: float) -> float:
    return math.sqrt(math.sqrt(value))


def _ridge(lam: float) -> float:
    return real("lam", lam, at_least=0)


def _size(B: float) -> float:
    return real("B", B, above=0)
