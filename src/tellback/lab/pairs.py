"""All pairs of agents of a study compared, in sentences that can be quoted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tellback.lab.compare import FEWEST_PAIRS, LEVEL, SAME, Difference
from tellback.lab.results import Results


@dataclass(frozen=True)
class Pair:
    """Two agents, the one with less regret first.

    Parameters
    ----------
    ours, theirs : str
        Their names.
    n : int
        The number of seeds that both played.
    difference : Difference or None
        By how much the first has less regret; None if no interval can be given.
    joint : Difference or None
        The same at the level at which all pairs of the study hold together (Bonferroni).
    tuned : bool
        Whether settings of either were chosen, on other seeds.
    running : bool
        Whether the interval is a confidence sequence.
    """

    ours: str
    theirs: str
    n: int
    difference: Difference | None
    joint: Difference | None
    tuned: bool
    running: bool

    @property
    def verdict(self) -> str:
        """'less', 'alone', 'undecided', or 'unknown' where there is no interval.

        'alone' is less regret by this comparison, but not when all pairs are judged together.
        """
        if self.difference is None or self.joint is None:
            return "unknown"
        if self.difference.verdict == "less" and self.joint.verdict != "less":
            return "alone"
        return self.difference.verdict

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        if self.difference is None:
            why = "one seed gives no interval" if self.n < 2 else "there is no regret to compare"
            return f"Nothing can be said of {self.ours} and {self.theirs}: {why}."
        found = self.difference
        kind = "95% confidence sequence" if self.running else "95% interval"
        seeds = f"n = {self.n} paired seeds, " + (
            "tuned on other seeds" if self.tuned else "nothing tuned"
        )
        bounds = f"[{found.low:+.1%}, {found.high:+.1%}] ({kind})"
        if found.same:
            bounds = f"({SAME})"
        tail = f"{bounds if np.isfinite(found.low) else '(no bounds yet)'}, {seeds}"
        if self.verdict == "undecided":
            few = f"; fewer than {FEWEST_PAIRS} decide nothing" if self.n < FEWEST_PAIRS else ""
            return (
                f"Undecided between {self.ours} and {self.theirs}: {self.ours} came out with "
                f"{found.less:.1%} less regret {tail}{few}."
            )
        alone = ALONE if self.verdict == "alone" else ""
        return f"{self.ours} has {found.less:.1%} less regret than {self.theirs} {tail}{alone}."


ALONE = "; undecided when all pairs of the study are judged together"


def all_pairs(results: Results) -> list[Pair]:
    """All pairs of agents compared; the agent with less regret comes first."""
    study = results.study
    n = len(study.reported)
    finals = {name: results.final(results.tuned(name)) for name in study.agents}
    names = list(combinations(results.ranked(), 2))
    joint_level = 1 - (1 - LEVEL) / max(1, len(names))
    found = []
    for ours, theirs in names:
        tuned = any(len(study.agents[name]) > 1 for name in (ours, theirs))
        difference = joint = None
        known = np.isfinite(finals[ours]).all() and np.isfinite(finals[theirs]).all()
        if n > 1 and known and finals[theirs].mean() > 0:
            difference = results.difference(ours, theirs)
            asked = study.decide is not None and {ours, theirs} == set(study.decide.between)
            # The comparison that the study is to decide needs no correction.
            joint = difference if asked else results.difference(ours, theirs, joint_level)
        found.append(
            Pair(ours, theirs, n, difference, joint, tuned, running=study.decide is not None)
        )
    return found


def headline(results: Results) -> Pair | None:
    """The pair that the study is to decide, or else the two agents with the least regret."""
    pairs = results.pairs()
    decide = results.study.decide
    if decide is not None:
        return next(pair for pair in pairs if {pair.ours, pair.theirs} == set(decide.between))
    return pairs[0] if pairs else None
