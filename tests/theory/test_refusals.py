"""What cannot be asked of the theory."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tellback import theory
from tellback.errors import SettingError

RNG = np.random.default_rng(0)
ONE = np.ones(1)


@pytest.mark.parametrize(
    ("field", "ask"),
    [
        ("delta", lambda: theory.freedman_constant(1.0, 0.0)),
        ("delta", lambda: theory.freedman_constant(1.0, 1.0)),
        ("delta", lambda: theory.printed_constant(1.0, math.nan)),
        ("log_class_size", lambda: theory.freedman_constant(-1.0, 0.1)),
        ("log_class_size", lambda: theory.printed_constant(math.inf, 0.1)),
        ("t", lambda: theory.printed_radius(0, 1.0, 1.0, 0.1, 1.0)),
        ("lam", lambda: theory.printed_radius(1, -1.0, 1.0, 0.1, 1.0)),
        ("B", lambda: theory.printed_radius(1, 1.0, 1.0, 0.1, 0.0)),
        ("t", lambda: theory.appendix_radius(0, 1.0, 1.0, 0.1, 1.0)),
        ("lam", lambda: theory.appendix_radius(1, math.nan, 1.0, 0.1, 1.0)),
        ("B", lambda: theory.appendix_radius(1, 1.0, 1.0, 0.1, -1.0)),
        ("delta", lambda: theory.repaired_radius(1.0, 1.0, 2.0, 1.0)),
        ("lam", lambda: theory.repaired_radius(-1.0, 1.0, 0.1, 1.0)),
        ("B", lambda: theory.repaired_radius(1.0, 1.0, 0.1, 0.0)),
        ("gap", lambda: theory.repaired_radius(1.0, 1.0, 0.1, 1.0, gap=-1.0)),
        ("t", lambda: theory.softmax_radius(0, 1.0, 2, 2, 0.1)),
        ("lam", lambda: theory.softmax_radius(1, -1.0, 2, 2, 0.1)),
        ("instructions", lambda: theory.softmax_radius(1, 1.0, 0, 2, 0.1)),
        ("dim", lambda: theory.softmax_radius(1, 1.0, 2, 0, 0.1)),
        ("delta", lambda: theory.softmax_radius(1, 1.0, 2, 2, 0.0)),
        ("gap", lambda: theory.softmax_radius(1, 1.0, 2, 2, 0.1, gap=math.nan)),
        ("dim", lambda: theory.softmax_bound(0)),
        ("rounds", lambda: theory.bracketing_log_size(0, 2, 2)),
        ("instructions", lambda: theory.bracketing_log_size(2, 0, 2)),
        ("dim", lambda: theory.bracketing_log_size(2, 2, 0)),
        ("temperature", lambda: theory.softmax(ONE, 0.0, axis=0)),
        ("size", lambda: theory.softmax_class(0, 2, 2, 1.0, RNG)),
        ("instructions", lambda: theory.softmax_class(2, 0, 2, 1.0, RNG)),
        ("dim", lambda: theory.softmax_class(2, 2, 0, 1.0, RNG)),
        ("temperature", lambda: theory.softmax_class(2, 2, 2, -1.0, RNG)),
        ("rounds", lambda: theory.printed_potential_bound(0, 2, 1.0, 1.0)),
        ("dim", lambda: theory.printed_potential_bound(2, 0, 1.0, 1.0)),
        ("lam", lambda: theory.clipped_potential_bound(2, 2, 0.0, 1.0)),
        ("length", lambda: theory.clipped_potential_bound(2, 2, 1.0, 0.0)),
        ("rounds", lambda: theory.printed_regret_bound(0, 2, 1.0, 1.0, 0.1)),
        ("dim", lambda: theory.printed_regret_bound(2, 0, 1.0, 1.0, 0.1)),
        ("B", lambda: theory.printed_regret_bound(2, 2, 0.0, 1.0, 0.1)),
        ("delta", lambda: theory.printed_regret_bound(2, 2, 1.0, 1.0, 1.0)),
        ("rounds", lambda: theory.repaired_regret_bound(0, 2, 1.0, 1.0, 0.1)),
        ("dim", lambda: theory.repaired_regret_bound(2, 0, 1.0, 1.0, 0.1)),
        ("B", lambda: theory.repaired_regret_bound(2, 2, -1.0, 1.0, 0.1)),
        ("log_class_size", lambda: theory.repaired_regret_bound(2, 2, 1.0, -1.0, 0.1)),
        ("rounds", lambda: theory.softmax_regret_bound(0, 2, 2, 0.1)),
        ("instructions", lambda: theory.softmax_regret_bound(2, 0, 2, 0.1)),
        ("delta", lambda: theory.softmax_regret_bound(2, 2, 2, 0.0)),
        ("responses", lambda: theory.hard_gap(0, 2)),
        ("rounds", lambda: theory.hard_gap(2, 0)),
        ("form", lambda: theory.hard_gap(2, 2, "repared")),
        ("form", lambda: theory.demand_conditions(22, 434, "paper")),
        ("rounds", lambda: theory.lower_bound(2, 0)),
        ("form", lambda: theory.lower_probability(22, 434, "")),
        ("responses", lambda: theory.information(0, 2, 0.1)),
        ("rounds", lambda: theory.information(2, 0, 0.1)),
        ("gap", lambda: theory.information(2, 2, 0.51)),
        ("gap", lambda: theory.information(2, 2, -0.1)),
        ("gap", lambda: theory.information(2, 2, math.nan)),
        ("level", lambda: theory.running_mean(ONE, 1.0)),
        ("level", lambda: theory.running_mean(ONE, 0.0)),
        ("level", lambda: theory.running_mean(ONE, 95)),
        ("observed", lambda: theory.running_mean(np.array([0.5, 1.1]))),
        ("observed", lambda: theory.running_mean(np.array([-0.1]))),
        ("observed", lambda: theory.running_mean(np.array([math.nan]))),
        ("observed", lambda: theory.running_mean(np.ones((1, 3)))),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(field: str, ask: Callable[[], object]) -> None:
    with pytest.raises(SettingError, match=f"^{field} must be"):
        ask()
