"""Whether the bonus of a response shrinks as it must while descriptions of it arrive."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tellback.agents.explorers import Optimism
from tellback.lab.diagnose.readings import Readings

ROUNDING = 1e-3  # error of an inverse that began with a tiny ridge


def too_wide(read: Readings) -> float:
    """The share of late descriptions whose response had a larger bonus than is possible.

    After n descriptions of features g, Sigma is at least n g g', so the width of g is at
    most 1 / sqrt(n). An elliptic bonus above k / sqrt(n) means that Sigma was taught other
    features than those of the chosen responses. NaN for other explorers, and where k is not
    constant.
    """
    explorer = getattr(read.agent, "explorer", None)
    late = [example.index >= len(read) // 2 for example in read.examples]
    if not isinstance(explorer, Optimism) or not explorer.caveat or not any(late):
        return float("nan")
    seen: Counter[bytes] = Counter()
    wide = []
    for example in read.examples:
        key = example.features.tobytes()
        limit = explorer.k / np.sqrt(seen[key]) if seen[key] else np.inf
        wide.append(bool(read.bonuses[example.index] > limit * (1 + ROUNDING)))
        seen[key] += 1
    return float(np.mean(np.array(wide)[late]))
