"""Work beside the runs: done in order, in another process, and ended by force after an error."""

from __future__ import annotations

import os
import time

import pytest

from tellback.lab import Study
from tellback.lab.engines.beside import Beside
from tellback.paper import synthetic
from tests.support.patience import PATIENCE


def test_it_works_in_another_process_one_after_another() -> None:
    with Beside() as beside:
        first, second = beside.submit(os.getpid), beside.submit(os.getpid)
        threads = beside.submit(os.getenv, "OMP_NUM_THREADS")
        assert first.result(PATIENCE) == second.result(PATIENCE) != os.getpid()
        assert threads.result(PATIENCE) == "1"


def test_inline_it_works_at_once_in_this_process() -> None:
    with Beside(inline=True) as beside:
        assert beside.submit(os.getpid).result(timeout=0) == os.getpid()


def test_an_error_there_is_raised_here() -> None:
    with Beside() as beside, pytest.raises(ZeroDivisionError):
        beside.submit(divmod, 1, 0).result(PATIENCE)


def test_after_an_error_here_nothing_is_waited_for() -> None:
    with pytest.raises(KeyboardInterrupt), Beside() as beside:  # noqa: PT012
        started = beside.submit(os.getpid).result(PATIENCE)
        beside.submit(time.sleep, 10 * PATIENCE)
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(started, 0)


def test_studies_reach_it_unchanged() -> None:
    studies = synthetic.studies(0.01)
    with Beside() as beside:
        assert beside.submit(list[Study], studies).result(PATIENCE) == studies
