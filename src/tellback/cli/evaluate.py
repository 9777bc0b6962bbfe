"""``tellback evaluate``: what saved agents would have been worth on the tasks of a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tellback.cli.show import console


def evaluate(
    log: Annotated[Path, typer.Argument(help="A log that Log.save wrote.")],
    agents: Annotated[
        list[Path] | None, typer.Argument(help="Agents in files, taught by other rounds.")
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(help="How often to ask an agent in each round, if it states no propensity."),
    ] = None,
    level: Annotated[float, typer.Option(help="How sure the intervals are.")] = 0.95,
) -> None:
    """Judge agents by the log of another: their mean reward on its tasks, with intervals.

    Chance is judged beside them. The log must come from an agent that left something to chance and
    stated how much, such as EpsilonGreedy; any other is refused with the reason. Agents must not
    have learned from the rounds of the log.

    Example: tellback evaluate log.jsonl agent.npz
    """
    from tellback.agents import ModelAgent, Uniform, load
    from tellback.off_policy import (
        AgentPolicy,
        Log,
        OverlapError,
        Policy,
        Uniformly,
        demand_overlap,
        doubly_robust,
        inverse_propensity,
        self_normalised,
    )

    played = Log.load(log)
    live = {str(path): load(path) for path in agents or []}
    policies: dict[str, Policy] = {"chance": Uniformly()}
    policies |= {name: AgentPolicy(agent, draws) for name, agent in live.items()}
    out, refused = console(), 0
    for name, policy in policies.items():
        try:
            lines = [f"{name}: {demand_overlap(played, policy)}"]
        except OverlapError as error:
            complaint = f"{name}: {error}"
            console(stderr=True).print(complaint, markup=False, highlight=False, soft_wrap=True)
            refused += 1
            continue
        lines.append(f"  {inverse_propensity(played, policy, level=level)}")
        lines.append(f"  {self_normalised(played, policy, level=level)}")
        agent = live.get(name)
        if isinstance(agent, ModelAgent) and not isinstance(agent.spec, Uniform):
            lines.append(f"  {doubly_robust(played, policy, agent.model, level=level)}")
        for line in lines:
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    if refused == len(policies):
        raise typer.Exit(2)
