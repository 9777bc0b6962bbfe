"""The lines of a text file, with what is wrong with them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from reprlib import repr as short
from typing import IO

from tellback.errors import SettingError

LONGEST_LINE = 2**24
"""In bytes. A longer line is refused, whatever it holds."""

_GZIP = b"\x1f\x8b"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Lines:
    """The lines of a text file, compressed or not; a line that is no text is an error.

    Attributes
    ----------
    read : int
        How many lines have been read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.read = 0

    def place(self, number: int) -> str:
        """A line, as errors name it."""
        return f"Line {number} of {self._path.name}"

    def __iter__(self) -> Iterator[str | SettingError]:
        self.read = 0
        try:
            with _opened(self._path) as file:
                while line := file.readline(LONGEST_LINE + 1):
                    self.read += 1
                    if len(line) > LONGEST_LINE:
                        yield SettingError(f"The line is longer than {LONGEST_LINE:,} bytes.")
                        return
                    if self.read == 1 and line.startswith(_UTF_16):
                        yield SettingError("This is text in UTF-16: save the file as UTF-8.")
                        return
                    yield self._text(line)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            self.read += 1
            yield SettingError(f"The file is damaged from here: {error}.")

    def _text(self, line: bytes) -> str | SettingError:
        try:
            return line.decode("utf-8-sig" if self.read == 1 else "utf-8")
        except UnicodeDecodeError as error:
            return SettingError(f"This is not text in UTF-8: {short(line)} ({error.reason}).")


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    with path.open("rb") as plain:
        packed = plain.read(2) == _GZIP
        plain.seek(0)
        if not packed:
            yield plain
            return
        with gzip.GzipFile(fileobj=plain) as file:
            yield file
