"""Recordings as CSV: a row for each description."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from reprlib import repr as short
from typing import Any

from tellback.errors import SettingError, unknown_name

COLUMNS = ("id", "group", "goal", "text", "image", "description", "person")
NEEDED = ("id", "group", "description")
NUMBER = "f:"
"""The columns of numbers begin so."""

OWN_GROUP = "own"
"""The group of responses that nobody has grouped."""


def responses_in_table(lines: Iterator[str], texts: bool = False) -> Iterator[tuple[int, Any]]:
    """The data of each response with the line where it begins, or what is wrong with a line.

    Rows with the same id are descriptions of the same response. Its other columns are in its first
    row; later rows repeat them or leave them empty.

    With ``texts``, it may be any table with a column ``text``, or with one column: a row without an
    id is a response of its own, and columns with other names are left out.
    """
    first_line = next(lines, "")
    # Spreadsheets write semicolons where the comma is in numbers.
    by = ";" if ";" in first_line and "," not in first_line else ","
    rows = csv.reader(
        chain([first_line], lines) if first_line else lines, delimiter=by, strict=True
    )
    try:
        names = next(rows, [])
        header = _header_of_texts(names) if texts else _header(names)
    except (SettingError, csv.Error) as error:
        yield 1, SettingError(str(error))
        return
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    while True:
        line = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            break
        except csv.Error as error:
            yield line, SettingError(f"This is not CSV: {error}.")
            continue
        if not any(row):
            continue
        try:
            data = _data(header, row)
            if texts:
                data = {**data, "id": data["id"] or f"line {line}"}
                data.setdefault("group", OWN_GROUP)
            first = found.setdefault(data["id"], (line, data))[1]
            if first is not data:
                _add(first, data)
        except SettingError as error:
            yield line, error
    yield from found.values()


def _header(names: list[str]) -> list[str]:
    header = [name.strip() for name in names]
    for name in header:
        if name not in COLUMNS and not name.startswith(NUMBER):
            known = (*COLUMNS, f"{NUMBER}NAME")
            raise SettingError(str(unknown_name("column", name[:60], known)))
        if header.count(name) > 1:
            raise SettingError(f"The column {name!r} is there twice.")
    for name in NEEDED:
        if name not in header:
            raise SettingError(f"The column {name!r} is missing.")
    return header


def _header_of_texts(names: list[str]) -> list[str]:
    header = ["text"] if len(names) == 1 else [name.strip() for name in names]
    if "text" not in header:
        raise SettingError("The column 'text' is missing, and there are several.")
    known = [name if name in COLUMNS and name != "image" else "" for name in header]
    for name in COLUMNS:
        if known.count(name) > 1:
            raise SettingError(f"The column {name!r} is there twice.")
    return known


def _data(header: list[str], row: list[str]) -> dict[str, Any]:
    if len(row) != len(header):
        raise SettingError(f"There must be {len(header)} columns as in line 1, not {len(row)}.")
    cells = dict(zip(header, row, strict=True))
    numbers = {name: cells[name] for name in header if name.startswith(NUMBER)}
    given = any(number.strip() for number in numbers.values())
    data: dict[str, Any] = {
        name: cells[name] for name in ("id", "group", "goal", "text", "image") if cells.get(name)
    }
    if given:
        data["features"] = [_number(name, number) for name, number in numbers.items()]
    said = cells.get("description", "")
    data["descriptions"] = [{"text": said, "person": cells.get("person", "")}] if said else []
    return {"id": "", **data}


def _number(name: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        raise SettingError(f"{name} must be a number, not {short(cell)}.") from error


def _add(first: dict[str, Any], data: dict[str, Any]) -> None:
    for name, value in data.items():
        if name != "descriptions" and value != first.get(name):
            raise SettingError(
                f"{name} must be that of the first row with the id {first['id']!r}, "
                f"{short(first.get(name, ''))}, or empty, not {short(value)}."
            )
    first["descriptions"] += data["descriptions"]
