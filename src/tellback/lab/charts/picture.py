"""A figure that shows more than one study: a size on an axis, a bound beside a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tellback.figures import new_figure, save_figure, styled


@dataclass(frozen=True)
class Picture:
    """A figure with its caption.

    Parameters
    ----------
    name : str
        Of its files.
    title : str
        Of the figure.
    says : str
        What one sees, what it proves and what it does not.
    draw : callable
        Draws into an empty figure.
    width, height : float
        In inches.
    """

    name: str
    title: str
    says: str
    draw: Callable[[Any], None]
    width: float = 9.2
    height: float = 3.9

    def write(self, folder: Path) -> list[Path]:
        """Draw it to PNG and SVG files."""
        with styled():
            figure = new_figure(self.width, self.height)
            self.draw(figure)
            return save_figure(figure, folder / self.name, (".png", ".svg"))
