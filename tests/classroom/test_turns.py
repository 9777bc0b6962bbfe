"""Turns at work that keeps a processor busy."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tellback.classroom import turns
from tellback.classroom.turns import BusyError, Turns


def test_who_gets_no_turn_in_time_is_refused() -> None:
    one = Turns("Try again.", wait=0.01)
    with one, pytest.raises(BusyError, match=r"Try again\."), one:
        pass
    with one:  # it is free again
        pass


def test_the_next_turn_begins_after_a_pause_three_times_as_long_as_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, slept = 100.0, []
    clock = SimpleNamespace(monotonic=lambda: now, sleep=lambda seconds: slept.append(seconds))
    monkeypatch.setattr(turns, "time", clock)
    some = Turns("Try again.", pause=True)
    with some:
        now += 0.2
    now += 0.1
    with some:
        now += 5
    with some:
        pass
    assert slept == [0, pytest.approx(0.5), 1.0]
