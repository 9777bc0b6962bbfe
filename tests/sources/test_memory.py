"""What the user's own code remembers from one run to the next: nothing."""

from __future__ import annotations

import enum
import os
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellback
from tellback import play
from tellback.lab.run_one import Finished, run_one
from tellback.lab.run_spec import RunSpec
from tellback.sources import forgetting
from tellback.worlds import Synthetic
from tests.support.own_modules import imported

WORLD = Synthetic(instructions=5, responses=6, rank=3, temperature=0.3)

AGENT = """
import functools
import os

import helper

TOLD = helper.TOLD


class Leaks:
    table = {}

    def __init__(self, trial=0):
        pass

    def respond(self, task, rng):
        known = self.known()
        return task.choose(known.get(task.instruction, int(rng.integers(len(task.responses)))))

    def learn(self, task, choice, description):
        self.keep(description, choice.response)
"""

LEAKS = {
    "an attribute of its class": """
        def known(self): return self.table
        def keep(self, x, y): self.table[x] = y
        """,
    "an attribute that was not there": """
        def known(self): return getattr(type(self), "late", {})
        def keep(self, x, y): type(self).late = {**self.known(), x: y}
        """,
    "a default": """
        def known(self, found={}): return found
        def keep(self, x, y): self.known()[x] = y
        """,
    "an attribute of a method": """
        def known(self): return vars(Leaks.known).setdefault("found", {})
        def keep(self, x, y): self.known()[x] = y
        """,
    "a global of its module, which is that of another": """
        def known(self): return helper.TOLD
        def keep(self, x, y): TOLD[x] = y
        """,
    "a class of another module": """
        def known(self): return helper.Board.rows
        def keep(self, x, y): helper.Board.rows[x] = y
        """,
    "a cache": """
        @functools.cache
        def known(self=None): return {}
        def keep(self, x, y): Leaks.known()[x] = y
        def respond(self, task, rng):
            y = Leaks.known().get(task.instruction, int(rng.integers(len(task.responses))))
            return task.choose(y)
        """,
    "the environment": """
        def known(self): return {int(k[1:]): int(v) for k, v in os.environ.items() if k[0] == "~"}
        def keep(self, x, y): os.environ[f"~{x}"] = str(y)
        """,
}


def curve_of(spec: Any, seed: int) -> Any:
    outcome = run_one(RunSpec(WORLD, spec, 60, seed))
    assert isinstance(outcome, Finished), outcome
    return outcome.curve


@pytest.mark.parametrize("leak", LEAKS, ids=str)
def test_a_run_teaches_no_later_one(modules: Path, leak: str) -> None:
    imported(modules, "helper", "TOLD = {}\nclass Board:\n    rows = {}\n")
    name = f"leaks_{list(LEAKS).index(leak)}"
    body = textwrap.indent(textwrap.dedent(LEAKS[leak]), "    ")
    spec = tellback.agent(imported(modules, name, AGENT + body).Leaks)()
    alone = [curve_of(spec, seed) for seed in (1, 2)]
    again = [curve_of(spec, seed) for seed in (2, 1)]
    np.testing.assert_array_equal(alone[::-1], again)
    taught = [play(WORLD, spec, 60, seed=1).regret[-1] for _ in range(2)]  # nothing is forgotten
    assert taught[0] != taught[1]


def test_what_nobody_changed_stays_the_same_object(modules: Path) -> None:
    module = imported(modules, "quiet", "TABLE = {'a': [1]}\nclass Quiet: pass\n")
    table = module.TABLE
    with forgetting([module.Quiet]):
        pass
    assert module.TABLE is table


def test_only_what_was_changed_is_replaced(modules: Path) -> None:
    text = "MISSING = object()\nSAME = [1]\nROWS = []\nclass Some: pass\n"
    module = imported(modules, "some", text)
    missing, same = module.MISSING, module.SAME
    with forgetting([module.Some]):
        module.ROWS.append(1)
    assert module.ROWS == []
    assert module.MISSING is missing
    assert module.SAME is same


def test_what_was_one_object_is_one_again(modules: Path) -> None:
    text = "ROWS = []\nclass Two:\n    rows = ROWS\n"
    module = imported(modules, "two", text)
    with forgetting([module.Two]):
        module.ROWS.append(1)
    assert module.ROWS == []
    assert module.Two.rows is module.ROWS


def test_what_cannot_be_kept_is_left_alone(modules: Path) -> None:
    text = "import threading, numpy\nLOCK = threading.Lock()\nBIG = numpy.zeros(2**21)\nN = 0\n"
    module = imported(modules, "odd", f"{text}class Odd: pass\n")
    lock, big = module.LOCK, module.BIG
    with forgetting([module.Odd]):
        module.N, module.BIG[0] = 1, 1.0
    assert module.LOCK is lock
    assert module.BIG is big
    assert module.N == 0


def test_an_error_does_not_keep_it_from_forgetting(modules: Path) -> None:
    module = imported(modules, "fails", "N = 0\nclass Fails: pass\n")

    def fail() -> None:
        with forgetting([module.Fails]):
            module.N = 1
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert module.N == 0


def test_enums_and_the_environment_are_as_before(modules: Path) -> None:
    text = "import enum\nROWS = []\nclass Colour(enum.Enum):\n    RED = 1\nclass Own: pass\n"
    module = imported(modules, "colours", text)
    before = dict(os.environ)
    with forgetting([module.Own]):
        module.ROWS.append(1)
        os.environ["TELLBACK_TRIED"] = "1"
    assert module.ROWS == []
    assert os.environ == before
    assert isinstance(module.Colour.RED, enum.Enum)
