"""Studies can isolate their agents, and say which runs' matches are not to be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellback import Choice, Task
from tellback.agents import LORIL
from tellback.cli.show import print_results
from tellback.lab import Store, Study, run_studies
from tellback.lab.engines import Processes, engine_named
from tellback.lab.report import write_report
from tellback.lab.run_one import Finished, run_one
from tellback.lab.run_spec import RunSpec
from tellback.roles import AgentSpec, Facts
from tellback.streams import Stream, Streams
from tellback.worlds import Synthetic
from tests.support.studies import Inline

WORLD = Synthetic(instructions=4, responses=6, rank=3)
TRIED = 3


@dataclass(frozen=True)
class SeedTrier(AgentSpec):
    """Finds the seed by trying, makes the world anew, and asks its teacher beforehand."""

    def build(self, facts: Facts, rng: np.random.Generator) -> SeedTrierAgent:
        key = rng.bit_generator.state["state"]["key"].tolist()
        seed = next(s for s in range(TRIED) if list(Streams(s).init_stream("agent").key) == key)
        return SeedTrierAgent(seed)


class SeedTrierAgent:
    def __init__(self, seed: int) -> None:
        self.teacher = WORLD.build(Streams(seed).init("world")).teacher
        self.stream = Stream(seed, "teacher")
        self.t = 0

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        self.t += 1
        for y in range(len(task.responses)):
            said = self.teacher.describe(task.context, y, self.stream.at(self.t))
            if said == task.instruction:
                return task.choose(y)
        return task.choose(0)

    def learn(self, task: Task, choice: Choice, description: Any) -> None: ...


def test_a_report_names_the_runs_of_an_agent_that_flatters(tmp_path: Path, capsys: Any) -> None:
    agents = {"flatterer": (SeedTrier(),), "LORIL": (LORIL(),)}
    study = Study("trust", WORLD, agents, 400, (), (0, 1))
    store = Store(tmp_path / "runs")
    (results,) = run_studies([study], store, on=Inline())
    assert len(results.warnings()) == 2
    assert all(one.startswith("Warning: seed-trier, seed") for one in results.warnings())
    write_report("trust", [results], tmp_path / "report")
    assert (tmp_path / "report" / "report.html").read_text().count("Warning: seed-trier") == 2
    print_results([results])
    assert capsys.readouterr().err.count("Warning") == 2
    about = store.about(study.run(LORIL(), 0))
    assert about["match_check"]["differs"] is False
    assert about["isolated"] is False


def test_an_isolated_run_is_the_same_run() -> None:
    run = RunSpec(WORLD, LORIL(), 30, 1)
    one, other = run_one(run), run_one(run, isolated=True)
    assert isinstance(one, Finished)
    assert isinstance(other, Finished)
    np.testing.assert_array_equal(one.curve, other.curve)
    assert other.about["isolated"] is True


def test_engines_are_told_to_isolate() -> None:
    assert engine_named("here", 2, isolated=True) == Processes(2, isolated=True)


@pytest.mark.slow
def test_workers_isolate(tmp_path: Path) -> None:
    study = Study("alone", WORLD, {"LORIL": (LORIL(),)}, 30, (), (1,))
    store = Store(tmp_path)
    run_studies([study], store, on=Processes(1, isolated=True))
    assert store.about(study.run(LORIL(), 1))["isolated"] is True
