"""What an agent does with a task changes nothing of what the referee judges."""

from __future__ import annotations

import enum
import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pytest

from tellback import Choice, Facts, Ledger, Listed, Simulation, Task, check, play
from tellback.agents import Uniform
from tellback.errors import ProtocolError
from tellback.read_only import read_only
from tellback.streams import Stream
from tellback.worlds import Demonstrations, Synthetic
from tests.support.oracles import Floats, Mirror


class Pair(NamedTuple):
    grid: Any
    name: str


@dataclass
class Loose:
    grid: Any
    name: str = "loose"


@dataclass(frozen=True)
class Firm:
    grid: Any
    name: str = "firm"


class Plain:
    """No dataclass: a context of a class of one's own."""

    def __init__(self, grid: Any) -> None:
        self.grid = grid


class Scores:
    """A world whose context holds what each response is worth: the referee reads it there."""

    memory = 0

    def __init__(self, wrap: Callable[[Floats], Any] = lambda grid: grid) -> None:
        self.facts = Facts(dim=4, instructions=2)
        self.wrap = wrap

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        p = rng.random(4)
        grid = np.stack([1 - p, p], axis=1)
        return Task(self.wrap(grid), int(rng.integers(2)), Listed(np.eye(4)))

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> int:
        return int(rng.random() < grid_of(context)[response, 1])

    def reward(self, task: Task, response: int) -> float:
        return float(grid_of(task.context)[response, int(task.instruction)])

    def best(self, task: Task) -> float:
        return float(grid_of(task.context)[:, int(task.instruction)].max())


def grid_of(context: Any) -> Floats:
    """The array in a context, however it is wrapped."""
    if isinstance(context, np.ndarray):
        return context
    if isinstance(context, dict):
        return grid_of(context["grid"])
    if isinstance(context, list) or type(context) is tuple:
        return grid_of(context[0])
    return grid_of(context.grid)


class Vandal:
    """Does something to each task, then chooses the first response."""

    def __init__(self, deed: Callable[[Task], object]) -> None:
        self.deed = deed
        self.refused = 0

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        self._try(task)
        return task.choose(0)

    def learn(self, task: Task, choice: Choice, description: Any) -> None:
        self._try(task)

    def _try(self, task: Task) -> None:
        try:
            self.deed(task)
        except ValueError:
            self.refused += 1


def erase(task: Task) -> None:
    grid_of(task.context)[:] = 0


def unlock_and_erase(task: Task) -> None:
    grid = grid_of(task.context)
    grid.flags.writeable = True
    grid[:] = 0


def centre(task: Task) -> None:
    grid = grid_of(task.context)
    grid -= grid.mean(0)


WRAPS: dict[str, Callable[[Floats], Any]] = {
    "array": lambda grid: grid,
    "fortran array": np.asfortranarray,
    "view": lambda grid: np.repeat(grid, 2, axis=0)[::2],
    "locked array": lambda grid: np.require(grid, requirements="O").view(),
    "tuple": lambda grid: (grid, "x"),
    "named tuple": lambda grid: Pair(grid, "x"),
    "list": lambda grid: [grid, "x"],
    "dict": lambda grid: {"grid": grid},
    "dataclass": Loose,
    "frozen dataclass": Firm,
    "plain object": Plain,
    "nested": lambda grid: {"grid": [Firm((Pair(grid, "x"),))]},
}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
@pytest.mark.parametrize("deed", [erase, unlock_and_erase, centre])
def test_an_agent_that_writes_into_the_context_does_not_change_its_reward(
    deed: Callable[[Task], None], wrap: Callable[[Floats], Any]
) -> None:
    honest = play(Scores(), Vandal(lambda task: None), 50, seed=1)
    assert honest.regret[-1] > 10
    run = play(Scores(wrap), Vandal(deed), 50, seed=1)
    np.testing.assert_array_equal(run.regrets, honest.regrets)
    np.testing.assert_array_equal(run.descriptions, honest.descriptions)


def test_an_innocent_slip_is_an_error_that_says_read_only() -> None:
    class Centring(Vandal):
        def _try(self, task: Task) -> None:
            centre(task)

    with pytest.raises(ValueError, match="read-only"):
        play(Scores(), Centring(centre), 3)


def swap_the_array(task: Task) -> None:
    context = task.context
    if isinstance(context, dict):
        context["grid"] = np.zeros((4, 2))
    elif isinstance(context, list):
        context[0] = np.zeros((4, 2))
    else:
        object.__setattr__(context, "grid", np.zeros((4, 2)))


@pytest.mark.parametrize("kind", ["list", "dict", "dataclass", "frozen dataclass", "plain object"])
def test_what_holds_the_array_is_the_agents_own_too(kind: str) -> None:
    honest = play(Scores(), Vandal(lambda task: None), 50, seed=1)
    run = play(Scores(WRAPS[kind]), Vandal(swap_the_array), 50, seed=1)
    np.testing.assert_array_equal(run.regrets, honest.regrets)


@pytest.mark.parametrize(
    "context",
    [None, 3, "here", 2.5, (1, "a", None), Pair(1, "x"), frozenset({1}), b"raw"],
    ids=repr,
)
def test_a_context_that_cannot_change_is_given_as_it_is(context: Any) -> None:
    assert read_only(context) is context


def test_an_array_that_cannot_change_is_given_as_it_is() -> None:
    matrix = Listed(np.eye(3)).matrix
    assert read_only(matrix) is matrix
    assert read_only((matrix, 1))[0] is matrix


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?", "c16", "U3", "M8[s]", ">i2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_copy_is_the_same_array(dtype: str, order: Any) -> None:
    array = np.asarray(np.arange(12).reshape(3, 4).astype(dtype), order=order)
    copy = read_only(array)
    assert copy.dtype == array.dtype
    assert copy.strides == array.strides  # sums run in the same order
    np.testing.assert_array_equal(copy, array)
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        copy.flags.writeable = True


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,)])
def test_small_and_empty_arrays_are_copied_too(shape: tuple[int, ...]) -> None:
    copy = read_only(np.zeros(shape))
    assert copy.shape == shape
    assert not copy.flags.writeable


def test_an_array_of_objects_is_copied_with_what_is_in_it() -> None:
    inner = np.ones(2)
    array = np.array([None, inner, "x"], dtype=object)
    copy = read_only(array)
    assert copy[1] is not inner
    assert copy[1].tolist() == [1, 1]
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 1


def test_a_context_that_holds_itself_is_copied() -> None:
    ring: list[Any] = [np.ones(2)]
    ring.append(ring)
    copy = read_only(ring)
    assert copy[1] is copy
    assert copy is not ring


def test_a_context_that_cannot_be_copied_is_named() -> None:
    class Stuck:
        def __deepcopy__(self, memo: Any) -> Any:
            raise TypeError("no")

    with pytest.raises(ProtocolError, match=r"Stuck.*cannot be copied"):
        play(Scores(lambda grid: Stuck()), Uniform(), 2)


# Whatever a context is made of, what can be changed of it is the agent's own.


@dataclass
class Late:
    """Has an attribute that is no field."""

    n: int = 0

    def __post_init__(self) -> None:
        self.grid = np.ones(2)


@dataclass(frozen=True)
class Lazy:
    n: int = 0

    @cached_property
    def grid(self) -> Floats:
        return np.ones(2)


@dataclass
class Table(dict[str, Any]):
    n: int = 0


@dataclass
class Row(list[Any]):
    n: int = 0


class Labelled(np.ndarray):
    """As numpy's guide to subclasses has it: views share what was added."""

    def __array_finalize__(self, source: Any) -> None:
        self.added = getattr(source, "added", None)


class Annotated(Pair):
    """A named tuple with attributes."""


class Worth(enum.Enum):
    LISTED = [1.0, 1.0]  # noqa: RUF012
    PLAIN = (1.0, 1.0)


class OwnListed(Listed):
    """Has attributes."""


def with_more(thing: Any) -> Any:
    object.__setattr__(thing, "added", np.ones(2))
    return thing


def record(more: Any, kind: Any = float) -> Any:
    return np.array([(1.0, more)], dtype=[("grid", "f8"), ("more", kind)])


def looked_at(lazy: Lazy) -> Lazy:
    assert lazy.grid.all()
    return lazy


_ring: tuple[Any, list[Any]] = (np.ones(2), [])
_ring[1].append(_ring)
_row_of = Row()
_row_of.append(np.ones(2))
OWN: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "row of a structured array": (record(1.0)[0], lambda c: c),
    "row of a record array": (record(1.0).view(np.recarray)[0], lambda c: c),
    "row with objects": (record([1.0], object)[0], lambda c: c["more"]),
    "structured array with objects": (record([1.0], object), lambda c: c["more"][0]),
    "attribute that is no field": (Late(), lambda c: c.grid),
    "cached property": (looked_at(Lazy()), lambda c: c.grid),
    "dataclass that is a dict": (with_more(Table()), lambda c: c.added),
    "dataclass that is a list": (with_more(Row()), lambda c: c.added),
    "items of a dataclass that is a list": (_row_of, lambda c: c[0]),
    "array with attributes": (with_more(np.ones(2).view(Labelled)), lambda c: c.added),
    "such an array in an object": (
        Plain(with_more(np.ones(2).view(Labelled))),
        lambda c: c.grid.added,
    ),
    "named tuple with attributes": (with_more(Annotated(1, "x")), lambda c: c.added),
    "object in a frozenset": (frozenset({Plain(np.ones(2))}), lambda c: next(iter(c)).grid),
    "object in a set": ({Plain(np.ones(2))}, lambda c: next(iter(c)).grid),
    "object as a key": ({Plain(np.ones(2)): 1}, lambda c: next(iter(c)).grid),
    "tuple that holds itself": (_ring, lambda c: c[1][0][0]),
}


def overwrite(thing: Any) -> None:
    """Set the first of a thing to 7, by force if need be."""
    try:
        if isinstance(thing, np.ndarray):
            thing.flags.writeable = True
        thing[0] = 7.0
    except ValueError:
        assert not thing.flags.writeable


@pytest.mark.parametrize(("context", "part"), OWN.values(), ids=OWN)
def test_what_can_be_changed_is_the_agents_own(context: Any, part: Callable[[Any], Any]) -> None:
    given = read_only(context)
    assert type(given) is type(context)
    assert part(given)[0] == part(context)[0] == 1
    overwrite(part(given))
    assert part(context)[0] == 1


def _closed() -> Callable[[], Any]:
    grid = np.ones(2)
    return lambda: grid


_kept = Plain(np.ones(2))


@pytest.mark.parametrize(
    ("context", "named"),
    [
        (Worth.LISTED, "list"),
        ([Worth.LISTED], "list"),
        (_closed(), "function"),
        ({"f": _closed()}, "function"),
        (weakref.ref(_kept), "ReferenceType"),
        ([weakref.ref(_kept)], "ReferenceType"),
        (weakref.WeakValueDictionary({1: _kept}), "Plain"),
        ([1.0].append, "builtin_function_or_method"),
        (Plain(math), "module"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_what_cannot_be_copied_is_refused_by_name(context: Any, named: str) -> None:
    with pytest.raises(ProtocolError, match=rf"\b{named}\b.*Make contexts of numbers"):
        read_only(context)


@pytest.mark.parametrize("context", [Worth.PLAIN, Plain, np.float64(1), range(3), ...], ids=repr)
def test_more_that_cannot_change_is_given_as_it_is(context: Any) -> None:
    assert read_only(context) is context
    assert read_only([context])[0] is context


def test_fields_whose_values_are_made_on_the_fly_are_not_mixed_up() -> None:
    @dataclass
    class Fleeting:
        a: Any = 1
        b: Any = 2

        def __getattribute__(self, name: str) -> Any:
            kept = object.__getattribute__(self, name)
            return np.full(3, kept) if name in ("a", "b") else kept

    given = read_only(Fleeting())
    assert (given.a[0], given.b[0]) == (1, 2)


def test_responses_in_a_context_are_the_same_and_cannot_be_changed_by_their_cache() -> None:
    listed = Listed([[0.25, 0.75], [1.0, 0.0]])
    for given in (read_only((listed, 1))[0], read_only([listed])[0], read_only(Plain(listed)).grid):
        assert given is listed  # agents recognise it
    caches = [name for name in Listed.__slots__ if isinstance(getattr(listed, name, None), dict)]
    assert not caches
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        listed.features(0).flags.writeable = True
    own = with_more(OwnListed(np.eye(2)))
    assert type(read_only(own)) is Listed  # as an isolated agent is given it
    assert type(read_only([own])[0]) is Listed


def test_a_response_of_a_class_of_its_own_does_not_spoil_the_rows() -> None:
    class Two(np.int64):
        def __hash__(self) -> int:
            return hash(1)

        def __eq__(self, other: object) -> Any:
            return True

    listed = Listed(np.eye(3))
    listed.features(Two(2))  # type: ignore[arg-type]
    assert listed.features(1).tolist() == [0, 1, 0]


def test_the_task_before_is_the_agents_own_too() -> None:
    class Reader(Vandal):
        def _try(self, task: Task) -> None:
            if task.context.before is not None:
                with pytest.raises(ValueError, match="read-only"):
                    task.context.before.context[:] = 0

    world = Demonstrations(Synthetic(instructions=5, responses=4, rank=3, contexts="fresh"))
    play(world, Reader(erase), 5)


def test_a_ledger_alone_protects_its_tasks_as_well() -> None:
    grid = np.ones((4, 2))
    vandal = Vandal(erase)
    ledger = Ledger(vandal, Stream(0, "agent"))
    task = Task(grid, 0, Listed(np.eye(4)))
    choice = ledger.ask(1, task)
    ledger.tell(1, 0)
    ledger.resume(2, task, choice)
    ledger.tell(2, 0)
    assert vandal.refused == 3
    assert grid.min() == 1


# What the agent hands over.


class Carrying(np.int64):
    """A response that carries the request."""

    asked = 0


def test_a_response_cannot_carry_the_request_to_the_teacher() -> None:
    class Whispering:
        def respond(self, task: Task, rng: np.random.Generator) -> Choice:
            y = Carrying(0)
            y.asked = task.instruction  # type: ignore[assignment]
            return task.choose(int(y))._replace(response=y)

        def learn(self, task: Task, choice: Choice, description: Any) -> None: ...

    heard = []

    class Colluding(Mirror):
        def describe(self, context: Any, response: Any, rng: np.random.Generator) -> int:
            heard.append(response)
            return int(getattr(response, "asked", response))

    run = play(Colluding(), Whispering(), 30, seed=1)
    assert {type(y) for y in heard} == {int}
    assert set(run.descriptions) == {0}


def test_a_choice_cannot_answer_each_time_anew() -> None:
    class Shifty(Choice):
        asked = 0

        @property
        def response(self) -> Any:
            Shifty.asked += 1
            return 0 if Shifty.asked < 3 else "anything"

    class Shifting:
        def respond(self, task: Task, rng: np.random.Generator) -> Choice:
            return Shifty(*task.choose(1))

        def learn(self, task: Task, choice: Choice, description: Any) -> None: ...

    assert list(play(Mirror(), Shifting(), 5, seed=1).responses) == [1] * 5


class Boastful(float):
    """Compares as it likes."""

    def __gt__(self, other: object) -> bool:
        return True

    __lt__ = __le__ = __ge__ = __gt__


@pytest.mark.parametrize(
    "stated", [Boastful(-7), -7, 0, 2.0, float("nan"), pytest.param(10**400, id="huge"), "0.5", [1]]
)
def test_an_impossible_propensity_is_refused(stated: Any) -> None:
    agent = Vandal(lambda task: None)
    agent.respond = lambda task, rng: task.choose(0, propensity=stated)  # type: ignore[method-assign]
    with pytest.raises(ProtocolError, match=r"In round 1 .* propensity of .* at most 1"):
        play(Mirror(), agent, 2)


@pytest.mark.parametrize("stated", [Boastful(0.5), np.float32(0.5), np.float64(0.5), 1, np.int8(1)])
def test_a_propensity_is_recorded_as_a_plain_number(stated: Any) -> None:
    agent = Vandal(lambda task: None)
    agent.respond = lambda task, rng: task.choose(0, propensity=stated)  # type: ignore[method-assign]
    choice = Ledger(agent, Stream(0, "agent")).ask(1, Task(None, 0, Listed(np.eye(2))))
    assert type(choice.propensity) in (float, int)
    assert choice.propensity == float(stated)


# Rewards are probabilities.


@pytest.mark.parametrize(
    ("reward", "best"), [(7.0, 9.0), (0.5, 9.0), (1.1, 1.1), (0.5, float("inf")), (-0.1, 0.5)]
)
def test_rewards_and_bests_are_probabilities(reward: float, best: float) -> None:
    class Rich(Mirror):
        def reward(self, task: Task, response: int) -> float:
            return reward

        def best(self, task: Task) -> float:
            return best

    with pytest.raises(ProtocolError, match=r"In round 1 the truth .*must be probabilities"):
        play(Rich(), Uniform(), 3)


def test_rounding_is_allowed() -> None:
    class Rounded(Mirror):
        def reward(self, task: Task, response: int) -> float:
            return 1 + 1e-12

        def best(self, task: Task) -> float:
            return 1.0

    assert len(play(Rounded(), Uniform(), 3)) == 3


# The conformance kit tries it.


def test_check_finds_an_agent_that_writes_into_the_context() -> None:
    class Centring(Vandal):
        def _try(self, task: Task) -> None:
            if isinstance(task.context, np.ndarray):
                context = task.context
                context -= context.mean(0)

    report = check(Centring(centre))
    assert any("leaves the context as it is" in trouble for trouble in report.troubles), report
    assert "work on a copy" in str(report)


def test_check_finds_a_world_whose_tasks_do_not_survive() -> None:
    class Shared(Plain):
        def __deepcopy__(self, memo: Any) -> Shared:
            return self

    report = check(Scores(Shared))
    assert any("copy.deepcopy does not copy" in trouble for trouble in report.troubles), report
    assert check(Scores()), check(Scores())
    assert check(Scores(Plain)), check(Scores(Plain))


def test_check_passes_a_simulation_of_parts_with_arrays() -> None:
    world = Scores()
    assert check(Simulation(world, world, world))
