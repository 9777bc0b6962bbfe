"""Whether bonuses shrink as they must when a response has been described again and again."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tellback.agents.explorers import Optimism
from tellback.lab.diagnose.readings import Readings

ROUNDING = 1e-3  # of an inverse that began with a tiny ridge


def too_wide(read: Readings) -> float:
    """The share of late descriptions whose response had a larger bonus than is possible.

    After n descriptions of features g, Sigma is at least n g g', and so the width of g at
    most 1 / sqrt(n). An elliptic bonus above k / sqrt(n) means that Sigma was taught other
    features than those of the responses that were chosen. NaN for other explorers, and where k
    is no constant.
    """
    explorer = getattr(read.agent, "explorer", None)
    late = [lesson.index >= len(read) // 2 for lesson in read.lessons]
    if not isinstance(explorer, Optimism) or not explorer.caveat or not any(late):
        return float("nan")
    seen: Counter[bytes] = Counter()
    wide = []
    for lesson in read.lessons:
        key = lesson.features.tobytes()
        limit = explorer.k / np.sqrt(seen[key]) if seen[key] else np.inf
        wide.append(bool(read.bonuses[lesson.index] > limit * (1 + ROUNDING)))
        seen[key] += 1
    return float(np.mean(np.array(wide)[late]))
