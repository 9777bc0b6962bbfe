"""Short plays: their digests, and whether the model's kernel was compiled."""

import hashlib

import numpy as np

from tellback import compiled, play
from tellback.agents import LORIL, EpsilonGreedy
from tellback.models import Ridge, mixture_kernels
from tellback.worlds import Synthetic

AGENTS = (LORIL(), EpsilonGreedy(0.3), LORIL(model=Ridge(), ties="first"))
WORLDS = (Synthetic(), Synthetic(instructions=3, responses=20, rank=4, contexts=3))


def digests() -> list[str]:
    """Of each play, all that was recorded."""
    found = []
    for world in WORLDS:
        for agent in AGENTS:
            run = play(world, agent, 40, seed=2)
            columns = (run.instructions, run.responses, run.descriptions, run.regrets)
            numbers = (run.estimates, run.bonuses, run.rewards)
            bits = b"".join(np.asarray(column).tobytes() for column in (*columns, *numbers))
            found.append(hashlib.sha256(bits).hexdigest())
    return found


if __name__ == "__main__":
    compiled.PATIENCE = 1e9
    print(*digests())
    print(len(mixture_kernels.learn.signatures))  # type: ignore[attr-defined]
