"""Running the service, in one process or several."""

from __future__ import annotations

import gc
import json
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from tellback.classroom.settings import Settings, is_loopback
from tellback.classroom.store import accounts
from tellback.classroom.store.database import Database
from tellback.classroom.web.app import create_app
from tellback.classroom.web.monitoring.metrics import FOLDER
from tellback.classroom.web.monitoring.request_log import log_to, logger
from tellback.classroom.web.security.connections import TimedProtocol
from tellback.classroom.web.security.revocations import SIZE
from tellback.errors import TellbackError

SETTINGS = "TELLBACK_CLASSROOM"
"""The environment variable with the settings, for each process of the service."""

SWITCH_SECONDS = 0.0005

SHUTDOWN_SECONDS = 5
"""How long requests may continue after the service was told to stop."""

HUNG_SECONDS = 60
"""After so long without an answer a process is replaced. On a busy machine it takes long to start:
with uvicorn's five seconds it was ended before it was up, again and again."""


def serve(
    settings: Settings, host: str, port: int, workers: int = 1, level: int = logging.INFO
) -> None:
    """Serve until interrupted, in so many processes, with this level of the log."""
    with tempfile.TemporaryDirectory(prefix="tellback-") as folder:
        shared = Path(folder) / "revocations"
        shared.write_bytes(bytes(SIZE))
        given = {"settings": asdict(settings), "level": level, "shared": str(shared)}
        os.environ[SETTINGS] = json.dumps(given)
        if workers > 1:
            _log(level)  # this process says when one of the others dies
            os.environ[FOLDER] = folder  # before they import ``prometheus_client``
        uvicorn.run(
            f"{__name__}:app_of_environment",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            access_log=False,
            log_config=None,
            server_header=False,
            http=TimedProtocol,
            proxy_headers=settings.secure,
            forwarded_allow_ips=list(settings.proxies),
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            timeout_worker_healthcheck=HUNG_SECONDS,
        )


def app_of_environment() -> FastAPI:
    """The service with the settings of the environment: the entry point of each process."""
    given = json.loads(os.environ[SETTINGS])
    _log(given["level"])
    threading.Thread(target=_end_with_the_main_process, daemon=True).start()
    # A thread that computes makes others wait for so long: usually 5 ms, as long as many requests.
    sys.setswitchinterval(SWITCH_SECONDS)
    values = given["settings"]
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    app = create_app(Settings(**{**values, **lists}), Path(given["shared"]))
    # What is there now stays: the garbage collector would look through all of it again and again,
    # for as long as ten requests.
    gc.collect()
    gc.freeze()
    return app


def _end_with_the_main_process() -> None:
    """Stop this worker when the main process is gone: it would hold the port."""
    main = multiprocessing.parent_process()
    if main is not None:  # the only process has none
        main.join()
        logger.warning("the main process is gone: this worker ends")
        signal.raise_signal(signal.SIGTERM)


def _log(level: int) -> None:
    """Have the classroom's log and that of the server on standard error, as lines of JSON."""
    server = logging.getLogger("uvicorn.error")
    server.addFilter(_warn_of_deaths)
    server.addHandler(log_to(level=level))
    server.setLevel(level)
    server.propagate = False


def _warn_of_deaths(record: logging.LogRecord) -> bool:
    """Have a process that died be a warning; uvicorn calls it information."""
    if record.getMessage().endswith("] died"):
        record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True


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
