"""BabyAI's levels: which of them can be played here, and their missions, from minigrid."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from difflib import get_close_matches
from functools import cache
from typing import Any

from tellback.arrays import immutable
from tellback.errors import SettingError
from tellback.extras import from_extra
from tellback.worlds.babyai_grid import GO, PICK, PUT, Scene
from tellback.worlds.babyai_language import Shape, Style

SEQUENCES = (
    (Shape(1), 8),
    (Shape(2), 8),
    *(((Shape(i, j, after)), 1) for i in (1, 2) for j in (1, 2) for after in (False, True)),
)
"""One clause, two with "and", or two such parts in a row: each a third."""

TWO = ((Shape(1), 1), (Shape(1, 1), 1))
"""The level asks for two in a row. The teacher also tells one, or nothing could be learned."""

_GO_TO = (
    *("GoTo", "GoToOpen", "GoToLocal", "GoToObj", "GoToObjMaze", "GoToObjMazeOpen"),
    *("GoToObjMazeS4", "GoToObjMazeS4R2", "GoToObjMazeS5", "GoToObjMazeS6", "GoToObjMazeS7"),
    *("GoToObjS4", "GoToObjS6", "GoToRedBall", "GoToRedBallGrey", "GoToRedBallNoDists"),
    *("GoToRedBlueBall", "GoToLocalS5N2", "GoToLocalS6N2", "GoToLocalS6N3", "GoToLocalS6N4"),
    *("GoToLocalS7N4", "GoToLocalS7N5", "GoToLocalS8N2", "GoToLocalS8N3", "GoToLocalS8N4"),
    *("GoToLocalS8N5", "GoToLocalS8N6", "GoToLocalS8N7"),
)
_PUT_NEXT = (
    *("PutNextLocal", "PutNextLocalS5N3", "PutNextLocalS6N4", "PutNextS4N1", "PutNextS5N1"),
    *("PutNextS5N2", "PutNextS6N3", "PutNextS7N4"),
)
_BY_TYPE = (
    *("FindObjS5", "FindObjS6", "FindObjS7"),
    *("OneRoomS8", "OneRoomS12", "OneRoomS16", "OneRoomS20"),
)

LEVELS: dict[str, Style] = {
    **{name: Style(GO) for name in _GO_TO},
    **{name: Style(GO, SEQUENCES, "loose") for name in ("GoToSeqS5R2", "GoToSeq")},
    **{name: Style(PICK) for name in ("Pickup", "PickupAbove", "UnblockPickup")},
    **{name: Style(PICK, naming="type") for name in _BY_TYPE},
    "PickupDist": Style(PICK, naming="either"),
    "PickupLoc": Style(PICK, naming="located"),
    **{name: Style(PUT) for name in _PUT_NEXT},
    **{name: Style(PUT, TWO) for name in ("MoveTwoAcrossS5N2", "MoveTwoAcrossS8N9")},
}
"""The levels that can be played, with how their missions are worded."""


def demand_level(level: str) -> None:
    """Refuse a level that is not in ``LEVELS``."""
    if level in LEVELS:
        return
    close = get_close_matches(str(level), LEVELS, n=3)
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    raise SettingError(
        f"BabyAI has no level {level!r} here: missions must be to go to things, to pick them up or "
        "to put them next to others, with empty hands at first, and no door may be locked. "
        f"Levels: {', '.join(sorted(LEVELS))}.{hint}"
    )


@cache
def environment(level: str) -> Any:
    """minigrid's environment of a level. It is shared: reset it before use."""
    gymnasium = from_extra("babyai", "gymnasium", "BabyAI")
    from_extra("babyai", "minigrid", "BabyAI")  # registers its environments
    version = "v1" if level == "GoToObjS6" else "v0"
    made = gymnasium.make(f"BabyAI-{level}-{version}", disable_env_checker=True).unwrapped
    made.gen_obs = dict  # half of the time of a reset goes into the picture, which nobody looks at
    return made


def mission(level: str, seed: int) -> tuple[Scene, str]:
    """A scene of a level and what is asked for, from minigrid reset with a seed."""
    made = environment(level)
    with redirect_stdout(io.StringIO()):  # it prints which draws it rejects
        made.reset(seed=seed)
    return scene_of(made), made.mission


def scene_of(made: Any) -> Scene:
    """The scene of an environment as it is now."""
    cells = immutable(made.grid.encode())
    x, y = (int(number) for number in made.agent_pos)
    return Scene(cells, (x, y, int(made.agent_dir)))
