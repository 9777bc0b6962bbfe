"""A match is defined once, says how often it is wrong, and everything follows it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tellback import Choice, Facts, Listed, Simulation, Task, play
from tellback.agents import Uniform
from tellback.encoders import NGrams
from tellback.errors import ProtocolError, SettingError
from tellback.matching import Errors, Match, MatchSpec, Pair, Same, Similar, parts_of
from tellback.run import Run
from tellback.specs import spec_from_data
from tellback.theory import Interval, running_mean
from tellback.theory.shares import Share, share_of_counts
from tellback.worlds import Synthetic

COLOURS = ("red", "blue", "green", "yellow")
TOLD = (
    "a {} thing",
    "this is {}",
    "somebody has put something here and it is {}",
    "{}!",
    "I see that somebody chose the {} one",
    "the {} one",
)
ASKED = (
    "give me {}",
    "somebody has put something here and it is {}: find it",
    "where is {}?",
    "I see that you want the {} one",
)


def pairs(asked: tuple[str, ...], told: tuple[str, ...], alike: bool) -> list[Pair]:
    """All pairs of wordings and colours, listed by rule."""
    return [
        (a.format(one), t.format(other))
        for a, t in itertools.product(asked, told)
        for one, other in itertools.product(COLOURS, repeat=2)
        if (one == other) == alike
    ]


def calibrated() -> Similar:
    return Similar.calibrated(NGrams(), pairs(TOLD, TOLD, True), pairs(TOLD, TOLD, False))


@given(st.one_of(st.integers(), st.text()), st.one_of(st.integers(), st.text(), st.none()))
def test_same_is_equality(asked: int | str, told: int | str | None) -> None:
    assert Same()(asked, told) is (asked == told)
    assert Same()(asked, asked)


def test_same_is_exact_and_says_so() -> None:
    assert Same().errors is None
    assert "exact" in Same().says


def test_both_are_matches() -> None:
    assert isinstance(Same(), Match)
    assert isinstance(Similar(), Match)


def test_calibration_makes_much_of_what_alike_pairs_share() -> None:
    """New wordings of the same colour match, as raw vectors would not have it."""
    match = calibrated()
    raw = Similar(NGrams(), threshold=match.threshold)
    alike, unlike = pairs(ASKED, TOLD, True), pairs(ASKED, TOLD, False)

    def told_apart(by: Similar) -> float:
        """The chance that an alike pair is nearer than an unlike one."""
        near, far = by.similarities(alike), by.similarities(unlike)
        return float((near[:, None] > far[None, :]).mean())

    assert told_apart(match) > 0.99
    assert told_apart(raw) < 0.95


def test_error_rates_are_measured_on_pairs_that_chose_nothing() -> None:
    alike, unlike = pairs(TOLD, TOLD, True), pairs(TOLD, TOLD, False)
    match = Similar.calibrated(NGrams(), alike, unlike)
    held_alike, held_unlike = parts_of(tuple(alike))[2], parts_of(tuple(unlike))[2]
    assert len(held_alike) == len(alike) // 2
    assert not set(match.taught_by) & set(held_alike)
    assert match.no_wrongly == (sum(not match(*pair) for pair in held_alike), len(held_alike))
    assert match.yes_wrongly == (sum(match(*pair) for pair in held_unlike), len(held_unlike))
    # Whatever the held-out pairs are, they change nothing but the rates.
    turned = [(a, "nothing of the sort") if (a, b) in held_alike else (a, b) for a, b in alike]
    other = Similar.calibrated(NGrams(), turned, unlike)
    assert (other.threshold, other.taught_by) == (match.threshold, match.taught_by)
    assert other.no_wrongly is not None
    assert match.no_wrongly is not None
    assert other.no_wrongly[0] > match.no_wrongly[0]


def test_intervals_are_those_of_clopper_and_pearson() -> None:
    match = Similar(yes_wrongly=(3, 80), no_wrongly=(0, 50), level=0.9)
    errors = match.errors
    assert errors is not None
    for share, (wrong, n) in zip(errors, [(3, 80), (0, 50)], strict=True):
        exact = binomtest(wrong, n).proportion_ci(0.9, method="exact")
        assert (share.low, share.high) == pytest.approx((exact.low, exact.high))
        assert share.share == wrong / n
        assert str(share) in match.says


def test_a_match_never_measured_says_so() -> None:
    assert Similar().errors is None
    assert "never measured" in Similar().says


def test_a_match_is_symmetric_and_a_sentence_matches_itself() -> None:
    match = calibrated()
    for asked, told in pairs(ASKED, TOLD, True)[:20]:
        assert match.similarity(asked, told) == pytest.approx(match.similarity(told, asked))
        assert match(told, told)


@pytest.mark.parametrize("nothing", [None, -1, 3, "", "?!"])
def test_what_says_nothing_matches_nothing(nothing: Any) -> None:
    assert not calibrated()("a red thing", nothing)
    assert not calibrated()(nothing, "a red thing")


@pytest.mark.parametrize("match", [Same(), Similar(), calibrated()], ids=lambda m: m.kind)
def test_a_match_survives_as_data(match: MatchSpec) -> None:
    again = spec_from_data(MatchSpec, json.loads(json.dumps(match.to_data())))
    assert again == match
    assert hash(again) == hash(match)
    assert again.says == match.says
    assert again("red", "it is red") == match("red", "it is red")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"encoder": "ngrams"}, "encoder"),
        ({"threshold": 1.5}, "threshold"),
        ({"taught_by": (("one", 2),)}, "taught_by"),
        ({"taught_by": ("one sentence",)}, "taught_by"),
        ({"yes_wrongly": (1, 2)}, "both or neither"),
        ({"yes_wrongly": (3, 2), "no_wrongly": (0, 2)}, "yes_wrongly"),
        ({"yes_wrongly": (0, 2), "no_wrongly": (0, 0)}, "no_wrongly"),
        ({"level": 1.0}, "level"),
    ],
)
def test_nonsense_is_refused(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingError, match=named):
        Similar(**settings)


def test_too_few_pairs_are_refused() -> None:
    alike, unlike = pairs(TOLD, TOLD, True), pairs(TOLD, TOLD, False)
    with pytest.raises(SettingError, match="unlike must have at least 8 pairs, not 7"):
        Similar.calibrated(NGrams(), alike, unlike[:7])


# --- the reward behind matches ---------------------------------------------------------------

rates = st.floats(0, 0.4)


@given(reward=st.floats(0, 1), yes=rates, no=rates)
def test_the_reward_behind_matches_is_found_again(reward: float, yes: float, no: float) -> None:
    seen = np.array([reward * (1 - no) + (1 - reward) * yes])
    errors = Errors(Share(yes, yes, yes, 10), Share(no, no, no, 10))
    for part in errors.reward(Interval(seen, seen, seen)):
        assert part[0] == pytest.approx(reward, abs=1e-9)


@given(
    reward=st.floats(0, 1),
    yes=rates,
    no=rates,
    wrong=st.tuples(st.integers(0, 40), st.integers(0, 40)),
)
def test_bounds_hold_the_reward_where_the_intervals_hold_theirs(
    reward: float, yes: float, no: float, wrong: tuple[int, int]
) -> None:
    errors = Errors(share_of_counts(wrong[0], 100), share_of_counts(wrong[1], 100))
    if not (errors[0].low <= yes <= errors[0].high and errors[1].low <= no <= errors[1].high):
        return
    seen = reward * (1 - no) + (1 - reward) * yes
    around = Interval(*(np.array([x]) for x in (seen, max(seen - 0.05, 0), min(seen + 0.05, 1))))
    _, low, high = errors.reward(around)
    assert low[0] <= reward + 1e-9
    assert high[0] >= reward - 1e-9


def test_a_match_no_better_than_a_coin_says_nothing_of_the_reward() -> None:
    errors = Errors(Share(0.5, 0.4, 0.6, 20), Share(0.5, 0.4, 0.6, 20))
    mean, low, high = errors.reward(Interval(*(np.array([0.5]) for _ in range(3))))
    assert np.isnan(mean[0])
    assert (low[0], high[0]) == (0, 1)


# --- runs --------------------------------------------------------------------------------------


class Spoken:
    """A world of three colours, in which nobody says the words that were asked."""

    facts = Facts(dim=4, instructions=None, fixed_responses=True)
    memory = 0

    def __init__(self, match: Any = None) -> None:
        if match is not None:
            self.match = match
        self._listed = Listed(np.eye(4))

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return Task(None, ASKED[t % 4].format(COLOURS[int(rng.integers(4))]), self._listed)

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> str | None:
        if rng.random() < 0.1:
            return None
        return TOLD[int(rng.integers(6))].format(COLOURS[response])

    def reward(self, task: Task, response: int) -> float:
        return float(COLOURS[response] in str(task.instruction))

    def best(self, task: Task) -> float:
        return 1.0


def test_a_world_without_a_match_is_judged_by_equality() -> None:
    assert play(Synthetic(), Uniform(), rounds=20).match == Same()
    run = play(Spoken(), Uniform(), rounds=50)
    assert run.match == Same()
    assert not run.matches.any()


def test_a_run_follows_the_match_of_its_world() -> None:
    match = calibrated()
    run = play(Spoken(match), Uniform(), rounds=300, seed=2)
    assert run.match is match
    told = run.described.astype(bool)
    assert 0 < told.sum() < 300
    assert not run.matches[~told].any()
    expected = [match(a, t) for a, t in zip(run.instructions, run.descriptions, strict=True)]
    assert run.matches.tolist() == expected
    # It is right mostly, and where it says yes or no wrongly the estimate allows for it.
    assert (run.matches == run.rewards)[told].mean() > 0.9
    assert match.errors is not None
    allowed = match.errors.reward(running_mean(run.matches[told]))
    for one, other in zip(run.reward_estimate(), allowed, strict=True):
        np.testing.assert_array_equal(one, other)
    _, low, high = run.reward_estimate()
    assert low[-1] <= run.rewards[told].mean() <= high[-1]
    summary = run.summary()["descriptions that matched"]
    assert match.says in summary
    assert f"{run.matches[told].mean():.2%}" in summary


def test_an_exact_match_is_not_spoken_of() -> None:
    run = play(Synthetic(), Uniform(), rounds=50)
    assert "by" not in run.summary()["descriptions that matched"]


class Sure:
    """Does what is asked, and says so: a reward of 0.9, give or take 0.1."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        y = COLOURS.index(next(c for c in COLOURS if c in str(task.instruction)))
        return task.choose(y, estimate=0.9)._replace(width=0.1, highest=1.0)

    def learn(self, task: Task, choice: Choice, description: Any) -> None: ...


def always_right(match: Any) -> Run:
    return play(Spoken(match), Sure(), rounds=2000, seed=1)


def test_calibration_by_matches_does_not_blame_the_agent_for_the_match() -> None:
    """An agent that is always right, as it says, judged by a match that misses one in three."""

    class Missing:
        says = "a coin"
        errors = None

        def __call__(self, asked: Any, told: Any) -> bool:
            right = any(c in str(asked) and c in str(told) for c in COLOURS)
            return right and len(str(told)) % 3 != 0

    class Honest(Missing):
        errors: Any = None

    run = always_right(Missing())
    missed = 1 - run.matches[run.described].mean()
    assert missed > 0.2
    assert run.calibration(truth=False).light == "red"
    Honest.errors = Errors(share_of_counts(0, 10_000), share_of_counts(round(1e4 * missed), 10_000))
    assert always_right(Honest()).calibration(truth=False).light == "grey"


@pytest.mark.parametrize("wrong", [lambda asked, told: True, "equal", Same])
def test_what_cannot_be_a_match_is_refused(wrong: Any) -> None:
    with pytest.raises(ProtocolError, match="cannot be used as a match"):
        play(Spoken(wrong), Uniform(), rounds=5)


def test_a_simulation_has_the_match_of_its_world() -> None:
    world = Spoken(calibrated())
    run = play(Simulation(world, world, None), Uniform(), rounds=30)
    assert run.match == calibrated()
