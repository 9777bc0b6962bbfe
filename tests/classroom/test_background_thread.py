"""A thread that does a piece of work again and again."""

from __future__ import annotations

import logging
import threading
import time

import pytest

from tellback.classroom.background_thread import BackgroundThread
from tellback.errors import TellbackError
from tests.support.patience import PATIENCE


@pytest.mark.parametrize(
    ("error", "traceback"), [(TellbackError, False), (OSError, False), (ZeroDivisionError, True)]
)
def test_it_goes_on_after_any_error_and_logs_it(
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    error: type[Exception],
    traceback: bool,
) -> None:
    monkeypatch.setattr(logging.getLogger("tellback.classroom"), "propagate", True)
    turns = threading.Semaphore(0)

    def fails() -> None:
        turns.release()
        raise error("no such luck")

    thread = BackgroundThread("the work", fails, 0.001, (OSError,))
    with caplog.at_level(logging.WARNING, "tellback.classroom"):
        thread.start()
        assert all(turns.acquire(timeout=PATIENCE) for _ in range(3))
        thread.stop()
    assert caplog.records
    for record in caplog.records:
        assert "the work" in record.getMessage()
        assert bool(record.exc_info) == traceback


def test_it_ends_after_the_turn_and_says_so_to_a_long_one() -> None:
    seen: list[bool] = []
    begun = threading.Event()

    def turn() -> None:
        begun.set()
        while not thread.stopping:
            time.sleep(0.001)
        seen.append(thread.stopping)

    thread = BackgroundThread("the work", turn, 0.001)
    thread.start()
    assert begun.wait(PATIENCE)
    thread.stop()
    assert seen == [True]


def test_one_that_never_started_can_be_stopped() -> None:
    BackgroundThread("the work", lambda: None, 1.0).stop()
