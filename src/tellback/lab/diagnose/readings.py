"""A run played again with instruments: what they read in each round."""

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
from tellback.lab.diagnose.watched import Instrumented
from tellback.lab.study import RunSpec
from tellback.protocol import rounds
from tellback.responses import Listed
from tellback.roles import Agent, Facts, Instruction, Round, Truth
from tellback.streams import Streams
from tellback.ties import TOLERANCE, maxima

TRUTHS_ASKED = 200_000
"""For how many responses the truth is asked beside the chosen one: some seconds' worth."""

PROGRESS_EVERY = 100  # rounds

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Readings:
    """One entry a round in every array; NaN where it was not known or not looked at.

    Attributes
    ----------
    regrets, rewards : Array
        The referee's.
    estimates, bonuses : Array
        The agent's, of the response it chose.
    greedy : Array
        1 where the chosen response had the highest estimate of all, else 0.
    greedy_rewards : Array
        The truth of the response with the highest estimate: the chosen one if that has it.
    tied : Array
        How many responses had the highest estimate plus bonus.
    first : Array
        1 where the chosen response was the first of those, else 0.
    uniform_rewards : Array
        The mean truth over all responses: what playing at random is paid.
    best_uppers : Array
        Estimate plus bonus of the best response (the highest, where several are best).
    covered : Array
        For which share of all responses the truth lay under estimate plus bonus.
    predicted, possible : Array
        The agent's estimate for the description before it was learned, and the truth's.
    """

    regrets: Array
    rewards: Array
    estimates: Array
    bonuses: Array
    greedy: Array
    greedy_rewards: Array
    tied: Array
    first: Array
    uniform_rewards: Array
    best_uppers: Array
    covered: Array
    predicted: Array
    possible: Array
    lessons: tuple[Lesson, ...]
    glimpses: tuple[Glimpse, ...]
    facts: Facts
    agent: Agent

    def __len__(self) -> int:
        return len(self.regrets)

    @property
    def bests(self) -> Array:
        """The largest reward that was possible."""
        return self.rewards + self.regrets

    def table(self) -> polars.DataFrame:
        """The readings, a row a round, with null for NaN."""
        columns = {name: getattr(self, name) for name in COLUMNS}
        frame = polars.DataFrame({"t": np.arange(1, len(self) + 1), **columns})
        return frame.with_columns(polars.col(COLUMNS).fill_nan(None))


@dataclass(frozen=True, eq=False)
class Lesson:
    """A description with what it was about: which round, which response, which features."""

    index: int
    response: Any
    features: Array
    description: Instruction


@dataclass(frozen=True, eq=False)
class Glimpse:
    """The truth of every response, in a round that was looked at in full."""

    instruction: Instruction
    responses: Listed
    truths: Array


COLUMNS = [field.name for field in fields(Readings) if field.type == "Array"]


def replay(run: RunSpec, progress: Callable[[int], object] | None = None) -> Readings:
    """Play the run again, which changes nothing in it, and read the instruments.

    Parameters
    ----------
    run : RunSpec
        The run.
    progress : callable, optional
        Called now and then with the number of rounds played since its last call.
    """
    streams = Streams(run.seed)
    simulation = run.world.build(streams.init("world"))
    if simulation.truth is None:
        raise SettingError(
            f"{run.world.label()} has no truth: only a run in a simulation that knows "
            "P(x | y, s) can be diagnosed."
        )
    facts = simulation.world.facts
    watched = Instrumented(run.agent.build(facts, streams.init("agent")))
    columns = {name: np.full(run.rounds, np.nan) for name in COLUMNS}
    lessons: list[Lesson] = []
    glimpses: list[Glimpse] = []
    stride = 1
    for i, one in enumerate(islice(rounds(simulation, watched, seed=run.seed), run.rounds)):
        if i == 0:
            stride = _stride(run.rounds, one.task.responses)
        read = _read(one, watched, simulation.truth)
        if i % stride == 0 and isinstance(one.task.responses, Listed):
            glimpses.append(_glimpse(one, simulation.truth))
            read |= _read_all(glimpses[-1].truths, watched)
        for name, value in read.items():
            columns[name][i] = value
        if one.description is not None:
            response, features = one.choice.response, one.choice.features
            # The features that belong to the response, whatever the agent says of them.
            if isinstance(one.task.responses, Listed):
                features = one.task.responses.features(response)
            lessons.append(Lesson(i, response, features, one.description))
        if progress is not None and (i + 1) % PROGRESS_EVERY == 0:
            progress(PROGRESS_EVERY)
    if progress is not None and run.rounds % PROGRESS_EVERY:
        progress(run.rounds % PROGRESS_EVERY)
    return Readings(
        **columns,
        lessons=tuple(lessons),
        glimpses=tuple(glimpses),
        facts=facts,
        agent=watched.agent,
    )


def _stride(total: int, responses: Any) -> int:
    """In which rounds the truth of all responses is looked at: every so many-th."""
    count = len(responses) if isinstance(responses, Listed) else 1
    return max(1, -(-total * count // TRUTHS_ASKED))


def _read(one: Round, watched: Instrumented, truth: Truth) -> dict[str, float]:
    """What costs the truth no more than two questions."""
    _, task, choice, description, reward, regret = one
    read = {
        "regrets": regret,
        "rewards": reward,
        "estimates": choice.estimate,
        "bonuses": choice.bonus,
        "predicted": watched.predicted,
    }
    if description is not None:
        told = task._replace(instruction=description)
        read["possible"] = truth.reward(told, choice.response)
    estimates, bonuses = watched.estimates, watched.bonuses
    if estimates is not None:
        best = maxima(estimates, random=True)
        among = choice.response in best
        chosen = choice.response if among else best.item(0)
        read["greedy"] = float(among)
        read["greedy_rewards"] = reward if among else truth.reward(task, chosen)
        if bonuses is not None:
            tied = maxima(estimates + bonuses, random=True)
            read["tied"] = float(len(tied))
            read["first"] = float(choice.response == tied[0])
    return read


def _glimpse(one: Round, truth: Truth) -> Glimpse:
    """Ask the truth about every response."""
    task = one.task
    truths = np.array([truth.reward(task, y) for y in range(len(task.responses))])
    return Glimpse(task.instruction, task.responses, truths)


def _read_all(truths: Array, watched: Instrumented) -> dict[str, float]:
    """What the truth of all responses says of this one round."""
    read = {"uniform_rewards": float(truths.mean())}
    if watched.estimates is not None and watched.bonuses is not None:
        uppers = watched.estimates + watched.bonuses
        read["best_uppers"] = float(uppers[maxima(truths, random=True)].max())
        read["covered"] = float(np.mean(under(truths, uppers)))
    return read


def under(truths: Array, uppers: Array) -> Mask:
    """Where the truth lies under the upper value, rounding apart."""
    within: Mask = truths <= uppers * (1 + TOLERANCE)
    return within
