"""Start-up: how long until something can be used, as a ratio to ``import numpy``.

Seconds of CPU are compared, so that other work on the machine matters little. Warm: compiled code
is in the cache. Cold: the cache is empty, as on a machine that has never run this source.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.kept import keep
from benchmarks.speed import bar

REPEATS = 3
COLD_PLAY_BAR, WARM_SECONDS_BAR = 15.0, 5.0
PLAY = """
from tellback import play
from tellback.agents import LORIL
from tellback.worlds import Synthetic
play(Synthetic(), LORIL(), rounds=100, seed=1)
"""


def startup() -> bool:
    with tempfile.TemporaryDirectory() as warm:
        programs: dict[str, Callable[[str], float]] = {
            "import numpy": lambda cache: python("import numpy", cache),
            "import tellback": lambda cache: python("import tellback", cache),
            "tellback --help": lambda cache: cpu(["tellback", "--help"], cache),
            "first play": lambda cache: python(PLAY, cache),
            "teach": lambda cache: listening(["teach", "--no-browser"], cache),
            "serve --demonstration": lambda cache: listening(
                ["serve", "--no-accounts", "--demonstration"], cache
            ),
        }
        cold = {name: measured(warm) for name, measured in programs.items()}
        best = {
            name: min(measured(warm) for _ in range(REPEATS)) for name, measured in programs.items()
        }
    with tempfile.TemporaryDirectory() as empty:
        cold["teach"] = programs["teach"](empty)  # before, play had compiled some of it
    unit = best["import numpy"]
    print(f"Start-up: seconds of CPU, and as a ratio to import numpy ({unit:.2f} s):")
    print(f"  {'':24}{'warm':>8}{'ratio':>8}{'cold':>8}{'ratio':>8}")
    for name, seconds in best.items():
        print(
            f"  {name:24}{seconds:8.2f}{seconds / unit:8.1f}"
            f"{cold[name]:8.2f}{cold[name] / unit:8.1f}"
        )
    keep(
        "startup",
        {name: {"warm": best[name] / unit, "cold": cold[name] / unit} for name in best},
    )
    ratio = cold["first play"] / unit
    slowest = max(best["teach"], best["serve --demonstration"])
    for what, figure, limit in (
        ("first play, cold, ratio", ratio, COLD_PLAY_BAR),
        ("until it listens, warm, seconds", slowest, WARM_SECONDS_BAR),
    ):
        print(f"  {what:32}{figure:8.1f}   {bar(figure <= limit, limit)}")
    return ratio <= COLD_PLAY_BAR and slowest <= WARM_SECONDS_BAR


def python(code: str, cache: str) -> float:
    return cpu([sys.executable, "-c", code], cache)


def cpu(words: list[str], cache: str) -> float:
    """Seconds of CPU of a program that ends by itself."""
    process = subprocess.Popen(words, env=environment(cache), stdout=subprocess.DEVNULL)
    return ended(process)


def listening(words: list[str], cache: str) -> float:
    """Seconds of CPU of a service until it listens; its lessons are new."""
    with tempfile.TemporaryDirectory() as data, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        process = subprocess.Popen(
            ["tellback", *words, "--port", str(port)],
            env={**environment(cache), "XDG_DATA_HOME": data},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        return ended(process, -signal.SIGKILL)


def ended(process: subprocess.Popen[bytes], code: int = 0) -> float:
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == code, process.returncode
    return used.ru_utime + used.ru_stime


def environment(cache: str) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, "NUMBA_CACHE_DIR": cache, "PATH": path}


if __name__ == "__main__":
    sys.exit(0 if startup() else 1)
