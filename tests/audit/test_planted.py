"""Planted wrong descriptions are as many as wanted, and known."""

from __future__ import annotations

from collections import Counter

import pytest

from tellback.audit.planted import KINDS, planted
from tellback.errors import SettingError
from tests.support.audits import described


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_ones_are_those_of_another_response_of_the_group(kind: str) -> None:
    before = described()
    truth = planted(before, 0.4, kind, 5)
    source = {said.text: one for one in before for said in one.descriptions}
    own = {(one.group, said.text): one.id for one in before for said in one.descriptions}
    assert source
    wrong = 0
    for one in truth.recording:
        for number, said in enumerate(one.descriptions):
            right = own[one.group, said.text] == one.id  # a KeyError if of another group
            assert ((one.id, number) in truth.wrong) != right
            assert said.person == before.by_id[one.id].descriptions[number].person
            wrong += not right
    assert wrong / 720 == pytest.approx(0.4, abs=0.05 if kind == "careless" else 0.01)
    assert truth.other_goal == truth.wrong  # no two goals of a room are the same
    assert planted(before, 0.4, kind, 5) == truth
    assert planted(before, 0.4, kind, 6) != truth


def test_exchanged_texts_stay_in_the_recording_once() -> None:
    def texts(recording: object) -> Counter[str]:
        return Counter(said.text for one in recording for said in one.descriptions)  # type: ignore[attr-defined]

    before = texts(described())
    assert texts(planted(described(), 0.4, "exchanged", 1).recording) == before
    assert texts(planted(described(), 0.4, "copied", 1).recording) != before


def test_some_people_are_careless() -> None:
    truth = planted(described(), 0.3, "careless", 0)
    by = Counter(
        truth.recording.by_id[p.response].descriptions[p.number].person for p in truth.wrong
    )
    most = [n for _, n in by.most_common()]
    assert most[1] > 2 * most[2]  # two of twelve


def test_impossible_shares_and_kinds_are_refused() -> None:
    with pytest.raises(SettingError, match="share"):
        planted(described(), 1.5)
    with pytest.raises(SettingError, match="Did you mean 'copied'"):
        planted(described(), 0.5, "copie")


def test_nothing_planted_leaves_the_recording_as_it_was() -> None:
    truth = planted(described(), 0.0)
    assert truth.recording == described()
    assert not truth.wrong
