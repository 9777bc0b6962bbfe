"""What passes between the roles."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tellback import Choice
from tellback.roles import ACCOUNT, plain_response

FEATURES = np.array([0.25, 0.75])


def test_a_choice_survives_json_but_for_its_features() -> None:
    choice = Choice(np.int64(3), FEATURES, 0.1 + 0.2, 0.5, 0.25, 1e-300, 2.0)
    data = json.loads(json.dumps(choice.to_data(), allow_nan=False))
    assert list(data) == ["response", *ACCOUNT]
    again = Choice.from_data(data, FEATURES)
    assert again == choice
    assert again.features is FEATURES


def test_what_an_agent_does_not_state_is_none_in_data() -> None:
    choice = Choice("a sentence", FEATURES, bonus=math.inf)
    data = choice.to_data()
    assert data == {"response": "a sentence", **dict.fromkeys(ACCOUNT)}
    again = Choice.from_data(data, FEATURES)
    assert again.propensity is None
    assert all(math.isnan(getattr(again, name)) for name in ACCOUNT if name != "propensity")


@pytest.mark.parametrize("given", [5, np.int32(5), "five", (1, 2)])
def test_a_plain_response_is_itself(given: object) -> None:
    assert plain_response(given) == given
    assert type(plain_response(given)) in (int, str, tuple)
