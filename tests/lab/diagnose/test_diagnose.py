"""Is it theory, tuning or a bug? Runs whose trouble is known get the right diagnosis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tellback import Choice, Facts, Listed, Simulation, Task, play
from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, ModelAgent, Uniform
from tellback.agents.explorers import Dithering
from tellback.encoders import Thumbnail
from tellback.errors import SettingError
from tellback.lab import RunSpec
from tellback.lab.diagnose import Diagnosis, diagnose
from tellback.lab.diagnose.rules import CAUSES
from tellback.models import Mixture, MixtureByAdam, Sentence
from tellback.models.mixture import MixtureModel
from tellback.roles import Exchange, Instruction, State, WorldSpec
from tellback.worlds import Images, Synthetic
from tests.support.oracles import Floats

# Worlds and agents with a known trouble.

SMALL = Synthetic(instructions=10, responses=15, rank=5, temperature=0.3)
VARIED = SMALL.with_settings({"contexts": "fresh"})
PRINTED = Synthetic(instructions=2000, responses=10, rank=10, temperature=0.75)
ONE_WISH = Synthetic(
    instructions=10, responses=20, rank=20, temperature=0.3, asks=(1.0, *[0.0] * 9)
)
"""Always the same instruction: whoever is content with a fair response never looks further."""


class Tabled:
    """World, teacher and truth by a table of P(x | y)."""

    memory = 0

    def __init__(self, table: Floats, responses: Listed, said: Sequence[str] | None = None) -> None:
        self.facts = Facts(responses.dim, None if said else table.shape[1], fixed_responses=True)
        self._table, self._responses, self._said = table, responses, said

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        return Task(0, self._spelled(int(rng.integers(self._table.shape[1]))), self._responses)

    def describe(self, context: Any, response: int, rng: np.random.Generator) -> Any:
        return self._spelled(int(rng.choice(self._table.shape[1], p=self._table[response])))

    def reward(self, task: Task, response: int) -> float:
        return float(self._table[response, self._number(task.instruction)])

    def best(self, task: Task) -> float:
        return float(self._table[:, self._number(task.instruction)].max())

    def _spelled(self, x: int) -> Any:
        return self._said[x] if self._said else x

    def _number(self, instruction: Any) -> int:
        return self._said.index(instruction) if self._said else instruction


@dataclass(frozen=True)
class Crooked(WorldSpec):
    """Responses along a line of two features, each with a distribution of its own."""

    def build(self, rng: np.random.Generator) -> Simulation:
        along = np.linspace(0.05, 0.95, 12)
        table = np.array(rng.dirichlet(np.full(8, 0.3), size=12) + 1e-3, dtype=np.float64)
        table /= table.sum(axis=1, keepdims=True)
        world = Tabled(table, Listed(np.stack([along, 1 - along], axis=1)))
        return Simulation(world, world, world)


@dataclass(frozen=True)
class Spoken(WorldSpec):
    """Four things, each of which has two sentences of its own."""

    def build(self, rng: np.random.Generator) -> Simulation:
        said = [f"{word} {thing}" for thing in "abcd" for word in ("see", "the")]
        table: Floats = np.repeat(np.eye(4) / 2, 2, axis=1)
        world = Tabled(table, Listed(np.eye(4)), said)
        return Simulation(world, world, world)


@dataclass(frozen=True)
class Secret(WorldSpec):
    """Nobody knows the truth."""

    def build(self, rng: np.random.Generator) -> Simulation:
        known = SMALL.build(rng)
        return Simulation(known.world, known.teacher, None)


@dataclass(frozen=True)
class Taciturn(WorldSpec):
    """The teacher describes every so many-th response, or none at all."""

    every: int = 3

    def build(self, rng: np.random.Generator) -> Simulation:
        known = SMALL.build(rng)
        return Simulation(known.world, Quiet(known.teacher, self.every), known.truth)


class Quiet:
    def __init__(self, teacher: Any, every: int) -> None:
        self._teacher, self._every, self._asked = teacher, every, 0

    def describe(self, context: Any, response: Any, rng: np.random.Generator) -> Any:
        self._asked += 1
        if not self._every or self._asked % self._every:
            return None
        return self._teacher.describe(context, response, rng)


class Confused(ModelAgent):
    """Learns what it was told of one response as if it had been told of the next."""

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        other = task.responses.features((choice.response + 1) % len(task.responses))
        super().learn(task, choice._replace(features=other), description)


@dataclass(frozen=True)
class ConfusedLORIL(LORIL):
    def build(self, facts: Facts, rng: np.random.Generator) -> Confused:
        agent = super().build(facts, rng)
        return Confused(agent.model, agent.explorer, agent.spec, facts)


class Deaf(MixtureModel):
    """Hears nothing after its first lessons."""

    def learn(self, features: Floats, description: Instruction) -> None:
        if self.described < 15:
            super().learn(features, description)


@dataclass(frozen=True)
class DeafMixture(Mixture):
    def build(self, facts: Facts, rng: np.random.Generator) -> Deaf:
        return Deaf(facts.instructions or 0, facts.dim)


class Counting:
    """A user's own model: frequencies by features, perhaps of the wrong response."""

    def __init__(self, instructions: int, shift: int) -> None:
        self._instructions, self._shift = instructions, shift
        self._cells: Counter[tuple[bytes, int]] = Counter()
        self._rows: Counter[bytes] = Counter()

    def estimates(self, instruction: Any, responses: Listed) -> Floats:
        keys = [np.roll(row, self._shift).tobytes() for row in responses.matrix]
        counts = [(self._cells[key, instruction] + 0.1, self._rows[key]) for key in keys]
        return np.array([n / (total + 0.1 * self._instructions) for n, total in counts])

    def learn(self, features: Floats, description: Any) -> None:
        self._cells[features.tobytes(), description] += 1
        self._rows[features.tobytes()] += 1

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None: ...


@dataclass(frozen=True)
class Counts(AgentSpec):
    shift: int = 0

    def build(self, facts: Facts, rng: np.random.Generator) -> ModelAgent:
        return ModelAgent(Counting(facts.instructions or 0, self.shift), Dithering(0.2, "random"))


class Bare:
    """A user's agent that has no model to look at, but says what it estimates."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(int(rng.integers(len(task.responses))), estimate=0.2, bonus=0.1)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None: ...


@dataclass(frozen=True)
class BareSpec(AgentSpec):
    def build(self, facts: Facts, rng: np.random.Generator) -> Bare:
        return Bare()


def diagnosed(
    world: WorldSpec, agent: AgentSpec, rounds: int, seed: int = 1, cause: str = ""
) -> Diagnosis:
    diagnosis = diagnose(RunSpec(world, agent, rounds, seed))
    assert diagnosis.cause in CAUSES
    if cause:
        assert diagnosis.cause == cause, str(diagnosis)
    return diagnosis


def state_of(diagnosis: Diagnosis, name: str) -> str:
    (found,) = (check for check in diagnosis.checks if check.name == name)
    return found.state


# The causes.


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("world", "agent"),
    [
        (VARIED.with_settings({"temperature": 0.75}), LORIL(k=30.0)),
        (SMALL.with_settings({"temperature": 0.75}), LORIL(k=10_000.0)),
        (SMALL, EpsilonGreedy(epsilon=1.0)),
        (VARIED, EpsilonGreedy(epsilon=0.5)),
    ],
    ids=lambda spec: spec.label(),
)
def test_an_agent_that_explores_far_too_much_is_told_so(
    world: WorldSpec, agent: AgentSpec, seed: int
) -> None:
    found = diagnosed(world, agent, 1500, seed, "over-exploration")
    assert state_of(found, "exploration") == "bad"
    assert ("epsilon" if isinstance(agent, EpsilonGreedy) else "k (") in found.verdict


def test_an_agent_that_is_content_too_soon_is_told_to_explore() -> None:
    seed = next(
        s for s in range(9) if play(ONE_WISH, Greedy(), 1000, seed=s).regrets[-1] > 0.1
    )  # some are lucky
    found = diagnosed(ONE_WISH, Greedy(), 1000, seed, "under-exploration")
    assert state_of(found, "optimism") == "bad"
    explored = play(ONE_WISH, LORIL(k=1.0), 1000, seed=seed)
    assert explored.regrets[-100:].mean() < 0.5 * found.readings.regrets[-100:].mean()


@pytest.mark.parametrize("seed", [1, 2])
def test_taking_the_first_of_equals_is_found_to_be_the_trouble(seed: int) -> None:
    found = diagnosed(PRINTED, Greedy(ties="first"), 1000, seed, "ties")
    assert state_of(found, "ties") == "bad"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("agent", [LORIL(k=0.01), Greedy()], ids=lambda spec: spec.label())
def test_with_two_thousand_instructions_and_few_rounds_it_is_too_early(
    agent: AgentSpec, seed: int
) -> None:
    found = diagnosed(PRINTED, agent, 1000, seed, "too early")
    assert state_of(found, "model class") == state_of(found, "teaching") == "good"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "agent", [LORIL(k=0.3), EpsilonGreedy(epsilon=0.1)], ids=lambda spec: spec.label()
)
def test_a_truth_that_is_not_linear_in_the_features_is_misspecified(
    agent: AgentSpec, seed: int
) -> None:
    found = diagnosed(Crooked(), agent, 1000, seed, "misspecified")
    assert state_of(found, "model class") == "bad"


def test_a_model_of_sentences_that_hardly_moves_is_unfitted() -> None:
    slow, usual = (LORIL(model=Sentence(learning_rate=rate)) for rate in (1e-6, 0.003))
    found = diagnosed(Spoken(), slow, 150, cause="unfitted")
    assert state_of(found, "fit") == "bad"
    assert "learning rate" in found.verdict
    assert diagnosed(Spoken(), usual, 150).cause != "unfitted"


def test_a_mixture_that_adam_has_hardly_trained_is_unfitted() -> None:
    agent = LORIL(k=0.1, model=MixtureByAdam(steps=1, start=0.0))
    found = diagnosed(SMALL, agent, 600, cause="unfitted")
    assert state_of(found, "fit") == "bad"


@pytest.mark.parametrize("world", [SMALL, VARIED], ids=lambda spec: spec.label())
@pytest.mark.parametrize("seed", [1, 2])
def test_descriptions_attached_to_the_wrong_response_are_a_bug(world: WorldSpec, seed: int) -> None:
    found = diagnosed(world, ConfusedLORIL(k=0.3), 1000, seed, "bug")
    assert state_of(found, "teaching") == "bad"


def test_descriptions_that_never_reach_the_model_are_a_bug() -> None:
    found = diagnosed(SMALL, LORIL(k=0.1, model=DeafMixture()), 1000, cause="bug")
    assert state_of(found, "teaching") == "bad"


def test_a_users_own_model_is_held_against_a_table_of_frequencies() -> None:
    wrong = diagnosed(SMALL, Counts(shift=1), 1000, cause="bug")
    assert "table of frequencies" in wrong.verdict
    right = diagnosed(SMALL, Counts(), 1000)
    assert right.cause not in ("bug", "misspecified", "unfitted")
    for found in (wrong, right):
        assert state_of(found, "teaching") == "unknown"
        assert state_of(found, "model class") != "unknown"


@pytest.mark.parametrize("agent", [Uniform(), BareSpec()], ids=lambda spec: spec.label())
def test_playing_at_random_is_not_learning(agent: AgentSpec) -> None:
    found = diagnosed(SMALL, agent, 600, cause="not learning")
    assert state_of(found, "shape") == "bad"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("world", [SMALL, VARIED], ids=lambda spec: spec.label())
def test_a_run_that_goes_well_is_healthy(world: WorldSpec, seed: int) -> None:
    found = diagnosed(world, LORIL(k=0.1), 1500, seed, "healthy")
    for name in ("shape", "prediction", "teaching", "model class", "exploration", "ties"):
        assert state_of(found, name) == "good", str(found)


# The instruments.


@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
@pytest.mark.parametrize(
    "agent",
    [LORIL(k=0.3), EpsilonGreedy(epsilon=0.2), Greedy(ties="first"), Uniform()],
    ids=lambda spec: spec.label(),
)
def test_watching_a_run_does_not_change_it(contexts: int | str, agent: AgentSpec) -> None:
    world = SMALL.with_settings({"contexts": contexts})
    read = diagnosed(world, agent, 300, seed=4).readings
    run = play(world, agent, 300, seed=4)
    np.testing.assert_array_equal(read.regrets, run.regrets)
    np.testing.assert_array_equal(read.rewards, run.rewards)
    np.testing.assert_array_equal(read.bonuses, run.bonuses)
    told = [example.description for example in read.examples]
    np.testing.assert_array_equal(told, run.descriptions)


def test_what_is_read_is_what_plain_numpy_makes_of_the_run() -> None:
    read = diagnosed(SMALL, LORIL(k=0.3), 200, seed=5).readings
    assert len(read.true_rewards) == 200
    bests = np.array([one.rewards.max() for one in read.true_rewards])
    np.testing.assert_allclose(read.bests, bests)
    means = [one.rewards.mean() for one in read.true_rewards]
    np.testing.assert_allclose(read.uniform_rewards, means)
    by_bonus = read.greedy == 0
    assert 0 < by_bonus.sum() < 200
    assert (read.greedy_rewards[~by_bonus] == read.rewards[~by_bonus]).all()
    run = play(SMALL, LORIL(k=0.3), 200, seed=5)
    where_best = read.regrets == 0  # then the chosen response is the best one
    upper = np.array(run.estimates) + read.bonuses
    np.testing.assert_allclose(read.best_uppers[where_best], upper[where_best])
    assert (read.tied >= 1).all()


def test_the_table_has_a_row_a_round_and_null_for_what_is_unknown() -> None:
    table = diagnosed(SMALL, Uniform(), 60).table()
    assert table["t"].to_list() == list(range(1, 61))
    assert table["regrets"].null_count() == 0
    assert table["predicted"].null_count() == table["tied"].null_count() == 60


def test_progress_counts_every_round_once() -> None:
    told: list[int] = []
    diagnose(RunSpec(SMALL, Greedy(), 250, 0), told.append)
    assert sum(told) == 250


def test_many_responses_are_sampled_and_the_finding_says_so() -> None:
    world = Synthetic(instructions=10, responses=2000, rank=10, temperature=0.75)
    found = diagnosed(world, LORIL(k=0.3), 2000)
    assert len(found.readings.true_rewards) * 2000 <= 200_000
    assert "looked at in 100 of 2,000 rounds" in str(found).replace("\n    ", " ")


def test_a_world_without_truth_is_refused_with_the_reason() -> None:
    with pytest.raises(SettingError, match="has no truth"):
        diagnosed(Secret(), Greedy(), 100)


def test_rounds_that_nobody_described_are_left_out() -> None:
    found = diagnosed(Taciturn(3), LORIL(k=0.1), 900)
    assert len(found.readings.examples) == 300
    assert np.isfinite(found.readings.predicted).sum() == 300
    silent = diagnosed(Taciturn(0), LORIL(k=0.1), 200)
    assert state_of(silent, "prediction") == "unknown"
    assert "nothing was described" in str(silent)


@pytest.mark.parametrize("rounds", [1, 2, 7, 39])
def test_a_few_rounds_are_too_few_to_tell(rounds: int) -> None:
    found = diagnosed(SMALL, LORIL(), rounds, cause="unclear")
    assert "too few" in found.verdict


def test_an_agent_without_a_model_is_judged_by_what_it_says() -> None:
    found = diagnosed(SMALL, BareSpec(), 400)
    assert np.isfinite(found.readings.bonuses).all()
    assert {state_of(found, name) for name in ("optimism", "exploration", "ties")} == {"unknown"}


def test_worlds_of_pictures_and_sentences_can_be_diagnosed() -> None:
    found = diagnosed(Images(encoder=Thumbnail(2)), LORIL(model=Sentence(steps=2)), 60)
    assert "GRU with 20 hidden units" in str(found).replace("\n    ", " ")
    assert found.cause.capitalize() in str(found)
