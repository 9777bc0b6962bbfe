"""Features too long for the ridge are refused: rounding would make chance of the widths."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from tellback import Facts, Listed, Task, play
from tellback.agents import LORIL, Greedy, Imitation, OneHotLORIL, RewardOnly
from tellback.agents.fading import FadingEllipsoid
from tellback.errors import SettingError
from tellback.models import Ridge
from tellback.models.ellipsoid import LARGEST_RATIO, Ellipsoid
from tellback.roles import AgentSpec
from tests.support.oracles import precise_inverse

SIZES = [1.0, 1e3, np.sqrt(LARGEST_RATIO)]


class Long:
    """Each response is described as itself; features are unit vectors times a length."""

    memory = 0

    def __init__(self, length: float, size: int = 4) -> None:
        self.facts = Facts(dim=size, instructions=size, fixed_responses=True)
        rng = np.random.default_rng(0)
        g = rng.standard_normal((size, size))
        self.responses = Listed(length * g / np.linalg.norm(g, axis=1, keepdims=True))
        self.size = size

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return Task(None, int(rng.integers(self.size)), self.responses)

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> int:
        return response

    def reward(self, task: Task, response: int) -> float:
        return float(task.instruction == response)

    def best(self, task: Task) -> float:
        return 1.0


RIDGE = LORIL(k=0.1, model=Ridge())


@pytest.mark.parametrize("length", SIZES)
def test_features_within_the_limit_are_learned_from(length: float) -> None:
    run = play(Long(length), RIDGE, 400, seed=1)
    assert run.rewards[-200:].mean() > 0.95


@pytest.mark.parametrize("agent", [RIDGE, Greedy(model=Ridge()), RewardOnly(), Imitation()])
def test_features_beyond_it_are_refused_with_the_way_out(agent: AgentSpec) -> None:
    with pytest.raises(SettingError, match=r"length of 1e\+08; with lam=1 .*set lam to 1e\+07"):
        play(Long(1e8), agent, 400, seed=1)
    play(Long(1e8 / 3.3e3), agent, 5, seed=1)  # as the error says: divided by 3.2e3 or more
    play(Long(1e8), agent.with_settings(_with_ridge(agent, 1.1e7)), 5, seed=1)


def _with_ridge(agent: Any, lam: float) -> dict[str, object]:
    settings: dict[str, object] = {"lam": lam} if "lam" in agent.settings() else {}
    if getattr(agent, "model", None) is not None:
        settings["model"] = Ridge(lam=lam)
    return settings


@pytest.mark.parametrize("agent", [OneHotLORIL(), LORIL(lam="1/t", model=Ridge(lam=1e8))])
def test_what_is_exact_for_long_features_takes_them(agent: AgentSpec) -> None:
    assert play(Long(1e8), agent, 400, seed=1).rewards[-200:].mean() > 0.9


ORDER = np.random.default_rng(1).integers(6, size=30).tolist()


@pytest.mark.parametrize("lam", [1e-9, 1.0, 1e6])
def test_at_the_limit_the_inverse_is_right_to_a_millionth(lam: float) -> None:
    worst = 0.0
    for seed in range(5):
        g = np.random.default_rng(seed).dirichlet(np.ones(3), 6)
        g *= np.sqrt(LARGEST_RATIO * lam) / np.linalg.norm(g, axis=1).max()
        ellipsoid = Ellipsoid(3, lam)
        for y in ORDER:
            ellipsoid.add(g[y])
        exact = precise_inverse(np.bincount(ORDER), g, lam).astype(float)
        worst = max(worst, np.abs(ellipsoid.inverse - exact).max() / np.abs(exact).max())
    assert worst < 1e-6


def test_the_fading_ridge_is_exact_far_beyond_the_limit() -> None:
    g = np.random.default_rng(0).dirichlet(np.ones(3), 6) * 1e8
    fading = FadingEllipsoid(3)
    for y in ORDER:
        fading.add(g[y])
    inverse = precise_inverse(np.bincount(ORDER), g, fading.lam)
    with mpmath.workdps(45):
        exact = [float(row.dot(inverse).dot(row)) for row in np.vectorize(mpmath.mpf)(g)]
    np.testing.assert_allclose(fading.squared_widths(Listed(g), False), exact, rtol=1e-8)
