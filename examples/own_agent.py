"""An agent of one's own, checked and compared with LORIL.

From this folder: tellback run synthetic --agent own_agent:Imitator --agent loril --set trials=1
"""

from collections import Counter

from tellback import check, compare, play
from tellback.agents import LORIL
from tellback.worlds import Synthetic


class Imitator:
    """Repeats the response that the instruction has described most often."""

    def __init__(self, trials=0):  # a setting: descriptions to ignore before it repeats
        self.trials = trials
        self.described = Counter()

    def respond(self, task, rng):
        counts = [self.described[task.instruction, y] for y in range(len(task.responses))]
        if max(counts) <= self.trials:
            return task.choose(int(rng.integers(len(counts))))
        return task.choose(counts.index(max(counts)))

    def learn(self, task, choice, description):
        self.described[description, choice.response] += 1


if __name__ == "__main__":
    print(check(Imitator))
    world = Synthetic(instructions=200, responses=10, rank=5, temperature=0.5)
    for seed in range(3):
        runs = [play(world, agent, rounds=2000, seed=seed) for agent in (LORIL(k=0.1), Imitator())]
        print(compare(*runs))
