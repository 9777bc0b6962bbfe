"""A small world whose responses cannot be listed: sequences of coloured steps, with a grammar.

There are few enough of them to go through all in a test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from tellback import Facts, Task
from tellback.arrays import Array
from tellback.responses import Grammar, Sampled
from tellback.roles import Exchange

COLOURS = ("red", "green", "blue")
STOP = len(COLOURS)
LONGEST = 3

Colours = tuple[str, ...]


def all_sequences() -> Iterator[Colours]:
    for length in range(1, LONGEST + 1):
        yield from product(COLOURS, repeat=length)


class ColouredSteps(Sampled):
    """One to three coloured steps."""

    dim = 6

    def __contains__(self, response: object, /) -> bool:
        return (
            type(response) is tuple
            and 1 <= len(response) <= LONGEST
            and all(type(step) is str and step in COLOURS for step in response)
        )

    def matrix_of(self, responses: Sequence[Any]) -> Array:
        """One-hot: the first colour and the last."""
        rows = np.zeros((len(responses), self.dim))
        for row, response in zip(rows, responses, strict=True):
            row[COLOURS.index(response[0])] = row[3 + COLOURS.index(response[-1])] = 1.0
        return rows

    def draw(self, count: int, rng: np.random.Generator) -> list[Colours]:
        lengths = rng.integers(1, LONGEST + 1, count)
        return [tuple(COLOURS[i] for i in rng.integers(3, size=n)) for n in lengths]

    def grammar(self, name: str) -> Grammar:
        return Moves() if name == "moves" else super().grammar(name)


class Moves:
    """Steps of a colour, or to stop; features tell the first step from the others."""

    dim = 2 * (STOP + 1)

    def chances(self, done: int, weights: Array) -> Array:
        """The probability of each step after so many others."""
        logits = weights.reshape(2, STOP + 1)[min(done, 1)].copy()
        if done == 0:
            logits[STOP] = -np.inf
        odds = np.exp(logits - logits.max())
        chances: Array = odds / odds.sum()
        return chances

    def steps(self, response: Colours) -> list[int]:
        numbers = [COLOURS.index(colour) for colour in response]
        return numbers if len(numbers) == LONGEST else [*numbers, STOP]

    def log_probability(self, response: Colours, weights: Array) -> float:
        steps = enumerate(self.steps(response))
        return float(sum(np.log(self.chances(done, weights)[step]) for done, step in steps))

    def draw(self, weights: Array, count: int, rng: np.random.Generator) -> list[Colours]:
        return [self._drawn(weights, rng) for _ in range(count)]

    def _drawn(self, weights: Array, rng: np.random.Generator) -> Colours:
        made: list[str] = []
        while len(made) < LONGEST:
            step = int(rng.choice(STOP + 1, p=self.chances(len(made), weights)))
            if step == STOP:
                break
            made.append(COLOURS[step])
        return tuple(made)

    def score(self, response: Any, weights: Array) -> Array | None:
        if response not in ColouredSteps():
            return None
        slope = np.zeros((2, STOP + 1))
        for done, step in enumerate(self.steps(response)):
            slope[min(done, 1)] -= self.chances(done, weights)
            slope[min(done, 1), step] += 1.0
        return slope.ravel()


@dataclass
class Beads:
    """The teacher tells of the first step or the last, each as often."""

    memory = 0
    facts = Facts(ColouredSteps.dim, None)

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        end, colour = ("begin", "end")[rng.integers(2)], COLOURS[rng.integers(3)]
        return Task(t, f"{end} with {colour}", ColouredSteps())

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> str | None:
        if rng.random() < 0.5:
            return f"begin with {response[0]}"
        return f"end with {response[-1]}"

    def reward(self, task: Task, response: Any) -> float:
        end, _, colour = str(task.instruction).split()
        return 0.5 * float(response[0 if end == "begin" else -1] == colour)

    def best(self, task: Task) -> float:
        return 0.5


KINDS, TOLD = 40, 2


class Kinds(Sampled):
    """Any whole number; its features say of which of 40 kinds it is."""

    dim = KINDS

    def __contains__(self, response: object, /) -> bool:
        return type(response) is int and 0 <= response < 1 << 40

    def matrix_of(self, responses: Sequence[Any]) -> Array:
        rows: Array = np.eye(KINDS)[[response % KINDS for response in responses]]
        return rows

    def draw(self, count: int, rng: np.random.Generator) -> list[int]:
        drawn: list[int] = rng.integers(1 << 40, size=count).tolist()
        return drawn


class MostlySilent:
    """Only 2 of 40 kinds of responses are described: 95% of random ones are not."""

    memory = 0
    facts = Facts(KINDS, None)

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        return Task(None, f"kind {rng.integers(TOLD)}", Kinds())

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> str | None:
        kind = response % KINDS
        return f"kind {kind}" if kind < TOLD else None

    def reward(self, task: Task, response: Any) -> float:
        return float(task.instruction == f"kind {response % KINDS}")

    def best(self, task: Task) -> float:
        return 1.0
