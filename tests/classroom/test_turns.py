"""Turns at work that keeps a processor busy."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from tellback.classroom import turns
from tellback.classroom.turns import MOST_WAITING, BusyError, Turns, paced
from tests.support.patience import PATIENCE


def test_who_gets_no_turn_in_time_is_refused() -> None:
    one = Turns("Try again.", wait=0.01)
    with one, pytest.raises(BusyError, match=r"Try again\."), one:
        pass
    with one:  # it is free again
        pass


def test_who_would_wait_behind_many_is_refused_at_once() -> None:
    one = Turns("Try again.", wait=PATIENCE)
    done = threading.Barrier(MOST_WAITING + 1)

    def wait() -> None:
        with one:
            pass
        done.wait(PATIENCE)

    threads = [threading.Thread(target=wait) for _ in range(MOST_WAITING)]
    with one:
        for thread in threads:
            thread.start()
        while one._in_line._value:  # all of them wait
            pass
        with pytest.raises(BusyError), one:
            pass
    done.wait(PATIENCE)
    for thread in threads:
        thread.join()
    with one:  # nobody waits any more
        pass


def test_work_without_an_end_takes_a_quarter_of_a_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, slept = 100.0, []
    clock = SimpleNamespace(thread_time=lambda: now, sleep=lambda seconds: slept.append(seconds))
    monkeypatch.setattr(turns, "time", clock)
    for _ in paced(range(6)):
        now += 0.001
    assert slept == [pytest.approx(0.006)] * 3
