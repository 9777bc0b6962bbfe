"""A person who looks at the drawing of a house and says, in words of their own, where a path went.

Nothing is known of the house but its drawing: names and signs by their places, the line, the ring
where it starts and the disc where it ends.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np

CELL = 20  # the side of a cell in the drawing
SVG = "{http://www.w3.org/2000/svg}"
Cell = tuple[int, int]

DIRECTLY = (
    "It went to the {goal}.",
    "the agent walked to the {goal}",
    "straight to the {goal}",
    "that was a stroll to the {goal}",
    "well, it ended up going to the {goal}",
)
PAST = ("it went past the {by} to the {goal}", "walked past the {by}, then to the {goal}")
THROUGH = ("through the {by} to the {goal}", "It went through the {by} and on to the {goal}")


class Seen(NamedTuple):
    """What a drawing shows."""

    rooms: dict[Cell, str]  # the name of the room of each cell of its floor
    things: dict[Cell, str]  # such as "red chair"
    path: list[Cell]  # from the ring to the disc


def looked_at(drawing: str) -> Seen:
    """Read the drawing of a path."""
    picture = ElementTree.fromstring(drawing)
    floors = {
        _cell(float(one.attrib["x"]), float(one.attrib["y"])): one.attrib["fill"]
        for one in picture.findall(f"{SVG}rect")
        if one.get("width") == one.get("height") == str(CELL)
    }
    names: dict[str, list[str]] = {}  # by the colour of the floor on which they are written
    for text in picture.findall(f"{SVG}text"):
        floor = floors[_cell(float(text.attrib["x"]), float(text.attrib["y"]) - 4)]
        names.setdefault(floor, []).append(text.text or "")
    things = {}
    for sign in picture.findall(f"{SVG}g"):
        x, y = sign.attrib["transform"].removeprefix("translate(").rstrip(")").split()
        things[_cell(float(x), float(y))] = sign.findtext(f"{SVG}title") or ""
    marks = picture.findall(f"{SVG}circle")  # the ring, and the disc if there is a path
    line = picture.find(f"{SVG}polyline")
    points = [] if line is None else [one.split(",") for one in line.attrib["points"].split()]
    path = [_cell(float(x), float(y)) for x, y in points]
    ends = [_cell(float(one.attrib["cx"]), float(one.attrib["cy"])) for one in marks]
    assert not path or [path[0], path[-1]] == ends
    rooms = {
        cell: " ".join(names[floor]).replace("- ", "")  # a name that is broken in two lines
        for cell, floor in floors.items()
        if floor in names
    }
    return Seen(rooms, things, path or ends[:1])


def told(seen: Seen, rng: np.random.Generator) -> str:
    """A sentence about the path: where it ended, and sometimes what it came past or through."""
    end, start = seen.path[-1], seen.path[0]
    beside = [seen.things[cell] for cell in _around(end) if cell in seen.things]
    room = seen.rooms.get(end, "door")
    goal = str(rng.choice(beside)) if beside and rng.random() < 0.7 else room
    if rng.random() < 0.3:
        goal = goal.split()[-1] if goal in beside else goal  # without its colour
    met = [seen.things[cell] for at in seen.path for cell in _around(at) if cell in seen.things]
    passed = [name for name in dict.fromkeys(met) if name not in beside]
    apart = (room, seen.rooms.get(start))
    crossed = [seen.rooms[at] for at in seen.path if seen.rooms.get(at, room) not in apart]
    way = rng.random()
    if passed and way < 0.25:
        return str(rng.choice(PAST)).format(by=str(rng.choice(passed)).split()[-1], goal=goal)
    if crossed and way > 0.75:
        by = rng.choice(list(dict.fromkeys(crossed)))
        return str(rng.choice(THROUGH)).format(by=by, goal=goal)
    return str(rng.choice(DIRECTLY)).format(goal=goal)


def drawing_in(address: str) -> str:
    """The drawing in the address of a picture that holds it."""
    head, _, text = address.partition(",")
    assert head == "data:image/svg+xml;charset=utf-8"
    return unquote(text)


def _cell(x: float, y: float) -> Cell:
    return int(x // CELL), int(y // CELL)


def _around(cell: Cell) -> list[Cell]:
    x, y = cell
    return [(x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)]
