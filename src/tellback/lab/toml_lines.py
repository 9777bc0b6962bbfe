"""The line of each key in a TOML file, which the parser of the standard library does not give."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

Path = tuple[str | int, ...]
"""Keys from the top; an integer is an index into an array of tables."""


class Lines:
    r"""The lines of the keys of a document that is known to be valid TOML.

    Examples
    --------
    >>> lines = Lines('rounds = 10\n\n[agents.greedy]\nkind = "greedy"\n')
    >>> lines.of(("agents", "greedy", "kind"))
    4
    >>> lines.of(("agents", "greedy", "model"))  # missing: the line of its table
    3
    """

    def __init__(self, text: str) -> None:
        self._lines: dict[Path, int] = {}
        table: Path = ()
        arrays: dict[Path, int] = {}
        for number, statement in _statements(text):
            parsed = tomllib.loads(statement)
            if statement.startswith("["):
                table = _header(parsed, arrays, statement.startswith("[["))
                for end in range(1, len(table) + 1):
                    self._lines.setdefault(table[:end], number)
            else:
                for path in _paths(parsed):
                    self._lines.setdefault((*table, *path), number)

    def of(self, path: Path) -> int:
        """The line of a key, or of the innermost table around it that has one."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Headers and assignments with their first line: the shortest pieces that parse alone."""
    lines = text.replace("\r\n", "\n").split("\n")  # TOML has no other line ends
    start = 0
    while start < len(lines):
        end = start + 1
        if lines[start].strip() and not lines[start].strip().startswith("#"):
            while not _parses("\n".join(lines[start:end])) and end < len(lines):
                end += 1
            yield start + 1, "\n".join(lines[start:end]).strip()
        start = end


def _parses(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _header(parsed: Mapping[str, Any], arrays: dict[Path, int], is_array: bool) -> Path:
    """The path of a table, with the elements of arrays that it is in."""
    (keys,) = (path for path in _paths(parsed) if not _beyond(parsed, path))
    path: Path = ()
    for i, key in enumerate(keys):
        path = (*path, key)
        if is_array and i == len(keys) - 1:
            arrays[path] = arrays.get(path, -1) + 1
        if path in arrays:
            path = (*path, arrays[path])
    return path


def _beyond(parsed: Any, path: Path) -> bool:
    for key in path:
        parsed = parsed[key]
    return isinstance(parsed, dict) and bool(parsed)


def _paths(parsed: Any) -> Iterator[Path]:
    """The paths of all keys, those of inline tables included."""
    if isinstance(parsed, Mapping):
        for key, value in parsed.items():
            yield (key,)
            for rest in _paths(value):
                yield (key, *rest)
