"""Whether the constants of the user's own modules are what their files say.

``mine.Agent.STEP = 2`` in a notebook changes what that process plays, but no source: workers would
play the old value, and results of the new one would be stored under the name of the old.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from tellback.sources.classes import LIVE, label, whole_source
from tellback.sources.tree import Stamp, read, stamp

_PLAIN = (bool, int, float, complex, str, bytes, tuple, type(None))


def altered(classes: Iterable[type]) -> list[str]:
    """The constants that these classes depend on and that have another value now, in words."""
    modules = {name: file for one in classes for name, file in whole_source(one).modules.items()}
    found = []
    for name, file in modules.items():
        for path, value in _constants(file, stamp(file)):
            now = _loaded(sys.modules.get(name), path)
            if type(now) in _PLAIN and repr(now) != repr(value):
                found.append(
                    f"{'.'.join((label(name), *path))} is {now!r}, and in its file {value!r}"
                )
    return found


def _loaded(owner: object, path: tuple[str, ...]) -> object:
    for name in path:
        owner = vars(owner).get(name, altered) if hasattr(owner, "__dict__") else altered
        owner = vars(owner).get(LIVE, owner) if isinstance(owner, type) else owner
    return owner


@lru_cache(maxsize=1000)
def _constants(file: str, _: Stamp) -> list[tuple[tuple[str, ...], Any]]:
    try:
        tree = ast.parse(read(file))
    except (SyntaxError, ValueError):
        return []
    # Those that some function may set, by ``global``, or that are set twice, are none.
    declared = (node.names for node in ast.walk(tree) if isinstance(node, ast.Global))
    return list(_in_body(tree, (), {name for names in declared for name in names}))


def _in_body(
    owner: ast.Module | ast.ClassDef, path: tuple[str, ...], variables: set[str]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    stored = Counter(
        node.id
        for node in ast.walk(owner)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    for node in owner.body:
        if isinstance(node, ast.ClassDef):
            yield from _in_body(node, (*path, node.name), variables)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        given = getattr(node, "value", None)
        name = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else "__"
        if isinstance(given, ast.expr) and stored[name] == 1 and name not in variables:
            try:
                value = ast.literal_eval(given)
            except (ValueError, TypeError, SyntaxError):
                continue
            if type(value) in _PLAIN:
                yield (*path, name), value
