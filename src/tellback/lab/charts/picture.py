"""Figures with a caption: one view of a study, several studies, or a run beside its bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tellback.figures import Plot, new_figure, save_figure, styled


@dataclass(frozen=True)
class Picture:
    """A figure with its caption."""

    name: str  # of its files
    title: str
    says: str  # the caption
    draw: Callable[[Any], None]  # draws into an empty figure
    width: float = 9.2  # inches
    height: float = 3.9

    def plot(self) -> Plot:
        """Draw it, for a notebook."""
        with styled():
            figure = new_figure(self.width, self.height)
            self.draw(figure)
            return Plot(figure)

    def write(self, folder: Path, formats: Sequence[str] = (".png", ".svg")) -> list[Path]:
        """Draw it to a file of each format."""
        figure = self.plot().figure
        with styled():
            return save_figure(figure, folder / self.name, formats)
