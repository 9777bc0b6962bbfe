"""Runs in the process that asks: the same results, and classes that were typed."""

from __future__ import annotations

import linecache
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellback
from tellback.agents import LORIL, Greedy
from tellback.errors import SettingError
from tellback.lab import (
    Inline,
    Listener,
    Processes,
    RunSpec,
    Store,
    Study,
    run_missing,
    run_studies,
)
from tellback.lab.engines import engine_named
from tellback.lab.listener import ProgressListener
from tellback.worlds import Synthetic

WORLD = Synthetic(instructions=20, responses=4, rank=3)
RUNS = [RunSpec(WORLD, agent, 300, seed) for agent in (LORIL(), Greedy()) for seed in (0, 1)]

TYPED = """
class TypedInACell:
    def respond(self, task, rng):
        return task.choose(int(rng.integers(len(task.responses))))

    def learn(self, task, choice, description):
        pass
"""


def typed_class() -> Any:
    """A class as a cell of a notebook defines it: its source is where tracebacks find it."""
    name = "<cell of a notebook>"
    linecache.cache[name] = (len(TYPED), None, TYPED.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "__notebook__"}
    exec(compile(TYPED, name, "exec"), scope)
    return tellback.agent(scope["TypedInACell"])


class Noted(Listener):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_results_are_those_of_other_processes_bit_for_bit(tmp_path: Path) -> None:
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    assert run_missing(RUNS, here, on="inline") == []
    assert run_missing(RUNS, there, on=Processes(2)) == []
    for run in RUNS:
        assert np.array_equal(here.curve(run), there.curve(run))


def test_a_class_that_was_typed_is_played_here_and_a_sentence_says_so(tmp_path: Path) -> None:
    typed = typed_class()()
    study = Study("s", WORLD, {"typed": (typed,), "greedy": (Greedy(),)}, 50, (), (0, 1))
    listener = Noted()
    (results,) = run_studies([study], Store(tmp_path), listener=listener)
    assert len(results.runs()) == 4
    assert len(listener.notes) == 1
    assert "in this process, one after another: 2 runs" in listener.notes[0]
    assert "TypedInACell" in listener.notes[0]


def test_processes_that_cannot_import_a_class_say_what_can_be_done(tmp_path: Path) -> None:
    run = RunSpec(WORLD, typed_class()(), 50, 0)
    assert run.typed == ("TypedInACell",)
    with pytest.raises(SettingError, match=r'other processes cannot import it.*on="inline"'):
        run_missing([run], Store(tmp_path), on=Processes(1))


def test_ctrl_c_stops_the_run_under_way_and_keeps_what_is_finished(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), RUNS[:2]

    class Interrupting(Listener):
        played_so_far = 0

        def played(self, rounds: int) -> None:
            self.played_so_far += rounds
            if self.played_so_far > runs[0].rounds:
                raise AssertionError("the second run went on")
            if self.played_so_far == runs[0].rounds:
                os.kill(os.getpid(), signal.SIGINT)

    # A shell starts what runs in its background with interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_missing(runs, store, on=Inline(), listener=Interrupting())
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert not store.has(runs[1])
    assert store.failure(runs[1]) is None


def test_inline_has_no_workers() -> None:
    assert engine_named("inline") == Inline()
    with pytest.raises(SettingError, match="have no workers"):
        engine_named("inline", workers=2)


def test_a_progress_listener_counts_rounds_up_to_all_of_them() -> None:
    shown: list[tuple[str, int, int]] = []
    listener = ProgressListener(lambda *what: shown.append(what), print)
    listener.begin(2, 100)
    for rounds in (60, 60):
        listener.played(rounds)
    assert shown == [("2 runs, rounds", 60, 100), ("2 runs, rounds", 100, 100)]
    listener.begin(1, 10)
    listener.played(10)
    assert shown[-1] == ("1 run, rounds", 10, 10)


def test_studies_and_results_show_themselves_in_short_and_as_a_table(tmp_path: Path) -> None:
    study = Study("s", WORLD, {"LORIL": (LORIL(),), "greedy": (Greedy(),)}, 300, (), (0, 1))
    assert repr(study) == "<Study 's': LORIL, greedy in synthetic, 300 rounds, 2 reported seeds>"
    assert "<td>greedy</td>" in study._repr_html_()
    (results,) = run_studies([study], Store(tmp_path), on="inline")
    assert repr(results).startswith("<Results of <Study 's'")
    assert results.plot().save(tmp_path / "regret.pdf").read_bytes().startswith(b"%PDF")
