"""minigrid's bot as an agent: the upper bound in BabyAI. It is never a teacher."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from tellback.agents.agent import ModelAgent
from tellback.agents.explorers import UniformSampling
from tellback.agents.uniform import Ignorance
from tellback.roles import AgentSpec, Choice, Facts, Task
from tellback.specs import Count
from tellback.worlds.babyai_grid import ACTIONS, COLOURS, GO, PICK, TYPES, Scene
from tellback.worlds.babyai_language import Clause, Described, Meaning, meaning_of
from tellback.worlds.babyai_levels import environment

SIDES = ("left", "right", "front", "behind")


@dataclass(frozen=True)
class Bot(AgentSpec):
    """Plays what minigrid's bot does, from the scene and the instruction alone.

    Parameters
    ----------
    level : str
        The level, whose environment is set up with each scene.
    steps : int
        The most actions of a trajectory.
    """

    abstract: ClassVar[bool] = True  # not to be named in study files: it plays in BabyAI only
    kind: ClassVar[str] = "babyai-bot"

    level: str = "GoToLocal"
    steps: Count = 64

    def build(self, facts: Facts, rng: np.random.Generator) -> BotAgent:
        """A bot; it learns nothing."""
        return BotAgent(Ignorance(), UniformSampling(), self, facts)


class BotAgent(ModelAgent):
    """A live bot."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """The bot's actions, until it is done, gives up or has no steps left."""
        spec: Any = self.spec
        env, meaning = environment(spec.level), meaning_of(str(task.instruction))
        if meaning is None:
            return task.choose(ACTIONS[-1])
        env.reset(seed=0)
        _set_up(env, task.context, meaning)
        bot = import_module("minigrid.utils.baby_ai_bot").BabyAIBot(env)
        actions: list[int] = []
        while len(actions) < spec.steps:
            try:
                actions.append(int(bot.replan(actions[-1] if actions else None)))
            except Exception:  # it gives up by an assertion, or fails in some other way
                break
            if env.step(actions[-1])[2]:
                break
        return task.choose("".join(ACTIONS[action] for action in actions) or ACTIONS[-1])


def _set_up(env: Any, scene: Scene, meaning: Meaning) -> None:
    """Make an environment of minigrid look like a scene, with a mission."""
    env.grid, _ = env.grid.decode(scene.cells)
    for x, y in np.ndindex(scene.cells.shape[:2]):
        thing = env.grid.get(x, y)
        if thing is not None:
            thing.init_pos = thing.cur_pos = (x, y)
    x, y, env.agent_dir = scene.agent
    env.agent_pos, env.carrying = (x, y), None
    env.instrs = _instruction(meaning)
    env.instrs.surface(env)
    env.instrs.reset_verifier(env)


def _instruction(meaning: Meaning) -> Any:
    """minigrid's instruction of a meaning."""
    verifier = import_module("minigrid.envs.babyai.core.verifier")

    def named(thing: Described) -> Any:
        return verifier.ObjDesc(
            None if thing.type is None else TYPES[thing.type],
            None if thing.colour is None else COLOURS[thing.colour],
            None if thing.place is None else SIDES[thing.place],
        )

    def one(clause: Clause) -> Any:
        if clause.other is not None:
            return verifier.PutNextInstr(named(clause.thing), named(clause.other))
        return {GO: verifier.GoToInstr, PICK: verifier.PickupInstr}[clause.kind](
            named(clause.thing)
        )

    each = [one(clause) for clause in meaning.clauses]
    parts = [part for part in (each[: meaning.first], each[meaning.first :]) if part]
    joined = [part[0] if len(part) == 1 else verifier.AndInstr(*part) for part in parts]
    return joined[0] if len(joined) == 1 else verifier.BeforeInstr(*joined)
