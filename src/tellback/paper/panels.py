"""The plot of a study: every agent with its tuned setting, on the reported seeds."""

from __future__ import annotations

from tellback.agents import LORIL, EpsilonGreedy
from tellback.lab.plots import Line, Panel
from tellback.lab.results import Results
from tellback.roles import AgentSpec


def panel(results: Results) -> Panel:
    """The regret of a study's agents."""
    lines = []
    for name in results.study.agents:
        agent = results.tuned(name)
        line = Line(name, _legend(name, agent), results.t, results.curves(agent))
        lines.append(line)
    return Panel(results.study.name, lines)


def _legend(name: str, agent: AgentSpec) -> str:
    if isinstance(agent, LORIL):
        return f"{name} (k = {agent.k:g}, lambda = {agent.lam:g})"
    if isinstance(agent, EpsilonGreedy):
        return f"{name} ({agent.epsilon:g})"
    return name
