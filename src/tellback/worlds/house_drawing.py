"""Drawings of a house as SVG: the plan with its names, and a path with its start and end."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from tellback.errors import SettingError
from tellback.worlds.house_paths import Paths
from tellback.worlds.house_plan import DOOR, MOVES, WALL, Plan
from tellback.worlds.house_words import COLOUR_NAMES, ROOM_NAMES, TYPE_NAMES

CELL = 20  # a cell's side, in the drawing's own units
SHADES = ("#d62728", "#1f6fd0", "#2a9d3f", "#f2c014", "#ffffff", "#222222")
"""Of the colours, in the order of their names."""

FLOORS = ("#fbf3e4", "#eef2f6", "#f3ecf8", "#e6f4f4", "#f4f1e0", "#fbeae6", "#eaf3e3", "#f0f0f0")
"""Of the rooms, in the order of their names."""

SIZES = ((13.0, False), (11.0, False), (11.0, True), (9.0, True), (7.5, True))
"""Of the letters of a name, and whether "bathroom" may be broken there; the best first."""

LETTER = 0.62  # the width of a letter, as a share of its size
INK, TRAIL = "#444444", "#7b2fbe"
SECONDS_A_MOVE = 0.12  # of a path that draws itself
SECONDS_A_FRAME = 3.5  # of a film, and the share of it in which the path draws itself:
DRAWING = 0.5
HEAD = 26  # the height of a line of text above a plan

SHAPES = (
    '<path d="M6 3v14M6 10h8v7"/>',  # a chair from the side
    '<path d="M3 7h14M5 7v10M15 7v10"/>',
    '<path d="M3 8v8h14v-8M3 12h14M6 12v-6h8v6"/>',
    '<path d="M3 5v12M3 13h14v4M3 9h5v4"/>',
    '<path d="M7 3h6l3 7h-12zM10 10v6M6 17h8"/>',
    '<path d="M10 12c-7 0-7-8-7-8c5 0 7 4 7 8c0-4 2-8 7-8c0 0 0 8-7 8v5M6 17h8"/>',
    '<path d="M4 3h12v14h-12zM4 8h12M4 12h12"/>',
    '<path d="M3 6h14v8h-14zM6 6v5M9 6v5M12 6v5M15 6v5"/>',
)
"""Simple signs of the types, in the order of their names, in a square of 20 by 20."""


class Frame(NamedTuple):
    """A path in a film, with what is written above it."""

    caption: str
    path: str


def draw_house(
    plan: Plan, path: str | None = None, title: str = "", width: int = 480, animated: bool = False
) -> str:
    """A floor plan as SVG, with a path if there is one.

    Parameters
    ----------
    plan : Plan
        The context of a task of ``House``.
    path : str, optional
        A response. A ring is its start, a disc its end. Without a path, the ring is the start.
    title : str
        The sentence above the plan; also what a screen reader says.
    width : int
        The width in pixels. It is legible from 300 on.
    animated : bool
        Whether the path draws itself.
    """
    demand_path(plan, path)
    return _drawn(plan, _trail(plan, path, animated), title, HEAD if title else 0, width)


def draw_strip(plan: Plan, frames: Sequence[Frame], title: str, width: int = 1200) -> str:
    """Several paths in one house, side by side, each with a caption above it."""
    each = [draw_house(plan, frame.path, frame.caption, plan.width * CELL) for frame in frames]
    step, high = plan.width * CELL + 12, plan.height * CELL + 4 + 2 * HEAD
    wide = step * len(frames) - 12
    placed = (
        svg.replace("<svg ", f'<svg x="{i * step}" y="{HEAD}" ', 1) for i, svg in enumerate(each)
    )
    return "\n".join(
        [
            *_opened(f"0 0 {wide} {high}", width, round(width * high / wide), title),
            f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
            f'<text x="0" y="19" font-size="18" fill="{INK}">{escape(title)}</text>',
            *placed,
            "</svg>",
        ]
    )


def draw_film(plan: Plan, frames: Sequence[Frame], title: str, width: int = 600) -> str:
    """Several paths in one house, one after another, for ever; each draws itself.

    It moves by style alone: without a script, and as an image of a page. Where the reader prefers
    no motion, the last path stands still.
    """
    trails: list[str] = []
    styles = [".frame{opacity:0}", f".frame{len(frames) - 1}{{opacity:1}}"]
    moving = []
    share = 100 / len(frames)
    for i, frame in enumerate(frames):
        demand_path(plan, frame.path)
        caption = f'<text x="0" y="-9" font-size="12" fill="{TRAIL}">{escape(frame.caption)}</text>'
        _, *trail = _trail(plan, frame.path, animated=False)  # the start is there all the time
        trails.append(f'<g class="frame frame{i}">{caption}{"".join(trail)}</g>')
        begin, end = i * share, (i + 1) * share
        drawn = begin + DRAWING * share
        shown = "" if i == 0 else "0%{opacity:0}"
        hidden = "" if i == len(frames) - 1 else f"{end:g}%,100%{{opacity:0}}"
        moving += [
            f"@keyframes shown{i}{{{shown}{begin:g}%{{opacity:1}}{hidden}}}",
            f"@keyframes drawn{i}{{0%,{begin:g}%{{stroke-dashoffset:1}}"
            f"{drawn:g}%,100%{{stroke-dashoffset:0}}}}",
            f"@keyframes ended{i}{{0%{{opacity:0}}{drawn:g}%,100%{{opacity:1}}}}",
            f".frame{i}{{animation:shown{i} {_lasting(frames)} step-end infinite}}",
            f".frame{i} polyline{{stroke-dasharray:1;animation:drawn{i} {_lasting(frames)} linear "
            "infinite}",
            f".frame{i} circle{{animation:ended{i} {_lasting(frames)} step-end infinite}}",
        ]
    styles.append(f"@media (prefers-reduced-motion:no-preference){{{''.join(moving)}}}")
    start = _trail(plan, None, animated=False)
    over = _heading(plan, title, -28)
    parts = [f"<style>{''.join(styles)}</style>", over, *start, *trails]
    return _drawn(plan, parts, "", 2 * HEAD, width, title)


def _lasting(frames: Sequence[Frame]) -> str:
    return f"{SECONDS_A_FRAME * len(frames):g}s"


def demand_path(plan: Plan, path: str | None) -> None:
    """Refuse what is no path in a house."""
    if path is not None and path not in Paths(plan, len(ROOM_NAMES)):
        raise SettingError(f"{path!r} is no path in this house.")


def _drawn(
    plan: Plan, inside: Sequence[str], title: str, head: int, width: int, named: str = ""
) -> str:
    """A plan with something drawn on its floor, and ``head`` units of space above it."""
    wide, high = plan.width * CELL + 4, plan.height * CELL + 4 + head
    box, name = f"-2 {-2 - head} {wide} {high}", title or named or "A floor plan"
    parts = _opened(box, width, round(width * high / wide), name)
    parts.append(f'<rect x="-2" y="{-2 - head}" width="{wide}" height="{high}" fill="#ffffff"/>')
    if title:
        parts.append(_heading(plan, title, -9))
    parts += [*_floors(plan), *_names(plan), *inside]
    edge = f'width="{plan.width * CELL}" height="{plan.height * CELL}" fill="none"'
    parts.append(f'<rect x="0" y="0" {edge} stroke="{INK}" stroke-width="3"/>')
    parts += [_thing(plan, *row) for row in plan.things.tolist()]  # over the edge
    return "\n".join([*parts, "</svg>"])


def _heading(plan: Plan, title: str, y: int) -> str:
    """A line of text above a plan, as wide as the plan at most."""
    size = min(14.0, 1.6 * plan.width * CELL / max(1, len(title)))
    return f'<text x="0" y="{y}" font-size="{size:.1f}" fill="{INK}">{escape(title)}</text>'


def _opened(box: str, width: int, height: int, name: str) -> list[str]:
    """The beginning of a drawing, with its name for screen readers."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{width}" '
        f'height="{height}" role="img" font-family="sans-serif">',
        f"<title>{escape(name)}</title>",
    ]


def _corner(plan: Plan, cell: int) -> tuple[int, int]:
    return cell % plan.width * CELL, cell // plan.width * CELL


def _middle(plan: Plan, cell: int) -> tuple[float, float]:
    x, y = _corner(plan, cell)
    return x + CELL / 2, y + CELL / 2


def _floors(plan: Plan) -> list[str]:
    """A square for each cell; doors are lighter than walls."""
    squares = []
    for cell, room in enumerate(plan.rooms.tolist()):
        x, y = _corner(plan, cell)
        shade = INK if room == WALL else "#d9b98a" if room == DOOR else FLOORS[room]
        # Its own outline, as light would shine through the seams.
        look = f'fill="{shade}" stroke="{shade}" stroke-width="0.5"'
        squares.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" {look}/>')
    return squares


class Label(NamedTuple):
    """A place for the name of a room: the middle of its lines, and the top of the first one."""

    lines: list[str]
    size: float
    x: float
    y: float

    def covers(self, plan: Plan, cell: int) -> bool:
        """Whether a part of the text is within a cell."""
        x, y = _corner(plan, cell)
        half = LETTER * self.size * max(map(len, self.lines)) / 2
        across = x - half < self.x < x + CELL + half
        return across and y - self.size * len(self.lines) < self.y < y + CELL


def _names(plan: Plan) -> list[str]:
    """The name of each room, where it covers no thing if there is such a place."""
    texts = []
    for room in sorted({room for room in plan.rooms.tolist() if room >= 0}):
        label = _label(plan, room)
        look = f'fill="#5a5a5a" font-style="italic" text-anchor="middle" font-size="{label.size:g}"'
        halo = f'stroke="{FLOORS[room]}" stroke-width="3" paint-order="stroke"'
        for i, line in enumerate(label.lines):
            place = f'x="{label.x:g}" y="{label.y + (i + 0.8) * label.size:g}"'
            texts.append(f"<text {place} {look} {halo}>{escape(line)}</text>")
    return texts


def _label(plan: Plan, room: int) -> Label:
    """The best place: free, then large, in one line, and near the middle of the room."""
    cells = [cell for cell, one in enumerate(plan.rooms.tolist()) if one == room]
    left, top = _corner(plan, cells[0])
    right, bottom = (end + CELL for end in _corner(plan, cells[-1]))
    things = [cell for cell in plan.things[:, 2].tolist() if cell in cells]
    name = ROOM_NAMES[room][0]

    def rank(label: Label) -> tuple[int, bool, float, int, float]:
        across = label.x - (left + right) / 2
        down = label.y + label.size * len(label.lines) / 2 - (top + bottom) / 2
        covered = sum(label.covers(plan, cell) for cell in things)
        on_start = label.covers(plan, plan.start)
        return covered, on_start, -label.size, len(label.lines), abs(across) + abs(down)

    best: Label | None = None
    for size, may_break in SIZES:
        places = [] if best is None else [best]
        broken = name.replace("room", "- room") if may_break and " " not in name else name
        for lines in ([name], broken.split()):
            wide, high = LETTER * size * max(map(len, lines)), size * len(lines)
            places += [
                Label(lines, size, x + wide / 2, y)
                for x in np.arange(left, right - wide + 1e-9, CELL / 4).tolist()
                for y in np.arange(top, bottom - high + 1e-9, CELL / 4).tolist()
            ]
        best = min(places, key=rank, default=None)
        if best is not None and not any(rank(best)[:2]):
            return best  # smaller letters are for full rooms
    return best or Label(name.split(), SIZES[-1][0], (left + right) / 2, top)  # it is too narrow


def _thing(plan: Plan, kind: int, colour: int, cell: int) -> str:
    """A sign on a dark ground for light colours, and on a light one for dark colours."""
    x, y = _corner(plan, cell)
    ground = "#8c8c8c" if COLOUR_NAMES[colour][0] in ("white", "yellow") else "#ffffff"
    name = f"{COLOUR_NAMES[colour][0]} {TYPE_NAMES[kind][0]}"
    return (
        f'<g transform="translate({x} {y})" fill="none" stroke="{SHADES[colour]}" '
        f'stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"><title>{name}</title>'
        f'<rect x="1" y="1" width="18" height="18" rx="3" fill="{ground}" stroke="#999999" '
        f'stroke-width="1"/>{SHAPES[kind]}</g>'
    )


def _trail(plan: Plan, path: str | None, animated: bool) -> list[str]:
    """The path as a line that is a little aside from itself where it comes back."""
    steps = (-plan.width, 1, plan.width, -1)
    cells = [plan.start]
    for move in path or "":
        cells.append(cells[-1] + steps[MOVES.index(move)])
    points = [_aside(plan, cells, i) for i in range(len(cells))]
    x, y = _middle(plan, plan.start)
    look = f'fill="none" stroke="{TRAIL}"'
    parts = [f'<circle cx="{x:g}" cy="{y:g}" r="6" {look} stroke-width="2.5"/>']
    lasting = f'dur="{SECONDS_A_MOVE * len(path or ""):g}s" fill="freeze"'
    if len(points) > 1:
        line = " ".join(f"{x:g},{y:g}" for x, y in points)
        drawing = f'<animate attributeName="stroke-dashoffset" from="1" to="0" {lasting}/>'
        growing = 'stroke-dasharray="1"' if animated else ""
        parts.append(
            f'<polyline points="{line}" {look} stroke-width="3" stroke-opacity="0.8" '
            f'stroke-linejoin="round" stroke-linecap="round" pathLength="1" {growing}>'
            f"{drawing if animated else ''}</polyline>"
        )
    if path is not None:
        x, y = points[-1]
        along = "M" + "L".join(f"{px - x:g} {py - y:g}" for px, py in points)
        moving = f'<animateMotion path="{along}" {lasting}/>' if animated and path else ""
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="5.5" fill="{TRAIL}">{moving}</circle>')
    return parts


def _aside(plan: Plan, cells: Sequence[int], i: int) -> tuple[float, float]:
    """The middle of a cell, moved a little for each time that the path was there before."""
    x, y = _middle(plan, cells[i])
    shift = 3 * min(2, cells[:i].count(cells[i]))
    return x + shift, y + shift
