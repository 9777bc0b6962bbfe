"""Which agent to use, where nothing else is known."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from tellback.agents.deviations import Deviations
from tellback.agents.greedy import Greedy
from tellback.agents.learned import LearnedLORIL
from tellback.agents.proposals import Blind, LogLinear, ProposalSpec
from tellback.agents.proposing import Proposing
from tellback.errors import SettingError
from tellback.models.keywords import Keywords
from tellback.models.low_rank import LowRank
from tellback.models.network import Network
from tellback.responses import Listed, Sampled
from tellback.roles import AgentSpec, Simulation, Task, World, WorldSpec
from tellback.streams import Streams

TRIAL = 0
"""The seed of the world that is looked at, where a world is given and not a task."""

WORD_BY_WORD = Keywords(waves=0, lam=3.0, noise=6.0)
"""For features that words are linear in, as those of paths should be."""


def recommended(thing: WorldSpec | Simulation | World | Task | Any) -> AgentSpec:
    """The agent to begin with, for a world or a task like this one.

    What decides is what an agent sees: whether instructions are sentences, and whether the
    features are distributions, one-hot, or any real numbers.

    Parameters
    ----------
    thing : WorldSpec, Simulation, World or Task
        What is to be played. Of a world, the first task is looked at. One with an encoder is not
        built for that, which could mean to train it: its facts say enough.

    Returns
    -------
    AgentSpec
        With its settings, which were chosen on other seeds than those that the league reports.

    Examples
    --------
    >>> from tellback.worlds import Synthetic
    >>> recommended(Synthetic()).kind
    'deviations'
    """
    if isinstance(thing, WorldSpec) and hasattr(thing, "encoder") and thing.facts.language:
        return Greedy(model=Keywords.for_features(thing.facts.dim))
    task = thing if isinstance(thing, Task) else _first_task(thing)
    responses = task.responses
    if isinstance(responses, Sampled):
        return Proposing(Greedy(model=WORD_BY_WORD), _proposal(responses))
    if not isinstance(responses, Listed):
        raise SettingError(f"Responses are Listed or Sampled, not {responses!r}.")
    if isinstance(task.instruction, str):
        return Greedy(model=Keywords.for_features(responses.dim))
    if responses.off_simplex:
        return LearnedLORIL(model=Network())
    if _one_hot(responses):
        return LearnedLORIL(model=LowRank())
    return Deviations()


def _proposal(responses: Sampled) -> ProposalSpec:
    """A learned one over the largest steps there are, or else blind."""
    for proposal in (LogLinear("waypoints"), LogLinear("moves")):
        with suppress(SettingError):
            responses.grammar(proposal.grammar)
            return proposal
    return Blind()


def _first_task(thing: Any) -> Task:
    streams = Streams(TRIAL)
    live = thing.build(streams.init("world")) if isinstance(thing, WorldSpec) else thing
    world = live.world if isinstance(live, Simulation) else live
    if not isinstance(world, World):
        raise SettingError(f"An agent is recommended for a world or a task, not for {thing!r}.")
    return world.task(1, (), streams.stream("world").at(1))


def _one_hot(responses: Listed) -> bool:
    """Whether every response is a coordinate of its own: then nothing is said of g."""
    rows, columns = np.nonzero(responses.matrix)
    alone = len(rows) == len(responses) == len(np.unique(columns))
    return len(responses) > 1 and alone
