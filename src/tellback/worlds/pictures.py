"""Pictures of simple objects, drawn by code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tellback.encoders.encoder import Pictures
from tellback.errors import SettingError, one_of, real, unknown_name
from tellback.specs import Data
from tellback.worlds.sentences import Object

SIDE = 200
"""Pictures are 200 x 200 x 3."""

BACKGROUND = 255  # white: none of the colours

COLOURS = {
    "red": (220, 30, 30),
    "blue": (30, 60, 220),
    "green": (20, 150, 50),
    "yellow": (245, 220, 30),
    "black": (0, 0, 0),
    "grey": (128, 128, 128),
    "cyan": (0, 200, 220),
    "orange": (250, 140, 20),
}
"""The paper's colours; it lists black twice."""

Offsets = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]


INSIDE: dict[str, Callable[[Offsets, Offsets], Mask]] = {
    "square": lambda x, y: (np.abs(x) <= 0.5) & (np.abs(y) <= 0.5),
    "rectangle": lambda x, y: (np.abs(x) <= 0.5) & (np.abs(y) <= 0.25),
    "triangle": lambda x, y: (np.abs(y) <= 0.5) & (2 * np.abs(x) <= y + 0.5),
    "circle": lambda x, y: x**2 + y**2 <= 0.25,
}
"""The paper's types: the inside of each in a box of side 1 around the origin, y down."""

VARIANTS = {
    "canon": "one centred picture per object",
    "jitter": "a size of 80 to 120 pixels, up to 15 pixels off the centre",
    "free": "any size from 30 to 180 pixels, anywhere in the picture",
}


class Shape(NamedTuple):
    """One object in one picture: type, colour, size and centre."""

    type: str
    colour: str
    size: float = 100.0
    x: float = SIDE / 2
    y: float = SIDE / 2

    def picture(self) -> Pictures:
        """The picture, of shape (200, 200, 3)."""
        if self.type not in INSIDE:
            raise unknown_name("type", str(self.type), INSIDE)
        if self.colour not in COLOURS:
            raise unknown_name("colour", str(self.colour), COLOURS)
        real("size", self.size, above=0)
        pixels = np.full((SIDE, SIDE, 3), BACKGROUND, dtype=np.uint8)
        reach = self.size / 2 + 1
        rows = slice(max(int(self.y - reach), 0), int(self.y + reach) + 1)
        columns = slice(max(int(self.x - reach), 0), int(self.x + reach) + 1)
        centres = np.arange(SIDE) + 0.5
        across = (centres[columns] - self.x) / self.size
        down = (centres[rows, None] - self.y) / self.size
        pixels[rows, columns][INSIDE[self.type](across, down)] = COLOURS[self.colour]
        return pixels


@dataclass(frozen=True)
class Gallery:
    """All objects of some types and colours, and how their pictures vary.

    Parameters
    ----------
    types, colours : tuple of str
        Every type in every colour is an object.
    variant : "canon", "jitter" or "free"
        How pictures of one object differ.
    """

    types: tuple[str, ...]
    colours: tuple[str, ...]
    variant: str

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "types", _names("types", self.types, INSIDE))
        set_field(self, "colours", _names("colours", self.colours, COLOURS))
        one_of("variant", self.variant, VARIANTS)

    @property
    def objects(self) -> list[Object]:
        """Every (type, colour)."""
        return [(kind, colour) for kind in self.types for colour in self.colours]

    def shape(self, thing: Object, rng: np.random.Generator) -> Shape:
        """An object in a picture, with size and place by the variant."""
        kind, colour = thing
        if self.variant == "canon":
            return Shape(kind, colour)
        a, b, c = rng.random(3)
        if self.variant == "jitter":
            return Shape(kind, colour, 80 + 40 * a, SIDE / 2 + 30 * b - 15, SIDE / 2 + 30 * c - 15)
        size = 30 + 150 * a
        room = SIDE - size
        return Shape(kind, colour, size, size / 2 + room * b, size / 2 + room * c)

    def draw(self, count: int, rng: np.random.Generator) -> Pictures:
        """Pictures of objects drawn uniformly."""
        objects = self.objects
        chosen = rng.integers(len(objects), size=count)
        return np.array([self.shape(objects[i], rng).picture() for i in chosen])

    def to_data(self) -> Data:
        """The settings that determine the pictures."""
        return {
            "pictures": 1,  # the version of the drawing
            "types": list(self.types),
            "colours": list(self.colours),
            "variant": self.variant,
        }


def _names(setting: str, given: object, known: Iterable[str]) -> tuple[str, ...]:
    options = list(known)
    if isinstance(given, str) or not isinstance(given, tuple | list) or not given:
        raise SettingError(f"{setting} must be a sequence of names, not {given!r}.")
    for name in given:
        if name not in options:
            raise unknown_name(setting.removesuffix("s"), str(name), options)
    if len(set(given)) < len(given):
        raise SettingError(f"{setting} names one twice: {', '.join(given)}.")
    return tuple(given)
