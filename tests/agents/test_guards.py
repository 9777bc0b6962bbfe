"""What worlds, teachers, truths and agents give is checked where it is given."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellback
from tellback import Choice, Facts, Listed, Simulation, Task, play
from tellback.agents import LORIL, Greedy, Uniform
from tellback.agents.agent import ModelAgent
from tellback.agents.explorers import Dithering, Optimism
from tellback.compiled import _cache_folder
from tellback.errors import ProtocolError, SettingError
from tellback.models import ModelSpec
from tellback.worlds import Synthetic
from tests.support.oracles import Mirror

SMALL = Synthetic(instructions=5, responses=4, rank=3, seed=0)


def with_method(name: str, method: Callable[..., Any]) -> Any:
    return type("Odd", (Mirror,), {name: method})()


@pytest.mark.parametrize("task", [None, ("here", 0, None), 3])
def test_a_task_that_is_none_is_named_with_its_round(task: Any) -> None:
    with pytest.raises(ProtocolError, match="In round 1 the world presented"):
        play(with_method("task", lambda *_: task), Uniform(), 3)


@pytest.mark.parametrize("asked", [-1, 99, 1.5, "left", None, True])
def test_an_instruction_against_the_facts_is_named(asked: Any) -> None:
    def task(self: Any, t: int, history: Any, rng: Any) -> Task:
        return Task("here", asked, self.responses)

    with pytest.raises(ProtocolError, match="In round 1 the world asked for"):
        play(with_method("task", task), Uniform(), 3)


@pytest.mark.parametrize("told", [-1, 99, 1.5, "left", True])
def test_a_description_against_the_facts_is_named(told: Any) -> None:
    with pytest.raises(ProtocolError, match="In round 1 the teacher said"):
        play(with_method("describe", lambda *_: told), Uniform(), 3)


@pytest.mark.parametrize("reward", [-0.5, 7.0, float("nan")])
def test_a_reward_that_is_no_probability_or_above_the_best_is_named(reward: float) -> None:
    with pytest.raises(ProtocolError, match="In round 1 the truth gave a reward"):
        play(with_method("reward", lambda *_: reward), Uniform(), 3)


@pytest.mark.parametrize("propensity", [0.0, -0.1, 2.0, float("nan")])
def test_an_impossible_propensity_is_named(propensity: float) -> None:
    class Boaster:
        def respond(self, task: Task, rng: np.random.Generator) -> Choice:
            return task.choose(0, propensity=propensity)

        def learn(self, task: Task, choice: Choice, description: Any) -> None: ...

    with pytest.raises(ProtocolError, match="propensity"):
        play(SMALL, Boaster(), 3)


@pytest.mark.parametrize("response", [99, -1, "a", 1.0])
def test_choosing_what_is_not_there_is_named(response: Any) -> None:
    with pytest.raises(SettingError, match="from 0 to 1"):
        Task(None, 0, Listed(np.eye(2))).choose(response)


def test_a_delay_that_is_no_function_is_named() -> None:
    with pytest.raises(SettingError, match="delay must be a function"):
        play(SMALL, Uniform(), 3, delay=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("explorer", ["optimism", "dithering"])
def test_a_model_whose_estimates_are_not_numbers_is_named(explorer: str) -> None:
    class Lost:
        def estimates(self, instruction: Any, responses: Listed) -> Any:
            return np.full(len(responses), np.nan)

        def learn(self, features: Any, description: Any) -> None: ...
        def state(self) -> dict[str, int]:
            return {}

        def restore(self, state: Any) -> None: ...

    chosen: Any = (
        Optimism(SMALL.facts, 0.1, 1.0, "random")
        if explorer == "optimism"
        else Dithering(0.0, "random")
    )
    with pytest.raises(ProtocolError, match="Lost"):
        play(SMALL, ModelAgent(Lost(), chosen), 3)


# An agent that tampers.


class Forger:
    """Tries to make every response look like the best one."""

    def __init__(self, forge: Callable[[Task], None]) -> None:
        self.forge = forge
        self.refused = 0

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        try:
            self.forge(task)
        except (AttributeError, ValueError):
            self.refused += 1
        return task.choose(0)

    def learn(self, task: Task, choice: Choice, description: Any) -> None: ...


def set_columns(task: Task) -> None:
    task.responses.columns = np.ones_like(task.responses.columns)


def write_matrix(task: Task) -> None:
    task.responses.matrix.flags.writeable = True


def write_row(task: Task) -> None:
    task.responses.features(0).flags.writeable = True


def shrink(task: Task) -> None:
    task.responses._length = 1


@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
@pytest.mark.parametrize("forge", [set_columns, write_matrix, write_row, shrink])
def test_responses_cannot_be_forged(forge: Callable[[Task], None], contexts: Any) -> None:
    world = Synthetic(instructions=5, responses=4, rank=3, contexts=contexts)
    forger = Forger(forge)
    forged = play(world, forger, 20, seed=1)
    honest = play(world, Forger(lambda task: None), 20, seed=1)
    assert forger.refused == 20
    np.testing.assert_array_equal(forged.regret, honest.regret)


def test_the_truth_does_not_trust_what_was_in_the_agents_hands() -> None:
    def force(task: Task) -> None:
        object.__setattr__(task.responses, "columns", np.ones((3, 4)))

    forged = play(SMALL, Forger(force), 20, seed=1)
    honest = play(SMALL, Forger(lambda task: None), 20, seed=1)
    np.testing.assert_array_equal(forged.rewards, honest.rewards)


# Parts of different worlds put together.


@pytest.mark.parametrize("x", [60, 10**8, -3])
def test_a_synthetic_truth_refuses_an_instruction_it_does_not_have(x: int) -> None:
    truth: Any = SMALL.build(np.random.default_rng(0)).truth
    with pytest.raises(SettingError, match=str(x)):
        truth.reward(Task(0, x, Listed(np.eye(3))), 0)


@pytest.mark.parametrize("y", [4, 10**8, -3])
def test_a_synthetic_teacher_refuses_a_response_it_does_not_have(y: int) -> None:
    teacher = SMALL.build(np.random.default_rng(0)).teacher
    with pytest.raises(SettingError, match=str(y)):
        teacher.describe(0, y, np.random.default_rng(0))


def test_a_world_may_read_slices_of_its_history() -> None:
    seen = []

    def task(self: Any, t: int, history: Any, rng: np.random.Generator) -> Task:
        seen.append([exchange.response for exchange in history[-2:]])
        return Task("here", 0, self.responses)

    run = play(with_method("task", task), Uniform(), 4, seed=1)
    y = list(run.responses)
    assert seen == [[], y[:1], y[:2], y[1:3]]


# Saved states that are impossible.


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("model.cursor", lambda old: -300),
        ("model.entry_numbers", lambda old: old * np.nan),
        ("model.entry_numbers", lambda old: -old),
        ("model.expected", lambda old: old + 1),
        ("model.totals", lambda old: old * np.nan),
        ("explorer.inverse", lambda old: old * np.nan),
        ("explorer.widths", lambda old: -old),
        ("explorer.count", lambda old: -1),
    ],
)
def test_an_impossible_state_is_refused_and_changes_nothing(
    name: str, change: Callable[[Any], Any]
) -> None:
    agent: Any = play(SMALL, LORIL(), 30, seed=1).agent
    before = dict(agent.state())
    with pytest.raises(SettingError):
        agent.restore({**before, name: change(before[name])})
    for key, value in agent.state().items():
        np.testing.assert_array_equal(value, before[key])


# Names and identities.


def test_a_second_agent_of_the_same_kind_is_refused() -> None:
    with pytest.raises(SettingError, match="another agent of kind 'greedy'"):
        type("Greedy", (Greedy,), {"__module__": "elsewhere"})


def test_a_spec_names_the_model_it_would_choose() -> None:
    resolved = LORIL().resolved(Facts(dim=3, instructions=5))
    assert isinstance(resolved.model, ModelSpec)
    assert resolved.resolved(Facts(dim=3, instructions=5)) == resolved


def test_compiled_code_is_kept_apart_for_every_version_of_the_source(tmp_path: Path) -> None:
    copy = tmp_path / "tellback"
    shutil.copytree(
        Path(tellback.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__")
    )

    def folder() -> str:
        ask = "from tellback.compiled import _cache_folder; print(_cache_folder())"
        result = subprocess.run(
            [sys.executable, "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return result.stdout

    first = folder()
    assert folder() == first
    assert first == f"{_cache_folder()}\n", "clones of the same source share what is compiled"
    module = copy / "models" / "counts.py"
    module.write_text(module.read_text() + "\n# changed\n")
    assert folder() != first


@pytest.mark.parametrize("writable", [True, False])
def test_compiled_code_is_kept_in_the_folder_that_numba_is_told_or_nowhere(
    tmp_path: Path, writable: bool
) -> None:
    folder = tmp_path / "kernels" if writable else Path("/proc/no/such/folder")
    one_kernel = (
        "import numpy as np; from tellback.models.word_regression import _products; "
        "print(_products(np.ones((1, 2)), np.ones((1, 2))).item())"
    )
    done = subprocess.run(
        [sys.executable, "-c", one_kernel],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "2.0\n"
    assert ("every process compiles again" in done.stderr) != writable
    assert folder.exists() == writable


def test_a_simulation_of_parts_is_played() -> None:
    parts = SMALL.build(np.random.default_rng(0))
    run = play(Simulation(parts.world, parts.teacher, None), Uniform(), 5)
    assert np.isnan(run.regret).all()


def test_the_rooms_that_users_need_are_reached_from_the_package() -> None:
    ask = "import tellback; print(tellback.agents.LORIL.kind, tellback.worlds.Synthetic.kind)"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout == "loril synthetic\n"


def test_the_table_of_rooms_is_the_import_contract() -> None:
    root = Path(__file__).parents[2]
    contract = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [set(layer.split(" | ")) for layer in contract["contracts"][0]["layers"]]
    table = (root / "CONTRIBUTING.md").read_text().split("| room |")[1].split("\n\n")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    assert [set(re.findall(r"`(\w+)`", row)) for row in rows] == layers
