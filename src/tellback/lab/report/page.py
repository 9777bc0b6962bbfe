"""The HTML page of a report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain, count

from tellback import __version__
from tellback.lab.charts.picture import Picture
from tellback.lab.pairs import Pair, headline
from tellback.lab.report.inline import inline_svg
from tellback.lab.report.markup import Markup, element, joined, table, text
from tellback.lab.report.tables import (
    describe,
    finals_table,
    pairs_table,
    provenance_table,
    warnings,
)
from tellback.lab.results import Results

LONGEST_SLUG = 80
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Nothing may be fetched, whatever a name in a study contains."""


ONE_LOOK = (
    "Seeds were added until a comparison was decided or the budget was spent. The intervals of "
    "pairs are valid under that rule; those of single agents, slopes and bands are for one look."
)


HOW_TO_READ = (
    "Regret is computed from a reward that the agents never see. Agents with the same seed meet "
    "the same tasks, so differences are paired by seed. Settings are chosen on seeds that are not "
    "reported. The interval of a pair is Student's, or a confidence sequence if seeds were added "
    "until a comparison was decided; undecided means that it holds zero. The order of agents comes "
    "from the reported seeds."
)


@dataclass(frozen=True)
class Section:
    """A table at the top of a report, such as the paper's claims."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[object]]


Drawing = tuple[Picture, str]
"""A picture, and its SVG."""


@dataclass(frozen=True)
class DrawnStudy:
    """A study with its charts."""

    results: Results
    drawings: Sequence[Drawing]


def page(
    title: str,
    drawn: Sequence[DrawnStudy],
    sections: Sequence[Section] = (),
    pictures: Sequence[Drawing] = (),
) -> str:
    """The report of some studies, with pictures before them."""
    found = [one.results for one in drawn]
    body = [
        element("h1", title),
        element("p", f"{len(found)} comparisons, tellback {__version__}.", class_="soft")
        if len(found) > 1
        else "",
        _headlines(found),
        *(joined([element("h2", s.title), table(s.headers, s.rows)]) for s in sections),
        *(_figure("h2", drawing) for drawing in pictures),
        _contents(found) if len(found) > 1 else "",
        *(_study(one, i) for i, one in enumerate(drawn)),
        element("footer", HOW_TO_READ),
    ]
    style = (files("tellback.lab.report") / "style.css").read_text()
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(title)}</title><style>{style}</style></head>"
        f"<body><main>{joined(body)}</main></body></html>\n"
    )


def _headlines(found: Sequence[Results]) -> Markup:
    """For each study, the comparison of the two best agents, or of the two it is to decide."""
    items = []
    for results in found:
        first = headline(results)
        if first is None:
            continue
        where = element("small", results.study.name) if len(found) > 1 else ""
        beaten = _beaten_too(first, results.pairs())
        items.append(element("li", first.sentence, beaten, where, class_=first.verdict))
    return element("ul", *items, class_="headlines")


def _beaten_too(first: Pair, pairs: Sequence[Pair]) -> str:
    """The other agents that the winner of a headline beats, all pairs judged together."""
    others = [p.theirs for p in pairs if p.ours == first.ours and p.verdict == "less"]
    others = [name for name in others if name != first.theirs]
    return f" {first.ours} has less regret than {' and '.join(others)} too." if others else ""


def _figure(heading: str, drawing: Drawing, prefix: str = "", of: str = "") -> Markup:
    """A picture with its title and caption; the prefix tells its identifiers from others'."""
    picture, svg = drawing
    drawn = inline_svg(svg, f"{prefix}{picture.name}-", f"{picture.title}{of}")
    caption = element("figcaption", picture.says)
    return joined([element(heading, picture.title), element("figure", drawn, caption)])


def _contents(found: Sequence[Results]) -> Markup:
    items = [
        element("li", element("a", results.study.name, href=f"#{_anchor(i)}"))
        for i, results in enumerate(found)
    ]
    return element("nav", element("ul", *items), aria_label="Studies")


def _anchor(number: int) -> str:
    return f"study-{number + 1}"


def _study(drawn: DrawnStudy, number: int) -> Markup:
    results, prefix, of = drawn.results, f"{_anchor(number)}-", f": {drawn.results.study.name}"
    return joined(
        [
            element("h2", results.study.name, id=_anchor(number)),
            element("p", describe(results), ".", class_="soft"),
            element("p", ONE_LOOK, class_="soft") if results.study.decide else "",
            warnings(results),
            finals_table(results),
            pairs_table(results.pairs()),
            *(_figure("h3", one, prefix, of) for one in drawn.drawings),
            element("details", element("summary", "What was run"), provenance_table(results)),
        ]
    )


def slug(name: str) -> str:
    """A name for a folder.

    Examples
    --------
    >>> slug("|X| = 10, ties at random")
    'x-10-ties-at-random'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:LONGEST_SLUG].strip("-") or "study"


def slugs(names: Sequence[str]) -> list[str]:
    """Names for folders, numbered where two would be the same.

    Examples
    --------
    >>> slugs(["few?", "few!", "many"])
    ['few', 'few-2', 'many']
    """
    found: list[str] = []
    for name in names:
        first = slug(name)
        numbered = (f"{first}-{i}" for i in count(2))
        found.append(next(s for s in chain([first], numbered) if s not in found))
    return found
