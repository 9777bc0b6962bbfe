"""LORIL without features: every response of every context is a coordinate of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.agents.agent import part
from tellback.agents.optimist import OptimistSpec
from tellback.arrays import Array
from tellback.compiled import compiled
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
        self._tried: dict[int, Array] = {}  # descriptions and silent rounds, by response

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """The response with the highest share of such descriptions plus k / sqrt(lambda + n)."""
        x = checked_instruction(task.instruction, self._instructions)
        counts, tried = self._seen(task)
        shares, widths = shares_and_widths(counts[x], tried, self._instructions, self.spec.lam)
        return self.spec.choose(task, shares, widths, rng)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        """Count the description."""
        x = checked_instruction(description, self._instructions)
        counts, tried = self._kept(task)
        counts[x, choice.response] += 1
        tried[choice.response] += 1

    def learn_silence(self, task: Task, choice: Choice) -> None:
        """Count that the response was tried."""
        self._kept(task)[1][choice.response] += 1

    def _kept(self, task: Task) -> tuple[Array, Array]:
        """What is known in a context, kept from now on if the context can come again."""
        counts, tried = self._seen(task)
        if (key := self._key(task)) is not None:
            self._counts[key], self._tried[key] = counts, tried
        return counts, tried

    def _key(self, task: Task) -> int | None:
        """The number of a context; None for one without, which will never come again."""
        if self.facts.fixed_responses:
            return 0
        scene = task.context
        if isinstance(scene, DemonstratedContext):
            scene = scene.scene
        return int(scene) if isinstance(scene, int | np.integer) else None

    def _seen(self, task: Task) -> tuple[Array, Array]:
        """What is known in a context: counts of descriptions, and how often each was tried."""
        key, size = self._key(task), len(task.responses)
        if key is None or key not in self._counts:
            return np.zeros((self._instructions, size)), np.zeros(size)
        if len(self._tried[key]) != size:
            raise ProtocolError(
                f"Context {key} had {len(self._tried[key])} responses and now has {size}."
            )
        return self._counts[key], self._tried[key]

    def for_kernels(self, contexts: int, responses: int) -> tuple[Array, Array]:
        """Counts and tries of contexts that are numbers, to be changed by a kernel."""
        counts = np.zeros((contexts, self._instructions, responses))
        return counts, np.zeros((contexts, responses))

    def take(self, counts: Array, tried: Array) -> None:
        """Keep what a kernel has counted, of the contexts that were met."""
        met = np.flatnonzero(tried.any(axis=1)).tolist()
        self._counts, self._tried = {s: counts[s] for s in met}, {s: tried[s] for s in met}

    def state(self) -> State:
        """The counts of every context, and those of silent rounds if there were any."""
        counts = {f"counts.{key}": counts.copy() for key, counts in self._counts.items()}
        silent = {key: tried - self._counts[key].sum(axis=0) for key, tried in self._tried.items()}
        return counts | {f"silent.{key}": rounds for key, rounds in silent.items() if rounds.any()}

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        counts, silent = (
            {int(name): np.array(value, dtype=np.float64) for name, value in entries.items()}
            for entries in (part(state, "counts."), part(state, "silent."))
        )
        tried = {}
        for key, table in counts.items():
            right = table.ndim == 2 and len(table) == self._instructions
            rounds = silent.get(key, np.zeros(table.shape[-1:]))
            if not (right and rounds.shape == table.shape[1:]) or _impossible(table, rounds):
                raise SettingError(f"The saved counts of context {key} are not possible.")
            tried[key] = table.sum(axis=0) + rounds
        self._counts, self._tried = counts, tried


@compiled
def shares_and_widths(
    counts: Array, tried: Array, instructions: int, lam: float
) -> tuple[Array, Array]:
    """The share of an instruction among the descriptions of each response, and squared widths.

    A response that was never described is uniform, as before any data.
    """
    shares, widths = np.empty(len(tried)), np.empty(len(tried))
    for y in range(len(tried)):
        shares[y] = counts[y] / tried[y] if tried[y] > 0.0 else 1.0 / instructions
        widths[y] = 1.0 / (lam + tried[y])
    return shares, widths


def _impossible(*counts: Array) -> bool:
    return any(not np.isfinite(one).all() or (one < 0).any() for one in counts)
