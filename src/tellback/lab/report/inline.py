"""Figures within a page: they take the colours of the page, light or dark."""

from __future__ import annotations

import re

from tellback.lab.report.markup import Markup, text


def inline_svg(svg: str, prefix: str, label: str) -> Markup:
    """A drawing as an element of a page.

    Parameters
    ----------
    svg : str
        The file, as Matplotlib writes it.
    prefix : str
        Of the identifiers within the drawing, so that those of two do not clash.
    label : str
        What it shows, for those who cannot see it.
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    # Within tags only: what is written between them stays as it is.
    svg = re.sub(r"<[^>]+>", lambda tag: _adapted(tag[0], prefix), svg)
    # As wide as the page allows.
    svg = re.sub(r'(<svg [^>]*?)height="[^"]*" ', r"\1", svg, count=1)
    svg = re.sub(r'(<svg [^>]*?)width="[^"]*" ', r"\1", svg, count=1)
    return Markup(svg.replace("<svg ", f'<svg role="img" aria-label="{text(label)}" ', 1))


def _adapted(tag: str, prefix: str) -> str:
    tag = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', tag)
    tag = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", tag)
    tag = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}\1"', tag)
    # Black is the colour of text, and white that of the page.
    return tag.replace("#000000", "currentColor").replace("#ffffff", "none")
