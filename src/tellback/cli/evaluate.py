"""``tellback evaluate``: what saved agents would have been worth on the tasks of a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tellback.cli.as_json import print_json
from tellback.cli.options import Json
from tellback.cli.show import say


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
    as_json: Json = False,
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
    judged = {}
    for name, policy in policies.items():
        try:
            overlap = demand_overlap(played, policy)
        except OverlapError as error:
            say(f"{name}: {error}", stderr=True)
            continue
        estimates = [
            inverse_propensity(played, policy, level=level),
            self_normalised(played, policy, level=level),
        ]
        agent = live.get(name)
        if isinstance(agent, ModelAgent) and not isinstance(agent.spec, Uniform):
            estimates.append(doubly_robust(played, policy, agent.model, level=level))
        judged[name] = {"overlap": str(overlap), "estimates": estimates}
        if not as_json:
            for line in (f"{name}: {overlap}", *(f"  {one}" for one in estimates)):
                say(line)
    if as_json:
        print_json(judged)
    if not judged:
        raise typer.Exit(2)
