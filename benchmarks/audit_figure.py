"""The figure of the page about audits: wrong descriptions among those kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tellback.arrays import Array
from tellback.audit import audit
from tellback.audit.planted import planted
from tellback.figures import new_figure, save_figure, styled
from tellback.recordings import Recording

SHARES = (0.39, 0.2, 0.05)
BUDGETS = {0.0: "nobody asked", 0.1: "a tenth asked"}
SURE = (0.5, 0.8, 0.9, 0.93, 0.95, 0.96, 0.97, 0.98, 0.985)
TITLES = {
    "copied": "wrong ones are copies of others",
    "exchanged": "descriptions have changed places",
}


def draw(recording: Recording, path: Path, runs: int, first_seed: int) -> None:
    """Draw the means over runs, as a line from strict to generous."""
    with styled():
        figure = new_figure(9, 3.6)
        axes = figure.subplots(1, len(TITLES), sharey=True)
        for axis, (kind, title) in zip(axes, TITLES.items(), strict=True):
            for share, colour in zip(SHARES, ("C3", "C1", "C0"), strict=True):
                found = [curves(recording, kind, share, first_seed + i) for i in range(runs)]
                mean = np.mean(found, axis=0)
                for line, (budget, name) in zip(mean, BUDGETS.items(), strict=True):
                    axis.plot(
                        *(100 * line.T), color=colour, marker=".",
                        linestyle="-" if budget else ":", label=f"{share:.0%} wrong, {name}",
                    )  # fmt: skip
            axis.set(title=title, xlabel="kept, % of all descriptions", ylim=(0, 5))
        axes[0].set_ylabel("wrong, % of those kept")
        axes[1].legend(fontsize=8, loc="upper left")
        save_figure(figure, path)


def curves(recording: Recording, kind: str, share: float, seed: int) -> Array:
    """For each budget and threshold: the share kept, and the share of wrong ones in it."""
    case = planted(recording, share, kind, seed)
    found = audit(case.recording, seed=seed)
    total = len(found.sentences)
    points = []
    for budget in BUDGETS:
        for sure in SURE:
            asked = replace(found, sure=sure)
            few = asked.questions(int(budget * total))
            asked = asked.answer({one.place: one.place not in case.wrong for one in few})
            points.append((len(asked.kept) / total, len(asked.kept & case.wrong) / len(asked.kept)))
    return np.array(points).reshape(len(BUDGETS), len(SURE), 2)
