"""Scripts in processes that have tellback loaded: to load it takes most of a second."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.patience import PATIENCE

LOADED = ["tellback.agents", "tellback.worlds", "tellback.lab"]


def run_script(script: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder, where a warning is an error; returns what it said."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    with TemporaryDirectory() as place:
        said = [Path(place) / name for name in ("out", "err")]
        process = context.Process(target=_run, args=(str(script), str(cwd), *map(str, said)))
        process.start()
        process.join(PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise AssertionError(f"{script.name} hangs")
        out, err = (path.read_text() for path in said)
        return subprocess.CompletedProcess([str(script)], process.exitcode, out, err)


def _run(script: str, cwd: str, out: str, err: str) -> None:
    for name, stream in ((out, 1), (err, 2)):
        os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY), stream)
    os.chdir(cwd)
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    warnings.simplefilter("error")
    runpy.run_path(script, run_name="__main__")
