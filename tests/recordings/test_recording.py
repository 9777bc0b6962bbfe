"""Recordings in memory."""

from __future__ import annotations

import pytest

from tellback.errors import SettingError
from tellback.recordings import RecordedResponse, Recording, Said, Summary
from tests.support.recordings import small_recording


def response(name: str, **settings: object) -> RecordedResponse:
    return RecordedResponse(name, "room", (), **settings)  # type: ignore[arg-type]


def test_two_responses_with_one_id_are_refused() -> None:
    with pytest.raises(SettingError, match="'b'"):
        Recording((response("a"), response("b"), response("b")))


def test_groups_and_people_are_listed_without_the_unknown() -> None:
    said = (Said("x", "Zoe"), Said("y"), Said("z", "Ann"))
    recording = Recording((RecordedResponse("1", "hall", said), RecordedResponse("2", "attic", ())))
    assert recording.groups == ("attic", "hall")
    assert recording.people == ("Ann", "Zoe")
    assert [one.id for one in recording.only(["hall"])] == ["1"]
    assert repr(recording) == "Recording(2 responses in 2 groups, 3 descriptions by 2 people)"


def test_the_digest_changes_with_every_part_of_the_content() -> None:
    base = response("a", goal="g", steps=(("go", "sink"),), tokens=("t",), text="x")
    others = [
        response("b", goal="g", steps=(("go", "sink"),), tokens=("t",), text="x"),
        response("a", goal="h", steps=(("go", "sink"),), tokens=("t",), text="x"),
        response("a", goal="g", steps=(("go sink",),), tokens=("t",), text="x"),
        response("a", goal="g", steps=(("go", "sink"),), tokens=("t", "t"), text="x"),
        response("a", goal="g", steps=(("go", "sink"),), tokens=("t",), text="x", features=(1.0,)),
    ]
    digests = {Recording((one,)).digest for one in (base, *others)}
    assert len(digests) == len(others) + 1
    assert Recording((base,)).digest == Recording((base,), folder="elsewhere").digest
    assert Recording((base, response("z"))).digest != Recording((response("z"), base)).digest


def test_every_described_step_is_a_response_of_its_own() -> None:
    whole = small_recording(rooms=1, responses=2)
    steps = whole.by_step()
    assert len(steps) == 6
    first, of_whole = steps.responses[0], whole.responses[0]
    assert first.id == f"{of_whole.id}/0"
    assert first.group == of_whole.group
    assert first.steps == of_whole.steps[:1]
    assert first.goal == " ".join(of_whole.steps[0])
    assert first.descriptions == of_whole.step_descriptions[0]


def test_steps_that_nobody_described_are_left_out() -> None:
    said = (Said("it went", "Ann"),)
    one = response("a", steps=(("go",), ("stop",)), step_descriptions=((), said))
    other = response("b", steps=(("go",),))
    assert [step.id for step in Recording((one, other)).by_step()] == ["a/1"]


def test_the_summary_counts() -> None:
    said = (Said("The mug, the MUG!", "Ann"), Said("a cup"))
    recording = Recording((RecordedResponse("1", "hall", said, goal="g"), response("2")))
    counted = Summary.of(recording)
    assert (counted.responses, counted.groups, counted.goals) == (2, 2, 1)
    assert (counted.descriptions, counted.people, counted.unknown) == (2, 1, 1)
    assert (counted.undescribed, counted.words, counted.length) == (1, 4, 3.0)
