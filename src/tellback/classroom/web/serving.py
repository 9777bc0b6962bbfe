"""Running the service, in one process or several."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict

import uvicorn
from fastapi import FastAPI

from tellback.classroom.settings import Settings, is_loopback
from tellback.classroom.store import accounts
from tellback.classroom.store.database import Database
from tellback.classroom.web.app import create_app
from tellback.classroom.web.monitoring.request_log import log_to
from tellback.errors import TellbackError

SETTINGS = "TELLBACK_CLASSROOM"
"""The environment variable with the settings, for each process of the service."""

SHUTDOWN_SECONDS = 5
"""How long requests may continue after the service was told to stop."""


def serve(
    settings: Settings, host: str, port: int, workers: int = 1, level: int = logging.INFO
) -> None:
    """Serve until interrupted, in so many processes, with this level of the log."""
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
        proxy_headers=settings.secure,  # only a proxy may name the client's address
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )


def app_of_environment() -> FastAPI:
    """The service with the settings of the environment: the entry point of each process."""
    given = json.loads(os.environ[SETTINGS])
    log_to(level=given["level"])
    values = given["settings"]
    return create_app(Settings(**{**values, "hosts": tuple(values["hosts"])}))


def demand_safe_host(settings: Settings, host: str, database: Database) -> None:
    """Refuse to listen for other machines without accounts and an admin."""
    if is_loopback(host):
        return
    if not settings.accounts:
        raise TellbackError(
            f"Without accounts a classroom listens on this machine only, not on {host}. Leave the "
            f"accounts on, or listen on 127.0.0.1."
        )
    if not accounts.enabled_admins(database):
        raise TellbackError(
            f"To listen on {host} a classroom needs an admin. Make an account first: "
            f"tellback accounts add NAME --role admin"
        )
