"""Rounds a second of tellback, of other libraries and of bare NumPy, on the same problems.

    python -m benchmarks.peers                # about 15 minutes, and 10 more to install
    python -m benchmarks.peers --many         # vowpalwabbit among up to a million responses

The other libraries are installed into an environment of their own, in the user's cache, the newest
versions that this Python can install. Every measurement is a process of its own, in turns. It is
CPU time with one thread; the median of repeats counts.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import venv
from pathlib import Path
from statistics import median

from benchmarks.kept import keep
from tellback.folders import user_cache

PEERS = ("coba", "vowpalwabbit", "river", "mabwiser", "contextualbandits", "obp")
ONE_EACH = ("mabwiser", "contextualbandits", "obp")
"""Libraries with a parameter for each response: fresh responses cannot be told to them."""
CELLS = (
    ("50", "20", "fixed"),
    ("50", "20", "fresh"),
    ("2000", "20", "fixed"),
    ("2000", "20", "fresh"),
    ("10", "10", "lhi"),
)
REPEATS, SECONDS = 5, 0.5
TIMES_BAR, NUMPY_BAR, MANY_BAR = 30.0, 1.0, 10.0
MEMORY = 20 << 30
"""Bytes that a process of another library may use."""


def installed() -> tuple[Path, dict[str, str]]:
    """The Python of the peers' environment, and the version of each, or why there is none."""
    folder = user_cache() / "peers"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    versions = {}
    for name in PEERS:
        found = _version(python, name)
        tried = folder / f"{name}.tried"
        if not found and not tried.exists():
            print(f"Installing {name} ...", flush=True)
            pip = [str(python), "-m", "pip", "install", "--quiet", "--prefer-binary"]
            needs = _pinned("torch") if name == "obp" else []
            subprocess.run([*pip, *needs, name], capture_output=True, check=False)
            tried.touch()
            found = _version(python, name)
        versions[name] = found or "cannot be installed on this Python"
    return python, versions


def _pinned(name: str) -> list[str]:
    """A library in the version of the project's own tests: the newest PyTorch takes gigabytes."""
    lines = (Path(__file__).parents[1] / "constraints.txt").read_text().splitlines()
    return [line for line in lines if line.startswith(f"{name}==")]


def _version(python: Path, name: str) -> str:
    code = f"import importlib.metadata as m, {name}; print(m.version({name!r}))"
    ran = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    return ran.stdout.strip() if ran.returncode == 0 else ""


def seconds(python: Path, name: str, cell: tuple[str, str, str], budget: float) -> float | None:
    """CPU seconds a round in a process of its own; None if it fails, as for lack of memory."""
    loops = Path(__file__).parent / "peer_loops.py"
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    ours = name in ("tellback", "tellback_run", "numpy")
    ran = subprocess.run(
        [str(sys.executable if ours else python), str(loops), name, *cell, str(budget)],
        env={**os.environ, **single},
        preexec_fn=None if ours else _limited,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode == 0:
        return float(ran.stdout.split()[-1])
    print(f"{name}, {cell}: {ran.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    return None


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def peers() -> bool:
    """Measure all cells; whether both bars are met in each."""
    python, versions = installed()
    there = [name for name in PEERS if versions[name][0].isdigit()]
    measured: dict[str, dict[str, float | None]] = {}
    met = True
    for cell in CELLS:
        names = ["tellback", "numpy", *there]
        if cell[2] != "fixed":
            names = [name for name in names if name not in ONE_EACH]
        if cell[2] == "lhi":
            names.insert(1, "tellback_run")
        seconds(python, "tellback", cell, 0.01)  # compiles
        times: dict[str, list[float | None]] = {name: [] for name in names}
        for _ in range(REPEATS):
            for name in names:
                times[name].append(seconds(python, name, cell, SECONDS))
        found = {
            name: None if None in each else median(t for t in each if t is not None)
            for name, each in times.items()
        }
        title = f"K = {cell[0]}, d = {cell[1]}, {cell[2]}"
        measured[title] = found
        ours = min(t for name, t in found.items() if name.startswith("tellback") and t)
        others = [t for name, t in found.items() if name in there and t is not None]
        times_, bare = min(others) / ours, ours / (found["numpy"] or 1.0)
        met = met and times_ >= TIMES_BAR and bare <= NUMPY_BAR
        print(f"{title:28} {times_:6.1f} times the fastest library (bar {TIMES_BAR:g}), ", end="")
        print(f"{bare:5.2f} of NumPy's time (bar {NUMPY_BAR:g})", flush=True)
    keep("peers", measured, peers=versions)
    return met


def many() -> bool:
    """tellback against vowpalwabbit's search among many actions; sizes that do not fit are left."""
    python, versions = installed()
    measured: dict[str, dict[str, float | None]] = {}
    met = True
    for count in ("10000", "100000", "500000", "1000000"):
        cell = (count, "16", "fixed")
        names = ("tellback", "large_action_space", "large_action_space_parsed")
        found = {name: seconds(python, name, cell, 1.0) for name in names}
        measured[f"K = {count}, d = 16"] = found
        ours, theirs = found["tellback"], found["large_action_space_parsed"]
        if ours is not None and theirs is not None:
            met = met and theirs / ours >= MANY_BAR
            print(f"K = {count}: {theirs / ours:.0f} times (bar {MANY_BAR:g})", flush=True)
    keep("large_action_space", measured, vowpalwabbit=versions["vowpalwabbit"])
    return met


if __name__ == "__main__":
    sys.exit(0 if (many() if "--many" in sys.argv else peers()) else 1)
