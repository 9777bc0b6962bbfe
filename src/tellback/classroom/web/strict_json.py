"""Strict JSON (RFC 8259): UTF-8, no duplicate names, no NaN, no endless nesting.

This module imports little: large bodies are read by a process beside the service.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.errors import FieldError

LARGE = 2**16
"""Bytes of a body that is read elsewhere: handing it over takes as long as reading 10 KB."""

LISTS = ("texts", "images")
FEATURES = "features"


def strict_json(body: bytes) -> Any:
    """The value of a body, or a ``JSONDecodeError``."""
    try:
        return json.loads(body.decode(), parse_constant=_refuse, object_pairs_hook=_only_once)
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        # Not UTF-8, a number of thousands of digits, a name twice, or too many brackets.
        raise json.JSONDecodeError(type(error).__name__, "", 0) from error


def large_json(body: bytes) -> Any:
    """The value of a large body, with features as an array.

    Only the candidates of a task may make a body large. All else is refused here: whoever receives
    the value would need as long for it as for parsing.
    """
    value = strict_json(body)
    rest = dict(value) if isinstance(value, dict) else {"body": value}
    large = {name: rest.pop(name) for name in (FEATURES, *LISTS) if name in rest}
    if len(json.dumps(rest)) > LARGE:
        sizes = {name: len(name) + len(json.dumps(one)) for name, one in rest.items()}
        name = max(sizes, key=sizes.__getitem__)[:100]
        raise FieldError(name, f"{name}: It is too large.")
    for name in LISTS:
        for place, one in enumerate(large.get(name) or ()):
            if not isinstance(one, str):
                where = f"{name}.{place}"
                raise FieldError(where, f"{where}: Input should be a valid string.")
    if large.get(FEATURES) is None:
        return value
    return value | {FEATURES: _matrix(large[FEATURES])}


def _matrix(rows: Any) -> Array:
    """Features as an array; an error names the first that is no number."""
    if not isinstance(rows, list):
        raise FieldError(FEATURES, f"{FEATURES}: Input should be a valid list.")
    for i, row in enumerate(rows):
        if not isinstance(row, list):
            raise FieldError(f"{FEATURES}.{i}", f"{FEATURES}.{i}: Input should be a valid list.")
        if len(row) != len(rows[0]):
            raise FieldError(FEATURES, f"{FEATURES} must have as many numbers for each response.")
        if not _NUMBERS.issuperset(map(type, row)):
            j = next(j for j, one in enumerate(row) if type(one) not in _NUMBERS)
            where = f"{FEATURES}.{i}.{j}"
            raise FieldError(where, f"{where}: Input should be a valid number.")
    try:
        return np.array(rows, dtype=np.float64)
    except OverflowError as error:
        raise FieldError(FEATURES, f"{FEATURES}: A number has too many digits.") from error


_NUMBERS = {int, float}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON.")


def _only_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("A name occurs twice.")
    return found
