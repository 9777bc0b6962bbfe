"""Files as syntax trees: their digest and their imports."""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterator
from typing import NamedTuple

from tellback.errors import SettingError

DIGITS = 16

Stamp = tuple[int, int]
"""When a file was written, in nanoseconds, and its size."""

NO_FILE: Stamp = (0, -1)


class Import(NamedTuple):
    """An import statement: ``from module import names``, or ``import module``."""

    level: int
    module: str
    names: tuple[tuple[str, str], ...]  # each with the name it is bound to


class Parsed(NamedTuple):
    """The digest and the imports of a file."""

    digest: str
    imports: tuple[Import, ...]


_parsed: dict[str, tuple[Stamp, Parsed]] = {}


def stamp(path: str) -> Stamp:
    """The modification time and size of a file."""
    try:
        found = os.stat(path)  # noqa: PTH116 (asked for thousands of times)
    except OSError:
        return NO_FILE
    return found.st_mtime_ns, found.st_size


def parsed(path: str) -> Parsed:
    """The file as it is now on the disk; parsed once, and again when it has changed."""
    now = stamp(path)
    known = _parsed.get(path)
    if known is None or known[0] != now:
        known = _parsed[path] = now, parse(read(path))
    return known[1]


def read(path: str) -> bytes:
    """The content of a file."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError as error:
        raise SettingError(
            f"Nothing that depends on {path} has an identity by which its results could be kept: "
            f"the file cannot be read ({error.strerror})."
        ) from error


def parse(content: bytes) -> Parsed:
    """What counts of the content of a file; all of it, where it is not Python."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return Parsed(hashlib.sha256(content).hexdigest()[:DIGITS], ())
    return Parsed(digest_of(tree), tuple(_imports(tree)))


def digest_of(tree: ast.AST) -> str:
    """A digest of a tree without docstrings and positions.

    Fields that are empty are left out: later versions of Python have more of them.
    """
    parts: list[str] = []
    waiting: list[object] = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.AST):
            values = one.__dict__
            if "body" in values and _has_docstring(one):
                values = {**values, "body": values["body"][1:]}
            fields = [name for name in one._fields if values.get(name) not in (None, [])]
            parts.append(f"{type(one).__name__}:{','.join(fields)}")
            waiting.extend(values[name] for name in fields)
        elif isinstance(one, list):
            parts.append(str(len(one)))
            waiting.extend(one)
        else:
            parts.append(repr(one))
    return hashlib.sha256("\n".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:DIGITS]


def _has_docstring(node: ast.AST) -> bool:
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    first = node.body[0] if node.body else None
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )


def _imports(tree: ast.AST) -> Iterator[Import]:
    """Every import statement, those within functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(0, alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = tuple((alias.name, alias.asname or alias.name) for alias in node.names)
            yield Import(node.level, node.module or "", names)
        elif isinstance(node, ast.Call) and (named := _named(node)):
            yield Import(0, named, ())


def _named(call: ast.Call) -> str | None:
    """The module that ``import_module("name")`` or ``__import__("name")`` imports."""
    function = call.func
    called = getattr(function, "attr", None) or getattr(function, "id", None)
    given = call.args[0] if call.args else None
    if called not in ("import_module", "__import__") or not isinstance(given, ast.Constant):
        return None
    return given.value if isinstance(given.value, str) else None
