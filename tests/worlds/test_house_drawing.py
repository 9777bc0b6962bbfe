"""Drawings of a house can be read."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from tellback.worlds import House
from tellback.worlds.house_drawing import CELL, draw_house

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("seed", range(20))
def test_no_thing_covers_the_name_of_a_room(seed: int) -> None:
    live = House().build(np.random.default_rng(0)).world
    drawing = ElementTree.fromstring(
        draw_house(live.task(1, (), np.random.default_rng(seed)).context)
    )
    things = [
        tuple(map(int, re.findall(r"\d+", one.attrib["transform"])))
        for one in drawing.iter(f"{SVG}g")
    ]
    assert things
    texts = list(drawing.iter(f"{SVG}text"))
    assert "hall" in {one.text for one in texts}
    for one in texts:
        size, x, y = (float(one.attrib[name]) for name in ("font-size", "x", "y"))
        half = 0.6 * size * len(one.text or "") / 2
        for left, top in things:
            beside = x + half <= left or left + CELL <= x - half
            assert beside or y <= top or top + CELL <= y - 0.7 * size, one.text
