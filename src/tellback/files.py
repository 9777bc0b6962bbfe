"""Files that are either whole or absent."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tellback.errors import TellbackError

_PARTIAL = ".partial-"
_STALE_SECONDS = 3600  # no write takes nearly as long, on whatever machine shares the folder


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Give a temporary path to write to, and rename it to ``path`` once that succeeded.

    A reader, or a process that was killed half-way, sees the old file or the new one and
    never a part. The temporary file has the target's extension, because many writers
    choose the format by it.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=_PARTIAL, suffix=target.suffix, dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o644)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def demand_writable(folder: Path) -> None:
    """Make a folder, and find out now rather than after the work whether it can be written to."""
    try:
        with atomic_write(folder / ".writable") as temporary:
            temporary.write_text("yes")
        (folder / ".writable").unlink(missing_ok=True)
    except OSError as error:
        raise TellbackError(f"Nothing can be written to {folder}: {error}.") from error


def demand_folder_of(path: Path) -> None:
    """Refuse a file in a folder that is not there: its name may be mistyped."""
    if not path.parent.exists():
        raise TellbackError(f"There is no folder {path.parent}: make it, or name another.")


def remove_leftovers(folder: Path) -> None:
    """Remove what writes that were killed half-way have left below a folder."""
    for leftover in folder.rglob(f"{_PARTIAL}*"):
        with suppress(FileNotFoundError):
            if time.time() - leftover.stat().st_mtime > _STALE_SECONDS:
                leftover.unlink()
