"""Audits find planted wrong descriptions, accuse nobody without cause, and state what they know."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tellback.audit import Place, audit
from tellback.audit.planted import planted
from tellback.errors import SettingError, UnknownNameError
from tellback.recordings import RecordedResponse, Recording, Said
from tests.support.audits import anonymous, answered, audited, case, described


@pytest.mark.parametrize("kind", ["exchanged", "copied", "careless"])
def test_planted_wrong_descriptions_are_found(kind: str) -> None:
    found, truth = audited(0.3, kind), case(0.3, kind)
    wrong = np.array([place in truth.wrong for place in found.sentences.places])
    assert found.told
    assert (found.right[wrong] < 0.5).mean() > 0.97
    assert (found.right[~wrong] < 0.5).mean() < 0.01
    assert found.doubts.low < wrong.mean() < found.doubts.high
    assert len(found.kept & truth.wrong) / len(found.kept) < 0.01


def test_clean_descriptions_are_not_accused() -> None:
    found = audit(described())
    assert found.doubts.wrong < 0.005
    assert found.doubts.low == pytest.approx(0, abs=1e-3)
    assert len(found.kept) == len(found.sentences)
    assert not found.worst()


@pytest.mark.parametrize("share", [0.02, 0.1, 0.6])
def test_other_shares_are_estimated(share: float) -> None:
    found = audited(share)
    true = len(case(share).wrong) / len(found.sentences)
    assert found.doubts.low <= found.doubts.wrong <= found.doubts.high
    assert found.doubts.wrong == pytest.approx(true, abs=0.02)


def test_probabilities_mean_what_they_say() -> None:
    """Where wrong ones fit nearly as well, the share of wrong ones is the stated one."""
    responses = []  # only the place is told, so descriptions of 4 responses look alike
    rng = np.random.default_rng(0)
    for room in range(12):
        for i in range(24):
            place = ("shelf", "sink", "desk", "table", "floor", "bed")[i % 6]
            words = ("put it on the", "now it is by the", "left on")
            responses.append(
                RecordedResponse(
                    f"{room}-{i}",
                    f"room {room}",
                    tuple(Said(f"{words[j]} {place} {rng.integers(9)}") for j in range(3)),
                    tokens=(place,),
                )
            )
    truth = planted(Recording(tuple(responses)), 0.4, "exchanged", 1)
    found = audit(truth.recording)
    wrong = np.array([place in truth.wrong for place in found.sentences.places])
    alike = found.right > 0.5
    assert 0.03 < wrong[alike].mean() < 0.15  # about 0.4 / 0.6 * 3 / 23
    assert (1 - found.right[alike]).mean() == pytest.approx(wrong[alike].mean(), abs=0.025)


def test_the_same_recording_gives_the_same_audit() -> None:
    one, other = audited(), audit(case().recording)
    assert np.array_equal(one.right, other.right)
    assert one.questions(50) == other.questions(50)
    assert replace(one, seed=4).questions(50) != one.questions(50)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_small_recording_tells_nothing_rather_than_lies(share: float) -> None:
    truth = planted(described(rooms=2, responses=10), share, "exchanged", 0)
    found = audit(truth.recording)
    assert not found.told
    assert np.isnan(found.right).all()
    assert len(found.kept) == len(found.sentences)
    assert not found.worst()
    assert "too small" in found.reasons(found.sentences.places[0])[0]
    assert (found.still_wrong().low, found.still_wrong().high) == (0, 1)
    after = answered(found, truth, 40)
    still = after.still_wrong()
    assert still.asked == 40
    assert still.low <= len(after.kept & truth.wrong) / len(after.kept) <= still.high < 0.7


def test_words_that_do_not_go_with_the_features_tell_nothing() -> None:
    recording = described()
    said = [one for response in recording for one in response.descriptions]
    rest = iter(np.random.default_rng(1).permutation(len(said)))
    shuffled = Recording(
        tuple(
            replace(one, descriptions=tuple(said[next(rest)] for _ in one.descriptions))
            for one in recording
        )
    )
    assert not audit(shuffled).told


def test_recordings_without_groups_and_people_are_audited_too() -> None:
    truth = case(0.2)
    found = audit(anonymous(truth.recording))
    wrong = np.array([place in truth.wrong for place in found.sentences.places])
    assert (found.right[wrong] < 0.5).mean() > 0.7  # a thing and place comes in other rooms too
    assert (found.right[~wrong] < 0.5).mean() < 0.02
    assert found.people() == ()


def test_numbers_and_texts_are_features_too() -> None:
    rng = np.random.default_rng(0)
    colours = ("red", "green", "blue")
    responses = []
    for i in range(300):
        numbers = np.eye(3)[i % 3] * [1000, 1, 0.001] + rng.normal(0, [100, 0.1, 0.0001])
        said = tuple(Said(f"it is {colours[i % 3]}, number {rng.integers(9)}") for _ in range(2))
        responses.append(
            RecordedResponse(f"{i}", "all", said, features=tuple(numbers), text=f"shade {i % 3}")
        )
    for fields in ({"text": ""}, {"features": ()}, {}):
        recording = Recording(tuple(replace(one, **fields) for one in responses))
        truth = planted(recording, 0.2, "exchanged", 0)
        found = audit(truth.recording)
        other = np.array(
            [
                truth.recording.by_id[p.response].descriptions[p.number].text.split()[2][:-1]
                != colours[int(p.response) % 3]
                for p in found.sentences.places
            ]
        )
        assert (found.right[other] < 0.3).all()
        assert (found.right[~other] > 0.7).all()


def test_answers_are_believed_and_the_cleaned_recording_has_what_is_kept() -> None:
    found, truth = audited(), case()
    first, *_, last = found.questions(5)
    asked = found.answer({first.place: True, last.place: None})
    assert first.place in asked.kept
    assert last.place not in asked.kept
    asked = asked.answer({first.place: False})
    assert first.place not in asked.kept
    assert asked.reasons(first.place) == ("A person said that it is wrong.",)
    assert len(found.answers) == 0  # an audit does not change
    cleaned = asked.cleaned()
    assert [one.id for one in cleaned] == [one.id for one in truth.recording]
    kept = [said for one in cleaned for said in one.descriptions]
    assert len(kept) == len(asked.kept)
    for place in asked.kept:
        text = truth.recording.by_id[place.response].descriptions[place.number]
        assert text in cleaned.by_id[place.response].descriptions


def test_questions_that_are_answered_do_not_come_again() -> None:
    found, truth = audited(), case()
    after = answered(found, truth, 30)
    assert {one.place for one in found.questions(30)}.isdisjoint(
        one.place for one in after.questions()
    )
    assert len(found.questions()) == len(found.sentences)


def test_a_wrong_answer_to_a_question_is_refused() -> None:
    found = audited()
    name = found.sentences.places[0].response
    with pytest.raises(UnknownNameError, match="no response 'nowhere'"):
        found.answer({Place("nowhere", 0): True})
    with pytest.raises(SettingError, match="from 0 to 2"):
        found.answer({Place(name, 3): True})
    with pytest.raises(SettingError, match="True, False or None"):
        found.answer({Place(name, 0): "yes"})  # type: ignore[dict-item]
    with pytest.raises(SettingError, match="sure must be"):
        audit(described(), sure=1.5)
    with pytest.raises(SettingError, match="no descriptions"):
        audit(Recording((RecordedResponse("a", "", (), tokens=("x",)),)))


def test_reasons_name_words_responses_copies_and_people() -> None:
    found, truth = audited(0.3, "copied"), case(0.3, "copied")
    said = " ".join(
        reason
        for one in found.worst(100)
        if one.place in truth.wrong
        for reason in found.reasons(one.place)
    )
    assert "of the same group better" in said
    assert "It says " in said
    assert "It does not say " in said
    assert "The same sentence is also at" in said
    careless = audited(0.3, "careless")
    assert any(
        "of what person" in reason
        for one in careless.worst(50)
        for reason in careless.reasons(one.place)
    )
    assert careless.people()[0][2] > 2 * careless.doubts.wrong
    good = max(found.judged, key=lambda one: one.right)
    assert good.fits == good.place.response
    assert "no other response" in found.reasons(good.place)[0]
