"""A certificate bounds regret without knowing a reward, and says when it is worth nothing."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback import Run, Simulation, play, rounds
from tellback.agents import (
    LORIL,
    Certified,
    EpsilonGreedy,
    Greedy,
    Imitation,
    ModelAgent,
    ModelAgentSpec,
    Printed,
    RadiusSpec,
    Repaired,
    SelfNormalized,
    Uniform,
)
from tellback.agents.certified import CertifiedAgent
from tellback.agents.explorers import Optimism
from tellback.certificate import (
    Calibration,
    calibrated,
    calibrated_by_matches,
    certified_regrets,
)
from tellback.errors import SettingError
from tellback.models import FiniteClass, Mixture, Ridge
from tellback.roles import AgentSpec
from tellback.worlds import Realizable, Synthetic
from tests.support.oracles import Floats

SIZE = 8
WORLD = Realizable(instructions=4, responses=6, rank=2, size=SIZE, class_seed=1, temperature=0.4)
CLASS = FiniteClass(size=SIZE, seed=1, temperature=0.4)
SOUND = Repaired(0.05, math.log(SIZE), 1.5)

PROVEN: dict[str, AgentSpec] = {
    "loril": LORIL(k=SOUND, lam="1/t", model=CLASS),
    "loril as printed": LORIL.as_printed(0.05, math.log(SIZE), 1.5, model=CLASS),
    "greedy": Certified(Greedy(model=CLASS), k=SOUND),
    "dithering": Certified(EpsilonGreedy(epsilon=0.3, model=CLASS), k=SOUND),
    "timid": Certified(LORIL(k=0.05, model=CLASS), k=SOUND, lam=0.5),
    "by ridge": LORIL(k=SelfNormalized(0.05), lam=0.5, model=Ridge(0.5)),
    "greedy by ridge": Certified(Greedy(model=Ridge(0.5)), k=SelfNormalized(0.05), lam=0.5),
}


@pytest.mark.parametrize("name", PROVEN)
def test_a_proven_certificate_is_never_below_the_regret(name: str) -> None:
    spec = PROVEN[name]
    binding = 0
    for seed in range(12):
        run = play(WORLD, spec, 400, seed=seed)
        assert run.proof is not None
        assert run.caveat == ""
        assert (run.certificate >= run.regret).all()
        binding += not run.vacuous
    if name != "loril as printed":
        assert binding == 12, "a certificate that says nothing proves nothing here"


@pytest.mark.parametrize("name", PROVEN)
def test_every_term_is_that_of_all_responses_bounds_before_the_round(name: str) -> None:
    """Asked of the live agent in each round before the world goes on."""
    agent: Any = PROVEN[name].build(WORLD.facts, np.random.default_rng(0))
    bounds: Any = agent.widths if isinstance(agent, CertifiedAgent) else agent.explorer
    simulation = WORLD.build(np.random.default_rng(3))
    game = rounds(simulation, agent, seed=5)
    responses = next(rounds(simulation, Uniform(), seed=5)).task.responses
    total = 0.0
    expected: list[float] = []
    made = []
    for _ in range(150):
        tables = {
            x: (agent.model.estimates(x, responses).copy(), bounds.bonuses(responses).copy())
            for x in range(4)
        }
        r = next(game)
        x: Any = r.task.instruction
        y = r.choice.response
        estimates, widths = tables[x]
        uppers = np.minimum(estimates + widths, 1)
        lower = max(estimates[y] - widths[y], 0)
        total += min(1.0, max(uppers.max() - lower, 0.0))
        expected.append(total)
        assert r.choice.width == pytest.approx(widths[y], rel=1e-12)
        assert r.choice.highest == pytest.approx((estimates + widths).max(), rel=2e-9)
        made.append(r.choice)
    terms = certified_regrets(
        *(np.array([getattr(c, part) for c in made]) for part in ("estimate", "width", "highest"))
    )
    np.testing.assert_allclose(np.cumsum(terms), expected, rtol=1e-8)
    run = play(simulation, PROVEN[name], 150, seed=5)
    np.testing.assert_allclose(run.certificate, expected, rtol=1e-8)


unit = st.floats(0, 1)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(unit, st.floats(0, 2), unit), min_size=1, max_size=6), st.data())
def test_no_truth_within_the_widths_costs_more(
    responses: list[tuple[float, float, float]], data: st.DataObject
) -> None:
    """Each response has an estimate, a width and a place of the truth between its bounds."""
    estimates, widths, places = (np.array(part) for part in zip(*responses, strict=True))
    low, high = np.maximum(estimates - widths, 0), np.minimum(estimates + widths, 1)
    truth = low + places * (high - low)
    y = data.draw(st.integers(0, len(responses) - 1))
    (term,) = certified_regrets(
        estimates[y : y + 1], widths[y : y + 1], np.array([(estimates + widths).max()])
    )
    assert truth.max() - truth[y] <= term + 1e-12
    assert 0 <= term <= 1


INNER: list[ModelAgentSpec] = [
    Greedy(),
    Greedy(ties="first"),
    Greedy(model=CLASS),
    EpsilonGreedy(epsilon=0.4),
    LORIL(),
    LORIL(k=2.0, lam=0.1, ties="first"),
    LORIL.as_printed(model=CLASS),
    LORIL.as_repaired(),
]


@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
@pytest.mark.parametrize("inner", INNER, ids=repr)
def test_who_is_certified_chooses_as_before(inner: ModelAgentSpec, contexts: int | str) -> None:
    world = Synthetic(instructions=4, responses=6, rank=2, contexts=contexts, seed=3)
    alone, certified = (play(world, spec, 60, seed=2) for spec in (inner, Certified(inner)))
    for name in ("responses", "descriptions", "estimates", "bonuses", "propensities", "regrets"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(certified, name), err_msg=name)
    assert not np.isnan(certified.widths).any()
    assert (certified.highest >= certified.estimates + certified.widths).all()


@pytest.mark.parametrize("lam", ["1/t", 1.0, 0.2])
@pytest.mark.parametrize("k", [0.3, SOUND, Printed(), Repaired()], ids=repr)
def test_lorils_own_certificate_is_what_certifying_it_says(
    k: float | RadiusSpec, lam: float | str
) -> None:
    inner = LORIL(k=k, lam=lam, model=CLASS)
    own, certified = (
        play(WORLD, spec, 120, seed=4) for spec in (inner, Certified(inner, k=k, lam=lam))
    )
    np.testing.assert_allclose(own.certificate, certified.certificate, rtol=1e-8)
    np.testing.assert_array_equal(own.widths, certified.widths)
    assert own.vacuous == certified.vacuous
    assert own.caveat == certified.caveat


def test_a_certified_agent_in_a_file_has_its_own_and_its_agents_state() -> None:
    agent: Any = play(WORLD, Certified(LORIL(k=0.2)), 30, seed=1).agent
    assert agent.explorer.ellipsoid is not agent.widths.ellipsoid
    assert agent.explorer.ellipsoid.count == agent.widths.ellipsoid.count == 30
    other = Certified(LORIL(k=0.2)).build(WORLD.facts, np.random.default_rng(0))
    other.restore(agent.state())
    assert isinstance(other.widths, Optimism)
    assert other.widths.ellipsoid.lam == 1 / 31
    broken = {**agent.state(), "widths.root": np.ones((5, 5))}
    before: Any = other.state()
    other.learn(*self_made(other), 1)
    after: Any = other.state()
    with pytest.raises(SettingError, match="root"):
        other.restore(broken)
    left: Any = other.state()
    for name in left:
        np.testing.assert_array_equal(left[name], after[name], err_msg=name)
    assert not np.array_equal(before["widths.root"], after["widths.root"])


def self_made(agent: ModelAgent) -> tuple[Any, Any]:
    task = next(rounds(WORLD, Uniform())).task
    return task, agent.respond(task, np.random.default_rng(0))


def test_a_certificate_that_says_nothing_is_called_vacuous() -> None:
    wide = play(WORLD, LORIL(k=1000.0, model=CLASS), 50)
    assert wide.vacuous
    np.testing.assert_array_equal(wide.certificate, np.arange(1, 51))
    assert wide.summary()["regret certificate"].startswith("vacuous (not proven: k = 1000")
    narrow = play(WORLD, LORIL(k=0.01, model=CLASS), 50)
    assert not narrow.vacuous
    assert narrow.certificate[-1] < 50
    said = narrow.summary()["regret certificate"]
    assert said.startswith(f"at most {narrow.certificate[-1]:.4g} of 50 (not proven: k = 0.01")
    proven = play(WORLD, PROVEN["greedy"], 400)
    assert not proven.vacuous
    assert (
        "(proven with probability 95%, since the truth is one of the 8 members of its class); "
        "calibration green" in proven.summary()["regret certificate"]
    )


@pytest.mark.parametrize("spec", [Uniform(), Greedy(), EpsilonGreedy(), Imitation()], ids=repr)
def test_agents_without_widths_have_no_certificate(spec: AgentSpec) -> None:
    run = play(WORLD, spec, 20)
    assert np.isnan(run.widths).all()
    assert np.isnan(run.highest).all()
    assert np.isnan(run.certificate).all()
    assert not run.vacuous
    assert run.calibration().light == "dark"
    assert run.calibration(truth=False).light == "dark"
    assert run.summary()["regret certificate"] == "none: the agent states no widths"


class Reticent:
    """Describes every other response, and says of the others nothing."""

    def __init__(self, teacher: Any) -> None:
        self._teacher = teacher
        self._asked = 0

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> Any:
        self._asked += 1
        told = self._teacher.describe(context, response, rng)
        return told if self._asked % 2 else None


def quiet() -> Simulation:
    simulation = WORLD.build(np.random.default_rng(0))
    return Simulation(simulation.world, Reticent(simulation.teacher), simulation.truth)


def test_the_estimate_of_the_reward_ignores_rounds_that_nobody_described() -> None:
    run = play(quiet(), LORIL(), 100, seed=1)
    np.testing.assert_array_equal(run.described, np.arange(100) % 2 == 0)
    estimate = run.reward_estimate()
    matched = [
        float(asked == told)
        for asked, told in zip(run.instructions, run.descriptions, strict=True)
        if told != -1
    ]
    assert len(matched) == 50
    np.testing.assert_allclose(estimate.mean, np.cumsum(matched) / np.arange(1, 51), rtol=1e-14)
    assert 0 < estimate.mean[-1] < 1
    assert run.summary()["descriptions that matched"].startswith(f"{estimate.mean[-1]:.2%} ")


def test_where_nothing_was_described_there_is_no_estimate() -> None:
    simulation = WORLD.build(np.random.default_rng(0))

    class Silent:
        def describe(self, context: Any, response: Any, rng: np.random.Generator) -> None: ...

    run = play(Simulation(simulation.world, Silent(), None), LORIL(), 10)
    assert not run.described.any()
    assert all(len(part) == 0 for part in run.reward_estimate())
    assert run.summary()["descriptions that matched"] == "none: nothing was described"
    assert run.calibration().light == "dark"
    assert "nothing was described" in str(run.calibration())


def running_rewards(run: Run) -> Floats:
    means: Floats = np.cumsum(run.rewards) / np.arange(1, len(run) + 1)
    return means


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_interval_holds_the_mean_reward_at_all_times_at_once(level: float) -> None:
    missed = 0
    for seed in range(40):
        run = play(WORLD, EpsilonGreedy(epsilon=0.5), 200, seed=seed)
        low, high = run.reward_estimate(level).low, run.reward_estimate(level).high
        means = running_rewards(run)
        missed += bool(((means < low) | (means > high)).any())
        assert (low <= run.reward_estimate(level).mean).all()
    assert missed <= 40 * (1 - level)


def test_the_interval_narrows_and_wider_levels_are_wider() -> None:
    run = play(WORLD, LORIL(), 600, seed=2)
    usual, sure = run.reward_estimate(), run.reward_estimate(0.999)
    spread = usual.high - usual.low
    assert spread[-1] < 0.5 * spread[40]
    assert (sure.high - sure.low >= spread).all()
    assert spread[-1] < (sure.high - sure.low)[-1]


# Lights.

ROUNDS = 100


def around_zero(uppers: Floats, highest: Floats, rewards: Floats, regrets: Floats) -> Calibration:
    """Estimates of 0, so that no reward is below its lower bound."""
    return calibrated(np.zeros(len(uppers)), uppers, highest, rewards, regrets)


def by_matches(uppers: Floats, matches: Floats, level: float = 0.95) -> Calibration:
    """Estimates of 0 again."""
    return calibrated_by_matches(np.zeros(len(uppers)), uppers, matches, level)


def lit(uppers: float, highest: float, rewards: Floats) -> Calibration:
    regrets = 0.5 - rewards  # the best reward is 1/2
    return around_zero(np.full(ROUNDS, uppers), np.full(ROUNDS, highest), rewards, regrets)


def rewards_above(count: int) -> Floats:
    """0.4 in so many rounds, 0.1 in the others."""
    return np.where(np.arange(ROUNDS) < count, 0.4, 0.1)


@pytest.mark.parametrize(
    ("above", "light"), [(0, "green"), (1, "amber"), (5, "amber"), (6, "red"), (100, "red")]
)
def test_by_the_truth_the_light_says_how_often_upper_bounds_held(above: int, light: str) -> None:
    found = lit(0.3, 0.9, rewards_above(above))
    assert found.light == light
    assert found.held == pytest.approx(1 - above / ROUNDS)
    assert found.optimistic == 1
    assert str(found).startswith(f"{light}: ")
    assert f"held in {ROUNDS - above} and" in found.says


def test_by_the_truth_the_best_response_must_not_be_above_the_highest_bound() -> None:
    found = lit(0.45, 0.45, rewards_above(10))
    assert (found.held, found.optimistic, found.light) == (1, 0, "red")
    highest = np.where(np.arange(ROUNDS) < 3, 0.45, 0.6)
    rewards = rewards_above(0)
    found = around_zero(np.full(ROUNDS, 0.45), highest, rewards, 0.5 - rewards)
    assert (found.held, found.optimistic, found.light) == (1, 0.97, "amber")


def test_bounds_that_the_truth_reaches_hold() -> None:
    rewards = np.full(ROUNDS, 0.1 + 0.2)
    found = around_zero(np.full(ROUNDS, 0.3), np.full(ROUNDS, 0.3), rewards, np.zeros(ROUNDS))
    assert found.light == "green"


def test_by_the_truth_nothing_is_said_without_widths() -> None:
    nothing = np.full(ROUNDS, np.nan)
    found = around_zero(nothing, nothing, rewards_above(0), np.zeros(ROUNDS))
    assert found.light == "dark"
    assert math.isnan(found.held)
    assert math.isnan(found.optimistic)


def test_by_matches_bounds_that_are_contradicted_turn_the_light_red() -> None:
    uppers, matches = np.full(1000, 0.2), np.zeros(1000)
    assert by_matches(uppers, matches).light == "grey"
    matches[::2] = 1  # half of them
    red = by_matches(uppers, matches)
    assert red.light == "red"
    assert math.isnan(red.held)
    when = int(red.says.split()[2])
    assert by_matches(uppers[: when - 1], matches[: when - 1]).light == "grey"
    assert by_matches(uppers[:when], matches[:when]).light == "red"
    assert by_matches(uppers, matches, level=1 - 1e-12).light == "red"
    assert by_matches(uppers[:when], matches[:when], level=0.9999).light == "grey"


def test_by_matches_once_red_is_red_though_the_bounds_are_wide_later() -> None:
    uppers = np.concatenate([np.full(200, 0.1), np.full(10_000, 5.0)])
    assert by_matches(uppers, np.ones(10_200)).light == "red"


def test_by_matches_bounds_above_one_allow_everything() -> None:
    assert by_matches(np.full(500, 1.2), np.ones(500)).light == "grey"


def test_by_matches_no_bound_promises_more_than_one() -> None:
    """What is above 1 in some rounds makes up for nothing in others."""
    uppers = np.concatenate([np.full(100, 50.0), np.full(300, 0.1)])
    assert by_matches(uppers, np.ones(400)).light == "red"
    fewer = np.concatenate([np.ones(100), np.zeros(300)])
    assert by_matches(uppers, fewer).light == "grey"


def test_by_matches_nothing_is_said_of_nothing() -> None:
    nothing = by_matches(np.empty(0), np.empty(0))
    assert (nothing.light, nothing.says) == ("dark", "nothing was described")
    no_widths = by_matches(np.full(3, np.nan), np.ones(3))
    assert (no_widths.light, no_widths.says) == ("dark", "the agent states no widths")


def test_sound_bounds_stay_green_by_truth_and_by_matches() -> None:
    for seed in range(8):
        run = play(WORLD, PROVEN["greedy"], 200, seed=seed)
        assert run.calibration().light == "green"
        assert run.calibration(truth=False).light == "grey"


def test_the_light_also_watches_the_lower_bounds_that_the_certificate_needs() -> None:
    estimates, widths = np.full(ROUNDS, 0.5), np.full(ROUNDS, 0.2)
    rewards = np.where(np.arange(ROUNDS) < 10, 0.1, 0.4)
    found = calibrated(estimates, widths, np.full(ROUNDS, 0.7), rewards, 0.5 - rewards)
    assert (found.held, found.held_below, found.optimistic) == (1, 0.9, 1)
    assert found.light == "red"


def test_by_matches_too_few_contradict_the_lower_bounds() -> None:
    found = calibrated_by_matches(np.full(500, 0.6), np.full(500, 0.1), np.zeros(500))
    assert found.light == "red"
    assert "fewer had matched" in found.says


def test_overconfident_agents_are_seen_through() -> None:
    """With k = 0 an estimate is its own upper bound, and half the time too low."""
    lights = [
        play(WORLD, LORIL(k=0.0, model=Mixture()), 300, seed=seed).calibration().light
        for seed in range(4)
    ]
    assert "red" in lights


def test_without_a_truth_the_lesson_is_judged_by_matches() -> None:
    simulation = WORLD.build(np.random.default_rng(0))
    lesson = Simulation(simulation.world, simulation.teacher, None)
    told = play(lesson, PROVEN["greedy"], 200, seed=1)
    known = play(simulation, PROVEN["greedy"], 200, seed=1)
    assert np.isnan(told.regret).all()
    np.testing.assert_array_equal(told.certificate, known.certificate)
    assert told.calibration() != known.calibration()
    assert str(told.calibration()) == str(known.calibration(truth=False))
    assert told.calibration().light == "grey"
    assert math.isnan(told.calibration().held)
    summary = told.summary()
    assert summary["reward, of the best possible"] == "unknown"
    assert summary["regret"] == "nan"
    assert (
        "(proven with probability 95%, if the truth is one of the 8 members of its class, and if "
        "every description is drawn from P(x | y, s), given context and response alone); "
        "calibration grey" in summary["regret certificate"]
    )
    for one, other in zip(told.reward_estimate(), known.reward_estimate(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_table_has_the_certificate_beside_the_regret() -> None:
    run = play(quiet(), PROVEN["loril"], 30, seed=1)
    table = run.table()
    assert table.columns == [
        "t",
        "instruction",
        "response",
        "description",
        "estimate",
        "bonus",
        "propensity",
        "width",
        "highest",
        "reward",
        "regret",
        "attainable",
        "certificate",
    ]
    np.testing.assert_array_equal(table["certificate"], run.certificate)
    np.testing.assert_array_equal(table["width"], run.widths)
    np.testing.assert_array_equal(table["t"], np.arange(1, 31))
    assert table["description"].null_count() == 15


def test_the_certificate_of_a_run_taken_up_again_counts_from_there() -> None:
    spec = PROVEN["loril"]
    whole = play(WORLD, spec, 60, seed=3)
    first = play(WORLD, spec, 40, seed=3)
    second = play(WORLD, first.agent, 20, seed=3, start=40)
    joined = np.concatenate([first.certificate, first.certificate[-1] + second.certificate])
    np.testing.assert_allclose(joined, whole.certificate, rtol=1e-12)
    np.testing.assert_array_equal(second.table()["t"], np.arange(41, 61))


def test_certificates_hold_where_descriptions_come_late() -> None:
    for seed in range(6):
        run = play(WORLD, PROVEN["greedy"], 200, seed=seed, delay=lambda t, rng: t % 7)
        assert (run.certificate >= run.regret).all()


def test_widths_of_the_first_round_are_those_of_no_data() -> None:
    (first,) = islice(rounds(WORLD, PROVEN["loril"], seed=0), 1)
    g = first.choice.features
    radius = math.sqrt(2 * math.log(SIZE / 0.05) + 4 * 1.5**2)
    assert first.choice.width == pytest.approx(radius * float(np.linalg.norm(g)), rel=1e-12)
