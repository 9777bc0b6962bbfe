"""A plain class with the methods of a role is a spec of that role."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellback
from tellback import Choice, Facts, Listed, Task, check, play
from tellback.agents import Greedy
from tellback.errors import SettingError
from tellback.isolation import Packed
from tellback.lab import RunSpec, Store, Study, run_missing
from tellback.own import adopted_by_methods
from tellback.specs import spec_from_data
from tellback.worlds import Synthetic

WORLD = Synthetic(instructions=5, responses=3, rank=2)


class Plain:
    """Takes one response."""

    def __init__(self, response: int = 0, names: Sequence[str] = ("a", "b")) -> None:
        self.response = response

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(self.response)

    def learn(self, task: Task, choice: Choice, description: Any) -> None:
        pass


@tellback.agent
class Decorated(Plain):
    """Takes one response, as a spec."""


class Sized(Plain):
    def __init__(self, facts: Facts, rng: np.random.Generator, rate: float = 0.5) -> None:
        super().__init__()
        self.weights = rng.normal(size=(facts.instructions or 0, facts.dim))


class Coin:
    """A coin that is asked for, and shown."""

    memory = 0

    def __init__(self, sides: int = 2) -> None:
        self.responses = Listed(np.eye(sides))
        self.facts = Facts(dim=sides, instructions=sides, fixed_responses=True)

    def task(self, t: int, history: object, rng: np.random.Generator) -> Task:
        return Task(None, int(rng.integers(self.facts.dim)), self.responses)

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> int:
        return response

    def reward(self, task: Task, response: int) -> float:
        return float(task.instruction == response)

    def best(self, task: Task) -> float:
        return 1.0


class Blind(Coin):
    """Nobody knows the truth."""

    reward = best = None  # type: ignore[assignment]


class Even:
    """A model that thinks every response alike."""

    def estimates(self, instruction: Any, responses: Listed) -> Any:
        return np.full(len(responses), 0.5)

    def learn(self, features: Any, description: Any) -> None:
        pass

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Any) -> None:
        pass


PlainSpec, CoinSpec, EvenSpec = tellback.agent(Plain), tellback.world(Coin), tellback.model(Even)


def test_the_keywords_of_a_class_are_the_settings_of_its_spec() -> None:
    spec: Any = PlainSpec(response=2)  # type: ignore[call-arg]
    assert spec.settings() == ["response", "names"]
    assert spec.with_settings({"response": 1}) == PlainSpec(response=1)  # type: ignore[call-arg]
    assert hash(spec) == hash(PlainSpec(response=2))  # type: ignore[call-arg]
    assert spec.kind == "plain"
    assert spec.__doc__ == "Takes one response."
    assert set(play(WORLD, spec, 10).responses) == {2}


def test_the_spec_of_a_class_is_always_the_same() -> None:
    assert tellback.agent(Plain) is PlainSpec
    assert adopted_by_methods(Plain) is PlainSpec
    assert adopted_by_methods(Greedy) is Greedy


@pytest.mark.parametrize("kind", [PlainSpec, Decorated], ids=["plain", "decorated"])
def test_a_spec_can_be_sent_to_another_process_and_comes_back_equal(kind: Any) -> None:
    spec = kind(response=1)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert pickle.loads(Packed.of(spec).data) == spec


def test_a_world_can_be_sent_too() -> None:
    spec: Any = CoinSpec(sides=3)  # type: ignore[call-arg]
    assert spec.facts.dim == 3
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_the_source_of_the_class_is_part_of_the_identity() -> None:
    data = PlainSpec().to_data()
    assert data["source"].startswith("tests.test_own:Plain ")
    decorated: Any = Decorated()
    assert decorated.to_data()["source"].startswith("tests.test_own:Decorated ")
    run = RunSpec(CoinSpec(), PlainSpec(), 10, 0)
    again = RunSpec.from_data(run.to_data())
    assert again == run
    assert again.identity == run.identity
    assert not run.typed


def test_parameters_named_facts_and_rng_are_filled_in_and_are_no_settings() -> None:
    spec = tellback.agent(Sized)()
    assert spec.settings() == ["rate"]
    assert play(WORLD, spec, 5).agent.weights.shape == (5, 2)  # type: ignore[attr-defined]
    assert check(Sized)


def test_a_world_of_ones_own_plays_and_has_its_truth_only_if_it_knows_it() -> None:
    assert np.isfinite(play(CoinSpec(sides=3), Greedy(), 20).regret[-1])  # type: ignore[call-arg]
    assert np.isnan(play(tellback.world(Blind)(), Greedy(), 20).regret[-1])
    assert check(Coin)


def test_a_model_of_ones_own_serves_an_agent() -> None:
    run = play(CoinSpec(), Greedy(model=EvenSpec()), 20)
    assert (run.estimates == 0.5).all()


def test_a_study_takes_the_specs_and_says_how_to_make_one_of_a_class() -> None:
    decorated: Any = Decorated()
    study = Study("s", CoinSpec(), {"mine": (PlainSpec(), decorated)}, 10, (1,), (0,))
    assert study.varied("mine") == []
    with pytest.raises(SettingError, match=r"tellback\.agent\(TheClass\) makes a spec"):
        Study("s", CoinSpec(), {"mine": (Plain,)}, 10, (), (0,))  # type: ignore[dict-item]


class Counted(Plain):
    """Notes each time that it is built."""

    def __init__(self, file: str = "") -> None:
        super().__init__()
        with Path(file).open("a") as built:
            built.write("built ")


def test_a_class_is_built_once_a_run_and_not_before(tmp_path: Path) -> None:
    file = tmp_path / "built"
    agent: Any = tellback.agent(Counted)
    runs = [RunSpec(CoinSpec(), agent(str(file)), 10, seed) for seed in (0, 1)]
    assert run_missing(runs, Store(tmp_path), on="inline") == []
    assert file.read_text().split() == ["built"] * 2


class Wanting(Plain):
    def __init__(self, dim: int) -> None:
        pass


class Odd(Plain):
    def __init__(self, table: Any = {1: 2}) -> None:  # noqa: B006
        pass


class Clashing(Plain):
    def __init__(self, kind: str = "x") -> None:
        pass


class Mute:
    def respond(self, task: Task, rng: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("defined", "says"),
    [
        (Wanting, "needs dim, which has no default.*facts.dim and facts.instructions"),
        (Odd, "table of Odd has the default {1: 2}: a setting is a number"),
        (Clashing, "kind cannot be a setting of Clashing"),
        (Mute, "cannot be an agent: it has no learn"),
        (Greedy, "is a spec already"),
    ],
)
def test_a_class_that_cannot_be_a_spec_is_refused_with_the_reason(defined: type, says: str) -> None:
    with pytest.raises(SettingError, match=says):
        tellback.agent(defined)


def test_a_class_without_a_role_is_told_what_the_roles_have() -> None:
    with pytest.raises(SettingError, match="an agent has respond and learn; a world has task"):
        adopted_by_methods(Mute)


def test_nothing_is_derived_from_a_decorated_class() -> None:
    with pytest.raises(SettingError, match="derive it from the plain class"):
        type("Better", (Decorated,), {})


def test_data_of_a_class_that_is_not_imported_says_what_to_import() -> None:
    data = {"kind": "nobodys", "version": 1, "source": "theirs:Nobodys 0123"}
    with pytest.raises(LookupError, match="--import theirs:Nobodys"):
        spec_from_data(tellback.agents.AgentSpec, data)
