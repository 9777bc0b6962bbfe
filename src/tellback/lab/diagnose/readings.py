"""A run replayed, with measurements of each round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.lab.diagnose.instrumented import InstrumentedAgent, listed
from tellback.lab.run_spec import RunSpec
from tellback.protocol import rounds
from tellback.responses import Listed
from tellback.roles import Agent, Facts, Instruction, Round, Truth
from tellback.streams import Streams
from tellback.ties import maxima

TRUTHS_ASKED = 200_000
"""The most responses whose true reward is computed beside the chosen one: a few seconds."""

PROGRESS_EVERY = 100  # rounds

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Readings:
    """One entry a round in every array; NaN where a value was not known or not measured."""

    regrets: Array  # of the chosen response
    rewards: Array
    bonuses: Array
    greedy: Array  # 1 where the chosen response had the highest estimate of all, else 0
    greedy_rewards: Array  # of the response with the highest estimate: the chosen one if it has it
    tied: Array  # how many responses had the highest estimate plus bonus
    first: Array  # 1 where the chosen response was the first of those, else 0
    uniform_rewards: Array  # the mean over all responses there were to choose from
    best_uppers: Array  # estimate plus bonus of the best response; the highest, if several are best
    predicted: Array  # the probability of the description by the agent, before it learned
    possible: Array  # the same by the truth
    examples: tuple[TrainingExample, ...]
    true_rewards: tuple[TrueRewards, ...]
    facts: Facts
    agent: Agent

    def __len__(self) -> int:
        return len(self.regrets)

    @property
    def bests(self) -> Array:
        """The largest possible reward."""
        return self.rewards + self.regrets

    def table(self) -> polars.DataFrame:
        """The readings, a row a round, with null for NaN."""
        columns = {name: getattr(self, name) for name in COLUMNS}
        frame = polars.DataFrame({"t": np.arange(1, len(self) + 1), **columns})
        return frame.with_columns(polars.col(COLUMNS).fill_nan(None))


@dataclass(frozen=True, eq=False)
class TrainingExample:
    """A description, with the index of its round, and the response and features it describes."""

    index: int
    response: Any
    features: Array
    description: Instruction


@dataclass(frozen=True, eq=False)
class TrueRewards:
    """The true reward of every response in one round, or of every one in its shortlist."""

    instruction: Instruction
    responses: Listed
    rewards: Array


COLUMNS = [field.name for field in fields(Readings) if field.type == "Array"]


def replay(run: RunSpec, progress: Callable[[int], object] | None = None) -> Readings:
    """Play the run again, unchanged, and measure every round."""
    streams = Streams(run.seed)
    simulation = run.world.build(streams.init("world"))
    if simulation.truth is None:
        raise SettingError(
            f"{run.world.label()} has no truth: only a run in a simulation that knows "
            "P(x | y, s) can be diagnosed."
        )
    facts = simulation.world.facts
    agent = InstrumentedAgent(run.agent.build(facts, streams.init("agent")))
    columns = {name: np.full(run.rounds, np.nan) for name in COLUMNS}
    examples: list[TrainingExample] = []
    true_rewards: list[TrueRewards] = []
    stride = 1
    for i, one in enumerate(islice(rounds(simulation, agent, seed=run.seed), run.rounds)):
        if i == 0:
            stride = _stride(run.rounds, listed(one.task, one.choice).responses)
        read = _read(one, agent, simulation.truth)
        if i % stride == 0 and isinstance(listed(one.task, one.choice).responses, Listed):
            true_rewards.append(_true_rewards(one, simulation.truth))
            read |= _read_all(true_rewards[-1].rewards, agent)
        for name, value in read.items():
            columns[name][i] = value
        if one.description is not None:
            response, features = one.choice.response, one.choice.features
            # The features of the response itself: the agent may have stated others.
            if isinstance(one.task.responses, Listed):
                features = one.task.responses.features(response)
            examples.append(TrainingExample(i, response, features, one.description))
        if progress is not None and (i + 1) % PROGRESS_EVERY == 0:
            progress(PROGRESS_EVERY)
    if progress is not None and run.rounds % PROGRESS_EVERY:
        progress(run.rounds % PROGRESS_EVERY)
    return Readings(
        **columns,
        examples=tuple(examples),
        true_rewards=tuple(true_rewards),
        facts=facts,
        agent=agent.agent,
    )


def _stride(total: int, responses: Any) -> int:
    """The number of rounds from one in which all true rewards are computed to the next."""
    count = len(responses) if isinstance(responses, Listed) else 1
    return max(1, -(-total * count // TRUTHS_ASKED))


def _read(one: Round, agent: InstrumentedAgent, truth: Truth) -> dict[str, float]:
    """Measurements that need at most two calls of the truth."""
    _, task, choice, description, reward, regret, _ = one
    read = {
        "regrets": regret,
        "rewards": reward,
        "bonuses": choice.bonus,
        "predicted": agent.predicted,
    }
    if description is not None:
        told = task._replace(instruction=description)
        read["possible"] = truth.reward(told, choice.response)
    estimates, bonuses = agent.estimates, agent.bonuses
    if estimates is not None:
        best = maxima(estimates, random=True)
        among = choice.place in best
        read["greedy"] = float(among)
        read["greedy_rewards"] = reward if among else truth.reward(task, _named(one, best.item(0)))
        if bonuses is not None:
            tied = maxima(estimates + bonuses, random=True)
            read["tied"] = float(len(tied))
            read["first"] = float(choice.place == tied[0])
    return read


def _true_rewards(one: Round, truth: Truth) -> TrueRewards:
    task, responses = one.task, listed(one.task, one.choice).responses
    rewards = [truth.reward(task, _named(one, place)) for place in range(len(responses))]
    return TrueRewards(task.instruction, responses, np.array(rewards))


def _named(one: Round, place: int) -> Any:
    """The response at a place of what was chosen among."""
    shortlist = one.choice.shortlist
    return place if shortlist is None else shortlist.responses[place]


def _read_all(rewards: Array, agent: InstrumentedAgent) -> dict[str, float]:
    """Measurements that need the true rewards of all responses."""
    read = {"uniform_rewards": float(rewards.mean())}
    if agent.estimates is not None and agent.bonuses is not None:
        uppers = agent.estimates + agent.bonuses
        read["best_uppers"] = float(uppers[maxima(rewards, random=True)].max())
    return read
