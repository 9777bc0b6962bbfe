"""Work in a process beside the service."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tellback.classroom.side_process import NICENESS, SideProcess
from tellback.classroom.turns import BusyError
from tellback.classroom.web.strict_json import large_json
from tellback.errors import FieldError
from tests.support.patience import PATIENCE


@pytest.fixture
def beside() -> Iterator[SideProcess]:
    process = SideProcess()
    yield process
    process.end()


def test_work_is_done_in_another_process_that_yields(beside: SideProcess) -> None:
    there = beside(os.getpid)
    assert there != os.getpid()
    assert beside(os.getpid) == there
    assert beside(os.nice, 0) == os.nice(0) + NICENESS


def test_errors_come_back_as_they_are(beside: SideProcess) -> None:
    with pytest.raises(ZeroDivisionError):
        beside(divmod, 1, 0)
    with pytest.raises(FieldError, match="features") as error:
        beside(large_json, b'{"features": 5}')
    assert error.value.field == "features"


def test_what_is_printed_there_is_no_result(
    beside: SideProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    assert beside(subprocess.call, [sys.executable, "-c", "print('a word')"]) == 0
    assert beside(abs, -1) == 1
    assert "a word" in capfd.readouterr().err


def test_a_killed_process_is_replaced(beside: SideProcess) -> None:
    with pytest.raises(BusyError):
        beside(signal.raise_signal, signal.SIGKILL)
    os.kill(beside(os.getpid), signal.SIGKILL)
    assert beside._process is not None
    beside._process.wait(PATIENCE)
    assert beside(abs, -1) == 1


def test_it_ends_with_the_process_that_started_it() -> None:
    program = (
        "import os, signal\n"
        "from tellback.classroom.side_process import FOR_REQUESTS\n"
        "print(FOR_REQUESTS(os.getpid), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    # Both processes hold its standard error: reading it to the end waits for both.
    started = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=PATIENCE, check=False
    )
    assert started.returncode == -signal.SIGKILL
    assert int(started.stdout)
