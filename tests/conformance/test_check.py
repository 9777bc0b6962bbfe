"""Every world, agent and model of the package keeps its promises, and cheats are found out."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from tellback import Choice, Facts, Listed, Simulation, Task, check
from tellback.agents import AgentSpec
from tellback.models import ModelSpec
from tellback.specs import Spec, known_kinds
from tellback.worlds import Images, Recorded, Synthetic, WorldSpec
from tests.support.galleries import SMALL as BRIEFLY_TRAINED

pytestmark = pytest.mark.first

SHIPPED = [
    spec()
    for base in (AgentSpec, ModelSpec, WorldSpec)
    for spec in known_kinds(base).values()
    if spec.__module__.startswith("tellback.") and spec is not Recorded  # it needs a file
]


@pytest.mark.parametrize("spec", SHIPPED, ids=lambda spec: spec.kind)
def test_everything_shipped_passes(spec: Spec) -> None:
    if isinstance(spec, Images):  # its promises do not depend on how long its encoder was trained
        spec = spec.with_settings({"encoder": BRIEFLY_TRAINED})
    report = check(spec)
    assert report, str(report)


@pytest.mark.parametrize(
    "world",
    [
        Synthetic(instructions=30, contexts=3),
        Synthetic(instructions=30, contexts="fresh", asks="marginal"),
        Synthetic(instructions=3, asks=(0.5, 0.25, 0.25)),
    ],
    ids=["contexts", "fresh", "given"],
)
def test_every_kind_of_synthetic_world_passes(world: Synthetic) -> None:
    assert check(world), str(check(world))


class Counting:
    """A sound agent without a state."""

    def __init__(self) -> None:
        self.learned = 0

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(self.learned % len(task.responses))

    def learn(self, task: Task, choice: Choice, description: Any) -> None:
        self.learned += 1


class Forgetful(Counting):
    """Changes when it is asked."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        self.learned += 1
        return super().respond(task, rng)


class Reckless(Counting):
    """Chooses what is not there."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return Choice(len(task.responses), task.responses.features(0))


class Bare(Counting):
    """Returns an index instead of a choice."""

    def respond(self, task: Task, rng: np.random.Generator) -> Any:
        return 0


class Unlucky(Counting):
    """States an impossible propensity."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(0, propensity=1.5)


class Restless(Counting):
    """Uses a random source of its own, which all of its kind share."""

    mine = np.random.default_rng(0)

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(int(self.mine.integers(len(task.responses))))


class Amnesiac(Counting):
    """Restores something else than it saved."""

    def state(self) -> dict[str, int]:
        return {"learned": self.learned}

    def restore(self, state: dict[str, int]) -> None:
        self.learned = state["learned"] + 1


class Sharing(Counting):
    """Keeps what it learns in its class, so that all of its kind know it."""

    known: ClassVar[set[Any]] = set()

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(min(len(self.known), 1))

    def learn(self, task: Task, choice: Choice, description: Any) -> None:
        self.known.add(description)


def test_a_sound_agent_without_a_state_passes() -> None:
    assert check(Counting())


def test_checking_a_live_agent_leaves_it_as_it_was() -> None:
    agent = Counting()
    check(agent)
    assert agent.learned == 0


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (Forgetful(), "chose otherwise"),
        (Reckless(), "not among the possible responses"),
        (Bare(), "task.choose(y)"),
        (Unlucky(), "a propensity was 1.5"),
        (Restless(), "then"),
        (Amnesiac(), "instead of"),
        (Sharing(), "not in its class, a default or a global"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Counting) else "",
)
def test_a_faulty_agent_is_told_what_is_wrong(agent: Counting, words: str) -> None:
    report = check(agent)
    assert not report
    assert words in str(report)


class Coin:
    """A sound world: response y shows instruction y with probability 0.9."""

    memory: Any = 0

    def __init__(self) -> None:
        self.odds = np.array([[0.9, 0.1], [0.1, 0.9]])
        self.responses = Listed(self.odds)
        self.facts = Facts(dim=2, instructions=2, fixed_responses=True)

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return Task(None, int(rng.integers(2)), self.responses)

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> Any:
        return int(rng.random() < self.odds[response, 1])

    def reward(self, task: Task, response: int) -> float:
        return float(self.odds[response][int(task.instruction)])

    def best(self, task: Task) -> float:
        return 0.9


class Liar(Coin):
    def describe(self, context: Any, response: int, rng: np.random.Generator) -> Any:
        return int(rng.random() < 0.5)


class Boaster(Coin):
    def best(self, task: Task) -> float:
        return 1.0


class Whisperer(Coin):
    def describe(self, context: Any, response: int, rng: Any, instruction: Any = 0) -> Any:
        return super().describe(context, response, rng)


class Rambling(Coin):
    def describe(self, context: Any, response: int, rng: np.random.Generator) -> Any:
        return 7


class Shifting(Coin):
    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return Task(None, int(rng.integers(2)), Listed(self.odds))


class Adversary(Coin):
    """Reads the whole past."""

    memory: Any = None

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        assert len(history) == t - 1
        asked = 1 - history[-1].response if history else 0
        return Task(None, asked, self.responses)


@pytest.mark.parametrize("world", [Coin(), Adversary()], ids=["coin", "adversary"])
def test_a_sound_live_world_passes(world: Coin) -> None:
    assert check(world), str(check(world))


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (Liar(), "the truth gives that a probability"),
        (Boaster(), "the highest is 0.9"),
        (Whisperer(), "not (context, response, rng)"),
        (Rambling(), "not a whole number from 0 to 1"),
        (Shifting(), "new objects each round"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Coin) else "",
)
def test_a_faulty_world_is_told_what_is_wrong(world: Coin, words: str) -> None:
    report = check(world)
    assert not report
    assert words in str(report)


def test_a_world_without_a_truth_passes() -> None:
    coin = Coin()
    assert check(Simulation(coin, coin, None))


def test_something_else_is_told_what_it_lacks() -> None:
    assert "it lacks respond, learn" in str(check(object()))
    assert "has no role in the protocol" in str(check(dict))


def test_a_class_is_tried_by_objects_of_it() -> None:
    assert check(Counting)


def test_an_agent_can_be_checked_in_the_world_it_was_made_for() -> None:
    class OnlyCoins(Counting):
        def learn(self, task: Task, choice: Choice, description: Any) -> None:
            assert len(task.responses) == 2
            super().learn(task, choice, description)

    assert not check(OnlyCoins())
    assert check(OnlyCoins(), world=Coin())


class Taciturn(Coin):
    """Says nothing half of the time."""

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> Any:
        return super().describe(context, response, rng) if rng.random() < 0.5 else None


def test_a_teacher_that_sometimes_says_nothing_passes() -> None:
    assert check(Taciturn()), str(check(Taciturn()))
    assert check(Counting(), world=Taciturn())


class Uncopied(Counting):
    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("cannot be copied")


def test_an_agent_that_cannot_be_copied_is_reported_and_not_a_crash() -> None:
    assert "cannot be copied" in str(check(Uncopied()))


class Broken(Counting):
    """Cannot learn: every promise that teaches it meets the same fault."""

    def learn(self, task: Task, choice: Choice, description: Any) -> None:
        raise RuntimeError("spilt milk")


def test_one_fault_is_reported_once_with_its_line() -> None:
    report = check(Broken())
    (trouble,) = report.troubles
    line = Broken.learn.__code__.co_firstlineno + 1
    assert f"RuntimeError: spilt milk ({__file__}, line {line})" in trouble
    assert str(report).endswith("\n1 promise is broken.")


class Gaudy(Counting):
    """Fails as a compiler does: in colours, over several lines."""

    def learn(self, task: Task, choice: Choice, description: Any) -> None:
        raise RuntimeError("\n\x1b[1mNo implementation\x1b[0m of getitem\n  for this signature\n")


def test_an_error_of_several_lines_is_reported_by_its_first_without_colours() -> None:
    (trouble,) = check(Gaudy()).troubles
    assert f"RuntimeError: No implementation of getitem ({__file__}, line" in trouble
    assert "\n" not in trouble


class Fractional(Counting):
    """Chooses response 1, as a float."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return Choice(1.0, task.responses.features(1))


def test_what_follows_from_an_impossible_choice_is_not_reported() -> None:
    report = check(Fractional())
    assert len(report.troubles) == 2
    assert str(report).endswith("\n2 promises are broken.")
    assert all("1.0" in trouble for trouble in report.troubles), report


class Raising(Counting):
    """Fails as it is told to."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        raise self.error


class Frozen(Counting):
    """Writes into what is read-only."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        task.responses.matrix[0] = 0
        return task.choose(0)


class Deaf(Counting):
    """Takes no random generator."""

    def respond(self, task: Task) -> Choice:  # type: ignore[override]
        return task.choose(0)


class Wide(Counting):
    """Has weights for 20 features, of which it multiplies or looks up some."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        if self.way == "product":
            task.responses.matrix @ np.ones(20)
        elif self.way == "sum":
            task.responses.matrix + np.ones(20)
        elif self.way == "row":
            task.responses.matrix[:, 19]
        return task.choose(19)


HINT = ". This world has 3 features and 7 instructions by number. Is the agent made for another?"


@pytest.mark.parametrize(
    ("agent", "sizes"),
    [
        (Raising(ValueError("boom")), False),
        (Bare(), False),
        (Unlucky(), False),
        (Frozen(), False),
        (Deaf(), False),
        (Fractional(), False),
        (Raising(ValueError("A response must be a whole number from 0 to 3, not 1.0.")), False),
        (Raising(KeyError(7)), True),
        (Raising(AssertionError()), True),
        (Raising(RuntimeError("mat1 and mat2 shapes cannot be multiplied (4x3 and 20x1)")), True),
        (Raising(AttributeError("'int' object has no attribute 'split'")), True),
        (Wide("product"), True),
        (Wide("sum"), True),
        (Wide("row"), True),
        (Wide(""), True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Counting) else "",
)
def test_other_sizes_are_suspected_only_where_they_can_be_the_cause(
    agent: Counting, sizes: bool
) -> None:
    said = check(agent).troubles[0]
    assert (HINT in said) == sizes, said
    assert ".." not in said.replace("...", "")


class Unsure(Counting):
    """Says that it knows no estimate, or that it is infinite."""

    def __init__(self, estimate: float) -> None:
        super().__init__()
        self.estimate = estimate

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(0, estimate=self.estimate)


def test_an_unknown_estimate_is_allowed_and_the_promise_says_so() -> None:
    report = check(Unsure(np.nan))
    assert report
    assert "an estimate is finite or NaN (not known)" in str(report)
    assert "an estimate was inf" in str(check(Unsure(np.inf)))


class Unwrapped(Coin):
    """Gives its responses as a plain list."""

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return Task(None, int(rng.integers(2)), self.odds.tolist())


class Untyped(Coin):
    """Gives a tuple instead of a task."""

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Any:
        return None, int(rng.integers(2)), self.responses


class Punishing(Coin):
    """Has rewards that are no probabilities."""

    def reward(self, task: Task, response: int) -> float:
        return -0.5


class Cornered(Coin):
    """Has a reward that is no probability for the other instruction than the one asked for."""

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return Task(None, 0, self.responses)

    def reward(self, task: Task, response: int) -> float:
        return -0.5 if task.instruction else super().reward(task, response)


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (Unwrapped(), "of type list: give Listed(features)"),
        (Untyped(), "not a Task"),
        (Punishing(), "rewards are [-0.5, -0.5]"),
        (Cornered(), "the truth gives 1 a probability of -0.5"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Coin) else "",
)
def test_what_follows_from_a_fault_of_a_world_is_not_reported(world: Coin, words: str) -> None:
    (trouble,) = check(world).troubles
    assert words in trouble
