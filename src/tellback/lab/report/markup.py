"""Small pieces of HTML. All text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Markup:
    """A value as text, escaped unless it is markup already."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))


def element(tag: str, *inside: object, **attributes: str) -> Markup:
    """An element; ``class_`` stands for class."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
    )
    return Markup(f"<{tag}{written}>{joined(inside)}</{tag}>")


def joined(parts: Iterable[object]) -> Markup:
    """Parts one after another."""
    return Markup("".join(text(part) for part in parts))


def table(headers: Sequence[object], rows: Iterable[Sequence[object]]) -> Markup:
    """A table that scrolls sideways on a narrow screen."""
    head = element("tr", *(element("th", header, scope="col") for header in headers))
    body = [element("tr", *(element("td", cell) for cell in row)) for row in rows]
    whole = element("table", element("thead", head), element("tbody", *body))
    return element("div", whole, class_="wide", tabindex="0")
