"""LORIL without features: every response of every context is a coordinate of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.agents.optimist import OptimistSpec
from tellback.arrays import Array
from tellback.errors import ProtocolError, SettingError
from tellback.models.model import checked_instruction, demand_table
from tellback.roles import Choice, DemonstratedContext, Facts, Instruction, State, Task
from tellback.saved import InFiles


@dataclass(frozen=True)
class OneHotLORIL(OptimistSpec):
    """LORIL with one-hot features, whatever the world's features are.

    What structure is worth: this agent learns of a response only by choosing it, so that it
    pays for |Y|. It is LORIL with the same k and lambda whose features are unit vectors; then
    maximum likelihood counts, and Sigma is diagonal, so that it needs d = |Y| numbers and not
    their square.

    Parameters
    ----------
    k, lam, ties
        As in every optimist.
    """

    def build(self, facts: Facts, rng: np.random.Generator) -> OneHotAgent:
        """An agent that has seen nothing."""
        return OneHotAgent(self, facts)


class OneHotAgent(InFiles):
    """A live agent that counts what each response of each context was described as.

    Unless all tasks offer the same responses, contexts are told apart by their number, and in one
    that has none, as in one that is new, nothing is known.
    """

    def __init__(self, spec: OneHotLORIL, facts: Facts) -> None:
        self.spec = spec
        self.facts = facts
        self._instructions = demand_table(spec.kind, facts)
        self._counts: dict[int, Array] = {}  # a row an instruction, a column a response
        self._described: dict[int, Array] = {}

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """The response with the highest share of such descriptions plus k / sqrt(lambda + n)."""
        x = checked_instruction(task.instruction, self._instructions)
        counts, described = self._seen(task)
        # A response that was never described is uniform, as before any data.
        shares = np.full(len(described), 1 / self._instructions)
        np.divide(counts[x], described, out=shares, where=described > 0)
        widths = 1 / (self.spec.lam + described)
        return self.spec.choose(task, shares, widths, rng)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        """Count the description."""
        x = checked_instruction(description, self._instructions)
        key = self._key(task)
        if key is None:
            return
        counts, described = self._seen(task)
        self._counts[key], self._described[key] = counts, described
        counts[x, choice.response] += 1
        described[choice.response] += 1

    def _key(self, task: Task) -> int | None:
        """The number of a context; None for one without, which will never come again."""
        if self.facts.fixed_responses:
            return 0
        scene = task.context
        if isinstance(scene, DemonstratedContext):
            scene = scene.scene
        return int(scene) if isinstance(scene, int | np.integer) else None

    def _seen(self, task: Task) -> tuple[Array, Array]:
        """What is known in a context: the counts, and their sums over instructions."""
        key, size = self._key(task), len(task.responses)
        if key is None or key not in self._counts:
            return np.zeros((self._instructions, size)), np.zeros(size)
        if len(self._described[key]) != size:
            raise ProtocolError(
                f"Context {key} had {len(self._described[key])} responses and now has {size}."
            )
        return self._counts[key], self._described[key]

    def state(self) -> State:
        """The counts of every context that was described."""
        return {f"counts.{key}": counts.copy() for key, counts in self._counts.items()}

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        counts = {
            int(name.removeprefix("counts.")): np.array(value, dtype=np.float64)
            for name, value in state.items()
        }
        for key, table in counts.items():
            right = table.ndim == 2 and len(table) == self._instructions
            if not right or not np.isfinite(table).all() or (table < 0).any():
                raise SettingError(f"The saved counts of context {key} are not possible.")
        self._counts = counts
        self._described = {key: table.sum(axis=0) for key, table in counts.items()}
