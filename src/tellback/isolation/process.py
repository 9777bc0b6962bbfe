"""The process of an isolated agent, as the referee starts it, talks to it and ends it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tellback.isolation import wire

PROGRAM = "tellback.isolation.child"
PATIENCE_SECONDS = 2.0  # with a process that is to end, before it is killed
LOOK_MILLISECONDS = 1000  # how often to see whether a process that is silent still lives
_CHUNK = 1 << 12


class AgentProcess:
    """A program that serves an agent. It leads a process group, which ends with it."""

    def __init__(self) -> None:
        # A program of its own, and not a fork: nothing of this process is in it. Nor is it
        # multiprocessing's spawn, which would import the program that holds the world.
        paths = [path or str(Path.cwd()) for path in sys.path]
        # Nothing is ever written to the lifeline. When this process ends, however it does,
        # the system closes it, and the other end notices.
        theirs, self._lifeline = os.pipe()
        program = f"import sys; sys.path[:] = {paths!r}; from {PROGRAM} import main; main({theirs})"
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,  # nothing must be left to write when the pipes are closed
                pass_fds=(theirs,),
                process_group=0,  # so that ``end`` can kill what it has started
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(theirs)
        self._owner = os.getpid()
        to: Any = self._popen.stdin
        back: Any = self._popen.stdout
        self._to, self._from = to, back
        self._writable, self._readable = select.poll(), select.poll()
        self._writable.register(to, select.POLLOUT)
        self._readable.register(back, select.POLLIN)
        for pipe in (to, back):
            os.set_blocking(pipe.fileno(), False)
        self._read = bytearray()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """How it ended; None until ``end``."""
        return self._popen.returncode

    def send(self, message: bytes) -> None:
        """Write a frame; an EOFError, OSError or ValueError if the process has ended."""
        left = memoryview(wire.framed(message))
        while left:
            written = self._to.write(left)
            if written is None:  # the pipe is full
                self._wait(self._writable)
            else:
                left = left[written:]

    def receive(self, most: int) -> bytes:
        """Read a frame of so many bytes at most; the same errors."""
        return self._taken(wire.length_of(self._taken(wire.HEADER), most))

    def _taken(self, count: int) -> bytes:
        while len(self._read) < count:
            self._wait(self._readable)
            data = self._from.read(max(_CHUNK, count - len(self._read)))
            if data is not None:
                if not data:
                    raise EOFError
                self._read += data
        taken = bytes(self._read[:count])
        del self._read[:count]
        return taken

    def _wait(self, ready: select.poll) -> None:
        # A process that the agent forked may hold the pipe open when the agent's has ended.
        while not ready.poll(LOOK_MILLISECONDS):
            if self._exited() and not ready.poll(0):
                raise EOFError

    def _exited(self) -> bool:
        if self._popen.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self._popen.poll() is not None
        # Not by waiting for it, which would free its number: ``end`` kills by the number.
        try:
            look = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self._popen.pid, look) is not None
        except ChildProcessError:
            return True

    def end(self) -> None:
        """Have the process end; kill it, and what it has started, if it does not."""
        self._to.close()
        self._from.close()
        if os.getpid() != self._owner:  # a fork of this process: the agent is not its own
            return
        try:
            deadline, pause = time.monotonic() + PATIENCE_SECONDS, 0.001
            while not self._exited() and time.monotonic() < deadline:
                time.sleep(pause)
                pause = min(2 * pause, 0.05)
        finally:  # also after a second Ctrl-C
            if self._popen.returncode is None:
                with suppress(OSError):
                    os.killpg(self._popen.pid, signal.SIGKILL)
            self._popen.wait()
            os.close(self._lifeline)
