"""The sweeps over |Y| and d again, with one k for all sizes.

If k is chosen anew at each size, the choice may hide how regret grows. Here k is the best of the
grid on the tuning seeds at one size, and is used at all sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tellback.agents import LORIL, Uniform
from tellback.lab.results import Results
from tellback.lab.study import Study
from tellback.paper.claims import Claim
from tellback.paper.theory.experiment import Experiment, Findings, Sweep, rounds, seeds, tuning
from tellback.paper.theory.sizes import KINDS, KS, rank_sizes, response_sizes, sweep_claim
from tellback.worlds import Synthetic


@dataclass(frozen=True)
class OneK:
    """A sweep at one k."""

    size: str  # which size is swept
    kind: str  # the kind of worlds
    k: float  # the best of the grid on the tuning seeds at the size ``chosen_at``
    chosen_at: int
    rounds: int

    def sizes(self, scale: float) -> tuple[int, ...]:
        """The sizes of the sweep in which k is chosen anew."""
        return rank_sizes(scale) if self.size == "d" else response_sizes(self.kind, scale)

    def world(self, size: int) -> Synthetic:
        """The world at a size."""
        if self.size == "d":
            return Synthetic(instructions=10, responses=1_000, rank=size)
        return Synthetic(instructions=10, responses=size, rank=5, contexts=KINDS[self.kind])

    def studies(self, scale: float) -> list[Study]:
        """LORIL with that k at every size; at the last, the grid on the tuning seeds."""
        played = [
            Study(
                name=f"{self.size} = {size:,}, {self.kind}, k = {self.k:g}",
                world=self.world(size),
                agents={"LORIL": (LORIL(k=self.k),), "random": (Uniform(),)},
                rounds=rounds(self.rounds, scale),
                tuning=(),
                reported=seeds(scale),
            )
            for size in self.sizes(scale)
        ]
        chosen = Study(
            name=f"{self.size} = {self.chosen_at:,}, {self.kind}, which k",
            world=self.world(self.chosen_at),
            agents={f"k = {k:g}": (LORIL(k=k),) for k in KS},
            rounds=rounds(self.rounds, scale),
            tuning=(),
            reported=tuning(scale),
        )
        return [*played, chosen]

    def claim(self, found: Sequence[Results], scale: float) -> Claim:
        """How regret grows, and which k would have been chosen."""
        *played, grid = found
        sweep = Sweep(self.sizes(scale), played)
        on_tuning_seeds = {k: float(grid.final(LORIL(k=k)).mean()) for k in KS}
        best = min(on_tuning_seeds, key=lambda k: on_tuning_seeds[k])
        ratio = sweep.ratio("LORIL")
        where = f"{self.kind}, {self.size} from {sweep.sizes[0]:,} to {sweep.sizes[-1]:,}"
        how = (
            f"k = {self.k:g} at every size: the best of {len(KS)} on {len(grid.study.reported)} "
            f"tuning seeds at {self.size} = {self.chosen_at:,}"
        )
        if best != self.k:  # at a trial's scale, say
            how = f"k = {self.k:g} at every size (the best at {self.chosen_at:,}: {best:g})"
        share = f"{ratio[0]:.0%} at the smallest, {ratio[-1]:.0%} at the largest"
        note = f"{how}. Of random play's regret: {share}."
        return sweep_claim(sweep, self.size, where, note, how="; one k")


SWEEPS = (
    OneK("|Y|", "one context", k=0.3, chosen_at=1_000, rounds=1_000),
    OneK("|Y|", "five contexts", k=0.3, chosen_at=1_000, rounds=1_000),
    OneK("|Y|", "fresh contexts", k=0.03, chosen_at=1_000, rounds=1_000),
    OneK("d", "|Y| = 1,000, |X| = 10", k=0.1, chosen_at=8, rounds=2_000),
)


def studies(scale: float) -> list[Study]:
    """The studies of all sweeps."""
    return [study for sweep in SWEEPS for study in sweep.studies(scale)]


def findings(found: Sequence[Results], scale: float) -> Findings:
    """A line for each sweep."""
    left = list(found)
    claims = [sweep.claim([left.pop(0) for _ in sweep.studies(scale)], scale) for sweep in SWEEPS]
    return Findings(claims, [])


EXPERIMENT = Experiment(studies, findings)
