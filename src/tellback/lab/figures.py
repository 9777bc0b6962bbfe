"""How figures are drawn and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl

from tellback.files import atomic_write

STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "svg.hashsalt": "tellback",  # the same figure gives the same file
    "svg.fonttype": "none",
}


@contextmanager
def styled() -> Iterator[None]:
    """The common style, for drawing and saving."""
    with mpl.rc_context(STYLE):
        yield


def new_figure(width: float, height: float) -> Any:
    """An empty figure, in inches; nothing is shown on any screen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Any, path: Path, suffixes: Iterable[str] = (".png",)) -> list[Path]:
    """Write a figure as PNG or SVG, or both; returns the files."""
    written = []
    figure.get_layout_engine().execute(figure)  # computes the layout once for all formats
    figure.set_layout_engine("none")
    for suffix in suffixes:
        target = path.with_name(path.name.removesuffix(suffix) + suffix)
        with atomic_write(target) as temporary:
            _write(figure, temporary, suffix)
        written.append(target)
    return written


def _write(figure: Any, path: Path, suffix: str) -> None:
    """Draw once: ``savefig`` would draw twice, the first time for the layout."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    figure.set_dpi(160)
    canvas: Any
    if suffix == ".svg":
        canvas = FigureCanvasSVG(figure)
        canvas.print_svg(path, metadata={"Date": None})
    else:
        canvas = FigureCanvasAgg(figure)
        canvas.print_png(path)
