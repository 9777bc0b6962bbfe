"""Running the service, in one process or several."""

from __future__ import annotations

import json
import logging
import os
import socket
from dataclasses import asdict

import uvicorn
from fastapi import FastAPI

from tellback.classroom.settings import Settings
from tellback.classroom.web.app import create_app
from tellback.classroom.web.logs import log_to
from tellback.errors import TellbackError

SETTINGS = "TELLBACK_CLASSROOM"
"""By this variable the processes of a service learn how it is run."""

PATIENCE_SECONDS = 5
"""How long requests may go on after the service was told to end."""


def serve(
    settings: Settings, host: str, port: int, workers: int = 1, level: int = logging.INFO
) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    settings : Settings
        How the service is run.
    host, port : str, int
        Where it listens.
    workers : int
        How many processes answer; each lesson is tended by one of them at a time.
    level : int
        From which level on it logs.
    """
    os.environ[SETTINGS] = json.dumps({"settings": asdict(settings), "level": level})
    uvicorn.run(
        f"{__name__}:app_of_environment",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=settings.secure,  # only a proxy's word on where a request comes from counts
        timeout_graceful_shutdown=PATIENCE_SECONDS,
    )


def app_of_environment() -> FastAPI:
    """The service as the environment describes it: what each process runs."""
    told = json.loads(os.environ[SETTINGS])
    log_to(level=told["level"])
    values = told["settings"]
    return create_app(Settings(**{**values, "hosts": tuple(values["hosts"])}))


def free_port(host: str, wanted: int) -> int:
    """The wanted port, or the next one that is free."""
    for port in range(wanted, min(wanted + 50, 65536)):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((host, port))
            except OSError:
                continue
            return port
    raise TellbackError(f"No port from {wanted} on is free on {host}.")
