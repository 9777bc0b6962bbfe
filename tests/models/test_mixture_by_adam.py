"""The mixture fitted by Adam, as the paper does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tellback import Facts, Listed, play
from tellback.agents import LORIL, Greedy
from tellback.errors import SettingError
from tellback.models import MixtureByAdam
from tellback.models.mixture import MixtureModel
from tellback.models.mixture_by_adam import MixtureByAdamModel
from tellback.worlds import Synthetic
from tests.support.oracles import Floats, gradient, random_simplex


def theta_of(model: MixtureByAdamModel) -> Floats:
    theta: Any = model.state()["theta"]
    return np.array(theta)


def softmax_gradient(theta: Floats, rows: list[int], features: Floats) -> Floats:
    """The derivative by theta of minus the mean log-likelihood."""
    weights = np.exp(theta)
    f = weights / weights.sum(axis=0)
    by_f = -gradient(f, rows, features) / len(rows)
    by_theta: Floats = f * (by_f - (f * by_f).sum(axis=0))
    return by_theta


def adam(theta: Floats, gradients: Any, rate: float, steps: int) -> Floats:
    """Adam as in its paper."""
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, steps + 1):
        g = gradients(theta)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        theta = theta - rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return theta


def test_it_begins_uniform() -> None:
    model = MixtureByAdam().build(Facts(dim=3, instructions=4), np.random.default_rng(0))
    np.testing.assert_array_equal(model.f, np.full((4, 3), 0.25))
    np.testing.assert_allclose(model.estimates(2, Listed(np.eye(3))), 0.25)


def test_the_first_step_goes_by_the_sign_of_the_gradient() -> None:
    g = np.array([0.2, 0.5, 0.3])
    model = MixtureByAdamModel(4, 3, 0.01, 1)
    model.learn(g, 2)
    slope = softmax_gradient(np.zeros((4, 3)), [2], g[None])
    assert (slope[2] < 0).all()
    assert (slope[[0, 1, 3]] > 0).all()
    np.testing.assert_allclose(theta_of(model), -0.01 * np.sign(slope), rtol=1e-6)


@pytest.mark.parametrize("instructions", [1, 4, 40, 64, 65, 300])
@pytest.mark.parametrize("dim", [1, 3, 8, 10, 17])
def test_further_steps_are_those_of_an_independent_adam(instructions: int, dim: int) -> None:
    rng = np.random.default_rng(1)
    features = random_simplex(rng, 60, dim)
    rows = rng.integers(instructions, size=60).tolist()
    theta = rng.standard_normal((instructions, dim))
    model = MixtureByAdamModel(instructions, dim, 0.05, 1, theta.copy())
    for x, g in zip(rows, features, strict=True):
        model._counts.add(x, g)
    model.climb(25)
    expected = adam(theta, lambda theta: softmax_gradient(theta, rows, features), 0.05, 25)
    np.testing.assert_allclose(theta_of(model), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.f.sum(axis=0), 1, rtol=1e-12)


def test_repeated_descriptions_weigh_as_often_as_they_came() -> None:
    g, h = np.array([0.2, 0.8]), np.array([0.7, 0.3])
    rows, features = [0, 0, 0, 1], np.array([g, g, g, h])
    model = MixtureByAdamModel(3, 2, 0.05, 1)
    for x, row in zip(rows, features, strict=True):
        model._counts.add(x, row)
    model.climb(10)
    expected = adam(
        np.zeros((3, 2)), lambda theta: softmax_gradient(theta, rows, features), 0.05, 10
    )
    np.testing.assert_allclose(theta_of(model), expected, rtol=1e-9, atol=1e-12)


def test_each_description_is_worth_its_steps() -> None:
    g = np.array([0.2, 0.8])
    one, many = MixtureByAdamModel(3, 2, 0.01, 1), MixtureByAdamModel(3, 2, 0.01, 7)
    one.learn(g, 1)
    one.climb(6)
    many.learn(g, 1)
    np.testing.assert_array_equal(one.f, many.f)


def test_it_climbs_to_the_maximum_that_the_mixture_finds() -> None:
    rng = np.random.default_rng(2)
    responses = random_simplex(rng, 4, 3)
    adam_model, exact = MixtureByAdamModel(5, 3, 0.2, 1), MixtureModel(5, 3)
    for _ in range(40):
        g, x = responses[rng.integers(4)], int(rng.integers(5))
        adam_model._counts.add(x, g)
        exact.learn(g, x)
    exact.fit(1e-8)
    adam_model.climb(500)
    best = exact.log_likelihood()
    assert adam_model.log_likelihood() <= best + 1e-7
    assert adam_model.log_likelihood() >= best - 1e-4 * abs(best)
    np.testing.assert_allclose(adam_model.f.sum(axis=0), 1, rtol=1e-12)


def test_estimates_are_f_times_g() -> None:
    rng = np.random.default_rng(3)
    responses = Listed(random_simplex(rng, 6, 3))
    model = MixtureByAdamModel(4, 3, 0.1, 3)
    for x in (0, 1, 1, 2):
        model.learn(responses.features(x), x)
    for x in range(4):
        np.testing.assert_allclose(
            model.estimates(x, responses), responses.matrix @ model.f[x], rtol=1e-14
        )


def test_a_restored_model_goes_on_to_the_bit() -> None:
    rng = np.random.default_rng(4)
    lessons = [(random_simplex(rng, 1, 3)[0], int(rng.integers(4))) for _ in range(30)]
    whole, first, second = (MixtureByAdamModel(4, 3, 0.02, 2) for _ in range(3))
    for g, x in lessons:
        whole.learn(g, x)
    for g, x in lessons[:12]:
        first.learn(g, x)
    saved = first.state()
    second.restore(saved)
    np.testing.assert_array_equal(second.f, first.f)
    for g, x in lessons[12:]:
        second.learn(g, x)
    np.testing.assert_array_equal(second.f, whole.f)
    states: Any = (second.state(), whole.state())
    for name in states[0]:
        np.testing.assert_array_equal(states[0][name], states[1][name], err_msg=name)


def test_a_saved_state_does_not_follow_the_model() -> None:
    model = MixtureByAdamModel(3, 2, 0.02, 1)
    model.learn(np.array([0.5, 0.5]), 0)
    state: Any = model.state()
    before = {name: np.array(value) for name, value in state.items()}
    other = MixtureByAdamModel(3, 2, 0.02, 1)
    other.restore(state)
    for one in (model, other):
        one.learn(np.array([0.1, 0.9]), 1)
    for name, value in before.items():
        np.testing.assert_array_equal(state[name], value, err_msg=name)


def test_a_model_without_data_can_be_saved_and_restored() -> None:
    one, other = MixtureByAdamModel(3, 2, 0.02, 1), MixtureByAdamModel(3, 2, 0.02, 1)
    other.learn(np.array([0.5, 0.5]), 0)
    other.restore(one.state())
    for model in (one, other):
        model.learn(np.array([0.1, 0.9]), 1)
    np.testing.assert_array_equal(one.f, other.f)


def test_a_state_of_another_shape_is_refused() -> None:
    with pytest.raises(SettingError, match="shape"):
        MixtureByAdamModel(4, 2, 0.02, 1).restore(MixtureByAdamModel(3, 2, 0.02, 1).state())


def test_features_off_the_simplex_are_refused_with_the_reason() -> None:
    model = MixtureByAdamModel(3, 2, 0.02, 1)
    with pytest.raises(SettingError, match=r"response 1 sum to 1\.1"):
        model.estimates(0, Listed([[0.5, 0.5], [0.5, 0.6]]))


@pytest.mark.parametrize("x", [3, -1, "red", 1.0, True])
def test_an_instruction_out_of_range_is_refused(x: Any) -> None:
    model = MixtureByAdamModel(3, 2, 0.02, 1)
    with pytest.raises(SettingError, match="from 0 to 2"):
        model.estimates(x, Listed(np.eye(2)))
    with pytest.raises(SettingError, match="from 0 to 2"):
        model.learn(np.array([0.5, 0.5]), x)


def test_an_agent_may_learn_by_adam() -> None:
    world = Synthetic(instructions=5, responses=4, rank=3, seed=0)
    run = play(world, LORIL(model=MixtureByAdam(learning_rate=0.05)), 30)
    agent: Any = run.agent
    assert isinstance(agent.model, MixtureByAdamModel)
    assert agent.model.log_likelihood() > 30 * np.log(1 / 5)


def by_pytorch(theta: Floats, lessons: list[tuple[Floats, int]], rate: float, steps: int) -> Floats:
    """The same written with autograd and PyTorch's own Adam."""
    torch = pytest.importorskip("torch")
    parameters = torch.tensor(theta, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([parameters], lr=rate)
    for told in range(1, len(lessons) + 1):
        features = torch.tensor(np.array([g for g, _ in lessons[:told]]))
        rows = torch.tensor([x for _, x in lessons[:told]])
        for _ in range(steps):
            f = torch.softmax(parameters, dim=0)
            loss = -torch.log((f[rows] * features).sum(dim=1)).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    found: Floats = torch.softmax(parameters, dim=0).detach().numpy()
    return found


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_it_is_the_model_that_pytorch_would_fit(start: float) -> None:
    rng = np.random.default_rng(5)
    responses = random_simplex(rng, 3, 3)
    lessons = [(responses[rng.integers(3)], int(rng.integers(4))) for _ in range(20)]
    model = MixtureByAdam(0.03, steps=3, start=start).build(Facts(dim=3, instructions=4), rng)
    theta = theta_of(model)
    for g, x in lessons:
        model.learn(g, x)
    np.testing.assert_allclose(model.f, by_pytorch(theta, lessons, 0.03, 3), rtol=1e-9)


def test_a_random_start_is_normal_and_its_own() -> None:
    facts, spec = Facts(dim=50, instructions=100), MixtureByAdam(start=2.0)
    one, same, other = (theta_of(spec.build(facts, np.random.default_rng(i))) for i in (6, 6, 7))
    np.testing.assert_array_equal(one, same)
    assert (one != other).all()
    assert abs(one.mean()) < 0.1
    assert abs(one.std() - 2.0) < 0.1


@pytest.mark.parametrize("start", [0.0, 1.0])
def test_greedy_with_ties_to_the_first_is_not_stuck(start: float) -> None:
    """Adam's small constant sets the columns of F apart, by more than what counts as a tie."""
    world = Synthetic(instructions=2000, responses=10, rank=10, seed=0)
    run = play(world, Greedy(ties="first", model=MixtureByAdam(start=start)), 5)
    assert len(set(run.responses)) > 1
    stuck = play(world, Greedy(ties="first"), 5)  # by EM from uniform columns
    assert set(stuck.responses) == {0}
