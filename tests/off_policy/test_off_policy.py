"""A log with propensities says what another agent would have been worth."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tellback import Listed, Round, Simulation, Task, play, rounds
from tellback.agents import (
    LORIL,
    AgentSpec,
    EpsilonGreedy,
    Greedy,
    ModelAgent,
    Thompson,
    Uniform,
)
from tellback.cli import main
from tellback.errors import SettingError
from tellback.models import Mixture
from tellback.off_policy import (
    AgentPolicy,
    Estimate,
    Greedily,
    Log,
    OverlapError,
    Policy,
    Uniformly,
    demand_overlap,
    doubly_robust,
    inverse_propensity,
    overlap,
    self_normalised,
)
from tellback.off_policy.intervals import deviations
from tellback.worlds import Synthetic
from tests.support.oracles import Floats

SPEC = Synthetic(instructions=5, responses=4, rank=3, temperature=0.5, seed=3)
SENTENCES = ("red ball", "blue ball", "green box")


@cache
def world() -> Simulation:
    return SPEC.build(np.random.default_rng(0))


def played(agent: AgentSpec, number: int, seed: int = 0) -> list[Round]:
    return list(islice(rounds(world(), agent, seed=seed), number))


def taught(number: int = 300) -> ModelAgent:
    """An agent that has learned in another run than the logged ones."""
    agent = play(world(), Greedy(), number, seed=10**6).agent
    assert isinstance(agent, ModelAgent)
    return agent


def reward(simulation: Simulation, task: Task, response: int) -> float:
    assert simulation.truth is not None
    return simulation.truth.reward(task, response)


class Fixed:
    """A policy that does not look at the task."""

    def __init__(self, *shares: float) -> None:
        self._shares = np.array(shares)

    def probabilities(self, task: Task) -> Floats:
        return self._shares


class Knowing:
    """A reward model that is right, in one table."""

    def __init__(self, table: Floats) -> None:
        self._table = table

    def estimates(self, instruction: Any, responses: Listed) -> Floats:
        row: Floats = self._table[instruction]
        return row


@cache
def the_truth() -> Knowing:
    simulation = world()
    responses = simulation.world.task(1, (), np.random.default_rng(0)).responses
    table = [
        [reward(simulation, Task(0, x, responses), y) for y in range(4)]
        for x in range(SPEC.instructions)
    ]
    return Knowing(np.array(table))


def true_mean(log: Log, policy: Policy) -> float:
    """The policy's mean reward on the tasks of the log, of which each instruction has one."""
    rewards, tasks = the_truth(), {task.instruction: task for task in log.tasks}
    asked = [task.instruction for task in log.tasks]
    return sum(
        asked.count(x) * float(policy.probabilities(task) @ rewards.estimates(x, task.responses))
        for x, task in tasks.items()
    ) / len(log)


def a_log(
    matches: list[float],
    propensities: list[float],
    responses: list[int] | None = None,
    count: int = 2,
) -> Log:
    """Rounds that all ask for 0, and are told 0, 1 or nothing."""
    listed = Listed(np.eye(count))
    n = len(matches)
    told = [None if np.isnan(match) else int(1 - match) for match in matches]
    return Log(
        (Task(None, 0, listed),) * n,
        np.array(responses or [0] * n),
        np.array(propensities),
        tuple(told),
        np.array(matches),
        np.zeros(n, dtype=bool),
    )


# What a log is


def test_a_log_says_what_was_played() -> None:
    done = played(EpsilonGreedy(epsilon=0.3), 50)
    log = Log.of(done)
    assert len(log) == 50
    for i, one in enumerate(done):
        assert log.tasks[i] == one.task
        assert log.responses[i] == one.choice.response
        assert log.propensities[i] == one.choice.propensity
        assert log.matches[i] == (one.description == one.task.instruction)


def test_what_counts_as_a_match_is_for_the_user_to_say() -> None:
    def near(asked: Any, told: Any) -> bool:
        return bool(abs(asked - told) <= 1)

    done = played(Uniform(), 50)
    log = Log.of(done, match=near)
    assert log.matches.tolist() == [
        float(abs(one.description - one.task.instruction) <= 1)  # type: ignore[operator]
        for one in done
    ]
    assert log.matches.sum() > Log.of(done).matches.sum()


def test_a_round_never_described_stays_missing_and_is_left_out() -> None:
    done = played(EpsilonGreedy(epsilon=0.5), 300)
    some = [one._replace(description=None) if one.t % 3 == 0 else one for one in done]
    log = Log.of(some)
    assert np.isnan(log.matches).sum() == 100
    assert len(log.usable) == 200
    rest = Log.of([one for one in done if one.t % 3])
    assert inverse_propensity(log, Uniformly()) == inverse_propensity(rest, Uniformly())


def test_a_round_whose_teacher_saw_the_request_is_left_out() -> None:
    done = played(EpsilonGreedy(epsilon=0.5), 300)
    # A teacher who has seen the request repeats it, which says nothing of the response.
    flattered = [
        one._replace(description=one.task.instruction) if one.t % 2 else one for one in done
    ]
    log = Log.of(flattered, teacher_saw_request=[bool(one.t % 2) for one in flattered])
    rest = Log.of([one for one in done if not one.t % 2])
    assert len(log.usable) == 150
    assert inverse_propensity(log, Uniformly()) == inverse_propensity(rest, Uniformly())
    assert len(Log.of(done, teacher_saw_request=True).usable) == 0
    with pytest.raises(ValueError, match="zip"):
        Log.of(done, teacher_saw_request=[True])


def test_an_impossible_log_is_refused() -> None:
    with pytest.raises(SettingError, match="above 0 and at most 1, not 2"):
        a_log([1.0], [2.0])
    with pytest.raises(SettingError, match=r"responses\[0\] must be from 0 to 1, not 2"):
        a_log([1.0], [0.5], [2])
    with pytest.raises(SettingError, match="matches must be 0, 1 or NaN"):
        a_log([0.5], [0.5])
    with pytest.raises(SettingError, match="propensities has 1 entries, and tasks has 2"):
        a_log([1.0, 1.0], [0.5])


# Files


def same(one: Log, other: Log) -> None:
    for name in ("responses", "propensities", "matches", "teacher_saw_request"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.descriptions == other.descriptions
    for task, again in zip(one.tasks, other.tasks, strict=True):
        assert task.instruction == again.instruction
        np.testing.assert_array_equal(task.responses.matrix, again.responses.matrix)


@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
def test_a_log_comes_back_from_its_file_as_it_was(contexts: Any, tmp_path: Path) -> None:
    spec = Synthetic(instructions=5, responses=3, rank=2, contexts=contexts, seed=0)
    log = Log.of(islice(rounds(spec, EpsilonGreedy(epsilon=0.2)), 40))
    log.save(tmp_path / "log.jsonl")
    again = Log.load(tmp_path / "log.jsonl")
    same(log, again)
    assert len({id(task.responses) for task in again.tasks}) == len(
        {id(task.responses) for task in log.tasks}
    )
    assert inverse_propensity(again, Uniformly()) == inverse_propensity(log, Uniformly())
    assert [file.name for file in tmp_path.iterdir()] == ["log.jsonl"]


def test_sentences_and_what_is_missing_come_back_too(tmp_path: Path) -> None:
    listed = Listed(np.eye(2))
    log = Log(
        tuple(Task("a room", said, listed) for said in SENTENCES),
        np.array([0, 1, 0]),
        np.array([0.5, np.nan, 1.0]),
        ("red ball", None, "a box that is green, I think"),
        np.array([1.0, np.nan, 0.0]),
        np.array([True, False, False]),
    )
    log.save(tmp_path / "log.jsonl")
    again = Log.load(tmp_path / "log.jsonl")
    same(log, again)
    assert again.tasks[0].context == "a room"


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("propensity", 0, "Line 3 of log.jsonl: propensity must be finite, above 0"),
        ("propensity", "often", "Line 3 of log.jsonl: propensity must be a number"),
        ("response", 7, "Line 3 of log.jsonl: response must be from 0 to 2, not 7"),
        ("responses", 4, "Line 3 of log.jsonl: responses must be the number of a set"),
        ("match", 0.5, "Line 3 of log.jsonl: match must be 0, 1 or null"),
        ("match", None, "Line 3 of log.jsonl: match is None and description is"),
        ("instruction", 1.5, "Line 3 of log.jsonl: instruction must be a whole number"),
        ("description", [1], "Line 3 of log.jsonl: description must be a whole number"),
        ("teacher_saw_request", 1, "Line 3 of log.jsonl: teacher_saw_request must be true or"),
        ("context", {}, "Line 3 of log.jsonl: context must be a number, words or null"),
        ("colour", "red", "Line 3 of log.jsonl has an unknown field 'colour'"),
    ],
)
def test_a_damaged_file_is_refused_by_line_and_field(
    field: str, value: Any, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    spec = Synthetic(instructions=5, responses=3, rank=2, seed=0)
    Log.of(islice(rounds(spec, Uniform()), 4)).save(path)
    lines = path.read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | {field: value})
    path.write_text("\n".join(lines))
    with pytest.raises(SettingError) as refused:
        Log.load(path)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("{}", "this is no log"),
        ('{"format": "tellback log", "version": 3}', "version must be 1 or 2, not 3"),
        ('{"format": "tellback log", "version": 2}', "Line 1 of log.jsonl: propensities must be"),
        (
            '{"format": "tellback log", "version": 2, "propensities": "sure"}',
            "or else 'unknown', not 'sure'.",
        ),
        ('{"format": "tellback log", "version": 1}\n{"context"', "Line 2 of log.jsonl is not JSON"),
        ('{"format": "tellback log", "version": 1}\n[]', "Line 2 of log.jsonl must be an object"),
        ('{"format": "tellback log", "version": 1}\n{"context": 1}', "has no instruction"),
        ('{"format": "tellback log", "version": 1}\n{"features": [[]]}', "Line 2 of log.jsonl: fe"),
    ],
)
def test_a_file_that_is_no_log_is_refused(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(text)
    with pytest.raises(SettingError) as refused:
        Log.load(tmp_path / "log.jsonl")
    assert says in str(refused.value)


# Policies


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_an_agent_and_its_model_are_the_same_policy(epsilon: float) -> None:
    spec = EpsilonGreedy(epsilon=epsilon) if epsilon else Greedy()
    run = play(world(), spec, 30, seed=1)
    agent = run.agent
    assert isinstance(agent, ModelAgent)
    before = agent.state()
    of_model, of_agent = Greedily(agent.model, epsilon=epsilon), AgentPolicy(agent)
    for one in played(Uniform(), 20):
        np.testing.assert_allclose(
            of_agent.probabilities(one.task), of_model.probabilities(one.task), atol=1e-12
        )
    for name, value in agent.state().items():
        np.testing.assert_array_equal(value, before[name])


def test_shares_of_draws_come_close_to_the_probabilities() -> None:
    agent = play(world(), EpsilonGreedy(epsilon=0.4), 50).agent
    task = played(Uniform(), 1)[0].task
    shares = AgentPolicy(agent, draws=4000).probabilities(task)
    np.testing.assert_allclose(shares, AgentPolicy(agent).probabilities(task), atol=0.04)


def test_a_deterministic_agent_is_asked_once() -> None:
    agent = taught()
    asked = []

    class Counting:
        def respond(self, task: Task, rng: np.random.Generator) -> Any:
            asked.append(task)
            return agent.respond(task, rng)

        def learn(self, task: Task, choice: Any, description: Any) -> None:
            raise AssertionError("a policy teaches nobody")

    task = played(Uniform(), 1)[0].task
    for draws in (None, 50):
        asked.clear()
        assert AgentPolicy(Counting(), draws=draws).probabilities(task).max() == 1
        assert len(asked) == 1


def test_what_cannot_be_a_policy_is_refused() -> None:
    log = Log.of(played(Uniform(), 20))
    with pytest.raises(SettingError, match="live agent, not the spec"):
        AgentPolicy(Greedy())  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=r"AgentPolicy\(agent\) makes one"):
        inverse_propensity(log, taught())  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="sum 1"):
        inverse_propensity(log, Fixed(0.5, 0.5, 0.5, 0.5))
    with pytest.raises(SettingError, match="sum 1"):
        inverse_propensity(log, Fixed(np.nan, 0.5, 0.5, 0.0))
    with pytest.raises(SettingError, match="shape"):
        inverse_propensity(log, Fixed(0.5, 0.5))


def test_an_agent_without_propensities_needs_a_number_of_draws() -> None:
    agent = taught()

    class Silent:
        def respond(self, task: Task, rng: np.random.Generator) -> Any:
            return agent.respond(task, rng)._replace(propensity=None)

        def learn(self, task: Task, choice: Any, description: Any) -> None: ...

    task = played(Uniform(), 1)[0].task
    with pytest.raises(SettingError, match="draws=100"):
        AgentPolicy(Silent()).probabilities(task)
    assert AgentPolicy(Silent(), draws=3).probabilities(task).max() == 1


# Overlap


@pytest.mark.parametrize("logger", [LORIL(), Greedy(), Greedy(ties="first")])
def test_a_log_that_left_nothing_to_chance_is_refused(logger: AgentSpec) -> None:
    log = Log.of(played(logger, 100))
    for estimate in (inverse_propensity, self_normalised, demand_overlap):
        with pytest.raises(OverlapError, match=r"propensity 1.*EpsilonGreedy") as refused:
            estimate(log, Uniformly())
        assert "LORIL" in str(refused.value)
    assert overlap(log, Uniformly()).lost > 0.5


def test_a_deterministic_log_speaks_for_the_policy_that_did_the_same() -> None:
    agent = taught()
    done = [
        one._replace(choice=agent.respond(one.task, np.random.default_rng(0)))
        for one in played(Uniform(), 50)
    ]
    log = Log.of(done)
    assert set(log.propensities) == {1.0}
    found = inverse_propensity(log, AgentPolicy(agent))
    assert found.mean == log.matches.mean()
    assert found.effective_n == 50


def test_a_log_without_propensities_is_refused_and_told_whom_to_log_with() -> None:
    done = [
        one._replace(choice=one.choice._replace(propensity=None)) if one.t > 30 else one
        for one in played(Uniform(), 40)
    ]
    with pytest.raises(OverlapError, match=r"In 10 of 40 rounds.*Uniform\(\) or EpsilonGreedy"):
        inverse_propensity(Log.of(done), Uniformly())


def test_a_log_that_never_tries_what_the_policy_wants_is_refused_though_it_draws() -> None:
    # Two of four responses, each with a half: no propensity is 1, and yet half is missing.
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 2, 200).tolist()
    log = a_log(rng.integers(0, 2, 200).astype(float).tolist(), [0.5] * 200, drawn, count=4)
    with pytest.raises(OverlapError, match=r"mean 0\.500 .* no chance"):
        inverse_propensity(log, Uniformly())
    assert demand_overlap(log, Fixed(0.5, 0.5, 0.0, 0.0)).mean_weight == 1


def test_propensities_that_were_not_used_are_refused() -> None:
    log = Log.of(played(Uniform(), 200))
    for factor in (0.5, 2.0):
        wrong = Log(
            log.tasks,
            log.responses,
            log.propensities * factor,
            log.descriptions,
            log.matches,
            log.teacher_saw_request,
        )
        with pytest.raises(OverlapError, match="should have mean 1"):
            inverse_propensity(wrong, Fixed(0.7, 0.1, 0.1, 0.1))


def test_too_few_rounds_are_refused() -> None:
    with pytest.raises(OverlapError, match="1 usable"):
        inverse_propensity(a_log([1.0, np.nan], [0.5, 0.5]), Uniformly())


@given(st.lists(st.integers(0, 3), min_size=2, max_size=40), st.integers(0, 100))
def test_effective_rounds_are_no_more_than_rounds(responses: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(responses)
    log = a_log([1.0] * n, rng.uniform(0.05, 1, n).tolist(), responses, count=4)
    found = overlap(log, Uniformly())
    assert 1 <= found.effective_n <= n + 1e-9
    assert found.largest_weight <= 0.25 / log.propensities.min() + 1e-12


# Estimates


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


Estimator = Callable[[Log, Policy], Estimate]


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


# Intervals


def test_few_matches_of_equal_weight_get_the_exact_interval_of_a_count() -> None:
    for hits in range(6):
        matches = np.array([1.0] * hits + [0.0] * (100 - hits))
        below, above, kind = deviations(matches, np.ones(100), matches, 0.9)
        assert kind == "gamma"
        # Garwood (1936): the counts under which so few, or so many, are improbable.
        if hits:
            assert stats.poisson.sf(hits - 1, hits - 100 * below) == pytest.approx(0.05)
        else:
            assert below == 0
        assert stats.poisson.cdf(hits, hits + 100 * above) == pytest.approx(0.05)


def test_few_misses_get_the_mirrored_interval() -> None:
    matches = np.array([1.0] * 3 + [0.0] * 97)
    below, above, _ = deviations(matches, np.ones(100), matches, 0.95)
    mirrored = deviations(1 - matches, np.ones(100), 1 - matches, 0.95)
    assert mirrored[:2] == pytest.approx((above, below))


def test_many_matches_get_students_interval() -> None:
    matches = np.tile([0.0, 1.0], 100)
    below, above, kind = deviations(matches, np.ones(200), matches, 0.95)
    low, high = stats.t.interval(0.95, 199, loc=0.5, scale=stats.sem(matches))
    assert kind == "student"
    assert (0.5 - below, 0.5 + above) == pytest.approx((low, high))


def test_the_self_normalised_interval_is_that_of_leaving_rounds_out() -> None:
    log, n = Log.of(played(Uniform(), 400)), 400
    weights = np.array([0.4, 0.3, 0.2, 0.1])[log.responses] / 0.25
    without = [
        np.delete(weights, i) @ np.delete(log.matches, i) / np.delete(weights, i).sum()
        for i in range(n)
    ]
    error = np.sqrt((n - 1) * np.var(without))  # Tukey's jackknife
    found = self_normalised(log, Fixed(0.4, 0.3, 0.2, 0.1))
    assert found.method == "self-normalised, student"
    half = stats.t.ppf(0.975, n - 1) * error
    assert found.high - found.low == pytest.approx(2 * half, rel=2 / n)
    assert (found.low + found.high) / 2 == pytest.approx(found.mean)


def test_no_match_at_all_does_not_mean_no_reward() -> None:
    found = inverse_propensity(a_log([0.0] * 50, [0.5] * 50, [0, 1] * 25), Uniformly())
    assert found.mean == found.low == 0
    assert found.high == pytest.approx(-np.log(0.025) / 50)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(30, 200), st.floats(0.0, 1.0))
def test_an_interval_is_of_probabilities_and_widens_with_its_level(
    seed: int, n: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    matches = (rng.random(n) < share).astype(float).tolist()
    drawn = (rng.random(n) < 0.3).astype(int)
    log = a_log(matches, np.where(drawn, 0.3, 0.7).tolist(), drawn.tolist())
    try:
        demand_overlap(log, Uniformly())
    except OverlapError:
        return
    for estimate in (inverse_propensity, self_normalised):
        narrow, wide = (estimate(log, Uniformly(), level=level) for level in (0.8, 0.99))
        assert 0 <= wide.low <= narrow.low <= narrow.high <= wide.high <= 1
    assert 0 <= self_normalised(log, Uniformly()).mean <= 1 + 1e-12


@pytest.mark.parametrize("level", [0, 1, 1.5, "95%"])
def test_a_level_is_between_0_and_1(level: Any) -> None:
    with pytest.raises(SettingError, match="level must be"):
        inverse_propensity(a_log([1.0, 0.0], [0.5, 0.5]), Uniformly(), level=level)


def test_few_effective_rounds_are_noted() -> None:
    log = Log.of(played(Uniform(), 40))
    found = inverse_propensity(log, Fixed(0.0, 0.0, 0.0, 1.0))
    assert found.effective_n < 20
    assert "rounds are effective" in found.note
    assert "rounds are effective" in str(found)


# The command


def test_the_command_judges_saved_agents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, agent = Log.of(played(EpsilonGreedy(epsilon=0.3), 300)), taught()
    log.save(tmp_path / "log.jsonl")
    agent.save(tmp_path / "agent.npz")
    words = ["evaluate", str(tmp_path / "log.jsonl"), str(tmp_path / "agent.npz")]
    monkeypatch.setattr("sys.argv", ["tellback", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    said = capsys.readouterr().out
    policy = AgentPolicy(agent)
    for estimate in (
        inverse_propensity(log, Uniformly()),
        self_normalised(log, policy),
        doubly_robust(log, policy, agent.model),
    ):
        assert str(estimate) in said


def test_the_command_says_why_a_log_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Log.of(played(LORIL(), 50)).save(tmp_path / "log.jsonl")
    monkeypatch.setattr("sys.argv", ["tellback", "evaluate", str(tmp_path / "log.jsonl")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "propensity 1" in capsys.readouterr().err


def test_shares_of_draws_are_not_taken_for_probabilities() -> None:
    world = Synthetic(instructions=4, responses=3, rank=2, seed=5)
    agent = play(world, Thompson(draws=3), 60, seed=1).agent
    task = next(iter(rounds(world, Uniform(), seed=9))).task
    with pytest.raises(SettingError, match="no exact propensity"):
        AgentPolicy(agent).probabilities(task)
    asked = AgentPolicy(agent, draws=2000, seed=1).probabilities(task)
    often = [agent.respond(task, np.random.default_rng(seed)).response for seed in range(2000)]
    np.testing.assert_allclose(asked, np.bincount(often, minlength=3) / 2000, atol=0.06)


def test_a_log_of_estimated_propensities_is_not_refused_as_certain() -> None:
    world = Synthetic(instructions=4, responses=3, rank=2, seed=5)
    played = list(islice(rounds(world, Thompson(draws=20), seed=1), 400))
    assert any(one.choice.propensity == 1 for one in played)
    with pytest.raises(OverlapError, match="certain"):
        demand_overlap(Log.of(played), Uniformly())
    found = overlap(Log.of(played, propensities="exact given 20 draws"), Uniformly())
    assert found.lost == 0


@pytest.mark.parametrize(
    ("agent", "kind"),
    [
        (EpsilonGreedy(epsilon=0.3), "exact"),
        (Thompson(draws=20), "exact given 20 draws"),
        (Thompson(draws=1), "none are stated"),
    ],
    ids=repr,
)
def test_a_log_knows_how_its_propensities_are_known(
    agent: AgentSpec, kind: str, tmp_path: Path
) -> None:
    """As the agent says: nobody has to remember it, and a file keeps it."""
    world = Synthetic(instructions=4, responses=3, rank=2, seed=5)
    log = Log.played(world, agent, rounds=40, seed=1)
    same = Log.of(islice(rounds(world, agent, seed=1), 40))
    np.testing.assert_array_equal(log.responses, same.responses)
    np.testing.assert_array_equal(log.propensities, same.propensities)
    assert (log.kind, same.kind) == (kind, "unknown")
    assert kind in repr(log)
    log.save(tmp_path / "log.jsonl")
    assert Log.load(tmp_path / "log.jsonl").kind == log[:10].kind == log.usable.kind == kind


def test_a_file_from_before_does_not_say_how_its_propensities_are_known(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    Log.of(played(Uniform(), 3), propensities="exact").save(path)
    first, *others = path.read_text().splitlines()
    assert json.loads(first)["propensities"] == "exact"
    path.write_text("\n".join(['{"format": "tellback log", "version": 1}', *others]))
    assert Log.load(path).kind == "unknown"
    assert len(Log.load(path)) == 3


def test_a_kind_of_propensities_that_no_agent_states_is_refused() -> None:
    with pytest.raises(SettingError, match=r"agent\.propensities says"):
        Log.of(played(Uniform(), 3), propensities="estimated")
