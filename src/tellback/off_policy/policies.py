"""Policies: whose reward is asked for. Each gives every listed response a probability."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, real, whole
from tellback.off_policy.kinds import EXACT, GIVEN_CANDIDATES
from tellback.responses import Listed
from tellback.roles import Agent, AgentSpec, Choice, Instruction, Task, demand
from tellback.ties import maxima

ENOUGH = 1 - 1e-9
"""Stated propensities that sum to this leave nothing out."""

MOST_DRAWS = 100_000
"""After so many draws a policy gives up looking for all that an agent might do."""


@runtime_checkable
class Policy(Protocol):
    """The target: what would have been done instead."""

    def probabilities(self, task: Task) -> Array:
        """The probability of every listed response, summing to 1."""
        ...


class Estimates(Protocol):
    """The part of a model that is asked here."""

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """The estimate of P(x | y, s) for every listed response y."""
        ...


class Uniformly:
    """Any response, with equal probability."""

    def probabilities(self, task: Task) -> Array:
        """1 / K each."""
        return np.full(len(task.responses), 1 / len(task.responses))

    def __repr__(self) -> str:
        return "Uniformly()"


class Greedily:
    """The response that a model estimates highest; equals share the probability.

    Parameters
    ----------
    model : Model
        As it stands. It must not have learned from the rounds that judge it.
    epsilon : float
        The probability of taking any response instead.
    """

    def __init__(self, model: Estimates, epsilon: float = 0.0) -> None:
        if not hasattr(model, "estimates"):
            raise SettingError(f"model must be a live model with estimates, not {model!r}.")
        self._model = model
        self._epsilon = real("epsilon", epsilon, at_least=0, at_most=1)

    def probabilities(self, task: Task) -> Array:
        """As ``Greedy`` and ``EpsilonGreedy`` with ties at random."""
        estimates = self._model.estimates(task.instruction, task.responses)
        best = maxima(estimates, random=True)
        probabilities = np.full(len(estimates), self._epsilon / len(estimates))
        probabilities[best] += (1 - self._epsilon) / len(best)
        return probabilities

    def __repr__(self) -> str:
        return f"Greedily({type(self._model).__name__}, epsilon={self._epsilon:g})"


class AgentPolicy:
    """What an agent would do as it stands, found by asking it again and again.

    To respond changes nothing in an agent. It must not have learned from the rounds that
    judge it.

    Parameters
    ----------
    agent : Agent
        A live agent; it is never taught here.
    draws : int or None
        How often to ask in each round: the shares of its answers are then unbiased estimates
        of its probabilities, which keeps inverse propensity estimates unbiased and makes them
        a little less certain. None asks until the propensities it states for the responses it
        gave sum to 1, which is exact, and takes one draw where the agent is deterministic.
    seed : int
        Of the draws.
    """

    def __init__(self, agent: Agent, draws: int | None = None, seed: int = 0) -> None:
        if isinstance(agent, AgentSpec):
            raise SettingError(
                f"agent must be a live agent, not the spec {agent!r}: a run has one, run.agent."
            )
        demand(agent, Agent)
        self._agent = agent
        self._exactly = getattr(agent, "propensities", EXACT) in (EXACT, GIVEN_CANDIDATES)
        self._draws = None if draws is None else whole("draws", draws)
        self._rng = np.random.default_rng(whole("seed", seed, at_least=0))

    def probabilities(self, task: Task) -> Array:
        """Exact, or the shares of the answers to so many questions."""
        if self._draws is None:
            return self._exact(task)
        shares = np.zeros(len(task.responses))
        for _ in range(self._draws):
            choice = self._agent.respond(task, self._rng)
            if choice.propensity == 1 and self._exactly:  # asked again, it would say the same
                return _only(choice, task)
            shares[choice.response] += 1
        return shares / self._draws

    def _exact(self, task: Task) -> Array:
        stated = np.zeros(len(task.responses))
        for _ in range(MOST_DRAWS):
            choice = self._agent.respond(task, self._rng)
            if choice.propensity is None or not self._exactly:
                raise SettingError(
                    f"{self!r} states no exact propensity, so its probabilities can only be "
                    "estimated: say with how many draws a round, such as draws=100."
                )
            stated[choice.response] = choice.propensity
            if stated.sum() >= ENOUGH:
                return stated
        raise SettingError(
            f"{MOST_DRAWS} draws of {self!r} gave responses whose propensities sum to "
            f"{stated.sum():.3g}, not 1: say how many draws a round shall do, such as draws=100."
        )

    def __repr__(self) -> str:
        spec = getattr(self._agent, "spec", None)
        return f"AgentPolicy({type(self._agent).__name__ if spec is None else spec})"


def _only(choice: Choice, task: Task) -> Array:
    shares = np.zeros(len(task.responses))
    shares[choice.response] = 1.0
    return shares
