"""A wheel built from this checkout, alone in an empty environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONSTRAINTS = "constraints.txt"
TEN_LINES = """
from tellback import play
from tellback.agents import LORIL, Greedy
from tellback.worlds import Synthetic

world = Synthetic(instructions=20, responses=5, rank=3)
print(play(world, LORIL(), rounds=50, seed=1).summary())
"""
OWN_CLASS = """
import pickle
import tellback
from tellback.worlds import Synthetic

@tellback.agent
class First:
    def __init__(self, response=0):
        self.response = response
    def respond(self, task, rng):
        return task.choose(self.response)
    def learn(self, task, choice, description):
        pass

class Plain:
    respond, learn = First.live().respond, First.live().learn
    response = 0

for spec in (First(response=1), tellback.agent(Plain)()):
    assert pickle.loads(pickle.dumps(spec)) == spec
    print(tellback.play(Synthetic(instructions=20, rank=3), spec, rounds=5))
"""
NEEDS = {
    "lab": "play(Synthetic(instructions=5, responses=3, rank=2), Greedy(), 3).table()",
    "vision": "Images(encoder=Autoencoder()).build(np.random.default_rng(0))",
    "pictures": "EfficientNet().build(None)",
    "language": "WordVectors().build()",
    "classroom": "Client('http://localhost')",
}
REFUSED = """
import numpy as np
from tellback import play
from tellback.agents import Greedy
from tellback.classroom.client import Client
from tellback.encoders import Autoencoder, EfficientNet, WordVectors
from tellback.errors import TellbackError
from tellback.worlds import Images, Synthetic
""" + "".join(
    f"""
try:
    {need}
except TellbackError as error:
    print({extra!r}, error)
"""
    for extra, need in NEEDS.items()
)


def run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


def _installed(name: str) -> str | None:
    """A Python of that name: on the path, or installed by pyenv without being on it."""
    found = shutil.which(name)  # pyenv's shims are there for versions that it does not allow
    if found is not None and run(found, "--version", cwd=ROOT).returncode == 0:
        return found
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return next(map(str, versions.glob(f"*/bin/{name}")), None)


OTHER_PYTHONS = [f"python3.{minor}" for minor in (11, 12, 13) if minor != sys.version_info.minor]
PYTHONS = [sys.executable, *(pytest.param(one, marks=pytest.mark.slow) for one in OTHER_PYTHONS)]


@pytest.fixture(scope="module", params=PYTHONS, ids=lambda python: Path(python).name)
def installed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """The programs of the environment, and the wheel."""
    python = _installed(request.param)
    if python is None:
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    built = run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    made = run(python, "-m", "venv", "--without-pip", folder / "env", cwd=folder)
    assert made.returncode == 0, made.stderr
    programs = folder / "env" / "bin"
    into = ("--python", programs / "python", "install", "--no-compile", "-c", ROOT / CONSTRAINTS)
    done = run(*pip, *into, wheel, cwd=folder)
    assert done.returncode == 0, done.stderr
    return programs, wheel


def test_the_core_alone_plays(installed: tuple[Path, Path], tmp_path: Path) -> None:
    done = run(installed[0] / "python", "-W", "error", "-c", TEN_LINES, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "regret" in done.stdout


def test_a_class_of_ones_own_plays_as_a_spec(installed: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN_CLASS)
    done = run(installed[0] / "python", "-W", "error", "own.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("<Run: ") == 2


def test_what_an_extra_adds_is_refused_with_the_command_that_adds_it(
    installed: tuple[Path, Path], tmp_path: Path
) -> None:
    programs, wheel = installed
    done = run(programs / "python", "-c", REFUSED, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for extra, said in zip(NEEDS, done.stdout.splitlines(), strict=True):
        assert said.startswith(f"{extra} ")
        assert f"pip install '{wheel}[{extra}]'" in said


@pytest.mark.parametrize(
    ("words", "extra"),
    [("run synthetic", "lab"), ("teach", "classroom"), ("study run any.toml", "lab")],
)
def test_a_command_that_needs_an_extra_says_so_in_a_line(
    installed: tuple[Path, Path], tmp_path: Path, words: str, extra: str
) -> None:
    programs, wheel = installed
    done = run(programs / "tellback", *words.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert f"pip install '{wheel}[{extra}]'" in done.stderr


def test_the_command_line_tells_its_version(installed: tuple[Path, Path], tmp_path: Path) -> None:
    done = run(installed[0] / "tellback", "--version", cwd=tmp_path)
    assert done.stdout.startswith("tellback ")
