"""What an agent does with a task changes nothing of what the referee judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from oracles import Floats, Mirror

from tellback import Choice, Facts, Ledger, Listed, Simulation, Task, check, play
from tellback.agents import Uniform
from tellback.errors import ProtocolError
from tellback.read_only import read_only
from tellback.streams import Stream
from tellback.worlds import Demonstrated, Synthetic


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


def test_the_task_before_is_the_agents_own_too() -> None:
    class Reader(Vandal):
        def _try(self, task: Task) -> None:
            if task.context.before is not None:
                with pytest.raises(ValueError, match="read-only"):
                    task.context.before.context[:] = 0

    world = Demonstrated(Synthetic(instructions=5, responses=4, rank=3, contexts="fresh"))
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
    assert any("its tasks survive" in trouble for trouble in report.troubles), report
    assert check(Scores()), check(Scores())
    assert check(Scores(Plain)), check(Scores(Plain))


def test_check_passes_a_simulation_of_parts_with_arrays() -> None:
    world = Scores()
    assert check(Simulation(world, world, world))
