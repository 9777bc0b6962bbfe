"""The colour of each agent, the same in all figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

OWN = {
    "LORIL": "#0072b2",
    "epsilon-greedy": "#e69f00",
    "greedy": "#009e73",
    "random": "#999999",
}
"""From the palette of Okabe and Ito, which colour-blind readers can tell apart."""

OTHERS = ("#cc79a7", "#d55e00", "#56b4e9", "#8c6d31", "#7b5ea7", *OWN.values())


def colours(agents: Iterable[str]) -> Mapping[str, str]:
    """A colour for each agent of a study: its own, or the next free one."""
    names = list(agents)
    taken = {OWN[name] for name in names if name in OWN}
    free = [colour for colour in OTHERS if colour not in taken] or list(OTHERS)
    others = [name for name in names if name not in OWN]
    return OWN | {name: free[i % len(free)] for i, name in enumerate(others)}
