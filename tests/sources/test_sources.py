"""A run is named by the source it is played by, whoever edits what and when."""

from __future__ import annotations

import doctest
import importlib
import linecache
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tellback import play
from tellback.agents import LORIL, AgentSpec, Greedy
from tellback.errors import SettingError, TellbackError
from tellback.lab import RunSpec, Store, Study, run_missing, run_studies
from tellback.lab.diagnose import diagnose
from tellback.lab.engines import Processes
from tellback.lab.run_one import Outcome, run_one
from tellback.lab.run_spec import curve_rounds
from tellback.sources import tree
from tellback.specs import Spec
from tellback.worlds import Synthetic
from tests.support.patience import PATIENCE
from tests.support.studies import Inline

WORLD = Synthetic(instructions=20, responses=5, rank=3)

SPEC = """
from dataclasses import dataclass

from tellback.agents import AgentSpec

from sourced_agent import Fixed


@dataclass(frozen=True)
class Sourced(AgentSpec):
    def build(self, facts, rng):
        return Fixed()
"""
AGENT = """
class Fixed:
    def respond(self, task, rng):
        from sourced_parts.choices import CHOICE
        return task.choose(CHOICE)

    def learn(self, task, choice, description):
        pass
"""
CHOICES = "from .numbers import {number} as CHOICE\n"
NUMBERS = "ZERO = 0\nFOUR = 4\n"


class Mine:
    """Modules of the user's own: a spec, its plain agent in another file, and helpers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("sourced_spec", SPEC)
        self.write("sourced_agent", AGENT)
        self.write("sourced_parts/__init__", "")
        self.write("sourced_parts/choices", CHOICES.format(number="ZERO"))
        self.write("sourced_parts/numbers", NUMBERS)
        self.spec: Any = importlib.import_module("sourced_spec")

    def write(self, module: str, text: str) -> None:
        path = self.folder / f"{module}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def run(self, seed: int = 0) -> RunSpec:
        return RunSpec(WORLD, self.spec.Sourced(), 30, seed)

    def study(self, *reported: int) -> Study:
        return Study("mine", WORLD, {"mine": (self.spec.Sourced(),)}, 30, (), reported)

    def choose_another(self) -> None:
        self.write("sourced_parts/choices", CHOICES.format(number="FOUR"))

    def load_again(self) -> None:
        forget()
        self.spec = importlib.import_module("sourced_spec")

    def regret(self, seed: int) -> np.ndarray:
        """What bare play gives, with what is loaded."""
        played = play(WORLD, self.spec.Sourced(), 30, seed=seed).regret
        kept: np.ndarray = played[curve_rounds(30) - 1]
        return kept


def forget() -> None:
    for name in [name for name in sys.modules if name.startswith("sourced_")]:
        del sys.modules[name]
    Spec._known.pop(("agent", "sourced"), None)


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mine]:
    folder = tmp_path / "modules"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Mine(folder)
    forget()


# Long-lived processes.


def test_results_after_an_edit_are_never_kept_under_the_source_from_before(
    mine: Mine, tmp_path: Path
) -> None:
    store, engine = Store(tmp_path / "runs"), Processes(1)
    (before,) = run_studies([mine.study(0)], store, on=engine)
    old = mine.run().identity
    study = mine.study(0, 1)
    assert study.run(mine.spec.Sourced(), 0).identity == old
    mine.choose_another()
    assert study.run(mine.spec.Sourced(), 0).identity != old
    (after,) = run_studies([study], store, on=engine)
    assert list(before.finals()["run"]) == [old]  # whatever the source is now
    mine.load_again()
    for seed in (0, 1):
        np.testing.assert_array_equal(
            after.curves(study.agents["mine"][0])[seed], mine.regret(seed)
        )
    assert len(list(store.folder.rglob("*.parquet"))) == 3


def test_a_process_that_has_loaded_the_code_from_before_refuses_to_play_it(
    mine: Mine, tmp_path: Path
) -> None:
    store = Store(tmp_path / "runs")
    assert run_missing([mine.run(0)], store, on=Inline()) == []  # which loads all there is
    mine.choose_another()
    with pytest.raises(TellbackError, match=r"choices\.py changed after being loaded.*again"):
        run_missing([mine.run(1)], store, on=Inline())
    with pytest.raises(TellbackError, match=r"choices\.py changed after being loaded.*again"):
        diagnose(mine.run(1))
    assert len(list(store.folder.rglob("*.parquet"))) == 1


def test_a_module_that_is_loaded_again_does_not_hide_an_edit_of_another(
    mine: Mine, tmp_path: Path
) -> None:
    mine.write("sourced_agent", AGENT.replace("pass", "return"))
    mine.spec = importlib.reload(mine.spec)  # with the Fixed from before
    with pytest.raises(TellbackError, match=r"sourced_agent\.py changed"):
        run_missing([mine.run()], Store(tmp_path / "runs"), on=Inline())
    importlib.reload(sys.modules["sourced_agent"])
    with pytest.raises(TellbackError, match=r"sourced_agent\.py changed"):
        run_missing([mine.run()], Store(tmp_path / "runs"), on=Inline())
    mine.spec = importlib.reload(mine.spec)
    assert run_missing([mine.run()], Store(tmp_path / "runs"), on=Inline()) == []


def test_an_edit_after_a_module_was_loaded_and_before_it_is_used_is_noticed(
    mine: Mine, tmp_path: Path
) -> None:
    """No spec has reached the module yet: only what was loaded says what would be played."""
    importlib.import_module("sourced_parts.choices")
    mine.choose_another()
    with pytest.raises(TellbackError, match=r"choices\.py changed after being loaded.*again"):
        run_missing([mine.run()], Store(tmp_path / "runs"), on=Inline())
    mine.load_again()
    assert run_missing([mine.run()], Store(tmp_path / "runs"), on=Inline()) == []


def test_a_comment_after_a_module_was_loaded_is_no_edit(mine: Mine, tmp_path: Path) -> None:
    importlib.import_module("sourced_parts.choices")
    mine.write("sourced_parts/choices", "# a comment\n" + CHOICES.format(number="ZERO"))
    assert run_missing([mine.run()], Store(tmp_path / "runs"), on=Inline()) == []


EARLY = """
import os, sys, time

def edit():
    with open("sourced_parts/choices.py", "w") as file:
        file.write("from .numbers import FOUR as CHOICE")
    os.utime("sourced_parts/choices.py", (time.time() + 60,) * 2)

if sys.argv[1] == "tellback, edit":
    import tellback
    edit()
import sourced_parts.choices
if sys.argv[1] == "edit, tellback":
    edit()
import sourced_spec
from tellback.lab import RunSpec
from tellback.worlds import Synthetic
run = RunSpec(Synthetic(), sourced_spec.Sourced(), 10, 0)
print([os.path.basename(one) for one in run.edited()])
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc tells when it began")
@pytest.mark.parametrize(
    ("how", "edited"),
    [("edit, tellback", "['choices.py']"), ("tellback, edit", "[]"), ("tellback", "[]")],
)
def test_an_edit_between_the_imports_of_a_module_and_of_tellback_is_noticed(
    mine: Mine, how: str, edited: str
) -> None:
    (mine.folder / "early.py").write_text(EARLY)
    done = subprocess.run(
        [sys.executable, "early.py", how],
        cwd=mine.folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout.strip() == edited, done.stderr


def test_a_cell_that_calls_a_module_edited_before_it_was_typed_is_refused(
    mine: Mine, prompt: Callable[..., AgentSpec], tmp_path: Path
) -> None:
    mine.write("sourced_helper", "def pick(): return 0")
    helper = importlib.import_module("sourced_helper")
    mine.write("sourced_helper", "def pick(): return 4")
    cell = CELL.replace("CHOICE\n\n", "sourced_helper.pick()\n\n")
    cell = f"import sourced_helper\n{cell}"
    run = RunSpec(WORLD, prompt(cell), 10, 0)
    with pytest.raises(TellbackError, match=r"sourced_helper\.py changed after being loaded"):
        run_missing([run], Store(tmp_path / "runs"), on=Inline())
    importlib.reload(helper)
    run = RunSpec(WORLD, prompt(cell), 10, 0)
    assert run_missing([run], Store(tmp_path / "runs"), on=Inline()) == []


def test_an_edit_while_a_run_is_played_voids_its_result(mine: Mine, tmp_path: Path) -> None:
    class Edited:
        def run_all(
            self, runs: Sequence[RunSpec], played: Callable[[int], object]
        ) -> Iterator[Outcome]:
            yield run_one(runs[0], lambda rounds: mine.choose_another())

    store = Store(tmp_path / "runs")
    with pytest.raises(TellbackError, match="Start again"):
        run_missing([mine.run()], store, on=Edited())
    assert not list(store.folder.rglob("*.parquet"))


def test_an_edit_between_a_run_and_its_keeping_voids_its_result(mine: Mine, tmp_path: Path) -> None:
    class Edited:
        def run_all(
            self, runs: Sequence[RunSpec], played: Callable[[int], object]
        ) -> Iterator[Outcome]:
            outcome = run_one(runs[0])
            mine.choose_another()
            yield outcome

    store = Store(tmp_path / "runs")
    with pytest.raises(TellbackError, match="is not stored"):
        run_missing([mine.run()], store, on=Edited())
    assert not list(store.folder.rglob("*.parquet"))


def test_an_edit_after_all_is_played_is_said_and_not_taken_for_a_result(
    mine: Mine, tmp_path: Path
) -> None:
    class Edited:
        def run_all(
            self, runs: Sequence[RunSpec], played: Callable[[int], object]
        ) -> Iterator[Outcome]:
            yield run_one(runs[0])
            mine.choose_another()

    with pytest.raises(TellbackError, match="source has changed since"):
        run_studies([mine.study(0)], Store(tmp_path / "runs"), on=Edited())


# What counts.


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("sourced_spec", SPEC + "EDITED = 1\n"),
        ("sourced_agent", AGENT + "EDITED = 1\n"),
        ("sourced_parts/__init__", "EDITED = 1\n"),
        ("sourced_parts/choices", CHOICES.format(number="FOUR")),
        ("sourced_parts/numbers", NUMBERS.replace("0", "1")),
    ],
)
def test_every_module_of_ones_own_that_a_spec_reaches_counts(
    mine: Mine, module: str, text: str
) -> None:
    before = mine.run().identity
    mine.write(module, text)
    assert mine.run().identity != before
    mine.write("sourced_unrelated", "EDITED = 1\n")
    mine.write("sourced_spec", SPEC)
    mine.write("sourced_agent", AGENT)
    mine.write("sourced_parts/__init__", "")
    mine.write("sourced_parts/choices", CHOICES.format(number="ZERO"))
    mine.write("sourced_parts/numbers", NUMBERS)
    assert mine.run().identity == before


def test_comments_docstrings_and_layout_do_not_count(mine: Mine) -> None:
    before = mine.run().identity
    mine.write(
        "sourced_agent", '"""A word."""\n# more\n' + AGENT.replace("\n    def l", "\n\n    def l")
    )
    mine.write("sourced_parts/numbers", f"{NUMBERS}\n\n# the end\n")
    mine.write(
        "sourced_spec", SPEC.replace("return Fixed()", '"""Begin."""\n        return Fixed()')
    )
    assert mine.run().identity == before


def test_an_installed_package_counts_if_it_defines_the_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    mine = Mine(folder)
    try:
        before = mine.run().identity
        mine.write("sourced_agent", AGENT + "EDITED = 1\n")  # another package: a library
        assert mine.run().identity == before
        mine.write("sourced_spec", SPEC + "EDITED = 1\n")
        assert mine.run().identity != before
    finally:
        forget()


# What was typed.

CELL = """
from dataclasses import dataclass
from tellback.agents import AgentSpec

CHOICE = 0

def choice():
    return CHOICE

class Fixed:
    def respond(self, task, rng):
        return task.choose(choice())
    def learn(self, task, choice, description):
        pass

@dataclass(frozen=True)
class Typed(AgentSpec):
    def build(self, facts, rng):
        return Fixed()
"""


@pytest.fixture
def prompt(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AgentSpec]]:
    """A prompt that keeps what is typed as IPython does, or does not."""
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    cells: list[str] = []

    def typed(text: str, kept: bool = True) -> AgentSpec:
        cell = f"<ipython-input-{len(cells)}-0123456789ab>"
        cells.append(cell)
        if kept:
            linecache.cache[cell] = (len(text), None, text.splitlines(keepends=True), cell)
        exec(compile(text, cell, "exec"), vars(main))
        spec: AgentSpec = vars(main)["Typed"]()
        return spec

    yield typed
    for cell in cells:
        linecache.cache.pop(cell, None)
    Spec._known.pop(("agent", "typed"), None)


def identity(agent: AgentSpec) -> str:
    return RunSpec(WORLD, agent, 10, 0).identity


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return Fixed()", "return Fixed() or None"),
        ("    return CHOICE", "    return 1 * CHOICE"),
        ("task.choose(choice())", "task.choose(1)"),
        ("CHOICE = 0", "CHOICE = 4"),
    ],
)
def test_what_is_typed_is_part_of_the_identity(
    prompt: Callable[..., AgentSpec], old: str, new: str
) -> None:
    before = identity(prompt(CELL))
    assert identity(prompt(f"# a comment\n{CELL}")) == before
    assert identity(prompt(CELL.replace(old, new))) != before


def test_a_constant_that_is_typed_anew_is_another_identity(
    prompt: Callable[..., AgentSpec],
) -> None:
    spec = prompt(CELL)
    before = identity(spec)
    prompt("CHOICE = 4")
    assert identity(spec) != before
    prompt("CHOICE = 0")
    assert identity(spec) == before


def test_what_is_typed_is_refused_where_other_processes_would_have_to_import_it(
    prompt: Callable[..., AgentSpec], tmp_path: Path
) -> None:
    run = RunSpec(WORLD, prompt(CELL), 10, 0)
    with pytest.raises(SettingError, match="Typed was typed, and other processes cannot import"):
        run_missing([run], Store(tmp_path), on=Processes(1))
    assert run_missing([run], Store(tmp_path), on=Inline()) == []


def test_what_a_class_took_when_it_was_typed_counts_as_it_was(
    prompt: Callable[..., AgentSpec],
) -> None:
    text = CELL.replace("class Typed(AgentSpec):", "class Typed(AgentSpec):\n    choice = CHOICE\n")
    old = prompt(text)
    prompt("CHOICE = 4")
    stale = identity(old)  # plays 0, although CHOICE is now 4
    assert identity(prompt(text.replace("CHOICE = 0", "CHOICE = 4"))) != stale
    with pytest.raises(SettingError, match=r"uses .*choice, which is a partial"):
        identity(
            prompt("import functools\n" + text.replace("= CHOICE", "= functools.partial(len)"))
        )


def test_what_is_typed_and_not_kept_is_refused(prompt: Callable[..., AgentSpec]) -> None:
    with pytest.raises(SettingError, match=r"Typed.*cannot be found.*[Pp]ut it into a file"):
        identity(prompt(CELL, kept=False))


def test_what_cannot_be_pinned_down_is_refused(prompt: Callable[..., AgentSpec]) -> None:
    spec = prompt(CELL.replace("CHOICE = 0", "CHOICE = object()"))
    with pytest.raises(SettingError, match=r"uses CHOICE, which is a object.*into a file"):
        identity(spec)


def test_what_is_typed_into_a_doctest_has_its_source() -> None:
    first = ("from", "CHOICE", "def", "class Fixed", "@")
    lines = [line for line in CELL.replace("Typed", "Tested").splitlines() if line]
    example = "".join(f"    {'>>>' if one.startswith(first) else '...'} {one}\n" for one in lines)
    text = f"{example}    ...\n    >>> found.append(identity(Tested()))\n"
    found: list[str] = []
    for choice in ("0", "4"):
        scope = {"identity": identity, "found": found, "__name__": "tellback.worlds.synthetic"}
        parsed = doctest.DocTestParser().get_doctest(
            text.replace("CHOICE = 0", f"CHOICE = {choice}"), scope, "typed", None, 0
        )
        outcome = doctest.DocTestRunner(verbose=False).run(parsed, out=lambda said: None)
        Spec._known.pop(("agent", "tested"), None)
        assert not outcome.failed
    assert len(set(found)) == 2


def test_a_spec_from_standard_input_is_refused() -> None:
    script = CELL + "\nfrom tellback.lab import RunSpec\nfrom tellback.worlds import Synthetic\n"
    script += "RunSpec(Synthetic(), Typed(), 10, 0).identity\n"
    done = subprocess.run(
        [sys.executable, "-"], input=script, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "SettingError: Typed has no identity" in done.stderr


# tellback itself.


def edit_package(monkeypatch: pytest.MonkeyPatch, end: str, text: bytes) -> None:
    """Let the files of tellback whose path ends so end with more."""
    read, stamp = tree.read, tree.stamp
    monkeypatch.setattr(tree, "read", lambda p: read(p) + (text if p.endswith(end) else b""))
    for name in ("tree", "rooms"):
        module = sys.modules[f"tellback.sources.{name}"]
        monkeypatch.setattr(
            module, "stamp", lambda p: (1, len(text)) if p.endswith(end) else stamp(p)
        )


def test_a_run_depends_on_the_part_of_tellback_that_it_reaches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [RunSpec(WORLD, agent, 30, 0) for agent in (LORIL(), Greedy())]
    before = [run.rooms().digests for run in runs]
    with monkeypatch.context() as patched:
        edit_package(patched, "/agents/loril.py", b"\n# a comment\n")
        assert [run.rooms().digests for run in runs] == before
    with monkeypatch.context() as patched:
        edit_package(patched, "/agents/loril.py", b"\nEDITED = 1\n")
        after = [run.rooms().digests for run in runs]
        assert [room for room in before[0] if before[0][room] != after[0][room]] == ["agents"]
        assert after[1] == before[1]
    for file in ("/protocol.py", "/models/mixture.py", "/worlds/synthetic.py", "/streams.py"):
        with monkeypatch.context() as patched:
            edit_package(patched, file, b"\nEDITED = 1\n")
            assert all(a != b.rooms().digests for a, b in zip(before, runs, strict=True)), file
    for file in ("/lab/compare.py", "/worlds/images.py", "/cli/run.py", "/agents/thompson.py"):
        with monkeypatch.context() as patched:
            edit_package(patched, file, b"\nEDITED = 1\n")
            assert [run.rooms().digests for run in runs] == before, file
