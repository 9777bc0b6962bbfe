"""The line of every key of a TOML file is known."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback.lab.toml_lines import Lines


class Document:
    """Writes TOML, and knows on which line it wrote each key."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.where: dict[tuple[str | int, ...], int] = {}
        self._names = 0

    def key(self) -> tuple[str, str]:
        """A new key and how it is written."""
        self._names += 1
        odd = self.draw(st.text("ab.#=[]{}'\"\\\\ ,", max_size=4))
        how = self.draw(st.sampled_from(["bare", "basic", "literal"]))
        if how == "bare":
            name = f"k-{self._names}"
            return name, name
        if how == "literal":
            name = f"{odd.replace(chr(39), '')}{self._names}"
            return name, f"'{name}'"
        name = f"{odd}{self._names}"
        return name, json.dumps(name)

    def inline(self, path: tuple[str | int, ...], depth: int) -> str:
        """An inline table, its keys on this line."""
        parts = []
        for _ in range(self.draw(st.integers(0, 3))):
            name, written = self.key()
            self.where[*path, name] = len(self.lines) + 1
            nested = depth > 0 and self.draw(st.booleans())
            value = self.inline((*path, name), depth - 1) if nested else self.draw(PLAIN)
            parts.append(f"{written} = {value}")
        return f"{{ {', '.join(parts)} }}"

    def noise(self) -> None:
        self.lines += self.draw(st.lists(st.sampled_from(NOISE), max_size=2))

    def assignment(self, table: tuple[str | int, ...], prefixes: list[tuple[str, str]]) -> None:
        self.noise()
        name, written = self.key()
        path = table
        if self.draw(st.booleans()):
            prefix, prefix_written = self.draw(st.sampled_from(prefixes))
            path = (*path, prefix)
            self.where.setdefault(path, len(self.lines) + 1)
            written = f"{prefix_written}{self.draw(DOT)}{written}"
        path = (*path, name)
        self.where[path] = len(self.lines) + 1
        if self.draw(st.booleans()):
            value = self.draw(st.one_of(PLAIN, LONG))
        else:
            value = self.inline(path, 2)
        end = self.draw(st.sampled_from(["", "  # [a] = 'b", "#"]))
        self.lines += f"{self.draw(INDENT)}{written} = {value}{end}".split("\n")

    def assignments(self, table: tuple[str | int, ...]) -> None:
        prefixes = [self.key(), self.key()]
        for _ in range(self.draw(st.integers(0, 3))):
            self.assignment(table, prefixes)

    def header(self, path: tuple[str | int, ...], written: str) -> None:
        self.noise()
        self.where[path] = len(self.lines) + 1
        self.lines.append(f"{self.draw(INDENT)}{written}{self.draw(st.sampled_from(['', ' # ]']))}")
        self.assignments(path)

    def table(self) -> None:
        (a, a_written), (b, b_written) = self.key(), self.key()
        if self.draw(st.booleans()):
            self.header((a,), f"[{a_written}]")
        self.header((a, b), f"[ {a_written}{self.draw(DOT)}{b_written} ]")

    def array(self) -> None:
        (a, a_written), (b, b_written), (c, c_written) = self.key(), self.key(), self.key()
        for i in range(self.draw(st.integers(1, 3))):
            self.header((a, i), f"[[{a_written}]]")
            if self.draw(st.booleans()):
                self.header((a, i, b), f"[{a_written}.{b_written}]")
            for j in range(self.draw(st.integers(0, 2))):
                self.header((a, i, c, j), f"[[ {a_written} . {c_written} ]]")


NOISE = ["", "  ", "# a comment", "\t# [not.a.table]", "# key = 1", '# """']
INDENT = st.sampled_from(["", "  ", "\t"])
DOT = st.sampled_from([".", " . "])
PLAIN = st.sampled_from(
    [
        "1",
        "-0.5e3",
        "true",
        "1979-05-27",
        '"#"',
        "'[a]'",
        '"\\"]"',
        "[]",
        "[1, [2], '}']",
        '"""x"""',
    ]
)
LONG = st.sampled_from(
    [
        "[\n  1,\n  2, # ]\n]",
        "[ # k = 1\n\n  '[a]', [\n '#' ],\n # ]\n]",
        '"""\n[header]\nk = 1\n# no comment\n"""',
        "'''one\n[[array]]\n'x' = 2 '''",
        "[\n{ a = 1 },\n{ b = [\n2\n] } ]",
    ]
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[tuple[str | int, ...], int]]:
    document = Document(draw)
    document.assignments(())
    for _ in range(draw(st.integers(0, 3))):
        draw(st.sampled_from([document.table, document.array]))()
    document.noise()
    return draw(st.sampled_from(["\n", "\r\n"])).join(document.lines), document.where


@settings(max_examples=75, deadline=None)
@given(documents())
def test_the_line_of_every_key_is_known(
    written: tuple[str, dict[tuple[str | int, ...], int]],
) -> None:
    text, where = written
    lines = Lines(text)
    data = tomllib.loads(text)
    for path, number in where.items():
        found: Any = data
        for key in path:
            found = found[key]  # the document holds what it is said to hold
        assert lines.of(path) == number
        assert lines.of((*path, "not there", 3)) == number
    assert lines.of(()) == lines.of(("not there",)) == 1


@pytest.mark.parametrize("odd", ["\u2028", "\x85", "\u2029"])
def test_a_line_ends_where_toml_says_it_does(odd: str) -> None:
    assert Lines(f"# a{odd}b\nk = 'c{odd}d'\nl = 1\n").of(("l",)) == 3
