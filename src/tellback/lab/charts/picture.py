"""Figures that show more than one study, or a run beside its bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tellback.lab.figures import new_figure, save_figure, styled


@dataclass(frozen=True)
class Picture:
    """A figure with its caption.

    Parameters
    ----------
    name : str
        The name of its files.
    title : str
        Its title.
    says : str
        Its caption.
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
