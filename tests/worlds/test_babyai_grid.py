"""BabyAI's dynamics and verifiers, held against minigrid step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tellback.worlds.babyai import BabyAI
from tellback.worlds.babyai_grid import (
    ACTIONS,
    COLOURS,
    EMPTY,
    FIRST_TYPE,
    TYPES,
    WALL,
    WALL_CELL,
    Things,
    take_step,
    things_of,
    when_fulfilled,
)
from tellback.worlds.babyai_language import meaning_of
from tellback.worlds.babyai_levels import scene_of
from tellback.worlds.babyai_moves import Moves
from tellback.worlds.babyai_waypoints import Waypoints
from tests.support.babyai_env import ask, shown, small_room, started, steps_needed

STEPS = 40


def responses(things: Things, seed: int, count: int = 4) -> list[str]:
    """Random actions, and sensible ones: single actions, large steps, and these with toggles."""
    rng = np.random.default_rng(seed)
    found = ["".join(rng.choice(list(ACTIONS), size=STEPS)) for _ in range(count)]
    for grammar in (Moves(things, STEPS), Waypoints(things, STEPS)):
        found += grammar.draw(np.zeros(grammar.dim), count, rng)
    toggled = [one.replace(".", "t").replace("p", "pt") for one in found[-count:]]
    return [one[:STEPS] for one in found + toggled if one]


def pictured(state: Things, cells: bool) -> tuple[Any, ...]:
    """The state of the copy, as ``shown`` shows minigrid's."""
    encoded = np.zeros((*state.grid.shape, 3), dtype=np.int64)
    encoded[:, :, 0] = 1
    encoded[state.grid == WALL] = [WALL_CELL, 5, 0]
    x, y = np.nonzero(state.grid >= 0)
    each = state.grid[x, y]
    kinds = state.types[each] + FIRST_TYPE, state.colours[each], state.doors[each]
    encoded[x, y] = np.stack(kinds, axis=1)
    held = state.agent[3]
    name = None if held == EMPTY else (TYPES[state.types[held]], COLOURS[state.colours[held]])
    return encoded.tobytes() if cells else b"", tuple(state.agent[:3].tolist()), name


LEVELS = ("GoToLocal", "PutNextLocal", "GoToSeqS5R2", "UnblockPickup", "GoTo", "UnlockLocal")


@pytest.mark.parametrize("level", LEVELS)
def test_every_step_is_minigrids(level: str) -> None:
    unlocked = opened = carried = 0
    for seed in range(6 if level == "UnlockLocal" else 3):
        first = things_of(scene_of(started(level, seed)))
        for response in responses(first, seed):
            env = started(level, seed)
            state = Things(*(part.copy() for part in first))
            assert pictured(state, True) == shown(env, True)
            for letter in response:
                env.step(ACTIONS.index(letter))
                parts = (state.grid, state.types, state.colours, state.doors, state.agent)
                take_step(ord(letter), *parts)
                cells = letter in "pdt"  # other actions change no cell
                assert pictured(state, cells) == shown(env, cells), (seed, response)
                carried += state.agent[3] != EMPTY
            assert pictured(state, True) == shown(env, True)
            unlocked += np.sum((first.doors == 2) & (state.doors < 2))
            opened += np.sum((first.doors == 1) & (state.doors == 0))
    assert carried
    assert unlocked > 0 or level != "UnlockLocal"
    assert opened > 0 or level in ("GoToLocal", "PutNextLocal", "UnlockLocal")


@pytest.mark.parametrize(
    "level", ["GoToLocal", "PickupLoc", "PutNextLocal", "GoToSeqS5R2", "MoveTwoAcrossS5N2"]
)
def test_instructions_are_fulfilled_when_minigrid_says_so(level: str) -> None:
    """The mission of the level, and every sentence about some trajectory in the same scene."""
    spec = BabyAI(level, steps=STEPS)
    teacher = spec.build(np.random.default_rng(0)).teacher
    fulfilled = tried = 0
    for seed in range(4):
        env = started(level, seed)
        scene, asked = scene_of(env), {env.mission: None}
        things = things_of(scene)
        played = responses(things, seed, 3)
        rng = np.random.default_rng(seed)
        asked |= {said: None for one in played if (said := teacher.describe(scene, one, rng))}
        for sentence in list(asked)[:8]:
            for response in played:
                ask(started(level, seed), sentence)
                needed = steps_needed(env, response)
                assert needed == when_done(sentence, response, things), (seed, sentence, response)
                fulfilled, tried = fulfilled + (needed > 0), tried + 1
    assert 0.02 * tried < fulfilled < 0.9 * tried


def when_done(sentence: str, response: str, things: Things) -> int:
    meaning = meaning_of(sentence)
    assert meaning is not None
    g, types, colours, doors, columns, rows, agent = things
    state = (g.copy(), types, colours, doors.copy(), columns, rows, agent.copy())
    return int(
        when_fulfilled(np.array([ord(a) for a in response]), *meaning.arrays(things), *state)
    )


def test_a_cell_counts_as_its_thing_after_that_was_picked_up() -> None:
    """As it does for minigrid, until something is dropped. The teacher names what is there."""
    env = small_room({(2, 1): "red ball", (1, 2): "blue key"})
    scene, path = scene_of(env), "prl"
    sentence = "go to the blue key, then go to the red ball"
    ask(env, sentence)
    assert steps_needed(env, path) == when_done(sentence, path, things_of(scene)) == 3
    teacher = BabyAI("GoToObjS4").build(np.random.default_rng(0)).teacher
    assert teacher.describe(scene, path, np.random.default_rng(0)) == "go to the blue key"
