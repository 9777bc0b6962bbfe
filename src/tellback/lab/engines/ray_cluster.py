"""Runs on a Ray cluster."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tellback.errors import TellbackError, whole
from tellback.extras import from_extra
from tellback.lab.engines.environment import SINGLE_THREAD, environment
from tellback.lab.engines.interrupts import interrupts_noted
from tellback.lab.run_one import Failure, Job, Outcome, job_of, run_one
from tellback.lab.run_spec import RunSpec

POLL_SECONDS = 0.5
IN_FLIGHT = 3  # runs handed over for each processor: enough to keep it busy
RETRIES = 3  # for a run whose worker or node died
BUSY = "Starting Ray client server failed"  # Ray's message if it takes longer than 30 s
DIED = ("psutil.ZombieProcess", "psutil.NoSuchProcess")
"""What Ray says if the client server died as it started, now and then (ray-project/ray#63202)."""
JOINING_SECONDS = (0, 2, 10)  # waited before each attempt to join a cluster


@dataclass(frozen=True)
class RayCluster:
    """A Ray cluster, started here or joined.

    Results are sent back and stored on this machine. The nodes need no common disk, but the
    same versions of tellback and its libraries.

    Parameters
    ----------
    address : str, optional
        ``ray://host:port`` (through the cluster's client server) or ``host:port`` (where this
        machine is part of it). By default RAY_ADDRESS, or a new cluster on this machine.
    workers : int, optional
        How many processors a new cluster has; by default all.
    isolated : bool
        Whether each agent runs in a process of its own, apart from its world.
    """

    address: str | None = None
    workers: int | None = None
    isolated: bool = False

    def __post_init__(self) -> None:
        if self.workers is not None:
            whole("workers", self.workers)

    def run_all(
        self, runs: Sequence[RunSpec], progress: Callable[[int], object]
    ) -> Iterator[Outcome]:
        """The outcome of each run, as they end."""
        with (
            _connected(self.address, self.workers) as ray,
            interrupts_noted() as raise_if_interrupted,
        ):
            task = ray.remote(num_cpus=1, max_retries=RETRIES)(run_on_node)
            waiting, pending = deque(runs), dict[Any, RunSpec]()
            while waiting or pending:
                # Asked each time, because nodes come and go.
                limit = IN_FLIGHT * max(1, int(ray.cluster_resources().get("CPU", 1)))
                while waiting and len(pending) < limit:
                    run = waiting.popleft()
                    job = _demand_unedited(job_of(run))
                    pending[task.remote(job, isolated=self.isolated)] = run
                done, _ = ray.wait(list(pending), timeout=POLL_SECONDS)
                for reference in done:
                    outcome = _outcome(ray, reference, pending.pop(reference))
                    progress(outcome.run.rounds)
                    yield outcome
                raise_if_interrupted()


def _outcome(ray: Any, reference: Any, run: RunSpec) -> Outcome:
    try:
        outcome: Any = ray.get(reference)
    except ray.exceptions.RayError as error:  # its workers died more than RETRIES times
        return Failure(run, f"The run could not be played on the cluster: {error}\n")
    back: Outcome = replace(outcome, run=run)
    return back


def run_on_node(job: Job, isolated: bool = False) -> Any:
    """Play a run on a node; the outcome is sent back without the run.

    A class typed in a session is sent by value. Sent back, it would replace the functions of the
    class here by copies that no longer see the variables of the session.
    """
    outcome: Any = run_one(job, isolated=isolated)
    return replace(outcome, run=None)


def _demand_unedited(job: Job) -> Job:
    """Refuse a program edited since its start: its classes are sent as loaded, not as files."""
    mine = [name for name in job.run.edited(package=False) if name == _program()]
    if mine:
        raise TellbackError(f"{mine[0]} has changed since it was started. Start it again.")
    return job


def _program() -> str | None:
    return getattr(sys.modules["__main__"], "__file__", None)


def _knock(address: str) -> None:
    """Fail at once if nothing listens at the address: Ray would try for half a minute."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=5).close()


def _join(ray: Any, options: dict[str, Any]) -> None:
    """Join or start a cluster; try again if it is starting or busy, or its client server died."""
    for attempt, seconds in enumerate(JOINING_SECONDS, start=1):
        time.sleep(seconds)
        try:
            ray.init(**options)
            return
        except ConnectionError as error:
            passing = any(words in str(error) for words in (BUSY, *DIED))
            if not passing or attempt == len(JOINING_SECONDS):
                raise


@cache
def _token() -> str:
    """The token of clusters started here: one for all, because Ray caches the first it sees."""
    return secrets.token_hex(32)


@contextmanager
def _connected(address: str | None, workers: int | None) -> Iterator[Any]:
    """Ray, connected to a cluster; a cluster started here ends with the context."""
    address = address or os.environ.get("RAY_ADDRESS")
    settings = {"RAY_USAGE_STATS_ENABLED": "0"}  # makes no call to other hosts
    if address is None and "RAY_AUTH_MODE" not in os.environ:
        # Nobody else may use the cluster. Without this, Ray writes a token into the home folder.
        settings |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": _token()}
    options: dict[str, Any] = {
        "log_to_driver": False,
        "logging_level": logging.ERROR,
        "runtime_env": {"env_vars": SINGLE_THREAD},
    }
    if address is None:
        # Without an address Ray would join any cluster that is still running here.
        options |= {"address": "local", "num_cpus": workers, "include_dashboard": False}
        options |= {"_node_ip_address": "127.0.0.1"}
    else:
        options |= {"address": address}
    with environment(settings):
        ray = from_extra("ray", "ray", "A Ray cluster")
        try:
            if address is not None:
                _knock(address)
            _join(ray, options)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            where = address or "this machine"
            raise TellbackError(f"No Ray cluster at {where}: {error}.") from error
        try:
            yield ray
        finally:
            ray.shutdown()
