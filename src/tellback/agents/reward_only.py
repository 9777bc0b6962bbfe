"""A contextual bandit: it learns only whether the description matched the instruction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tellback.agents.agent import prefixed
from tellback.agents.optimist import OptimistSpec
from tellback.arrays import Array
from tellback.models.ellipsoid import Ellipsoid
from tellback.models.model import checked_instruction, demand_table
from tellback.models.states import saved_array
from tellback.roles import Choice, Facts, Instruction, State, Task
from tellback.saved import InFiles


@dataclass(frozen=True)
class RewardOnly(OptimistSpec):
    """LinUCB, a linear model of its own for each instruction, fed 1[x' = x] as a reward.

    What is lost when a description is reduced to a reward: a response teaches nothing of the
    instructions that were not asked for.

    Parameters
    ----------
    k, lam, ties
        As in every optimist.
    """

    version: ClassVar[int] = 2  # many fresh responses: the last bits of widths, by BLAS

    def build(self, facts: Facts, rng: np.random.Generator) -> RewardOnlyAgent:
        """An agent that has seen nothing."""
        return RewardOnlyAgent(self, facts)


class RewardOnlyAgent(InFiles):
    """A live bandit."""

    def __init__(self, spec: RewardOnly, facts: Facts) -> None:
        self.spec = spec
        self.facts = facts
        instructions = demand_table(spec.kind, facts)
        self._ellipsoids = [self._new_ellipsoid() for _ in range(instructions)]
        self._sums: Array = np.zeros((instructions, facts.dim))

    def _new_ellipsoid(self) -> Ellipsoid:
        return Ellipsoid(self.facts.dim, self.spec.lam)

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """The response with the highest expected reward plus k times its width."""
        x = checked_instruction(task.instruction, len(self._sums))
        ellipsoid = self._ellipsoids[x]
        weights = ellipsoid.inverse @ self._sums[x]
        widths = ellipsoid.squared_widths(task.responses, self.facts.fixed_responses)
        estimates = weights @ task.responses.columns
        return self.spec.choose(task, estimates, widths, rng)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        """Take in whether it was what was asked for."""
        x = checked_instruction(task.instruction, len(self._sums))
        self._ellipsoids[x].add(choice.features)
        if description == x:
            self._sums[x] += choice.features

    def learn_silence(self, task: Task, choice: Choice) -> None:
        """Take in that it was not what was asked for."""
        x = checked_instruction(task.instruction, len(self._sums))
        self._ellipsoids[x].add(choice.features)

    def state(self) -> State:
        """The sums, and the ellipsoid of every instruction that was asked for."""
        state: dict[str, Any] = {"sums": self._sums.copy()}
        for x, ellipsoid in enumerate(self._ellipsoids):
            if ellipsoid.count:
                state |= prefixed(f"{x}.", ellipsoid.state())
        return state

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        sums = saved_array(state, "sums", self._sums.shape)
        parts: dict[int, dict[str, Any]] = {}
        for name, value in state.items():
            of, dot, what = name.partition(".")
            if dot:
                parts.setdefault(checked_instruction(int(of), len(sums)), {})[what] = value
        ellipsoids = [self._new_ellipsoid() for _ in sums]
        for x, saved in parts.items():
            ellipsoids[x].restore(saved)
        self._ellipsoids, self._sums = ellipsoids, sums
