"""A page of tables, figures and paragraphs: for reports that are not of studies."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tellback.files import atomic_write
from tellback.lab.charts.picture import Picture
from tellback.lab.report.inline import inline_svg
from tellback.lab.report.markup import Markup, element, joined, table
from tellback.lab.report.page import Section, document


def write_page(
    folder: Path,
    title: str,
    says: str,
    parts: Iterable[Section | Picture | Markup],
    notes: Iterable[str],
) -> list[Path]:
    """Write the page, and every figure as PNG and SVG; returns the files, the page first.

    Parameters
    ----------
    folder : Path
        Where to.
    title, says : str
        The heading, and a sentence below it: what was measured, on which seeds.
    parts : iterable of Section, Picture or Markup
        Tables, figures and HTML, in order.
    notes : iterable of str
        Paragraphs at the end.
    """
    body: list[Markup] = [element("h1", title), element("p", says, class_="soft")]
    files: list[Path] = []
    for part in parts:
        if isinstance(part, Section):
            body.append(joined([element("h2", part.title), table(part.headers, part.rows)]))
        elif isinstance(part, Picture):
            png, svg = part.write(folder)
            files += [png, svg]
            drawing = inline_svg(svg.read_text(encoding="utf-8"), f"{part.name}-", part.title)
            figure = element("figure", drawing, element("figcaption", part.says))
            body.append(joined([element("h2", part.title), figure]))
        else:
            body.append(part)
    body.append(element("footer", *(element("p", note) for note in notes)))
    path = folder / "report.html"
    with atomic_write(path) as temporary:
        temporary.write_text(document(title, body), encoding="utf-8")
    return [path, *files]
