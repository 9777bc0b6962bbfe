"""The roles of Protocol 1 and what passes between them.

An agent is given tasks and descriptions. The truth is another object, which only the
referee of a simulation holds: nothing that an agent receives refers to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from tellback.arrays import AnyArray, Array
from tellback.errors import ProtocolError, SettingError, whole
from tellback.responses import Shortlist
from tellback.specs import Spec

Instruction = int | str
"""x: a number of a table of instructions, or a sentence."""

new_tuple: Any = tuple.__new__
"""Makes a named tuple in half the time of its own constructor, for what is made every round."""

Preparing = Callable[[str, int, int], object]
"""Told what is being prepared, how much of it is done, and of how much."""

State = Mapping[str, AnyArray | int | float]
"""What an agent has learned, in arrays and numbers only."""


@dataclass(frozen=True)
class Facts:
    """All that an agent may know beforehand. Never the horizon, never the truth.

    Parameters
    ----------
    dim : int
        The size d of g(y, s).
    instructions : int or None
        How many instructions there are, or None where they are sentences.
    fixed_responses : bool
        Whether every task offers the same responses with the same features.
    """

    dim: int
    instructions: int | None
    fixed_responses: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", whole("dim", self.dim))
        if self.instructions is not None:
            object.__setattr__(self, "instructions", whole("instructions", self.instructions))
        if not isinstance(self.fixed_responses, bool | np.bool_):
            raise SettingError(
                f"fixed_responses must be True or False, not {self.fixed_responses!r}."
            )
        object.__setattr__(self, "fixed_responses", bool(self.fixed_responses))

    def fits(self, instruction: object) -> bool:
        """Whether something is an instruction here: a row of the table, or a sentence."""
        count = self.instructions
        if count is None:
            return isinstance(instruction, str)
        if type(instruction) is int or isinstance(instruction, np.integer):
            return bool(0 <= instruction < count)
        return False

    @property
    def allowed(self) -> str:
        """What an instruction is here, in words."""
        if self.instructions is None:
            return "a sentence"
        return f"a whole number from 0 to {self.instructions - 1}"

    @property
    def language(self) -> bool:
        """Whether instructions are sentences."""
        return self.instructions is None


class Responses(Protocol):
    """The responses that are possible now: ``Listed``, or ``Sampled`` if they are too many."""

    def __contains__(self, response: object, /) -> bool: ...

    def features(self, response: Any) -> Array:
        """g(y, s) of one response."""
        ...


class Choice(NamedTuple):
    """What an agent did, and why.

    Attributes
    ----------
    response : Any
        y_t.
    features : Array
        g(y_t, s_t).
    estimate : float
        The model's estimate of P(x_t | y_t, s_t); NaN if the agent has none.
    bonus : float
        What was added to the estimate for the sake of exploring.
    propensity : float or None
        The probability with which the agent chose this response, None if unknown.
    width : float
        How far the estimate may be from the truth, the agent thinks; NaN if it does not say.
    highest : float
        The largest estimate plus width of any response there was; NaN if it does not say.
    shortlist : Shortlist or None
        The responses it chose among, where there are too many to list. Estimate, propensity and
        highest are given these.
    """

    response: Any
    features: Array
    estimate: float = float("nan")
    bonus: float = 0.0
    propensity: float | None = None
    width: float = float("nan")
    highest: float = float("nan")
    shortlist: Shortlist | None = None

    @property
    def place(self) -> Any:
        """The number of the response in its list: the shortlist's, if there is one."""
        return self.response if self.shortlist is None else self.shortlist.place(self.response)

    def to_data(self) -> dict[str, Any]:
        """All fields but features and shortlist, as JSON can hold them; None if not finite."""
        response, _, *account = self[:-1]
        finite = (
            None if value is None or not math.isfinite(value) else float(value) for value in account
        )
        return {"response": plain_response(response), **dict(zip(ACCOUNT, finite, strict=True))}

    @classmethod
    def from_data(cls, data: Mapping[str, Any], features: Array) -> Choice:
        """The choice that ``to_data`` described; what is None there was not stated."""
        account: dict[str, Any] = {name: data.get(name) for name in ACCOUNT}
        for name, number in account.items():
            if number is None and name != "propensity":
                account[name] = float("nan")
        return cls(hashable(data["response"]), features, **account)


ACCOUNT = Choice._fields[2:-1]
"""What an agent says of its choice: estimate, bonus, propensity, width, highest."""


class Task(NamedTuple):
    """What the world presents in a round (Protocol 1, line 2).

    Attributes
    ----------
    context : Any
        s_t.
    instruction : Instruction
        x_t.
    responses : Responses
        The responses that are possible, with their features g(y, s_t).
    """

    context: Any
    instruction: Instruction
    responses: Any

    def choose(
        self,
        response: Any,
        *,
        estimate: float = float("nan"),
        bonus: float = 0.0,
        propensity: float | None = None,
    ) -> Choice:
        """The choice of a response, its features looked up."""
        features = self.responses.features(response)
        return Choice(response, features, estimate, bonus, propensity)


class DemonstratedContext(NamedTuple):
    """A context that also shows the task of the round before, and the best response to it.

    Attributes
    ----------
    scene : Any
        s_t.
    before : Task or None
        The task of round t - 1; None in the first round.
    best : Any
        A response with the highest reward there.
    """

    scene: Any
    before: Task | None = None
    best: Any = None


class Exchange(NamedTuple):
    """What is public of a finished round; an adversarial world may read it."""

    task: Task
    response: Any
    description: Instruction | None


class Round(NamedTuple):
    """One round of Protocol 1, with the referee's verdict.

    Attributes
    ----------
    t : int
        The round's number, from 1.
    task : Task
        s_t and x_t.
    choice : Choice
        y_t.
    description : Instruction or None
        x'_t; None if the teacher gave none.
    reward : float
        P(x_t | y_t, s_t); NaN if nobody knows the truth.
    regret : float
        This round's term of the paper's equation 1.
    attainable : float
        The highest reward of any response in the shortlist; NaN if there is no shortlist.
    """

    t: int
    task: Task
    choice: Choice
    description: Instruction | None
    reward: float
    regret: float
    attainable: float = float("nan")


@runtime_checkable
class World(Protocol):
    """Presents a task each round.

    A world may also set ``memory``, the number of past rounds it wants to read: 0 for none
    (then none are kept), None for all, which is also what a world without it gets; and
    ``match``, by which descriptions are held against instructions where that is not equality
    (``tellback.matching``).
    """

    facts: Facts

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """s_t and x_t, possibly chosen against the agent (Protocol 1, line 2)."""
        ...


@runtime_checkable
class Teacher(Protocol):
    """Describes what the agent did. It is never told what was asked."""

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> Instruction | None:
        """x'_t drawn from P(X | y_t, s_t), or None for no description (line 4)."""
        ...


@runtime_checkable
class Truth(Protocol):
    """The hidden reward, held by the referee of a simulation.

    One that rewards by what an instruction means, not by how likely those very words are,
    sets ``by_meaning = True``. One for which a response may do what was asked without having the
    highest reward has ``meets(task, response)``. One that knows F as a matrix, a row an
    instruction, may have it as ``f``: a proof of a run's certificate is then held against it.
    """

    def reward(self, task: Task, response: Any) -> float:
        """P(x_t | y, s_t) (line 5)."""
        ...

    def best(self, task: Task) -> float:
        """The largest P(x_t | y, s_t) over the possible responses y."""
        ...


@runtime_checkable
class Agent(Protocol):
    """Responds to tasks and learns from descriptions.

    These two methods are all that a simulation needs. An agent that is to be saved, or
    that ``tellback.check`` shall try in full, has ``state()`` and ``restore(state)`` too. One with
    ``learn_silence(task, choice)`` is told of the rounds in which the teacher had nothing to say.
    """

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """y_t (line 3). Changes nothing in the agent."""
        ...

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        """Take in x'_t; at once or much later, in any order."""
        ...


@dataclass(frozen=True)
class Simulation:
    """A world, its teacher and its truth: three objects, because agents meet only one.

    ``truth`` is None where nobody knows it; regret is then NaN.
    """

    world: World
    teacher: Teacher
    truth: Truth | None


@dataclass(frozen=True)
class WorldSpec(Spec):
    """The settings of a simulated world."""

    role: ClassVar[str] = "world"

    @property
    def facts(self) -> Facts:
        """What agents will be told, which follows from the settings."""
        raise NotImplementedError

    def prepare(self, progress: Preparing | None = None) -> None:
        """Do once what all runs in this world share, if there is anything, and keep it."""

    def build(self, rng: np.random.Generator) -> Simulation:
        """Bring the world to life, drawing what it must from ``rng``."""
        raise NotImplementedError


@dataclass(frozen=True)
class AgentSpec(Spec):
    """The settings of an agent."""

    role: ClassVar[str] = "agent"

    def resolved(self, facts: Facts) -> AgentSpec:
        """The same agent with everything named that it would choose by itself."""
        return self

    def build(self, facts: Facts, rng: np.random.Generator) -> Agent:
        """Bring the agent to life, with all that it may know beforehand."""
        raise NotImplementedError


def plain_response(response: Any) -> Any:
    """A number or a text without what a class of the agent's own could carry.

    The teacher sees the response, and must not learn from it what was asked for. Responses of
    other classes are the business of those who list them.
    """
    if isinstance(response, np.integer):
        return np.generic.item(response)  # not by a method of the agent's
    if isinstance(response, str):
        return str.__str__(response)
    if isinstance(response, int) and not isinstance(response, bool):
        return int.__int__(response)
    return response


def hashable(data: Any) -> Any:
    """A response as JSON gives it back, with tuples for lists."""
    return tuple(map(hashable, data)) if isinstance(data, list) else data


def meets(truth: Truth, task: Task, response: Any) -> bool:
    """Whether a response does what was asked: as the truth's own ``meets`` says, or by reward.

    Without that method, only a response with the highest possible reward does.
    """
    own: Callable[[Task, Any], bool] | None = getattr(truth, "meets", None)
    if own is not None:
        return bool(own(task, response))
    return truth.reward(task, response) >= truth.best(task)


def missing(thing: object, role: type) -> list[str]:
    """The members of a role that a thing does not have."""
    wanted = [name for name in vars(role) if not name.startswith("_")]
    wanted += [name for name in getattr(role, "__annotations__", {}) if name not in wanted]
    return [name for name in wanted if not hasattr(thing, name)]


def demand(thing: object, *roles: type) -> None:
    """Refuse a thing that lacks members of the roles it is to play, naming them."""
    parts = " and ".join(role.__name__ for role in roles)
    if isinstance(thing, type):
        raise ProtocolError(
            f"{thing!r} cannot be used as {parts}: it is a class: give an instance."
        )
    lacking = [name for role in roles for name in missing(thing, role)]
    if lacking:
        raise ProtocolError(f"{thing!r} cannot be used as {parts}: it has no {', '.join(lacking)}.")
