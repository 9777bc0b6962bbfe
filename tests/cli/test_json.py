"""Tables as JSON, ranges of seeds, and help that is wrapped once."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import typer.testing

from tellback import cli, play
from tellback.agents import EpsilonGreedy, Greedy
from tellback.cli.as_json import plain
from tellback.off_policy import Log
from tellback.worlds import Synthetic
from tests.support.command import command

RUN = "run synthetic -a greedy -a uniform --rounds 30 --on inline --set instructions=5"


def test_seeds_are_a_number_or_a_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for given, seeds in {"2": [0, 1], "10-12": [10, 11, 12], "3,5-6": [3, 5, 6]}.items():
        assert command(f"{RUN} --seeds {given} --json", tmp_path, monkeypatch) == 0
        assert json.loads(capsys.readouterr().out)["reported"] == seeds
    mistakes = {"0": "at least 1", "-3": "at least 1", "5-3": "upwards", "x": "1000-1009"}
    for given, says in mistakes.items():
        assert command(f"{RUN} --seeds={given}", tmp_path, monkeypatch) == 2
        assert says in capsys.readouterr().err


def test_run_prints_one_document_and_all_else_goes_to_standard_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"{RUN} --seeds 3 --json --bound --figure regret.pdf"
    assert command(words, tmp_path, monkeypatch) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [one["agent"] for one in found["agents"]] == ["greedy", "random"]
    assert all(one["low"] <= one["regret"] <= one["high"] for one in found["agents"])
    assert found["pairs"][0]["sentence"]
    assert len(found["runs"]) == 6
    assert "Written: regret.pdf" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["regret.pdf", "results"]


def test_certify_and_list_print_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "certify synthetic --agent greedy --rounds 50 --set instructions=5 --json"
    assert command(words, tmp_path, monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["certificate"] >= found["regret"] >= 0
    assert found["calibration"] in ("green", "amber", "red", "grey")
    assert command("list --json", tmp_path, monkeypatch) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert listed["loril"]["role"] == "agent"
    assert listed["loril"]["settings"]["k"] == 0.1


def test_evaluate_prints_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world = Synthetic(instructions=5, responses=3, rank=2)
    taught = play(world, Greedy(), 50, seed=1).agent
    taught.save(tmp_path / "agent.npz")  # type: ignore[attr-defined]
    Log.played(world, EpsilonGreedy(0.5), rounds=200, seed=2).save(tmp_path / "log.jsonl")
    assert command("evaluate log.jsonl agent.npz --json", tmp_path, monkeypatch) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["chance", "agent.npz"]
    assert found["chance"]["estimates"][0]["n"] == 200


def test_what_json_has_no_word_for_becomes_plain() -> None:
    given = {"a": np.float64("nan"), "b": (np.int64(1), None), "c": Greedy(), "d": Path("x")}
    shown = plain(given)
    assert shown["a"] is None
    assert shown["b"] == [1, None]
    assert shown["c"]["kind"] == "greedy"
    assert shown["d"] == "x"


@pytest.mark.parametrize(
    "words", ["run", "league", "paper images", "certify", "study run", "teach", "accounts add"]
)
def test_paragraphs_of_help_are_wrapped_once(words: str) -> None:
    result = typer.testing.CliRunner(env={"COLUMNS": "80", "TERM": "dumb"}).invoke(
        cli.app, [*words.split(), "--help"]
    )
    assert result.exit_code == 0, result.output
    written = result.output.split("╭")[0].splitlines()[2:]
    for line, after in pairwise(written):
        if line.strip() and after.strip():  # a line ends only where the next word has no room
            assert len(line.rstrip()) + 1 + len(after.split()[0]) > 78, (line, after)
