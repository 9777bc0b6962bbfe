"""How sure an agent is."""

from __future__ import annotations

import numpy as np
import pytest

from tellback.classroom.learning.sureness import OFTEN_HEARD, Answer, Considered, verdict


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


@pytest.mark.parametrize(
    ("estimates", "heard", "answer", "fitting"),
    [
        ([0.8, 0.1, 0.9], OFTEN_HEARD, Answer.SEVERAL, (2, 0)),
        ([0.8, 0.1, 0.9], OFTEN_HEARD - 1, Answer.UNSURE, ()),  # a new word may tell them apart
        ([0.8, 0.4, 0.9], OFTEN_HEARD, Answer.UNSURE, ()),  # the others are not clearly behind
        ([0.8, 0.7, 0.9], OFTEN_HEARD, Answer.UNSURE, ()),  # all alike: it knows nothing
        ([0.2, 0.1, 0.9], OFTEN_HEARD, Answer.SURE, (2,)),
    ],
)
def test_several_that_fit_are_another_answer_than_not_knowing(
    estimates: list[float], heard: int, answer: Answer, fitting: tuple[int, ...]
) -> None:
    found = verdict(Considered(np.array(estimates), np.zeros(3), 5, 7, heard))
    assert (found.answer, found.fitting) == (answer, fitting)
    assert found.says.startswith("Several fit") == (answer is Answer.SEVERAL)
