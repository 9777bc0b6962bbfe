"""Ctrl-C is raised at safe points, and never lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from tellback.lab.engines.interrupts import interrupts_noted


@pytest.fixture(autouse=True)
def _interrupts_as_in_a_terminal() -> Iterator[None]:
    """A shell starts what runs in its background with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(reached: list[str], then: str) -> None:
    with interrupts_noted() as raise_if_interrupted:
        os.kill(os.getpid(), signal.SIGINT)
        reached.append("after the signal")
        if then == "safe point":
            raise_if_interrupted()
        if then == "error":
            raise ValueError("first")
        reached.append("the end")


def test_a_noted_interrupt_is_raised_at_the_next_safe_point() -> None:
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(reached, "safe point")
    assert reached == ["after the signal"]


def test_an_interrupt_after_the_last_safe_point_is_raised_at_the_end() -> None:
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(reached, "nothing")
    assert reached == ["after the signal", "the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_error_is_not_hidden_by_an_interrupt() -> None:
    with pytest.raises(ValueError, match="first"):
        interrupted([], "error")
