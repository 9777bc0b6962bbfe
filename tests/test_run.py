"""The record of a run."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import polars
import pytest

from tellback import Choice, Facts, Run, Simulation, Task, play
from tellback.agents import LORIL, Uniform
from tellback.roles import Instruction
from tellback.worlds import Synthetic
from tests.support.oracles import Diary, Mirror

WORLD = Synthetic(instructions=4, responses=3, rank=2, seed=0)


class Speaker(Mirror):
    """Instructions are sentences; every third response stays undescribed."""

    names = ("go left", "stay <here> & wait", "go right")

    def __init__(self) -> None:
        super().__init__()
        self.facts = Facts(dim=3, instructions=None, fixed_responses=True)

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return Task(t, self.names[t % 3], self.responses)

    def describe(self, context: int, response: int, rng: np.random.Generator) -> Instruction | None:
        return None if context % 3 == 0 else self.names[response]

    def reward(self, task: Task, response: int) -> float:
        return float(task.instruction == self.names[response])

    def best(self, task: Task) -> float:
        return 1.0


class Forgetful(Mirror):
    """Numbers as instructions; round 1 and every third after it stay undescribed."""

    def task(self, t: int, history: Any, rng: np.random.Generator) -> Task:
        return Task(t, t % 3, self.responses)

    def describe(self, context: int, response: int, rng: np.random.Generator) -> Instruction | None:
        return None if context % 3 == 1 else response


def test_matches_are_descriptions_equal_to_the_instruction() -> None:
    run = play(WORLD, Uniform(), 200, seed=1)
    pairs = zip(run.instructions, run.descriptions, strict=True)
    assert run.matches.tolist() == [float(x == told) for x, told in pairs]
    assert 0 < run.matches.mean() < 1


def test_matches_are_unbiased_for_the_reward() -> None:
    run = play(WORLD, Uniform(), 20_000, seed=1)
    error = (run.matches - run.rewards).std() / np.sqrt(len(run))
    assert abs(run.matches.mean() - run.rewards.mean()) < 3 * error


def test_a_missing_description_never_matches() -> None:
    for world in (Forgetful(), Speaker()):
        run = play(world, Diary(), 30)
        untold = [t for t, told in enumerate(run.descriptions) if told in (None, -1)]
        assert len(untold) == 10
        assert not run.matches[untold].any()
        assert run.matches.any()


def test_the_table_has_a_row_a_round() -> None:
    run = play(WORLD, LORIL(), 25, seed=1)
    table = run.table()
    assert table.height == len(run) == 25
    assert table.columns == [
        "t",
        "instruction",
        "response",
        "description",
        "estimate",
        "bonus",
        "propensity",
        "width",
        "highest",
        "reward",
        "regret",
        "attainable",
        "certificate",
    ]
    assert table["t"].to_list() == list(range(1, 26))
    assert table["regret"].to_list() == run.regret.tolist()
    assert table["instruction"].to_list() == list(run.instructions)
    assert table["reward"].to_list() == run.rewards.tolist()
    assert table["description"].null_count() == 0


def test_missing_descriptions_are_null_in_the_table() -> None:
    numbers = play(Forgetful(), Diary(), 9).table()
    assert numbers["description"].dtype == polars.Int64
    assert numbers["description"].is_null().to_list() == [True, False, False] * 3
    words = play(Speaker(), Diary(), 9).table()
    assert words["description"].dtype == polars.String
    assert words["description"].is_null().to_list() == [False, False, True] * 3


def test_sentences_stay_sentences_in_the_table() -> None:
    table = play(Speaker(), Diary(), 9).table()
    assert table["instruction"].to_list() == [Speaker.names[t % 3] for t in range(1, 10)]
    assert set(table["description"].drop_nulls()) <= set(Speaker.names)


def test_an_agent_without_an_account_has_nan_in_the_record() -> None:
    run = play(WORLD, Diary(), 5)
    assert np.isnan(run.estimates).all()
    assert np.isnan(run.propensities).all()
    assert run.bonuses.tolist() == [0.0] * 5


def test_the_summary_says_who_where_and_how_well() -> None:
    run = play(WORLD, LORIL(k=0.5), 1000, seed=17)
    summary = run.summary()
    assert summary["world"] == repr(WORLD)
    assert summary["agent"] == repr(LORIL(k=0.5))
    assert summary["seed"] == "17"
    assert summary["rounds"] == "1,000"
    assert float(summary["regret"]) == pytest.approx(run.regret[-1], rel=1e-3)
    first = float(summary["regret a round, first tenth"])
    last = float(summary["regret a round, last tenth"])
    assert first == pytest.approx(run.regrets[:100].mean(), rel=1e-2)
    assert last == pytest.approx(run.regrets[900:].mean(), rel=1e-2)
    best = (run.rewards + run.regrets).mean()
    assert f"{run.rewards.mean() / best:.0%}" in summary["reward, of the best possible"]
    assert summary["descriptions that matched"].startswith(f"{run.matches.mean():.2%} (mean reward")


def test_the_summary_is_a_table_of_two_columns_in_a_terminal() -> None:
    summary = play(WORLD, Uniform(), 3).summary()
    lines = str(summary).splitlines()
    assert len(lines) == len(summary)
    width = max(map(len, summary))
    for line, (name, value) in zip(lines, summary.items(), strict=True):
        assert line[:width].rstrip() == name
        assert line[width:] == f"  {value}"
    assert repr(summary) == str(summary)


class Cells(HTMLParser):
    """Collects the cells of a table."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[tuple[str, str]] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.inside = tag
        if tag in ("th", "td"):
            self.cells.append((tag, ""))

    def handle_data(self, data: str) -> None:
        if self.inside in ("th", "td"):
            tag, text = self.cells[-1]
            self.cells[-1] = (tag, text + data)


def test_the_summary_is_a_table_in_a_notebook() -> None:
    run = play(WORLD, Uniform(), 3)
    parser = Cells()
    parser.feed(run._repr_html_())
    expected = [cell for row in run.summary().items() for cell in zip(("th", "td"), row)]  # noqa: B905
    assert parser.cells == expected


def test_names_are_escaped_in_a_notebook() -> None:
    class Odd(Diary):
        pass

    Odd.__name__ = "<script>alert(1)</script>"
    text = play(WORLD, Odd(), 3)._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_live_things_are_named_by_their_class() -> None:
    run = play(Mirror(), Diary(), 3)
    assert (run.world_name, run.agent_name) == ("Mirror", "Diary")


def test_a_run_that_was_taken_up_says_so() -> None:
    first = play(WORLD, LORIL(), 1200)
    second = play(WORLD, first.agent, 10, start=1200)
    assert second.summary()["rounds"] == "10 after 1,200"


def test_a_run_without_a_truth_can_be_summed_up() -> None:
    mirror = Mirror()
    run = play(Simulation(mirror, mirror, None), Uniform(), 10)
    summary = run.summary()
    assert summary["reward, of the best possible"] == "unknown"
    assert summary["regret"] == "nan"
    assert "%" in summary["descriptions that matched"]


def test_a_run_of_one_round_can_be_summed_up() -> None:
    run = play(WORLD, Uniform(), 1)
    assert run.summary()["rounds"] == "1"
    assert run.table().height == 1


def test_a_world_where_nothing_can_be_won_can_be_summed_up() -> None:
    class Barren(Mirror):
        def reward(self, task: Task, response: int) -> float:
            return 0.0

        def best(self, task: Task) -> float:
            return 0.0

    assert play(Barren(), Uniform(), 5).summary()["reward, of the best possible"] == "unknown"


def test_what_a_run_prints_is_not_its_agent_or_history() -> None:
    text = repr(play(Mirror(), Diary(), 3))
    assert "agent=" not in text
    assert "history=" not in text


def test_numpy_integers_are_recorded_like_any_other() -> None:
    class Numpy(Diary):
        def respond(self, task: Task, rng: np.random.Generator) -> Choice:
            return task.choose(np.int64(rng.integers(len(task.responses))))

    run: Run = play(WORLD, Numpy(), 10)
    assert np.asarray(run.responses).dtype.kind == "i"
