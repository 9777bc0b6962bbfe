"""Who may have seen a request gives no blind description of its round."""

from __future__ import annotations

from typing import Any

import pytest

from tellback.classroom.store import accounts, tokens
from tellback.errors import TellbackError
from tests.support.api_room import Room


@pytest.fixture
def ria(room: Room) -> dict[str, str]:
    """A reviewer."""
    try:
        account = accounts.named(room.inside.database, "ria")
    except TellbackError:
        account = accounts.add(room.inside.database, "ria", "reviewer", None)
    _, secret = tokens.make(room.inside.database, account.id, "test")
    return {"Authorization": f"Bearer {secret}"}


def undo(room: Room, lesson: str, round: int, who: dict[str, str]) -> None:
    assert room.done("DELETE", f"/lessons/{lesson}/rounds/{round}/description", who)["withdrawn"]


def skip(room: Room, lesson: str, round: int, who: dict[str, str]) -> None:
    room.done("PUT", f"/lessons/{lesson}/rounds/{round}/outcome", who, json={"outcome": "skipped"})


def counted(room: Room, lesson: str) -> Any:
    return room.done("GET", f"/lessons/{lesson}/progress", room.ann)["matches"]


def test_a_description_of_a_request_that_nobody_saw_counts(room: Room) -> None:
    lesson = room.lesson()
    room.ask(lesson, 2)
    told = room.tell(lesson, room.claimed(lesson, room.ann), 2, room.ann)
    assert (told["matched"], told["saw_request"]) == (True, False)
    assert counted(room, lesson)["n"] == 1


def test_who_described_a_round_before_does_not_get_it_as_the_second_teacher(room: Room) -> None:
    lesson = room.lesson(second_share=1.0)
    room.ask(lesson)
    number = room.claimed(lesson, room.ann)
    room.tell(lesson, number, 0, room.ann)
    undo(room, lesson, number, room.ann)
    skip(room, lesson, number, room.ann)
    assert room.claimed(lesson, room.ben) == number
    room.tell(lesson, number, 0, room.ben)
    assert room.send("POST", f"/lessons/{lesson}/claims", room.ann).status_code == 204
    assert room.claimed(lesson, room.engineer) == number


def test_a_request_that_was_shown_under_progress_is_known_to_everybody(room: Room) -> None:
    lesson = room.lesson()
    room.ask(lesson, 1)
    number = room.claimed(lesson, room.ann)
    assert room.tell(lesson, number, 3, room.ann)["matched"] is False
    room.done("GET", f"/lessons/{lesson}/progress", room.ben)
    undo(room, lesson, number, room.ann)
    skip(room, lesson, number, room.ann)
    assert room.claimed(lesson, room.ben) == number
    told = room.tell(lesson, number, 1, room.ben)
    assert (told["matched"], told["saw_request"]) == (None, True)
    assert counted(room, lesson) is None


def test_a_reviewer_who_reads_a_round_describes_it_no_longer_blindly(
    room: Room, ria: dict[str, str]
) -> None:
    lesson = room.lesson()
    room.ask(lesson, 1)
    number = room.claimed(lesson, ria)
    for _ in range(2):
        assert room.done("GET", f"/lessons/{lesson}/rounds/{number}", ria)["instruction"] == 1
    told = room.tell(lesson, number, 1, ria)
    assert (told["matched"], told["saw_request"]) == (None, True)


def test_who_asked_describes_no_longer_blindly_after_reading_or_claiming_it(room: Room) -> None:
    lesson = room.lesson()
    for _ in range(2):
        room.ask(lesson, 1)
    room.done("GET", f"/lessons/{lesson}/rounds/1", room.engineer)
    assert room.tell(lesson, 1, 1, room.engineer)["matched"] is None
    assert room.claimed(lesson, room.engineer) == 2
    assert room.tell(lesson, 2, 1, room.engineer)["matched"] is None


def test_an_export_shows_every_request_to_who_makes_it(room: Room) -> None:
    lesson = room.lesson()
    room.ask(lesson, 1)
    assert room.send("GET", f"/lessons/{lesson}/export").is_success
    room.ask(lesson, 1)
    assert room.tell(lesson, 1, 1)["matched"] is None
    assert room.tell(lesson, 2, 1)["matched"] is True


def test_a_second_teacher_who_read_the_request_is_not_counted_as_agreeing(
    room: Room, ria: dict[str, str]
) -> None:
    lesson = room.lesson(second_share=1.0)
    room.ask(lesson, 1)
    number = room.claimed(lesson, room.ann)
    room.tell(lesson, number, 1, room.ann)
    assert room.claimed(lesson, ria) == number
    room.done("GET", f"/lessons/{lesson}/rounds/{number}", ria)
    second = room.tell(lesson, number, 1, ria)
    assert (second["second"], second["saw_request"]) == (True, True)
    assert room.tell(lesson, number, 1, ria)["saw_request"]  # sent again, the same
    assert room.done("GET", f"/lessons/{lesson}/progress", room.ann)["agreement"] is None


def test_only_engineers_see_the_seed_of_a_lesson(room: Room, ria: dict[str, str]) -> None:
    """The requests of a world can be computed from it."""
    lesson = room.inside.demonstrate()
    for who, may in ((room.ann, False), (ria, False), (room.engineer, True)):
        one = room.done("GET", f"/lessons/{lesson}", who)
        listed = room.done("GET", "/lessons", who)["lessons"]
        (same,) = (other for other in listed if other["id"] == lesson)
        assert ("seed" in one["definition"]) == ("seed" in same["definition"]) == may
    assert one["definition"]["seed"] != 0
