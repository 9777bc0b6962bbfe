"""The paper's first experiment: its figure 2, and the claim that goes with it.

The paper leaves two things open that decide the outcome: how ties are broken, and whether
|X| = 2000 and |Y| = 10 are printed the right way round. Both readings of each are run.
"""

from __future__ import annotations

from tellback.lab.plan import Plan
from tellback.lab.study import Study
from tellback.paper.claims import ClaimedMargin
from tellback.paper.grids import agents
from tellback.worlds import Synthetic

# "12.3% smaller than the next best baseline"
CLAIMED = ClaimedMargin("Synthetic task", 0.123, seeds=3)
TITLE = "Figure 2 of the paper, run here: mean regret, 95% bands, settings tuned on other seeds"

PRINTED = Synthetic(instructions=2000, responses=10, rank=10, temperature=0.75)
TRANSPOSED = Synthetic(instructions=10, responses=2000, rank=10, temperature=0.75)
TUNING = tuple(range(1000, 1020))
TIES = {"random": "ties at random", "first": "ties to the first"}


def plan(scale: float = 1.0) -> Plan:
    """The first experiment."""
    return Plan(TITLE, tuple(studies(scale)))


def studies(scale: float = 1.0) -> list[Study]:
    """The four studies; a scale below 1 shortens runs and takes fewer seeds, for a trial."""
    sizes = (
        ("|X| = 2000, |Y| = 10 as printed", PRINTED, 10_000, 40),
        ("|X| = 10, |Y| = 2000 transposed", TRANSPOSED, 2_000, 100),
    )
    return [
        Study(
            name=f"{name}, {tied}",
            world=world,
            agents=agents(ties),
            rounds=max(100, round(rounds * scale)),
            tuning=TUNING[: max(2, round(len(TUNING) * scale))],
            reported=tuple(range(max(CLAIMED.seeds, round(seeds * scale)))),
        )
        for name, world, rounds, seeds in sizes
        for ties, tied in TIES.items()
    ]
