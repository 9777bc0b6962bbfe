"""Agreement of two teachers about a response, and Krippendorff's alpha."""

from __future__ import annotations

from typing import Any

import numpy as np

from tellback.classroom.learning.content import features_from
from tellback.classroom.learning.learner import Learner
from tellback.classroom.store.reviews import SecondRow
from tellback.classroom.store.tasks import find_task
from tellback.errors import TellbackError
from tellback.extras import from_extra
from tellback.responses import Listed
from tellback.roles import Instruction


def code(learner: Learner, round: int, said: Instruction) -> int | None:
    """What a description says, as a number.

    A number of the table of instructions stands for itself. A sentence stands for the response of
    the round that it fits best, to the agent. None if that is not known.
    """
    if not isinstance(said, str):
        return int(said)
    responses = responses_of(learner, round)
    if responses is None:
        return None
    try:
        estimates = learner.consider(said, responses).estimates
    except TellbackError:
        return None
    return int(np.argmax(estimates))


def responses_of(learner: Learner, round: int) -> Listed | None:
    """The responses of a round; None if there is nothing to choose from."""
    with learner.reading() as connection:
        features = find_task(connection, learner.lesson, round).features
    responses = Listed(features_from(features, learner.definition.facts.dim))
    return None if len(responses) < 2 or learner.draws else responses


def agree(learner: Learner, two: SecondRow) -> bool | None:
    """Whether two descriptions of a round say the same; None if that is not known."""
    if two.agrees is not None:
        return two.agrees
    one, other = (code(learner, two.round, said) for said in (two.first, two.second))
    return None if one is None or other is None else one == other


def alpha(learner: Learner, seconds: list[SecondRow]) -> float | None:
    """Krippendorff's alpha of first and second descriptions: 0 is chance, 1 is agreement.

    None if there are fewer than two pairs, or nothing to disagree about.
    """
    pairs = [
        (code(learner, two.round, two.first), code(learner, two.round, two.second))
        for two in seconds
        if not two.saw_request
    ]
    coded = [pair for pair in pairs if None not in pair]
    if len(coded) < 2 or len({value for pair in coded for value in pair}) < 2:
        return None
    krippendorff: Any = from_extra("classroom", "krippendorff", "Agreement")
    table = np.array(coded, dtype=np.float64).T
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))
