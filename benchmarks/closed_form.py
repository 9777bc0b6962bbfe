"""The cost of a round with models in closed form, and with models fitted step by step."""

from __future__ import annotations

import time
from statistics import median

from tellback import play
from tellback.agents import LORIL, Greedy
from tellback.encoders import Thumbnail
from tellback.models import Keywords, Mixture, Ridge, Sentence
from tellback.roles import AgentSpec, WorldSpec
from tellback.worlds import Images, Synthetic

REPEATS = 5
PAIRS: dict[str, tuple[WorldSpec, int, AgentSpec, AgentSpec]] = {
    "2000 instructions, 10 responses: ridge, EM": (
        Synthetic(),
        5_000,
        LORIL(model=Ridge()),
        LORIL(model=Mixture()),
    ),
    "10 instructions, 2000 responses: ridge, EM": (
        Synthetic(instructions=10, responses=2000),
        2_000,
        LORIL(model=Ridge()),
        LORIL(model=Mixture()),
    ),
    "pictures: key words, the paper's GRU": (
        Images(encoder=Thumbnail(cells=2)),
        200,
        Greedy(model=Keywords()),
        Greedy(model=Sentence()),
    ),
}


def closed_form() -> bool:
    """Print microseconds a round, both sides in turns, and their ratio."""
    print("A round in closed form, and step by step")
    for name, (world, rounds, closed, stepwise) in PAIRS.items():
        for agent in (closed, stepwise):
            _microseconds(world, agent, 50)  # compiles
        pairs = [
            (_microseconds(world, closed, rounds), _microseconds(world, stepwise, rounds))
            for _ in range(REPEATS)
        ]
        ours, theirs = (median(side) for side in zip(*pairs, strict=True))
        ratio = median(theirs / ours for ours, theirs in pairs)
        print(f"  {name:<44} {ours:8.1f} {theirs:8.1f} us   {ratio:5.1f} times")
    return True


def _microseconds(world: WorldSpec, agent: AgentSpec, rounds: int) -> float:
    began = time.perf_counter()
    play(world, agent, rounds, seed=1)
    return 1e6 * (time.perf_counter() - began) / rounds


if __name__ == "__main__":
    closed_form()
