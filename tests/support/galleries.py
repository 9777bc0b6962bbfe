"""Small galleries and autoencoders, and the files of trained ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tellback.encoders import Autoencoder
from tellback.specs import Data
from tellback.worlds.pictures import Gallery

Pixels = NDArray[np.uint8]
GALLERY = Gallery(("square", "circle"), ("red", "blue", "grey"), "jitter")
SMALL = Autoencoder(steps=3, pictures=8, batch=2)
UNTRAINED = SMALL.with_settings({"steps": 0})


def drawn(count: int, seed: int = 0) -> Pixels:
    return GALLERY.draw(count, np.random.default_rng(seed))


class Instrumented:
    """The same gallery, which counts how often it is asked for pictures to train on."""

    def __init__(self, gallery: Gallery = GALLERY) -> None:
        self.gallery = gallery
        self.asked: list[int] = []

    def draw(self, count: int, rng: np.random.Generator) -> Pixels:
        self.asked.append(count)
        return self.gallery.draw(count, rng)

    def to_data(self) -> Data:
        return self.gallery.to_data()


def kept_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def weights_in(folder: Path) -> dict[str, NDArray[np.float32]]:
    """The one trained encoder of a folder, read without running anything."""
    (path,) = kept_in(folder)
    weights: dict[str, NDArray[np.float32]] = pytest.importorskip("safetensors.numpy").load_file(
        path
    )
    return weights
