"""The house: an agent walks through a floor plan, and the teacher says where it went.

Figure 1 of the paper. The responses are paths of up to 30 moves, far too many to list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, one_of
from tellback.roles import Exchange, Facts, Simulation, Task, WorldSpec
from tellback.specs import Count
from tellback.worlds.house_paths import Paths, Summary, path_features, summaries, summary
from tellback.worlds.house_plan import COLOUR, TYPE, Ground, Plan, draw_plan, ground_of
from tellback.worlds.house_rewards import NAMES_PASSED, NAMES_THING, best_chance, chances
from tellback.worlds.house_words import (
    ASKING,
    DIRECTLY,
    DOORS,
    MOST_SYNONYMS,
    PAST,
    ROOM,
    ROOM_NAMES,
    TEACHING,
    THING,
    THROUGH,
    Meaning,
    Speech,
    names_in,
    speech,
)

MOST_THINGS = 12
"""More would make the search for the best path slow: it looks at all sets of things."""

DRAWS = 8
"""Paths drawn for a request, of which the first that ends in a room is taken, or the last."""


@dataclass(frozen=True)
class House(WorldSpec):
    """A new floor plan each round, and a request to walk somewhere in it.

    A response is a path: a text such as "NNEES", of at most ``steps`` moves from the start. Walls
    and things block. The teacher describes a path at several levels: by the room where it ends
    ("go to the kitchen"), the thing it ends beside ("walk to the red chair"), what it passes ("by
    the lamp to the sofa") and the rooms on its way ("through the hall to the red chair"), all with
    synonyms. ``house_rewards`` has the probabilities.

    The reward is P(x | y, s), exactly known, and the best over all paths is exact. With disjoint
    wordings no description ever is a request, so the reward is by meaning, as in ``Paraphrases``: 1
    if the teacher could mean the same, else 0. Either way a reward above 0 says that the path truly
    does what was asked: ``meets`` says so.

    Parameters
    ----------
    width, height : int
        The size of a house in cells.
    rooms : int
        The number of rooms, up to 8, each with another name.
    things : int
        The number of things in a house, up to 12. Each is one of 8 types in one of 6 colours.
    steps : int
        The number of moves of a path at most.
    wordings : "same" or "disjoint"
        Whether requests are worded as descriptions are, or as none is.
    synonyms : int
        The number of names of each type, colour and room, up to 3.

    Examples
    --------
    >>> world = House().build(np.random.default_rng(0)).world
    >>> task = world.task(1, (), np.random.default_rng(5))
    >>> "N" * 31 in task.responses
    False
    """

    width: Count = 15
    height: Count = 11
    rooms: Count = 6
    things: Count = 8
    steps: Count = 30
    wordings: str = "same"
    synonyms: Count = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_validated(wordings=one_of("wordings", self.wordings, ["same", "disjoint"]))
        for name, most in (
            ("rooms", len(ROOM_NAMES)),
            ("things", MOST_THINGS),
            ("synonyms", MOST_SYNONYMS),
        ):
            if getattr(self, name) > most:
                raise SettingError(f"{name} must be at most {most}, not {getattr(self, name)}.")
        self._plan(np.random.default_rng(0))  # an error if there is no place for all of it

    @property
    def facts(self) -> Facts:
        """Sentences, and paths that are new in each house."""
        return Facts(path_features(self.rooms), None)

    @staticmethod
    def names_in(sentence: str) -> list[str]:
        """The names of things, colours and rooms in a sentence."""
        return names_in(sentence)

    def build(self, rng: np.random.Generator) -> Simulation:
        """Nothing is drawn here: every round has a house of its own."""
        asking = ASKING if self.wordings == "disjoint" else TEACHING
        asked, told = (speech(self.synonyms, self.rooms, each) for each in (asking, TEACHING))
        truth = HouseTruth(told) if asked is told else HouseTruthByMeaning(told, asked)
        return Simulation(HouseWorld(self, asked), HouseTeacher(told), truth)

    def _plan(self, rng: np.random.Generator) -> Plan:
        return draw_plan(self.width, self.height, self.rooms, self.things, self.steps, rng)


class HouseWorld:
    """Draws houses, and asks for what a random path to one to three waypoints does.

    Nobody asks for a doorway, though the teacher describes a path that ends in one.
    """

    memory: ClassVar[int] = 0

    def __init__(self, spec: House, asking: Speech) -> None:
        self._spec = spec
        self._asking = asking
        self.facts = spec.facts

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """A house, and a sentence that the teacher could say of some path in it."""
        plan = self._spec._plan(rng)
        paths = Paths(plan, self._spec.rooms)
        steps = paths.grammar("waypoints")
        drawn = steps.draw(np.zeros(steps.dim), DRAWS, rng)
        ground = ground_of(plan)
        for path in (summary(plan, ground, one) for one in drawn):
            if plan.rooms[path.end] >= 0:
                break
        meant = draw_meaning(plan, ground, path, rng)
        return Task(plan, self._asking.say(meant, rng), paths)


class HouseTeacher:
    """Says where a path went."""

    def __init__(self, telling: Speech) -> None:
        self._telling = telling

    def describe(self, context: Plan, response: str, rng: np.random.Generator) -> str:
        """A sentence drawn from P(X | y, s)."""
        ground = ground_of(context)
        found = summary(context, ground, response)
        return self._telling.say(draw_meaning(context, ground, found, rng), rng)


def draw_meaning(plan: Plan, ground: Ground, path: Summary, rng: np.random.Generator) -> Meaning:
    """What to say of a path. Of a thing the colour is given, to be named or not."""
    u_way, u_passed, u_goal, u_thing = rng.random(4)
    inside, things = plan.rooms, plan.things
    end_room = int(inside[path.end])
    near = _bits(int(ground.beside[path.end]))
    passed = [k for k in _bits(path.things) if k not in near]
    apart = (end_room, int(inside[plan.start]))
    between = [room for room in _bits(path.rooms) if room not in apart]
    way, by = DIRECTLY, 0
    if u_way < NAMES_PASSED and passed:
        way, by = PAST, int(things[passed[int(u_passed * len(passed))], TYPE])
    elif NAMES_PASSED <= u_way < 2 * NAMES_PASSED and between:
        way, by = THROUGH, between[int(u_passed * len(between))]
    if near and u_goal < NAMES_THING:
        thing = things[near[int(u_thing * len(near))]]
        return Meaning(way, by, THING, int(thing[TYPE]), int(thing[COLOUR]))
    return Meaning(way, by, ROOM, end_room) if end_room >= 0 else Meaning(way, by, DOORS, 0)


class HouseTruth:
    """P(x | y, s), which is 0 for what is no sentence of the teacher or no path."""

    def __init__(self, telling: Speech) -> None:
        self._telling = telling

    def reward(self, task: Task, response: str) -> float:
        """P(x_t | y, s_t)."""
        return float(self.rewards(task, [response])[0])

    def rewards(self, task: Task, responses: Sequence[str]) -> Array:
        """P(x_t | y, s_t) of many responses."""
        understood = self._understood(task)
        if understood is None:
            return np.zeros(len(responses))
        plan, (meaning, likely) = task.context, understood
        ground = ground_of(plan)
        met = summaries(plan, ground, responses)
        return self._worth(chances(meaning, plan, ground, met), likely)

    def best(self, task: Task) -> float:
        """The highest over all paths."""
        understood = self._understood(task)
        if understood is None:
            return 0.0
        plan, (meaning, likely) = task.context, understood
        found = np.array([best_chance(meaning, plan, ground_of(plan))])
        return float(self._worth(found, likely)[0])

    def meets(self, task: Task, response: str) -> bool:
        """Whether a path does what was asked: the teacher could then describe it so."""
        return self.reward(task, response) > 0

    def _understood(self, task: Task) -> tuple[Meaning, float] | None:
        return self._telling.understand(str(task.instruction))

    def _worth(self, found: Array, likely: float) -> Array:
        return found * likely


class HouseTruthByMeaning(HouseTruth):
    """1 if the teacher could mean the same of a path, else 0."""

    by_meaning: ClassVar[bool] = True

    def __init__(self, telling: Speech, asking: Speech) -> None:
        super().__init__(telling)
        self._asking = asking

    def _understood(self, task: Task) -> tuple[Meaning, float] | None:
        return self._asking.understand(str(task.instruction)) or super()._understood(task)

    def _worth(self, found: Array, likely: float) -> Array:
        return (found > 0).astype(np.float64)


def _bits(bits: int) -> list[int]:
    """The numbers of the bits that are set."""
    return [k for k in range(bits.bit_length()) if bits >> k & 1]
