"""Results of benchmarks: one file each, with the machine and the versions."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def keep(name: str, measured: Any, **about: Any) -> None:
    """Write what was measured to ``results/NAME.json``."""
    machine = {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        **about,
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": machine, "measured": measured}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n")


def kept(name: str) -> dict[str, Any]:
    """What was measured last, and the machine; an error that names the command if nothing was."""
    try:
        found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    except FileNotFoundError as error:
        raise SystemExit(f"Run python -m benchmarks.{name} first.") from error
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
