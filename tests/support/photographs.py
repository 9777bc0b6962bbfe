"""Pictures like photographs, with shading and noise, and what a person would say of them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

WIDTH, HEIGHT = 160, 120
COLOURS = {
    "red": (190, 40, 35),
    "blue": (40, 70, 180),
    "yellow": (225, 190, 40),
    "white": (235, 235, 230),
}
THINGS = ("car", "house", "boat", "tree")
PLACES = {
    "by the sea": ((150, 190, 225), (40, 90, 130)),
    "on the grass": ((170, 205, 235), (70, 120, 50)),
    "in the snow": ((200, 205, 215), (235, 240, 245)),
    "at night": ((15, 18, 45), (30, 32, 40)),
}


class Photograph(NamedTuple):
    """A picture as a JPEG file, and its description."""

    file: bytes
    says: str


def photograph(rng: np.random.Generator) -> Photograph:
    """A thing of some colour in some place."""
    colour, thing, place = (
        list(names)[int(rng.integers(len(names)))] for names in (COLOURS, THINGS, PLACES)
    )
    sky, ground = (np.array(one, dtype=float) for one in PLACES[place])
    horizon = int(HEIGHT * rng.uniform(0.45, 0.65))
    rows = np.linspace(0.75, 1.15, HEIGHT)[:, None, None]
    scene = np.where(np.arange(HEIGHT)[:, None, None] < horizon, sky, ground) * rows
    image = Image.fromarray(np.clip(scene + np.zeros((1, WIDTH, 1)), 0, 255).astype(np.uint8))
    _draw(ImageDraw.Draw(image), thing, COLOURS[colour], rng, horizon)
    image = image.filter(ImageFilter.GaussianBlur(0.8))
    light = rng.normal(1, 0.08)
    noisy = np.asarray(image, dtype=float) * light + rng.normal(0, 9, (HEIGHT, WIDTH, 3))
    file = io.BytesIO()
    Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(file, "JPEG", quality=85)
    return Photograph(file.getvalue(), f"a {colour} {thing} {place}")


def _draw(
    draw: ImageDraw.ImageDraw,
    thing: str,
    colour: tuple[int, int, int],
    rng: np.random.Generator,
    horizon: int,
) -> None:
    size = rng.uniform(26, 40)
    x, y = rng.uniform(45, WIDTH - 45), horizon + rng.uniform(0, 14)
    dark = tuple(int(0.6 * part) for part in colour)
    if thing == "car":
        draw.rounded_rectangle((x - size, y - size / 3, x + size, y + size / 4), 6, fill=colour)
        draw.polygon(
            [
                (x - size / 2, y - size / 3),
                (x - size / 3, y - 0.7 * size),
                (x + size / 3, y - 0.7 * size),
                (x + size / 2, y - size / 3),
            ],
            fill=dark,
        )
        for wheel in (x - size / 2, x + size / 2):
            draw.ellipse(
                (wheel - 7, y + size / 4 - 7, wheel + 7, y + size / 4 + 7), fill=(20, 20, 20)
            )
    elif thing == "house":
        draw.rectangle((x - size * 0.7, y - size * 0.8, x + size * 0.7, y + 8), fill=colour)
        draw.polygon(
            [
                (x - size * 0.85, y - size * 0.8),
                (x, y - size * 1.5),
                (x + size * 0.85, y - size * 0.8),
            ],
            fill=dark,
        )
        draw.rectangle((x - 5, y - 12, x + 5, y + 8), fill=(60, 40, 30))
    elif thing == "boat":
        draw.polygon(
            [(x - size, y), (x + size, y), (x + size * 0.6, y + 14), (x - size * 0.6, y + 14)],
            fill=dark,
        )
        draw.polygon([(x, y - size * 1.5), (x, y - 4), (x + size * 0.8, y - 4)], fill=colour)
    else:
        draw.rectangle((x - 4, y - size * 0.4, x + 4, y + 10), fill=(80, 55, 35))
        draw.ellipse((x - size * 0.6, y - size * 1.5, x + size * 0.6, y - size * 0.3), fill=colour)


def photographs(count: int, seed: int = 0) -> list[Photograph]:
    """Some pictures."""
    rng = np.random.default_rng(seed)
    return [photograph(rng) for _ in range(count)]


def written(folder: Path, count: int, seed: int = 0) -> list[Photograph]:
    """The same, as files of a folder."""
    made = photographs(count, seed)
    folder.mkdir(parents=True, exist_ok=True)
    for place, one in enumerate(made):
        (folder / f"IMG_{place:04}.JPG").write_bytes(one.file)
    return made
