"""SVG figures inside a page, in its light or dark colours."""

from __future__ import annotations

import re

from tellback.lab.report.markup import Markup, text


def inline_svg(svg: str, prefix: str, label: str) -> Markup:
    """A drawing of Matplotlib's as an element of a page, with a label for screen readers.

    The identifiers in it get the prefix, so that those of two drawings do not clash.
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    # Only inside tags: text between them is not changed.
    svg = re.sub(r"<[^>]+>", lambda tag: _adapted(tag[0], prefix), svg)
    # As wide as the page allows.
    svg = re.sub(r'(<svg [^>]*?)height="[^"]*" ', r"\1", svg, count=1)
    svg = re.sub(r'(<svg [^>]*?)width="[^"]*" ', r"\1", svg, count=1)
    return Markup(svg.replace("<svg ", f'<svg role="img" aria-label="{text(label)}" ', 1))


def _adapted(tag: str, prefix: str) -> str:
    tag = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', tag)
    tag = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", tag)
    tag = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}\1"', tag)
    # Black becomes the text colour of the page, and white its background.
    return tag.replace("#000000", "currentColor").replace("#ffffff", "none")
