"""Nothing that an agent receives leads to the truth."""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest

from tellback import Choice, Listed, Simulation, Task, rounds
from tellback.errors import ProtocolError
from tellback.roles import Instruction
from tellback.worlds import House, Synthetic
from tests.support.oracles import Floats, hidden_f

# The walk touches every module that is loaded, also what is deprecated in some of them.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")

CONTEXTS: list[int | str] = [1, 3, "fresh"]
SIZE = 6


class Spy:
    """An agent that keeps everything it is given."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        self.given += [task, rng]
        return task.choose(int(rng.integers(len(task.responses))))

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        self.given += [task, choice, description]


def neighbours(thing: Any) -> Iterator[Any]:
    """All that one step leads to: referents (items are among them), attributes, what views see."""
    yield from gc.get_referents(thing)
    kind: Any = type(thing)
    for way in ways(kind):
        yield from way(thing)


@cache
def ways(kind: type) -> tuple[Callable[[Any], Iterable[Any]], ...]:
    """The steps from things of a kind that the garbage collector does not know of.

    They are found once for each kind: a walk meets a million things.
    """
    found: list[Callable[[Any], Iterable[Any]]] = []
    if issubclass(kind, np.ndarray):
        found.append(lambda array: [array.base])
        found.append(lambda array: array.ravel().tolist() if array.dtype == object else [])
    elif issubclass(kind, weakref.ref):
        found.append(lambda reference: [reference()])
    elif issubclass(kind, memoryview):
        found.append(lambda view: [view.obj])
    elif issubclass(kind, types.MethodType):
        found.append(lambda method: [method.__self__])
    if str(kind.__module__).startswith(("tellback", "oracles", __name__, "numpy.random")):
        found.append(attributes)
    return tuple(found)


def attributes(thing: Any) -> Iterator[Any]:
    for name in dir(thing):
        try:
            yield getattr(thing, name)
        except Exception:  # noqa: BLE001, PERF203, S112, RUF100
            continue


def reachable(roots: list[Any], apart_from: list[Any]) -> dict[int, Any]:
    """Every object that some chain of steps leads to, by its id."""
    barred = {id(thing) for thing in apart_from}
    found: dict[int, Any] = {}
    waiting = list(roots)
    while waiting:
        thing = waiting.pop()
        if id(thing) in found or id(thing) in barred or issubclass(type(thing), types.FrameType):
            continue
        found[id(thing)] = thing
        waiting.extend(near for near in neighbours(thing) if id(near) not in found)
    return found


def modules_of_others(ours: Collection[str] = ("tellback",)) -> list[Any]:
    """The contents of all modules but ours, and their classes.

    ``object`` leads to every class there is, and a walk through all libraries takes ten seconds.
    """
    loaded = [vars(one) for name, one in list(sys.modules.items()) if not _is_of(name, ours)]
    classes = (one for one in gc.get_objects() if issubclass(type(one), type))
    return [*loaded, *(one for one in classes if not _is_of(str(one.__module__), ours))]


def _is_of(module: str, packages: Collection[str]) -> bool:
    return module.partition(".")[0] in packages


def secrets_of(simulation: Simulation) -> Floats:
    """Numbers that only one who knows F can have: F, its running sums, and 1 - F."""
    f = hidden_f(simulation)
    sums = np.cumsum(f, axis=0)[:-1]
    numbers = np.concatenate([f.ravel(), sums.ravel(), (sums / f.sum(axis=0)).ravel()])
    return np.unique(numbers[(numbers > 0) & (numbers < 1)])


def leaks(found: dict[int, Any], simulation: Simulation) -> list[str]:
    """What was found that should be hidden."""
    persons: list[tuple[str, object]] = [
        ("world", simulation.world),
        ("teacher", simulation.teacher),
        ("truth", simulation.truth),
        ("simulation", simulation),
    ]
    secrets, whole = secrets_of(simulation), hidden_f(simulation).tobytes()
    known = set(secrets.tolist())
    told = [name for name, person in persons if id(person) in found]
    for thing in found.values():
        if thing is secrets:
            continue
        if isinstance(thing, np.ndarray) and thing.dtype.kind == "f" and thing.size:
            if np.isin(np.asarray(thing, dtype=np.float64), secrets).any():
                told.append(f"numbers of F in an array of shape {thing.shape}")
        elif type(thing) is float and thing in known:
            told.append("a number of F")
        elif type(thing) in (bytes, bytearray) and thing is not whole and whole in thing:
            told.append("the bytes of F")
    return told


def played(world: Any, simulation: Simulation, rounds_: int = 12) -> list[Any]:
    spy = Spy()
    for _ in islice(rounds(simulation, spy, seed=3), rounds_):
        pass
    assert len(spy.given) == 5 * rounds_
    return spy.given


def begun(contexts: int | str) -> Simulation:
    spec = Synthetic(
        instructions=SIZE, responses=4, rank=3, contexts=contexts, asks="marginal", seed=8
    )
    return spec.build(np.random.default_rng(0))


def test_no_chain_from_what_an_agent_receives_leads_to_the_truth() -> None:
    simulations = [begun(contexts) for contexts in CONTEXTS]
    given = [thing for simulation in simulations for thing in played(None, simulation)]
    near = {"tellback", "tests", "numpy", "numba", *sys.stdlib_module_names}
    found = reachable(given, apart_from=modules_of_others(near))  # one walk for all: it is long
    assert len(found) > 10_000, "the walk must have gone through modules and types"
    assert any(isinstance(thing, types.ModuleType) for thing in found.values())
    for contexts, simulation in zip(CONTEXTS, simulations, strict=True):
        assert leaks(found, simulation) == [], contexts


class Wanderer(Spy):
    """A spy where responses cannot be listed."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        self.given += [task, rng]
        grammar = task.responses.grammar("waypoints")
        return task.choose(grammar.draw(np.zeros(grammar.dim), 1, rng)[0])


@pytest.mark.parametrize("wordings", ["same", "disjoint"])
def test_no_chain_from_a_house_leads_to_its_teacher_or_truth(wordings: str) -> None:
    simulation = House(wordings=wordings).build(np.random.default_rng(0))
    spy = Wanderer()
    for _ in islice(rounds(simulation, spy, seed=3), 5):
        pass
    near = [thing for thing in spy.given if not isinstance(thing, np.random.Generator)]
    found = reachable(near, apart_from=[vars(module) for module in list(sys.modules.values())])
    assert id(near[0].context.rooms) in found
    for person in (simulation, simulation.world, simulation.teacher, simulation.truth):
        assert id(person) not in found


class Careless:
    """A world whose tasks carry more than they should."""

    def __init__(self, simulation: Simulation, carried: Any) -> None:
        self.facts = simulation.world.facts
        self.inner = simulation.world
        self.carried = carried

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        task = self.inner.task(t, history, rng)
        return Task(Note(self.carried, task.context), task.instruction, task.responses)


class Note:
    """A context with something on its back."""

    __slots__ = ("back", "front")

    def __init__(self, back: Any, front: Any) -> None:
        self.back = back
        self.front = front


class Hearing:
    """A teacher for such contexts."""

    def __init__(self, simulation: Simulation) -> None:
        self.inner = simulation.teacher

    def describe(
        self, context: Note, response: int, rng: np.random.Generator
    ) -> Instruction | None:
        return self.inner.describe(context.front, response, rng)


class Silent:
    """A truth that is not asked for anything."""

    def reward(self, task: Task, response: int) -> float:
        return 0.0

    def best(self, task: Task) -> float:
        return 0.0


def smuggled(simulation: Simulation, how: str) -> Any:
    f = hidden_f(simulation)
    truth: Any = simulation.truth
    teacher: Any = simulation.teacher
    ways: dict[str, Callable[[], Any]] = {
        "the truth": lambda: truth,
        "a bound method": lambda: truth.reward,
        "a closure": lambda: lambda: truth,
        "a weak reference": lambda: weakref.ref(truth),
        "the teacher in a list": lambda: [{"friend": (teacher,)}],
        "the world": lambda: simulation.world,
        "a copy of F": lambda: f.copy(),
        "F turned round": lambda: np.ascontiguousarray(f.T[::-1]),
        "F in a column": lambda: np.asfortranarray(f).reshape(-1, 1),
        "a view into F": lambda: f[2:3, 1:],
        "F as responses": lambda: Listed(f),
        "F as a list": lambda: f.tolist(),
        "F as bytes": lambda: f.tobytes(),
        "running sums": lambda: np.cumsum(f, axis=0),
        "inside an object array": lambda: np.array([None, truth], dtype=object),
    }
    return ways[how]()


@pytest.mark.parametrize(
    "how",
    [
        "the truth",
        "the teacher in a list",
        "the world",
        "a copy of F",
        "F turned round",
        "F in a column",
        "a view into F",
        "F as responses",
        "F as a list",
        "F as bytes",
        "running sums",
        "inside an object array",
    ],
)
def test_the_walk_finds_what_a_careless_world_gives_away(how: str) -> None:
    simulation = begun(1)
    assert leaks(nearby(simulation, smuggled(simulation, how)), simulation)


@pytest.mark.parametrize("how", ["a bound method", "a closure", "a weak reference"])
def test_what_cannot_be_copied_is_not_even_given_away(how: str) -> None:
    simulation = begun(1)
    with pytest.raises(ProtocolError, match=r"copy\.deepcopy does not copy"):
        nearby(simulation, smuggled(simulation, how))


def test_a_careless_world_without_anything_on_its_back_is_innocent() -> None:
    simulation = begun(1)
    assert leaks(nearby(simulation, "nothing"), simulation) == []


def nearby(simulation: Simulation, carried: Any) -> dict[int, Any]:
    """What a careless world's tasks lead to without going through a module."""
    world = Careless(simulation, carried)
    given = played(None, Simulation(world, Hearing(simulation), Silent()), rounds_=2)
    near = [thing for thing in given if not isinstance(thing, np.random.Generator)]
    return reachable(near, apart_from=[vars(module) for module in list(sys.modules.values())])


def test_a_teacher_is_not_told_what_was_asked() -> None:
    heard: list[tuple[Any, ...]] = []

    class Listening(Hearing):
        def describe(self, *args: Any) -> Instruction | None:
            heard.append(args)
            return super().describe(*args)

    simulation = begun(3)
    world = Careless(simulation, None)
    for _ in islice(rounds(Simulation(world, Listening(simulation), None), Spy()), 5):
        pass
    for context, response, rng in heard:
        assert type(context) is Note
        assert type(response) is int
        assert isinstance(rng, np.random.Generator)
