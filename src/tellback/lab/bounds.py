"""Which bounds of the theory apply to an agent in a world."""

from __future__ import annotations

from collections.abc import Callable

from tellback import theory
from tellback.errors import SettingError
from tellback.models import ModelSpec
from tellback.roles import AgentSpec, Facts

Bound = Callable[[int], float]
"""The most regret there can be after so many rounds."""


def regret_bounds(facts: Facts, agent: AgentSpec, delta: float = 0.05) -> dict[str, Bound]:
    """Theorem 2, printed and repaired, for the class that the agent's model knows.

    A finite class by its size; any other model is taken for the softmax class, whose brackets
    stand for |F|. The theorem is about LORIL as printed or repaired: beside the regret of other
    agents, or of another k and lambda, it is only a scale.

    Parameters
    ----------
    facts : Facts
        Those of the world.
    agent : AgentSpec
        Whose class it is.
    delta : float
        The probability with which the bounds may fail.
    """
    if facts.instructions is None:
        raise SettingError("Theorem 2 needs a table of instructions; this world uses sentences.")
    x, d = facts.instructions, facts.dim
    settled = agent.settled(facts)
    model = getattr(getattr(settled, "agent", settled), "model", None)
    known = model.known_class(facts) if isinstance(model, ModelSpec) else None
    if known is not None:
        size, bound = known
        return {
            "Theorem 2, printed": lambda rounds: theory.printed_regret_bound(
                rounds, d, bound, size, delta
            ),
            "Theorem 2, repaired": lambda rounds: theory.repaired_regret_bound(
                rounds, d, bound, size, delta
            ),
        }
    return {
        "Theorem 2, printed": lambda rounds: theory.printed_regret_bound(
            rounds, d, theory.softmax_bound(d), theory.bracketing_log_size(rounds, x, d), delta
        ),
        "Theorem 2, repaired": lambda rounds: theory.softmax_regret_bound(rounds, x, d, delta),
    }


def said_of(name: str, bound: Bound, rounds: int, regret: float) -> str:
    """A bound beside the regret it bounds: how loose it is, and when it begins to say anything."""
    value = bound(rounds)
    ratio = f"{value / regret:,.3g} times the regret" if regret > 0 else "where regret is zero"
    if value < rounds:
        return f"{name}: {value:,.4g} after {rounds:,} rounds, {ratio}"
    first = theory.meaningful_from(bound)
    return (
        f"{name}: {value:,.4g} after {rounds:,} rounds, {ratio}; vacuous, because it exceeds the "
        f"number of rounds until round {first:,}"
    )
