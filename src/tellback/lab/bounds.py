"""The regret bounds of the theory for an agent in a world."""

from __future__ import annotations

from collections.abc import Callable

from tellback import theory
from tellback.agents import LORIL, Certified, ModelAgentSpec, RadiusSpec, SelfNormalized
from tellback.errors import SettingError
from tellback.models import Ridge
from tellback.roles import AgentSpec, Facts

Bound = Callable[[int], float]
"""An upper bound on regret, as a function of the number of rounds."""

DELTA = 0.05
"""The probability with which a bound may fail, if the agent states none."""


def regret_bounds(facts: Facts, agent: AgentSpec) -> dict[str, Bound]:
    """Theorem 2, printed and repaired, for the class that the agent's model knows.

    A finite class counts by its size; any other model counts as the softmax class, whose
    bracketing number stands for |F|. delta is that of the agent's radius, or DELTA. With a
    ``SelfNormalized`` radius: the analogue for ridge regression and features no longer than 1.

    Parameters
    ----------
    facts : Facts
        The facts of the world.
    agent : AgentSpec
        The agent.
    """
    x, d = demand_bounded(facts), facts.dim
    delta = _delta(agent)
    k, lam = getattr(agent, "k", None), getattr(agent, "lam", None)
    if isinstance(k, SelfNormalized):
        length = k.bound(facts)
        return {
            "Theorem 2's analogue for ridge": lambda rounds: theory.self_normalized_regret_bound(
                rounds, x, d, delta, length, lam
            )
        }
    known = _known_class(agent.resolved(facts), facts)
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


def demand_bounded(facts: Facts) -> int:
    """|X|; an error in a world with sentences, to which the theorem does not apply."""
    if facts.instructions is None:
        raise SettingError("Theorem 2 needs a table of instructions; this world uses sentences.")
    return facts.instructions


def is_about(agent: AgentSpec) -> bool:
    """Whether Theorem 2 applies to an agent: LORIL with the radius and the ridge of the theory."""
    if not isinstance(agent, LORIL) or not isinstance(agent.k, RadiusSpec):
        return False
    fitted = isinstance(agent.model, Ridge) or not isinstance(agent.k, SelfNormalized)
    return fitted and agent.lam == agent.k.ridge(agent.model)


def said_of(name: str, bound: Bound, rounds: int, regret: float, agent: AgentSpec) -> str:
    """A bound compared with a regret: how loose it is, and from which round it is not vacuous."""
    value = bound(rounds)
    ratio = f"{value / regret:,.3g} times the regret" if regret > 0 else "where regret is zero"
    scale = "" if is_about(agent) else " (for scale only: the theorem is for other settings)"
    said = f"{name} (delta = {_delta(agent):g}): {value:,.4g} after {rounds:,} rounds, {ratio}"
    said += scale
    if value < rounds:
        return said
    first = theory.meaningful_from(bound)
    return f"{said}; vacuous, because it exceeds the number of rounds until round {first:,}"


def _delta(agent: AgentSpec) -> float:
    k = getattr(agent, "k", None)
    return k.delta if isinstance(k, RadiusSpec) else DELTA


def _known_class(resolved: AgentSpec, facts: Facts) -> tuple[float, float] | None:
    """log |F| and B of the agent's class, if that is finite."""
    inner = resolved.agent if isinstance(resolved, Certified) else resolved
    if not isinstance(inner, ModelAgentSpec) or inner.model is None:
        return None
    return inner.model.known_class(facts)
