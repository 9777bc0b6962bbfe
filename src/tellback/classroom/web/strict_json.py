"""Strict JSON (RFC 8259): UTF-8, no duplicate names, no NaN, no endless nesting.

This module imports little: large bodies are read by a process beside the service.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.errors import FieldError

LARGE = 2**16
"""Bytes of a body that is read elsewhere: handing it over takes as long as reading 10 KB."""

MOST_REST = 2**20
"""Bytes of a line besides the candidates of a task, and pictures."""

MOST_CANDIDATES = 100_000

LISTS = ("texts", "images")
FEATURES = "features"


def strict_json(body: bytes) -> Any:
    """The value of a body, or a ``JSONDecodeError``."""
    try:
        return json.loads(body.decode(), parse_constant=_refuse, object_pairs_hook=_only_once)
    except json.JSONDecodeError:
        raise
    except UnicodeDecodeError as error:
        raise json.JSONDecodeError("It is not UTF-8", "", 0) from error
    except RecursionError as error:
        raise json.JSONDecodeError("It has too many brackets", "", 0) from error
    except _NotStrictError as error:
        raise json.JSONDecodeError(str(error), "", 0) from error
    except ValueError as error:
        raise json.JSONDecodeError("A number has too many digits", "", 0) from error


def large_json(body: bytes) -> Any:
    """The value of a large body, with features as an array."""
    return _limited(strict_json(body), LARGE)


def long_line(line: bytes) -> Any:
    """The value of a long line of an import: a round, or an event, without what is not read."""
    value = strict_json(line)
    if not isinstance(value, dict) or not isinstance(value.get("shown"), dict):
        return _limited(value, MOST_REST)
    shown = _limited(value.pop("shown"), MOST_REST)
    if isinstance(value.get("data"), dict):
        value["data"].pop(FEATURES, None)  # those of the chosen response: they are shown, too
    return _limited(value, MOST_REST) | {"shown": shown}


def long_response(line: bytes) -> Any:
    """The value of a long line of own material."""
    return _limited(strict_json(line), MOST_REST, ("images",))


def _limited(value: Any, most: int, large: tuple[str, ...] = (FEATURES, *LISTS)) -> Any:
    """The value, with features as an array.

    Only the candidates of a task may be large. All else is refused here: whoever receives
    the value would need as long for it as for parsing.
    """
    rest = dict(value) if isinstance(value, dict) else {"body": value}
    found = {name: rest.pop(name) for name in large if name in rest}
    if len(json.dumps(rest)) > most:
        sizes = {name: len(name) + len(json.dumps(one)) for name, one in rest.items()}
        name = max(sizes, key=sizes.__getitem__)[:100]
        raise FieldError(name, f"{name}: It is too large.")
    for name in LISTS:
        listed = found.get(name) or ()
        if len(listed) > MOST_CANDIDATES:
            raise FieldError(name, f"{name}: It has more than {MOST_CANDIDATES:,} entries.")
        for place, one in enumerate(listed):
            if not isinstance(one, str):
                where = f"{name}.{place}"
                raise FieldError(where, f"{where}: Input should be a valid string.")
    if found.get(FEATURES) is None:
        return value
    return value | {FEATURES: _matrix(found[FEATURES])}


def _matrix(rows: Any) -> Array:
    """Features as an array; an error names the first that is no number."""
    if not isinstance(rows, list):
        raise FieldError(FEATURES, f"{FEATURES}: Input should be a valid list.")
    for i, row in enumerate(rows):
        if not isinstance(row, list):
            raise FieldError(f"{FEATURES}.{i}", f"{FEATURES}.{i}: Input should be a valid list.")
        if len(row) != len(rows[0]):
            where = f"{FEATURES}.{i}"
            says = f"{where} must have {len(rows[0])} numbers, not {len(row)}."
            raise FieldError(where, says)
        if not _NUMBERS.issuperset(map(type, row)):
            j = next(j for j, one in enumerate(row) if type(one) not in _NUMBERS)
            where = f"{FEATURES}.{i}.{j}"
            raise FieldError(where, f"{where}: Input should be a valid number.")
    try:
        return np.array(rows, dtype=np.float64)
    except OverflowError as error:
        raise FieldError(FEATURES, f"{FEATURES}: A number has too many digits.") from error


_NUMBERS = {int, float}


class _NotStrictError(ValueError):
    """What Python's parser would let pass."""


def _refuse(constant: str) -> None:
    raise _NotStrictError(f"{constant} is no number of JSON")


def _only_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise _NotStrictError(f"The name {twice[:100]!r} occurs more than once")
    return found
