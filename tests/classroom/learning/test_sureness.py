"""How sure an agent is."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.classroom.learning.sureness import Considered, verdict


@pytest.mark.parametrize(
    ("estimates", "bonuses", "learned", "sure", "why"),
    [
        ([0.9, 0.1], [0.0, 0.0], 0, False, "nothing was described"),
        ([0.9, 0.1], [0.0, 0.0], 5, True, "says so"),
        ([0.9, 0.6], [0.0, 0.0], 5, False, "hardly tells"),
        ([0.0, 0.0], [0.0, 0.0], 5, False, "hardly tells"),
        ([-0.2, -0.9], [0.0, 0.0], 5, False, "hardly tells"),
        ([0.9, 0.1], [0.0, 1.0], 5, False, "rather try another"),
        ([0.9, 0.1], [np.nan, np.nan], 5, True, "says so"),
    ],
)
def test_an_agent_says_that_it_does_not_know_when_optimism_and_not_evidence_drives_it(
    estimates: list[float], bonuses: list[float], learned: int, sure: bool, why: str
) -> None:
    found = verdict(Considered(np.array(estimates), np.array(bonuses), learned, 7))
    assert (found.best, found.second, found.sure) == (0, 1, sure)
    assert why in found.says
    assert found.says.startswith("I don't know yet") != sure
