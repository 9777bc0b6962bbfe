"""Classes of one's own on the command line and in study files."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import tellback_here
from tests.support.patience import PATIENCE

TELLBACK = str(Path(sys.executable).with_name("tellback"))
EXAMPLES = Path(__file__).parents[2] / "examples"

MINE = '''
from collections import Counter

import numpy as np

from tellback.agents import LORIL


class Repeating:
    """Takes one response."""

    def __init__(self, response=0):
        self.response = response

    def respond(self, task, rng):
        return task.choose(self.response)

    def learn(self, task, choice, description):
        pass


class Wanting(Repeating):
    def __init__(self, dim):
        pass


live = Repeating()
spec = LORIL()
'''


def tellback(words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TELLBACK, *shlex.split(words)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "needy.py").write_text("import nowhere")
    (tmp_path / "broken.py").write_text("def f(:")
    return tmp_path


def test_a_plain_class_runs_in_several_processes_and_can_be_diagnosed(folder: Path) -> None:
    words = "run synthetic -a mine:Repeating -a uniform --rounds 50 --seeds 3-5 --set response=2"
    result = tellback(f"{words} --workers 2 --json", folder)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["reported"] == [3, 4, 5]
    assert found["agents"][0]["setting"] == "repeating response=2"
    runs = {one["run"] for one in found["runs"] if one["agent"] == "repeating"}
    sidecar = next((folder / "results").rglob(f"{min(runs)}.json"))
    assert json.loads(sidecar.read_text())["agent"]["source"].startswith("mine:Repeating ")

    by_hand = f"diagnose {min(runs)[:10]}"
    refused = tellback_here(*by_hand.split(), cwd=folder)
    assert refused.returncode == 2
    assert "--import mine:Repeating" in refused.stderr
    looked = tellback_here(*by_hand.split(), "--import", "mine:Repeating", "--json", cwd=folder)
    assert looked.returncode == 0, looked.stderr
    assert json.loads(looked.stdout)["cause"]
    suggested = tellback(found["diagnose"].removeprefix("tellback "), folder)
    assert suggested.returncode == 0, suggested.stderr

    (folder / "mine.py").write_text(MINE.replace("task.choose(self.response)", "task.choose(1)"))
    anew = tellback_here(*words.split(), "--on", "inline", "--json", cwd=folder)
    again = json.loads(anew.stdout)
    assert not runs & {one["run"] for one in again["runs"]}, "an edit is another run"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("run synthetic -a mine:Wanting", "needs dim, which has no default"),
        ("run synthetic -a mine:live", "nor a plain class with its methods"),
        ("run mine:Repeating", "cannot be a world: it has no task"),
        ("run synthetic -a mine:Repeating --set respnse=1", "Did you mean 'response'"),
        ("check mine:Wanting", "facts.dim and facts.instructions"),
        (
            "check 'a b/mine.py:Boltz'",
            "a b/mine.py is a file: go to its folder (cd 'a b') and name it mine:Boltz.",
        ),
        ("check mine.py:Boltz", "mine.py is a file: name it mine:Boltz."),
        (
            "check nowhere:Boltz",
            "nowhere cannot be imported: there is no module nowhere, neither in this folder nor",
        ),
        ("check needy:Boltz", "needy cannot be imported: there is no module nowhere"),
        ("check broken:Boltz", "broken cannot be imported: SyntaxError: "),
        ("check mine:Boltz", "Known: Repeating, Wanting, live, spec."),
    ],
)
def test_a_class_that_does_not_fit_is_refused_in_a_sentence(
    folder: Path, words: str, says: str
) -> None:
    result = tellback_here(*shlex.split(words), cwd=folder)
    assert result.returncode == 2
    assert says in result.stderr
    assert "Traceback" not in result.stderr


def test_the_example_study_has_an_agent_and_a_world_of_ones_own(tmp_path: Path) -> None:
    result = tellback(f"study run {EXAMPLES / 'own.toml'} --on inline --pdf --json", tmp_path)
    assert result.returncode == 0, result.stderr
    (study,) = json.loads(result.stdout)
    assert [one["agent"] for one in study["agents"]] == ["Imitator", "LORIL"]
    assert study["world"]["source"].startswith("own_world:Dice ")
    assert study["warnings"] == [], "what is chosen is chosen in other truths"
    assert (tmp_path / "results/studies/own/regret.pdf").read_bytes().startswith(b"%PDF")
    shown = tellback(f"study status {EXAMPLES / 'own.toml'} --json", tmp_path)
    (status,) = json.loads(shown.stdout)
    assert len(status["done"]) == status["planned"]


def test_list_shows_what_was_imported(folder: Path) -> None:
    words = "list --import mine:Repeating --json"
    listed = json.loads(tellback_here(*words.split(), cwd=folder).stdout)
    (mine,) = [one for one in listed if one["name"] == "repeating"]
    assert mine == {
        "role": "agent",
        "name": "repeating",
        "settings": {"response": 0},
        "what": "Takes one response.",
    }


def test_check_takes_a_world_and_says_so_where_sizes_do_not_fit(folder: Path) -> None:
    fixed = MINE + (
        "\n\nclass Fixed(Repeating):\n"
        "    def learn(self, task, choice, description):\n"
        "        assert len(task.responses) == 6\n"
    )
    (folder / "mine.py").write_text(fixed)
    wrong = tellback_here("check", "mine:Fixed", cwd=folder)
    assert wrong.returncode == 1
    assert "--world on the command line" in wrong.stdout
    words = "check mine:Fixed --world synthetic --set responses=6"
    right = tellback_here(*words.split(), cwd=folder)
    assert right.returncode == 0, right.stdout
