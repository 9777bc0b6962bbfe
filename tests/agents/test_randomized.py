"""Drawing from stated probabilities."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback.agents.randomized import drawn, votes


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.floats(0, 1, exclude_max=True))
@settings(max_examples=50, deadline=None)
def test_only_what_is_possible_is_drawn(weights: list[int], u: float) -> None:
    if not any(weights):
        weights[0] = 1
    probabilities = np.array(weights) / sum(weights)
    response = drawn(probabilities, u)
    assert probabilities[response] > 0
    assert probabilities[:response].sum() <= u + 1e-12
    assert u <= probabilities[: response + 1].sum() + 1e-12


def test_votes_are_shared_among_equals_or_go_to_the_first() -> None:
    ballots = np.array([[0.1, 0.3, 0.3], [0.3, 0.2, 0.1]])
    np.testing.assert_allclose(votes(ballots, True), [0.5, 0.25, 0.25])
    np.testing.assert_allclose(votes(ballots, False), [0.5, 0.5, 0.0])
