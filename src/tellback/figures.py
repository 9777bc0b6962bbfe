"""How every figure is made, shown and written."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl

from tellback.arrays import AnyArray
from tellback.errors import SettingError
from tellback.files import atomic_write, demand_folder_of, demand_writable

FORMATS = (".png", ".svg", ".pdf")

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
    """Draw and save within this, and figures look alike."""
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
    """Write a figure in some formats; returns the files. A path that ends in .pdf is that alone."""
    if path.suffix == ".pdf":
        suffixes = (".pdf",)
    stem = path.with_suffix("") if path.suffix in FORMATS else path
    written = []
    _fix_layout(figure)
    for suffix in suffixes:
        target = stem.with_name(stem.name + suffix)
        with atomic_write(target) as temporary:
            _write(figure, temporary, suffix)
        written.append(target)
    return written


def demand_drawable(path: Path) -> None:
    """Refuse, before any work, a figure that could not be written; without a suffix it can be."""
    if path.suffix:
        _demand_format(path)
    demand_folder_of(path)
    demand_writable(path.parent)


def _demand_format(path: Path) -> None:
    if path.suffix not in FORMATS:
        raise SettingError(f"A figure is written to {', '.join(FORMATS)}, not to {path.name!r}.")


class Plot:
    """A figure that a notebook shows, and that ``save`` writes.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
        To be changed before it is shown, if you like: ``plot.figure.axes[0].set_title("...")``.
    """

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def save(self, path: str | Path) -> Path:
        """Write the figure as PNG, SVG or PDF, by the suffix of the path."""
        path = Path(path)
        _demand_format(path)
        with styled():
            (written,) = save_figure(self.figure, path, (path.suffix,))
        return written

    def __repr__(self) -> str:
        return "<Plot: a notebook shows it; plot.save(path) writes .png, .svg or .pdf>"

    def _repr_png_(self) -> bytes:
        drawn = io.BytesIO()
        with styled():
            _fix_layout(self.figure)
            _write(self.figure, drawn, ".png")
        return drawn.getvalue()


def plot_regret(curves: Mapping[str, AnyArray], start: int = 0) -> Plot:
    """Cumulative regret by name, an entry a round, the first after round ``start``."""
    with styled():
        figure = new_figure(6.4, 4.2)
        axis = figure.subplots()
        for name, regret in curves.items():
            t = range(start + 1, start + len(regret) + 1)
            axis.plot(t, regret, lw=1.6, label=f"{name}: {regret[-1]:.4g}".replace("$", r"\$"))
        axis.set(xlabel="round", ylabel="cumulative regret")
        axis.set_xlim(left=start)
        axis.set_ylim(bottom=0)
        axis.legend(title="final regret", fontsize=8, title_fontsize=8, edgecolor="none")
    return Plot(figure)


def _fix_layout(figure: Any) -> None:
    """Work out the layout, once for all formats."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")


def _write(figure: Any, to: Path | io.BytesIO, suffix: str) -> None:
    """Draw once: ``savefig`` would draw twice, the first time for the layout."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    figure.set_dpi(160)
    canvas: Any
    if suffix == ".svg":
        canvas = FigureCanvasSVG(figure)
        canvas.print_svg(to, metadata={"Date": None})
    elif suffix == ".pdf":
        canvas = FigureCanvasPdf(figure)
        canvas.print_pdf(to, metadata={"CreationDate": None})
    else:
        canvas = FigureCanvasAgg(figure)
        canvas.print_png(to)
