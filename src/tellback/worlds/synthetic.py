"""The synthetic world: P(x | y, s) = f(x) . g(y, s) for random F and G.

The paper's first experiment. F has a column for each of d components, a distribution over
the instructions; g(y, s) is a distribution over the components. A description is therefore
drawn in two steps: a component from g(y, s), then an instruction from its column of F.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Annotated, Any, ClassVar

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled, compiled_lazily
from tellback.errors import SettingError, one_of, real, whole
from tellback.responses import TILE, Listed
from tellback.roles import Exchange, Facts, Simulation, Task, WorldSpec, new_tuple
from tellback.specs import Count, Natural
from tellback.streams import Streams
from tellback.theory import softmax

LOWEST_TEMPERATURE = 1e-6
"""Far below this, dividing by the temperature overflows. Here F and G are one-hot already."""

Temperature = Annotated[float, partial(real, at_least=LOWEST_TEMPERATURE)]
"""A setting that is a temperature."""

TABULATED_REWARDS = 5_000_000
"""The most rewards that a truth computes beforehand (40 MB)."""


@dataclass(frozen=True)
class Synthetic(WorldSpec):
    """A low-rank world drawn at random.

    Parameters
    ----------
    instructions : int
        The number of instructions, |X|.
    responses : int
        The number of responses, |Y|.
    rank : int
        The number d of components.
    temperature : float
        F and G are softmaxes of standard Gaussians divided by this.
    contexts : int or "fresh"
        1: the paper's single context, with the same features in every round. n: one of n
        contexts is drawn uniformly each round, each with its own G. "fresh": a new G each round.
    asks : "uniform", "marginal" or a sequence of probabilities
        The distribution of instructions: uniform over X; the teacher's marginal, that is, the
        description of a uniformly drawn response; or a probability for each instruction. The
        paper does not say which it used.
    seed : int or None
        The seed of F and G. None draws them from the run's seed.

    Examples
    --------
    >>> Synthetic(instructions=2000, responses=10, rank=10, temperature=0.75, seed=0).rank
    10
    """

    instructions: Count = 2000
    responses: Count = 10
    rank: Count = 10
    temperature: Temperature = 0.75
    contexts: int | str = 1
    asks: str | tuple[float, ...] = "uniform"
    seed: Natural | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_validated(
            contexts=one_of("contexts", self.contexts, ["fresh"])
            if isinstance(self.contexts, str)
            else whole("contexts", self.contexts),
            asks=_checked_asks(self.asks, self.instructions),
        )

    @property
    def facts(self) -> Facts:
        """The sizes; responses are fixed if there is one context."""
        return Facts(self.rank, self.instructions, fixed_responses=self.contexts == 1)

    def build(self, rng: np.random.Generator) -> Simulation:
        """Draw F, and the features of every context unless they are fresh."""
        if self.seed is not None:
            rng = Streams(self.seed).init("synthetic world")
        f = softmax(rng.standard_normal((self.instructions, self.rank)), self.temperature, axis=0)
        contexts = 0 if isinstance(self.contexts, str) else self.contexts
        return self.with_f(f, [self.draw_responses(rng) for _ in range(contexts)])

    def with_f(self, f: Array, listed: Sequence[Listed]) -> Simulation:
        """A world with a given F, and given responses of every context."""
        teacher = SyntheticTeacher(f, listed)
        return Simulation(
            world=SyntheticWorld(self, listed, teacher),
            teacher=teacher,
            truth=SyntheticTruth(f, listed),
        )

    def draw_responses(self, rng: np.random.Generator) -> Listed:
        """The responses of a new context."""
        z = rng.standard_normal((self.responses, self.rank))
        return Listed(softmax(z, self.temperature, axis=1))


class SyntheticWorld:
    """Presents a context and an instruction; knows g and how instructions are drawn."""

    memory: ClassVar[int] = 0

    def __init__(
        self, spec: Synthetic, listed: Sequence[Listed], teacher: SyntheticTeacher
    ) -> None:
        self.facts = spec.facts
        self._spec = spec
        self._instructions = spec.instructions
        self._uniform = spec.asks == "uniform"
        self._listed = listed
        self.only = listed[0] if len(listed) == 1 else None
        self.listed = listed if self._uniform else ()  # for runs that are compiled as a whole
        self._teacher = teacher
        self._cumulative: list[float] = []
        if not isinstance(spec.asks, str):
            total = sum(spec.asks)
            self._cumulative = [part / total for part in accumulate(spec.asks)]

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """A task that does not depend on the history."""
        if self.only is not None and self._uniform:  # the paper's world: a shortcut
            x = int(rng.random() * self._instructions)
            task: Task = new_tuple(Task, (0, x, self.only))
            return task
        context, responses = self._context(rng)
        return Task(context, self._instruction(context, rng), responses)

    def _context(self, rng: np.random.Generator) -> tuple[Any, Listed]:
        if self.only is not None:
            return 0, self.only
        if self._listed:
            s = int(rng.random() * len(self._listed))
            return s, self._listed[s]
        responses = self._spec.draw_responses(rng)
        return responses.matrix, responses

    def _instruction(self, context: Any, rng: np.random.Generator) -> int:
        if self._uniform:
            return int(rng.random() * self._instructions)
        if self._spec.asks == "marginal":
            response = int(rng.random() * self._spec.responses)
            return self._teacher.describe(context, response, rng)
        return bisect_right(self._cumulative, rng.random(), hi=self._instructions - 1)


class SyntheticTeacher:
    """Draws x' from P(X | y, s).

    A context is given by its number, or by its feature matrix if contexts are fresh.
    """

    def __init__(self, f: Array, listed: Sequence[Listed]) -> None:
        self._columns = [responses.columns for responses in listed]
        # One row per component, for a search in memory order.
        self.cumulative = np.ascontiguousarray(np.cumsum(f, axis=0).T)
        self.cumulative /= self.cumulative[:, -1:]

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> int:
        """A description of the response, without knowledge of the instruction."""
        columns = _columns_of(context, self._columns)
        if not 0 <= response < columns.shape[1]:
            raise SettingError(
                f"A response is a whole number from 0 to {columns.shape[1] - 1}, not {response!r}."
            )
        return draw_description(columns, response, self.cumulative, rng.random())


class SyntheticTruth:
    """P(x | y, s): a table for listed contexts if it fits into memory, else computed."""

    def __init__(self, f: Array, listed: Sequence[Listed]) -> None:
        self._f = f
        # Not the features of the task, which the agent could have changed.
        self._columns = [responses.columns for responses in listed]
        fits = len(f) * sum(map(len, listed)) <= TABULATED_REWARDS
        self._tables = [_table(f, columns) for columns in self._columns if fits]
        self._bests = [table.max(axis=1) for table in self._tables]
        self._latest: tuple[Task | None, Array] = (None, np.empty(0))

    @property
    def f(self) -> Array:
        """F."""
        return self._f

    @property
    def tables(self) -> tuple[Array, Array] | None:
        """P(x | y, s) for every s, x and y, and the largest for every s and x; None if too many."""
        return (_stacked(self._tables), _stacked(self._bests)) if self._tables else None

    def reward(self, task: Task, response: int) -> float:
        """P(x_t | y, s_t)."""
        x = self._row(task)
        if self._tables:
            table: Array = self._tables[task.context]
            return table.item(x, response)
        return self._computed(task, x).item(response)

    def rewards(self, task: Task, responses: Sequence[int] | Indices) -> Array:
        """P(x_t | y, s_t) of some responses."""
        x = self._row(task)
        rewards = self._tables[task.context][x] if self._tables else self._computed(task, x)
        of_some: Array = rewards[np.asarray(responses)]
        return of_some

    def best(self, task: Task) -> float:
        """The largest P(x_t | y, s_t)."""
        x = self._row(task)
        if self._tables:
            bests: Array = self._bests[task.context]
            return bests.item(x)
        return float(self._computed(task, x).max())

    def _row(self, task: Task) -> int:
        x = task.instruction
        if type(x) is int and 0 <= x < len(self._f):
            return x
        if isinstance(x, np.integer) and 0 <= x < len(self._f):
            return int(x)
        raise SettingError(
            f"An instruction is a whole number from 0 to {len(self._f) - 1}, not {x!r}."
        )

    def _computed(self, task: Task, x: int) -> Array:
        latest, rewards = self._latest
        if task is not latest:  # reward and best are asked in turn
            columns = _columns_of(task.context, self._columns)
            rewards = _rewards(self._f[x : x + 1], columns)[0]
            self._latest = (task, rewards)
        return rewards


def stacked_columns(listed: Sequence[Listed]) -> Array:
    """The features of every context, read-only: one array, without a copy where it is one."""
    columns = _stacked([responses.columns for responses in listed])
    columns.flags.writeable = False
    return columns


def _stacked(arrays: Sequence[Array]) -> Array:
    return arrays[0][np.newaxis] if len(arrays) == 1 else np.stack(arrays)


def _columns_of(context: Any, listed: Sequence[Array]) -> Array:
    """The features in a context, which is a number, or a matrix if contexts are fresh."""
    columns: Array = listed[context] if listed else context.T
    return columns


def _checked_asks(asks: object, instructions: int) -> str | tuple[float, ...]:
    if isinstance(asks, str):
        return one_of("asks", asks, ["uniform", "marginal"])
    if not isinstance(asks, Sequence | np.ndarray):
        raise SettingError(f"asks must be 'uniform', 'marginal' or probabilities, not {asks!r}.")
    given = tuple(real(f"asks[{x}]", value, at_least=0) for x, value in enumerate(asks))
    if len(given) != instructions:
        raise SettingError(
            f"asks must have a probability for each of the {instructions} instructions, "
            f"not {len(given)}."
        )
    if abs(sum(given) - 1) > 1e-6:
        raise SettingError(f"asks must sum to 1, not {sum(given):g}.")
    return given


@compiled_lazily
def draw_description(columns: Array, response: int, cumulative: Array, u: float) -> int:
    """Draw a component from g(y, s), then an instruction from its column of F, with one u."""
    dim, instructions = cumulative.shape
    component = 0
    for i in range(dim):
        weight = columns[i, response]
        if weight > 0.0:  # rounding must not select a component of probability 0
            component = i
            if u < weight:
                break
            u -= weight
    # Given the component, the rest of u is uniform on [0, weight).
    u /= columns[component, response]
    low, high = 0, instructions - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[component, middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


PLAIN = 500_000
"""Products up to which a table of rewards is computed without a kernel, which takes 0.4 seconds to
compile."""


def _table(f: Array, columns: Array) -> Array:
    """The same as ``_rewards``, bit for bit."""
    if len(f) * columns.size > PLAIN:
        return _rewards(f, columns)
    rewards = np.zeros((len(f), columns.shape[1]))
    for weights, row in zip(f.T, columns, strict=True):
        rewards += weights[:, None] * row
    return rewards


@compiled
def _rewards(f: Array, columns: Array) -> Array:
    """f(x) . g(y, s) for every x and y, always summed in the same order."""
    rewards = np.zeros((f.shape[0], columns.shape[1]))
    for first in range(0, columns.shape[1], TILE):
        for x in range(f.shape[0]):
            tile = rewards[x, first : first + TILE]
            for i in range(f.shape[1]):
                row, weight = columns[i, first : first + TILE], f[x, i]
                for y in range(len(tile)):
                    tile[y] += weight * row[y]
    return rewards
