"""A world of one's own: loaded dice.

From this folder: tellback run own_world:Dice --agent loril --agent greedy --set sides=8
"""

import numpy as np

from tellback import Facts, Listed, Task, check, play
from tellback.agents import LORIL


class Dice:
    """Response y is a loaded die; an instruction asks for a number of pips."""

    memory = 0  # it does not read the past

    def __init__(self, sides=6, load=1.0, rng=None):  # a run gives rng: each seed has other dice
        loaded = np.arange(sides) if rng is None else rng.permutation(sides)
        weights = load * np.eye(sides)[loaded] + 0.2
        self.odds = weights / weights.sum(axis=1, keepdims=True)
        self.responses = Listed(np.eye(sides))
        self.facts = Facts(dim=sides, instructions=sides, fixed_responses=True)

    def task(self, t, history, rng):
        asked = int(rng.integers(len(self.odds)))
        return Task(context=None, instruction=asked, responses=self.responses)

    def describe(self, context, response, rng):
        return int(rng.choice(len(self.odds), p=self.odds[response]))

    def reward(self, task, response):
        return float(self.odds[response, task.instruction])

    def best(self, task):
        return float(self.odds[:, task.instruction].max())


if __name__ == "__main__":
    print(check(Dice))
    print(play(Dice(), LORIL(), rounds=500, seed=1).summary())
