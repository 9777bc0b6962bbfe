"""Sentences match by similarity, with error rates measured on other sentences."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scipy.stats import binomtest

from tellback.encoders import NGrams
from tellback.errors import SettingError
from tellback.matching import Match, MatchSpec, Same
from tellback.similarity import Similar, parts_of
from tellback.specs import spec_from_data
from tests.support.spoken import ASKED, TOLD, calibrated, pairs


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
    assert not set(match.trained_on) & set(held_alike)
    assert match.false_negatives == (sum(not match(*pair) for pair in held_alike), len(held_alike))
    assert match.false_positives == (sum(match(*pair) for pair in held_unlike), len(held_unlike))
    # Whatever the held-out pairs are, they change nothing but the rates.
    turned = [(a, "nothing of the sort") if (a, b) in held_alike else (a, b) for a, b in alike]
    other = Similar.calibrated(NGrams(), turned, unlike)
    assert (other.threshold, other.trained_on) == (match.threshold, match.trained_on)
    assert other.false_negatives is not None
    assert match.false_negatives is not None
    assert other.false_negatives[0] > match.false_negatives[0]


def test_intervals_are_those_of_clopper_and_pearson() -> None:
    match = Similar(false_positives=(3, 80), false_negatives=(0, 50), level=0.9)
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
        ({"trained_on": (("one", 2),)}, "trained_on"),
        ({"trained_on": ("one sentence",)}, "trained_on"),
        ({"false_positives": (1, 2)}, "both or neither"),
        ({"false_positives": (3, 2), "false_negatives": (0, 2)}, "false_positives"),
        ({"false_positives": (0, 2), "false_negatives": (0, 0)}, "false_negatives"),
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
