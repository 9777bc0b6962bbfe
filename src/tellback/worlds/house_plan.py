"""Floor plans: rooms, walls, doors, and things in them.

Cells are numbered row by row. A path is a text of moves, such as "NNEES". Walls and things block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.arrays import Array, Indices, immutable
from tellback.compiled import compiled
from tellback.errors import SettingError

DOOR, WALL = -1, -2
"""What a cell is that is in no room."""

MOVES = "NESW"
MOVE_CODES = immutable(np.frombuffer(MOVES.encode(), dtype=np.uint8))
TYPE, COLOUR, CELL = 0, 1, 2
"""The columns of a table of things."""

TYPES = 8
COLOURS = 6

NARROWEST = 2  # the least width of a room
PATIENCE = 50  # plans that are drawn until all things have found a place
NO_ROOM, NO_PLACE, FINE = 0, 1, 2


class Plan(NamedTuple):
    """The context s of a house: a floor plan and where the agent starts.

    Attributes
    ----------
    width, height : int
        The size in cells. There are walls all around.
    steps : int
        The moves of a path at most.
    start : int
        The cell where every path starts.
    rooms : Indices
        The room of each cell, or ``DOOR`` or ``WALL``.
    things : Indices
        A row for each thing: its type, its colour and its cell.
    """

    width: int
    height: int
    steps: int
    start: int
    rooms: Indices
    things: Indices


class Ground(NamedTuple):
    """What follows from a plan, for those who walk in it.

    Attributes
    ----------
    ways : Indices
        Of each cell the cells to its north, east, south and west; -1 where there is no way.
    beside : Indices
        Of each cell the things that it is beside, as bits.
    """

    ways: Indices
    beside: Indices


def draw_plan(
    width: int, height: int, rooms: int, things: int, steps: int, rng: np.random.Generator
) -> Plan:
    """A random plan. The rooms have the numbers 0, 1, ... in random places.

    Every room can be reached from every other, and no two things have both type and colour in
    common.
    """
    cells = width * height
    outcome = NO_PLACE
    for attempt in range(PATIENCE):
        uniform = rng.random(4 * rooms + 2 * cells + TYPES * COLOURS + rooms * rooms + 1)
        if outcome == NO_ROOM and attempt > PATIENCE // 2:
            uniform[: 2 * rooms] = 0.5  # walls in the middle, where there is most room
        inside = np.full(cells, WALL)
        table = np.zeros((things, 3), dtype=np.int64)
        outcome, start = _draw(inside, table, width, height, rooms, uniform)
        if outcome == FINE:
            return Plan(width, height, steps, start, immutable(inside), immutable(table))
    lacking = f"{rooms} rooms" if outcome == NO_ROOM else f"{things} things in {rooms} rooms"
    raise SettingError(f"There is no place for {lacking} in a house of {width} x {height} cells.")


def ground_of(plan: Plan) -> Ground:
    """Ways and neighbours of all cells."""
    return Ground(*_ground(plan.rooms, plan.things, plan.width))


@compiled
def _draw(
    inside: Indices, things: Indices, width: int, height: int, rooms: int, uniform: Array
) -> tuple[int, int]:
    """Fill in rooms, doors and things. Whether all found a place, and a start."""
    cells = width * height
    names = np.argsort(uniform[2 * rooms : 3 * rooms])
    if not _split(inside, width, height, names, uniform):
        return NO_ROOM, 0
    used = 4 * rooms
    _open_doors(inside, width, rooms, uniform[used : used + cells + rooms * rooms])
    used += cells + rooms * rooms
    kinds = np.argsort(uniform[used : used + TYPES * COLOURS])
    used += TYPES * COLOURS
    for i in range(len(things)):
        things[i, TYPE], things[i, COLOUR] = kinds[i] // COLOURS, kinds[i] % COLOURS
    if not _place(inside, things, width, np.argsort(uniform[used : used + cells])):
        return NO_PLACE, 0
    free = np.flatnonzero(inside >= 0)
    start = 0
    taken = True
    place = int(uniform[used + cells] * len(free))
    while taken:
        start = free[place % len(free)]
        taken = False
        for i in range(len(things)):
            taken = taken or things[i, CELL] == start
        place += 1
    return FINE, start


@compiled
def _split(inside: Indices, width: int, height: int, names: Indices, uniform: Array) -> bool:
    """Split the house along the longer side, again and again; False if a part is too narrow."""
    stack = np.empty((len(names) + 1, 5), dtype=np.int64)
    stack[0] = np.array([0, 0, width, height, len(names)])
    waiting, named, used = 1, 0, 0
    while waiting:
        waiting -= 1
        x, y, w, h, count = stack[waiting]
        if count == 1:
            for row in range(y, y + h):
                for column in range(x, x + w):
                    inside[row * width + column] = names[named]
            named += 1
            continue
        side = max(w, h)
        if side < 2 * NARROWEST + 1 or min(w, h) < NARROWEST:
            return False
        first = count // 2
        if uniform[used + 1] > 0.5:
            first = count - first
        wall = round((side - 1) * first / count) + int(3 * uniform[used]) - 1
        wall = min(max(wall, NARROWEST), side - 1 - NARROWEST)
        used += 2
        if w >= h:
            stack[waiting] = np.array([x, y, wall, h, first])
            stack[waiting + 1] = np.array([x + wall + 1, y, w - wall - 1, h, count - first])
        else:
            stack[waiting] = np.array([x, y, w, wall, first])
            stack[waiting + 1] = np.array([x, y + wall + 1, w, h - wall - 1, count - first])
        waiting += 2
    return True


@compiled
def _open_doors(inside: Indices, width: int, rooms: int, uniform: Array) -> None:
    """A door where it joins what is apart; between other neighbours in half of the cases."""
    group = np.arange(rooms)
    joined = np.zeros((rooms, rooms), dtype=np.bool_)
    order = np.argsort(uniform[: len(inside)])
    for needed in (True, False):
        for cell in order:
            one, other = _sides(inside, width, cell)
            if one < 0 or joined[one, other]:
                continue
            apart = group[one] != group[other]
            if needed != apart:
                continue
            joined[one, other] = joined[other, one] = True
            if needed:
                inside[cell] = DOOR
                was, now = group[one], group[other]
                for room in range(rooms):
                    if group[room] == was:
                        group[room] = now
            elif uniform[len(inside) + one * rooms + other] < 0.5:
                inside[cell] = DOOR


@compiled
def _sides(inside: Indices, width: int, cell: int) -> tuple[int, int]:
    """The two rooms that a wall cell is between, the lower first; -1 and -1 if it is not."""
    if inside[cell] != WALL:
        return -1, -1
    column = cell % width
    for step in (1, width):
        if step == 1 and (column == 0 or column == width - 1):
            continue
        if cell - step < 0 or cell + step >= len(inside):
            continue
        one, other = inside[cell - step], inside[cell + step]
        if one >= 0 and other >= 0 and one != other:
            return min(one, other), max(one, other)
    return -1, -1


@compiled
def _place(inside: Indices, things: Indices, width: int, order: Indices) -> bool:
    """Put things into rooms so that all free cells can be reached; False if there is no place.

    A thing is beside no door and beside no other thing.
    """
    open_ = inside != WALL
    free = open_.sum()
    placed = 0
    queue = np.empty(len(inside), dtype=np.int64)
    for cell in order:
        if placed == len(things):
            break
        if inside[cell] < 0:
            continue
        near, beside = -1, False
        for direction in range(4):
            other = _next(cell, direction, width, len(inside))
            if other >= 0 and inside[other] != WALL:
                beside = beside or inside[other] == DOOR or not open_[other]
                near = other
        if beside or near < 0:
            continue
        open_[cell] = False
        if _reached(open_, near, width, queue) == free - 1:
            free -= 1
            things[placed, CELL] = cell
            placed += 1
        else:
            open_[cell] = True
    return placed == len(things)


@compiled
def _reached(open_: Indices, start: int, width: int, queue: Indices) -> int:
    """The number of open cells that can be reached from one of them."""
    met = np.zeros(len(open_), dtype=np.bool_)
    met[start] = True
    queue[0] = start
    first, last = 0, 1
    while first < last:
        cell = queue[first]
        first += 1
        for direction in range(4):
            other = _next(cell, direction, width, len(open_))
            if other >= 0 and open_[other] and not met[other]:
                met[other] = True
                queue[last] = other
                last += 1
    return last


@compiled
def _next(cell: int, direction: int, width: int, cells: int) -> int:
    """The cell to the north, east, south or west; -1 beyond the edge."""
    column = cell % width
    if direction == 0:
        return cell - width if cell >= width else -1
    if direction == 1:
        return cell + 1 if column < width - 1 else -1
    if direction == 2:
        return cell + width if cell + width < cells else -1
    return cell - 1 if column > 0 else -1


@compiled
def _ground(inside: Indices, things: Indices, width: int) -> tuple[Indices, Indices]:
    open_ = inside != WALL
    beside = np.zeros(len(inside), dtype=np.int64)
    for i in range(len(things)):
        open_[things[i, CELL]] = False
        for direction in range(4):
            other = _next(things[i, CELL], direction, width, len(inside))
            if other >= 0:
                beside[other] |= 1 << i
    ways = np.full((len(inside), 4), -1)
    for cell in range(len(inside)):
        if not open_[cell]:
            beside[cell] = 0
            continue
        for direction in range(4):
            other = _next(cell, direction, width, len(inside))
            if other >= 0 and open_[other]:
                ways[cell, direction] = other
    return ways, beside
