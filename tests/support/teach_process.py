"""The command line as a process, and a client for what it serves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from tests.support.patience import PATIENCE

BIN = Path(sys.executable).parent


@contextmanager
def running(home: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [BIN / "tellback", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_DATA_HOME": str(home), "COLUMNS": "200"},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its workers, too
        process.communicate()


@contextmanager
def answering(url: str, process: subprocess.Popen[str]) -> Iterator[httpx.Client]:
    """A client, once the service answers."""
    with httpx.Client(base_url=url, timeout=PATIENCE) as client:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                client.get("/api/v1/lessons")
                break
            except httpx.TransportError:
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline
                time.sleep(0.1)
        yield client


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err
