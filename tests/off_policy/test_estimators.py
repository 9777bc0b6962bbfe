"""Three estimates of a policy's mean reward."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tellback import play
from tellback.agents import (
    AgentSpec,
    EpsilonGreedy,
    Uniform,
)
from tellback.errors import SettingError
from tellback.models import Mixture
from tellback.off_policy import (
    AgentPolicy,
    Greedily,
    Log,
    OverlapError,
    Policy,
    Uniformly,
    ValueEstimate,
    doubly_robust,
    inverse_propensity,
    self_normalised,
)
from tests.support.off_policy import (
    SPEC,
    Fixed,
    Knowing,
    a_log,
    played,
    taught,
    the_truth,
    true_mean,
    world,
)


def by_hand(log: Log, policy: Policy, model: Any) -> tuple[float, float, float]:
    """The three estimates, one round after the other."""
    weighted = weights = robust = 0.0
    for i, task in enumerate(log.tasks):
        shares = policy.probabilities(task)
        y = int(log.responses[i])
        w = shares[y] / log.propensities[i]
        q = model.estimates(task.instruction, task.responses)
        weighted += w * log.matches[i]
        weights += w
        robust += sum(shares[z] * q[z] for z in range(len(q))) + w * (log.matches[i] - q[y])
    return weighted / len(log), weighted / weights, robust / len(log)


def test_the_estimates_are_what_their_formulas_say() -> None:
    log, model = Log.of(played(EpsilonGreedy(epsilon=0.4), 200)), taught().model
    policy = Greedily(model, epsilon=0.2)
    expected = by_hand(log, policy, model)
    found = (
        inverse_propensity(log, policy),
        self_normalised(log, policy),
        doubly_robust(log, policy, model),
    )
    np.testing.assert_allclose([one.mean for one in found], expected, rtol=1e-12)
    for one in found:
        assert one.n == 200
        assert one.low <= one.mean <= one.high


def test_a_model_that_learns_along_is_asked_before_it_is_told() -> None:
    log = Log.of(played(EpsilonGreedy(epsilon=0.4), 100))
    model, again = (Mixture().build(SPEC.facts, np.random.default_rng(0)) for _ in range(2))
    total = 0.0
    for i, task in enumerate(log.tasks):
        q = again.estimates(task.instruction, task.responses)
        y, told = int(log.responses[i]), log.descriptions[i]
        total += q.mean() + 0.25 / log.propensities[i] * (log.matches[i] - q[y])
        assert told is not None
        again.learn(task.responses.features(y), told)
    found = doubly_robust(log, Uniformly(), model, learn=True)
    assert found.mean == pytest.approx(total / 100, rel=1e-12)
    assert model.described == 0  # put back as it was


def test_a_reward_model_that_says_nothing_is_refused() -> None:
    log = Log.of(played(Uniform(), 100))
    with pytest.raises(SettingError, match="4 finite numbers"):
        doubly_robust(log, Uniformly(), Knowing(np.full((5, 4), np.nan)))
    with pytest.raises(SettingError, match="no learn, state, restore"):
        doubly_robust(log, Uniformly(), the_truth(), learn=True)


def test_unbiased_exactly_though_the_agent_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every log of two rounds there can be, with its probability; the second round's
    propensities depend on what happened in the first.
    """
    monkeypatch.setattr("tellback.off_policy.estimators.refuse", lambda *_: None)
    rewards, target = np.array([0.9, 0.2, 0.4]), Fixed(0.1, 0.3, 0.6)
    model = Knowing(np.array([[0.3, 0.8, 0.1]]))  # quite wrong
    expected = robust = probability = 0.0
    for first, second in product(product(range(3), (0.0, 1.0)), repeat=2):
        after = np.array([0.1, 0.2, 0.7]) if first[1] else np.roll([0.6, 0.3, 0.1], first[0])
        chances = [np.array([0.5, 0.3, 0.2]), after]
        happened, stated = 1.0, []
        for (y, match), p in zip((first, second), chances, strict=True):
            happened *= p[y] * (rewards[y] if match else 1 - rewards[y])
            stated.append(float(p[y]))
        log = a_log([first[1], second[1]], stated, [first[0], second[0]], count=3)
        expected += happened * inverse_propensity(log, target).mean
        robust += happened * doubly_robust(log, target, model).mean
        probability += happened
    assert probability == pytest.approx(1, abs=1e-12)
    truth = float(target.probabilities(log.tasks[0]) @ rewards)
    assert expected == pytest.approx(truth, abs=1e-12)
    assert robust == pytest.approx(truth, abs=1e-12)


Estimator = Callable[[Log, Policy], ValueEstimate]


@pytest.mark.parametrize("logger", [EpsilonGreedy(epsilon=0.3), Uniform()])
def test_intervals_hold_the_truth_as_often_as_they_say(logger: AgentSpec) -> None:
    logs, model, right = 80, taught().model, the_truth()
    targets: list[Policy] = [Uniformly(), Greedily(model), Fixed(0.1, 0.1, 0.1, 0.7)]
    estimators: list[Estimator] = [
        inverse_propensity,
        self_normalised,
        lambda log, target: doubly_robust(log, target, right),
    ]
    held = np.zeros((len(targets), len(estimators)))
    played_logs = np.zeros(len(targets))
    errors: list[list[float]] = [[] for _ in targets]
    for seed in range(logs):
        log = Log.of(played(logger, 150, seed))
        for i, target in enumerate(targets):
            try:
                found = [estimate(log, target) for estimate in estimators]
            except OverlapError:  # by bad luck the log has not done what the target wants
                continue
            truth = true_mean(log, target)
            held[i] += [one.low <= truth <= one.high for one in found]
            played_logs[i] += 1
            errors[i].append(found[0].mean - truth)
    assert (played_logs >= 0.9 * logs).all()
    # Were the coverage 95%, fewer would hold in one of a hundred thousand trials.
    least = np.asarray(stats.binom.ppf(1e-5, played_logs, 0.95))[:, None]
    assert (held >= least).all(), held / played_logs[:, None]
    for of_target in errors:
        assert abs(np.mean(of_target)) < 4.5 * stats.sem(of_target)


def test_a_good_model_makes_doubly_robust_intervals_shorter() -> None:
    log = Log.of(played(Uniform(), 2000))
    for target in (Greedily(taught().model), Fixed(0.1, 0.1, 0.1, 0.7)):
        plain, robust = inverse_propensity(log, target), doubly_robust(log, target, the_truth())
        assert robust.high - robust.low < 0.9 * (plain.high - plain.low)


def test_draws_of_an_agent_give_about_what_its_probabilities_give() -> None:
    log = Log.of(played(Uniform(), 1000))
    agent = play(world(), EpsilonGreedy(epsilon=0.3), 300, seed=10**6).agent
    exact = inverse_propensity(log, AgentPolicy(agent))
    drawn = inverse_propensity(log, AgentPolicy(agent, draws=20))
    assert drawn.mean == pytest.approx(exact.mean, abs=0.03)
    assert drawn.mean != exact.mean
