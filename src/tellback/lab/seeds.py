"""Seeds as people write them: ``0-9, 20``."""

from __future__ import annotations

import re

from tellback.errors import SettingError

MOST_SEEDS = 1_000_000
SEEDS = 'a list of whole numbers, or words such as "1000-1009" or "0-9, 20"'


def seeds_from(name: str, text: str) -> tuple[int, ...]:
    """The seeds that a text such as ``1000-1009`` or ``0-9, 20`` names.

    Examples
    --------
    >>> seeds_from("reported", "0-2, 7")
    (0, 1, 2, 7)
    """
    spans = [re.fullmatch(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*", span) for span in text.split(",")]
    if not all(spans):
        raise SettingError(f"{name} must be {SEEDS}, not {text!r}.")
    ends = [(int(span[1]), int(span[2] or span[1])) for span in spans if span]
    if sum(high - low for low, high in ends) > MOST_SEEDS:
        raise SettingError(f"{name} must be at most {MOST_SEEDS:,} seeds.")
    if any(low > high for low, high in ends):
        raise SettingError(f"{name} must count upwards, not as in {text!r}.")
    return tuple(seed for low, high in ends for seed in range(low, high + 1))
