"""Learning from demonstrations: an agent that is shown the best response of the last round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.agents.explorers import optimistic_choice
from tellback.arrays import Array
from tellback.models.ellipsoid import Lambda, demand_short
from tellback.models.model import checked_instruction, demand_table
from tellback.models.states import saved_array
from tellback.roles import AgentSpec, Choice, DemonstratedContext, Facts, Instruction, State, Task
from tellback.saved import InFiles
from tellback.ties import Ties


@dataclass(frozen=True)
class Imitation(AgentSpec):
    """Does what was shown: the response most like the best ones of earlier rounds.

    Only where somebody shows them (``worlds.Demonstrations``): descriptions are not listened to.
    For each instruction, a ridge regression of 1[y is the best] on g(y, s), over all
    responses of the tasks that were shown.

    Parameters
    ----------
    lam : float
        The ridge.
    ties : "random" or "first"
        How to choose among equally good responses; before anything was shown, all are.
    """

    lam: Lambda = 1.0
    ties: Ties = "random"

    def build(self, facts: Facts, rng: np.random.Generator) -> ImitationAgent:
        """An agent that was shown nothing."""
        return ImitationAgent(self, facts)


class ImitationAgent(InFiles):
    """A live imitator."""

    def __init__(self, spec: Imitation, facts: Facts) -> None:
        self.spec = spec
        self.facts = facts
        instructions = demand_table(spec.kind, facts)
        self._grams: Array = np.zeros((instructions, facts.dim, facts.dim))
        self._sums: Array = np.zeros((instructions, facts.dim))

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """The response most like those that were shown for this instruction."""
        x = checked_instruction(task.instruction, len(self._sums))
        # What this very context shows is taken in with its description, and used before.
        demand_short(task.responses, self.spec.lam)
        gram, total = self._shown(task, x)
        gram, total = self._grams[x] + gram, self._sums[x] + total
        sigma = gram + self.spec.lam * np.eye(len(gram))
        likeness = np.linalg.solve(sigma, total) @ task.responses.columns
        random = self.spec.ties == "random"
        choice = optimistic_choice(task, likeness, np.zeros_like(likeness), 0.0, random, rng, self)
        nan = float("nan")  # a likeness is no probability
        return choice._replace(estimate=nan, width=nan, highest=nan)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        """Take in what the context shows of the round before."""
        if isinstance(task.context, DemonstratedContext) and task.context.before is not None:
            x = checked_instruction(task.context.before.instruction, len(self._sums))
            gram, total = self._shown(task, x)
            self._grams[x] += gram
            self._sums[x] += total

    def _shown(self, task: Task, x: int) -> tuple[Array, Array]:
        """What the context shows of the round before, if that asked for x."""
        shown = task.context
        if (
            not isinstance(shown, DemonstratedContext)
            or shown.before is None
            or shown.before.instruction != x
        ):
            return np.zeros_like(self._grams[x]), np.zeros_like(self._sums[x])
        columns = shown.before.responses.columns
        best: Array = shown.before.responses.features(shown.best)
        return columns @ columns.T, best

    def state(self) -> State:
        """The sums over what was shown."""
        return {"grams": self._grams.copy(), "sums": self._sums.copy()}

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        grams = saved_array(state, "grams", self._grams.shape)
        self._sums = saved_array(state, "sums", self._sums.shape)
        self._grams = grams
