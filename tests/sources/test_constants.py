"""A study plays the constants that are in the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tellback
from tellback.errors import SettingError
from tellback.lab import RunSpec, Store, run_missing
from tellback.sources import altered
from tellback.worlds import Synthetic
from tests.support.own_modules import imported

STEADY = """
import steady_helper

class Steady:
    FIX = None
    STEPS = (1, -2.5)

    def __init__(self, trial=0):
        pass

    def respond(self, task, rng):
        return task.choose(steady_helper.CHOICE if self.FIX is None else self.FIX)

    def learn(self, task, choice, description):
        pass
"""


@pytest.fixture
def steady(modules: Path) -> Any:
    imported(modules, "steady_helper", "CHOICE = 1\n")
    return imported(modules, "steady", STEADY)


def run_of(module: Any) -> RunSpec:
    agent: Any = tellback.agent(module.Steady)
    return RunSpec(Synthetic(instructions=5, responses=4, rank=3), agent(), 20, 0)


@pytest.mark.parametrize("on", ["inline", None])
def test_a_value_that_was_set_at_run_time_is_refused(steady: Any, on: Any, tmp_path: Path) -> None:
    run, store = run_of(steady), Store(tmp_path / "runs")
    assert run_missing([run], store, on="inline") == []  # stored results are not passed off either
    steady.Steady.FIX = 2
    with pytest.raises(SettingError, match=r"steady\.Steady\.FIX is 2, and in its file None"):
        run_missing([run], store, on=on)
    steady.Steady.FIX = None
    steady.steady_helper.CHOICE = 3
    with pytest.raises(SettingError, match=r"steady_helper\.CHOICE is 3, and in its file 1"):
        run_missing([run], store, on=on)


def test_values_of_a_file_that_was_edited_are_not_compared(steady: Any, modules: Path) -> None:
    run = run_of(steady)
    (modules / "steady_helper.py").write_text("CHOICE = 3  # another\n")
    run.demand_unaltered()


VARYING = """
import enum

COUNT = 0
ONCE = 1
ONCE += 1
TABLE = {}
LATER = None

def count():
    global COUNT
    COUNT += 1

def shadow():
    LOCAL = 3

LOCAL = 2

class Colour(enum.Enum):
    RED = 1

class Lazy:
    table = None
"""


def test_what_is_no_constant_is_left_alone(modules: Path) -> None:
    module = imported(modules, "varying", VARYING)
    module.count()
    module.LOCAL = 5
    module.TABLE["a"] = 1
    module.Lazy.table = {}
    assert altered([module.Lazy]) == []
    module.LATER = 7
    assert altered([module.Lazy]) == ["varying.LATER is 7, and in its file None"]
