"""Theorem 1: a lower bound on regret for any algorithm, if responses have no structure.

World W_i has K responses and two instructions, A and B, asked for with equal probability.
A teacher says A or B with probability 1/2 each, but of response i it says A with
probability 1/2 + gap. The empty world has no such response.
"""

from __future__ import annotations

import math

from tellback.errors import SettingError, one_of, real, whole

FORMS = ("printed", "repaired")
"""The statement as the paper has it, and the one that follows from its argument."""

FEWEST_RESPONSES = 8 * math.e
FEWEST_ROUNDS = 256 * math.log(2 * math.e)


def hard_gap(responses: int, rounds: int, form: str = "repaired") -> float:
    """How much more often the one response is described as A: sqrt(K / T), repaired a quarter."""
    root = math.sqrt(whole("responses", responses) / whole("rounds", rounds))
    return root if one_of("form", form, FORMS) == "printed" else root / 4


def demand_conditions(
    responses: int, rounds: int, form: str = "repaired", called: str = "rounds"
) -> None:
    """Refuse sizes for which Theorem 1 says nothing, naming the condition.

    K >= 8e and T >= 256 log(2e) are the theorem's. With the printed gap T >= 4K is needed
    too, or 1/2 + sqrt(K / T) is no probability. With the repaired one T >= K is enough: the
    gap is at most 1/4 and ``information`` at most log(4/3). ``called`` is the name that T has
    for whoever is told.
    """
    one_of("form", form, FORMS)
    responses, rounds = whole("responses", responses), whole("rounds", rounds)
    if responses < FEWEST_RESPONSES:
        raise SettingError(
            f"responses must be at least 8e, which is {math.ceil(FEWEST_RESPONSES)}, for Theorem 1 "
            f"to say anything, not {responses}."
        )
    if rounds < FEWEST_ROUNDS:
        raise SettingError(
            f"{called} must be at least 256 log(2e), which is {math.ceil(FEWEST_ROUNDS)}, for "
            f"Theorem 1 to say anything, not {rounds}."
        )
    least = 4 * responses if form == "printed" else responses
    if rounds < least:
        times = "4 times " if form == "printed" else ""
        raise SettingError(
            f"{called} must be at least {times}the {responses} responses, {least}, not {rounds}: "
            f"the {form} gap is {hard_gap(responses, rounds, form):.3g}."
        )


def lower_bound(responses: int, rounds: int, form: str = "repaired") -> float:
    """The regret of Theorem 1: a share 1/8 of rounds at the cost of the gap.

    sqrt(KT) / 8 as printed, sqrt(KT) / 32 repaired.
    """
    return hard_gap(responses, rounds, form) * rounds / 8


def information(responses: int, rounds: int, gap: float) -> float:
    """The most that a whole run can tell a neglected world W_i from the empty world, in nats.

    2T/K rounds, each worth KL(Ber(1/2) || Ber(1/2 - gap)) = -log(1 - 4 gap^2) / 2: half of all
    responses are tried no more often than that, on average, in the empty world. The paper
    has O(T gap^2 / K) here and takes it for 1; at its gap it is 4 or more.
    """
    gap = real("gap", gap, at_least=0, at_most=0.5)
    responses, rounds = whole("responses", responses), whole("rounds", rounds)
    if gap == 0.5:
        return math.inf
    return -math.log1p(-4 * gap * gap) * rounds / responses


def lower_probability(responses: int, rounds: int, form: str = "repaired") -> float:
    """With which probability the worst world of the family costs ``lower_bound``, at least.

    Printed: 1 / 4e. Repaired, by the same argument with its constants kept: by Bretagnolle
    and Huber's inequality (whose 1/2 the paper leaves out) exp(-information) / 2, less the
    probability exp(-T/32) that B is asked for in more than 5/8 of all rounds (Hoeffding),
    less 1 / floor(K/2).
    """
    demand_conditions(responses, rounds, form)
    if form == "printed":
        return 1 / (4 * math.e)
    told = information(responses, rounds, hard_gap(responses, rounds, form))
    return math.exp(-told) / 2 - math.exp(-rounds / 32) - 1 / (responses // 2)
