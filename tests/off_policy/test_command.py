"""The command ``tellback evaluate``."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tellback import play, rounds
from tellback.agents import (
    LORIL,
    AgentSpec,
    EpsilonGreedy,
    Thompson,
    Uniform,
)
from tellback.cli import main
from tellback.errors import SettingError
from tellback.off_policy import (
    AgentPolicy,
    Log,
    OverlapError,
    Uniformly,
    demand_overlap,
    doubly_robust,
    inverse_propensity,
    overlap,
    self_normalised,
)
from tellback.worlds import Synthetic
from tests.support.off_policy import played, taught


def test_the_command_judges_saved_agents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, agent = Log.of(played(EpsilonGreedy(epsilon=0.3), 300)), taught()
    log.save(tmp_path / "log.jsonl")
    agent.save(tmp_path / "agent.npz")
    words = ["evaluate", str(tmp_path / "log.jsonl"), str(tmp_path / "agent.npz")]
    monkeypatch.setattr("sys.argv", ["tellback", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    said = capsys.readouterr().out
    policy = AgentPolicy(agent)
    for estimate in (
        inverse_propensity(log, Uniformly()),
        self_normalised(log, policy),
        doubly_robust(log, policy, agent.model),
    ):
        assert str(estimate) in said


def test_the_command_says_why_a_log_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Log.of(played(LORIL(), 50)).save(tmp_path / "log.jsonl")
    monkeypatch.setattr("sys.argv", ["tellback", "evaluate", str(tmp_path / "log.jsonl")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "propensity 1" in capsys.readouterr().err


def test_shares_of_draws_are_not_taken_for_probabilities() -> None:
    world = Synthetic(instructions=4, responses=3, rank=2, seed=5)
    agent = play(world, Thompson(draws=3), 60, seed=1).agent
    task = next(iter(rounds(world, Uniform(), seed=9))).task
    with pytest.raises(SettingError, match="no exact propensity"):
        AgentPolicy(agent).probabilities(task)
    asked = AgentPolicy(agent, draws=2000, seed=1).probabilities(task)
    often = [agent.respond(task, np.random.default_rng(seed)).response for seed in range(2000)]
    np.testing.assert_allclose(asked, np.bincount(often, minlength=3) / 2000, atol=0.06)


def test_a_log_of_estimated_propensities_is_not_refused_as_certain() -> None:
    world = Synthetic(instructions=4, responses=3, rank=2, seed=5)
    played = list(islice(rounds(world, Thompson(draws=20), seed=1), 400))
    assert any(one.choice.propensity == 1 for one in played)
    with pytest.raises(OverlapError, match="certain"):
        demand_overlap(Log.of(played), Uniformly())
    found = overlap(Log.of(played, propensities="exact given 20 draws"), Uniformly())
    assert found.lost == 0


@pytest.mark.parametrize(
    ("agent", "kind"),
    [
        (EpsilonGreedy(epsilon=0.3), "exact"),
        (Thompson(draws=20), "exact given 20 draws"),
        (Thompson(draws=1), "none are stated"),
    ],
    ids=repr,
)
def test_a_log_knows_how_its_propensities_are_known(
    agent: AgentSpec, kind: str, tmp_path: Path
) -> None:
    """As the agent says: nobody has to remember it, and a file keeps it."""
    world = Synthetic(instructions=4, responses=3, rank=2, seed=5)
    log = Log.played(world, agent, rounds=40, seed=1)
    same = Log.of(islice(rounds(world, agent, seed=1), 40))
    np.testing.assert_array_equal(log.responses, same.responses)
    np.testing.assert_array_equal(log.propensities, same.propensities)
    assert (log.kind, same.kind) == (kind, "unknown")
    assert kind in repr(log)
    log.save(tmp_path / "log.jsonl")
    assert Log.load(tmp_path / "log.jsonl").kind == log[:10].kind == log.usable.kind == kind


def test_a_file_from_before_does_not_say_how_its_propensities_are_known(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    Log.of(played(Uniform(), 3), propensities="exact").save(path)
    first, *others = path.read_text().splitlines()
    assert json.loads(first)["propensities"] == "exact"
    path.write_text("\n".join(['{"format": "tellback log", "version": 1}', *others]))
    assert Log.load(path).kind == "unknown"
    assert len(Log.load(path)) == 3


def test_a_kind_of_propensities_that_no_agent_states_is_refused() -> None:
    with pytest.raises(SettingError, match=r"agent\.propensities says"):
        Log.of(played(Uniform(), 3), propensities="estimated")
