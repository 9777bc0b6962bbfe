"""A process beside this one, for work that would hold the interpreter's lock.

A large body of JSON, its numbers and its pictures are each read in one call of compiled code, which
holds the lock for as long as it takes: no other request of this process would move. So they are
read in another process. It yields the processors to this one, and ends with it.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from tellback.classroom.turns import WAIT_SECONDS, BusyError, Turns

Result = TypeVar("Result")

PROGRAM = "from tellback.classroom.side_process import main; main()"
NICENESS = 10
END_SECONDS = 5.0
BUSY = "Too many large requests are being read: try again in a moment."


class SideProcess:
    """Runs functions of modules in a process of its own, one at a time.

    It is started by the first call, and again after it was killed. The modules of its functions
    should import little: the first call waits for that. ``wait`` is the longest wait for a turn.
    """

    def __init__(self, wait: float = WAIT_SECONDS) -> None:
        self.turns = Turns(BUSY, wait=wait)
        self._process: subprocess.Popen[bytes] | None = None
        self._ending = threading.Lock()

    def __call__(self, function: Callable[..., Result], *args: object) -> Result:
        """What a function returns or raises there.

        A ``BusyError`` if others are waiting, or if the process was killed meanwhile.
        """
        with self.turns:
            process = self._running()
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                pickle.dump((function, args), process.stdin, pickle.HIGHEST_PROTOCOL)
                process.stdin.flush()
                done, found = pickle.load(process.stdout)
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                self.end()
                raise BusyError(BUSY) from error
        if done:
            result: Result = found
            return result
        raise found

    def end(self) -> None:
        """End the process; the next call starts another."""
        with self._ending:
            process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # what it has not read is lost
                pipe.close()  # type: ignore[union-attr]
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.end()
        if self._process is None:
            paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": paths},
            )
            atexit.register(self.end)
        return self._process


def main() -> None:
    """Run what is sent, until the other process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is sent to both; the other one ends this
    with suppress(OSError):  # some units of systemd forbid it
        os.nice(NICENESS)
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    while True:
        try:
            function, args = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: tuple[bool, Any]
        try:
            answer = True, function(*args)
        except Exception as error:
            answer = False, error
        with suppress(BrokenPipeError):
            pickle.dump(answer, results, pickle.HIGHEST_PROTOCOL)
            results.flush()


FOR_REQUESTS = SideProcess()
FOR_IMPORTS = SideProcess(wait=600.0)
"""Those of this process: tasks and previews do not wait for imports, which have many parts."""
