"""An agent of one's own, checked and compared with LORIL."""

from collections import Counter

from tellback import check, play
from tellback.agents import LORIL
from tellback.worlds import Synthetic


class Imitator:
    """Repeats the response that the instruction has described most often."""

    def __init__(self):
        self.described = Counter()

    def respond(self, task, rng):
        counts = [self.described[task.instruction, y] for y in range(len(task.responses))]
        if max(counts) == 0:
            return task.choose(int(rng.integers(len(counts))))
        return task.choose(counts.index(max(counts)))

    def learn(self, task, choice, description):
        self.described[description, choice.response] += 1


if __name__ == "__main__":
    print(check(Imitator()))
    world = Synthetic(instructions=200, responses=10, rank=5, temperature=0.5)
    for seed in range(3):
        own = play(world, Imitator(), rounds=2000, seed=seed).regret[-1]
        loril = play(world, LORIL(k=0.1, lam=1.0), rounds=2000, seed=seed).regret[-1]
        print(f"seed {seed}: regret of Imitator {own:.2f}, of LORIL {loril:.2f}")
