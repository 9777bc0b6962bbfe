"""Shares of a finite population."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.errors import SettingError
from tellback.theory.sampled import sampled_share


def test_all_intervals_of_a_growing_sample_hold_together_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(0)
    missed = 0
    for true in (3, 20, 36):
        things = np.arange(40) < true
        for _ in range(200):
            seen = np.cumsum(rng.permutation(things))
            shares = [sampled_share(int(yes), n, 40) for n, yes in enumerate(seen, start=1)]
            missed += any(not one.low <= true / 40 <= one.high for one in shares)
    assert missed <= 30  # 5% of 600


def test_once_all_were_looked_at_the_share_is_known() -> None:
    found = sampled_share(7, 10, 10)
    assert found.low == found.share == found.high == 0.7


def test_a_larger_sample_gives_a_shorter_interval() -> None:
    few, many = sampled_share(5, 10, 1000), sampled_share(50, 100, 1000)
    assert few.low < many.low < 0.5 < many.high < few.high


@pytest.mark.parametrize("n", [0, 11])
def test_a_sample_is_at_least_one_and_at_most_all(n: int) -> None:
    with pytest.raises(SettingError, match="from 1 to 10"):
        sampled_share(0, n, 10)
