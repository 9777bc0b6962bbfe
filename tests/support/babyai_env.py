"""minigrid itself, as the oracle for tellback's copy of BabyAI's dynamics and verifiers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np

from tellback.worlds.babyai_grid import ACTIONS

import_module("minigrid")  # registers BabyAI's environments
VERIFIER: Any = import_module("minigrid.envs.babyai.core.verifier")
THINGS: Any = import_module("minigrid.core.world_object")

PLACES = {
    "on your left": "left",
    "on your right": "right",
    "in front of you": "front",
    "behind you": "behind",
}


@cache
def _made(level: str) -> Any:
    return gymnasium.make(f"BabyAI-{level}-v0", disable_env_checker=True).unwrapped


def started(level: str, seed: int) -> Any:
    """An environment of minigrid, just reset."""
    env = _made(level)
    with redirect_stdout(io.StringIO()):
        env.reset(seed=seed)
    env.gen_obs = dict  # nobody looks at the pictures
    return env


def instruction(sentence: str, env: Any) -> Any:
    """A sentence of BabyAI as minigrid's own instruction; its surface is the sentence again."""
    for mark, kind in ((" after you ", VERIFIER.AfterInstr), (", then ", VERIFIER.BeforeInstr)):
        if mark in sentence:
            first, second = sentence.split(mark)
            return kind(instruction(first, env), instruction(second, env))
    if " and " in sentence:
        return VERIFIER.AndInstr(*(instruction(part, env) for part in sentence.split(" and ")))
    if sentence.startswith("go to "):
        return VERIFIER.GoToInstr(_named(sentence.removeprefix("go to ")))
    if sentence.startswith("pick up "):
        return VERIFIER.PickupInstr(_named(sentence.removeprefix("pick up ")))
    moved, fixed = sentence.removeprefix("put ").split(" next to ")
    return VERIFIER.PutNextInstr(_named(moved), _named(fixed))


def _named(noun: str) -> Any:
    place = next((place for words, place in PLACES.items() if noun.endswith(words)), None)
    *colour, kind = noun.split(" on ")[0].split(" in ")[0].split(" behind")[0].split()[1:]
    named = None if kind == "object" else kind
    return VERIFIER.ObjDesc(named, colour[0] if colour else None, place)


def small_room(things: dict[tuple[int, int], str]) -> Any:
    """A room of two by two cells with these things; the agent is at (1, 1) and looks right."""
    env = started("GoToObjS4", 0)
    env.grid.grid = [None if one and one.type != "wall" else one for one in env.grid.grid]
    for place, name in things.items():
        colour, kind = name.split()
        env.put_obj(getattr(THINGS, kind.capitalize())(colour), *place)
    env.agent_pos, env.agent_dir = (1, 1), 0
    return env


def steps_needed(env: Any, response: str) -> int:
    """After how many actions minigrid rewards its mission; -1 if it does not."""
    for t, letter in enumerate(response, start=1):
        _, reward, terminated, _, _ = env.step(ACTIONS.index(letter))
        if terminated:
            return t if reward > 0 else -1
    return -1


def ask(env: Any, sentence: str) -> None:
    """Make a sentence the mission of an environment."""
    env.instrs = instruction(sentence, env)
    assert env.instrs.surface(env) == sentence
    env.instrs.reset_verifier(env)


def fulfilled_last(env: Any, response: str, sentences: Sequence[str]) -> set[str]:
    """Which of the sentences of one clause minigrid finds fulfilled at the last step with any.

    A thing that the agent went to must really be there: minigrid also counts the cell from which
    it was picked up.
    """
    asked = {sentence: instruction(sentence, env) for sentence in sentences}
    for one in asked.values():
        one.reset_verifier(env)
    found: set[str] = set()
    for letter in response:
        env.step(ACTIONS.index(letter))
        if letter == "d":
            for one in asked.values():
                one.update_objs_poss()
        now = {
            said for said, one in asked.items() if one.verify(ACTIONS.index(letter)) == "success"
        }
        if any(said.startswith("go to") for said in asked):
            cell = env.grid.get(*env.front_pos)
            now = {said for said in now if cell in asked[said].desc.obj_set}
        found = now or found
    return found


def shown(env: Any, cells: bool) -> tuple[Any, ...]:
    """All that actions can change: the agent, what it carries and, if wanted, the cells."""
    held = env.carrying
    carried = None if held is None else (held.type, held.color)
    place = tuple(int(number) for number in env.agent_pos)
    encoded = np.asarray(env.grid.encode(), dtype=np.int64).tobytes() if cells else b""
    return encoded, (*place, int(env.agent_dir)), carried
