"""The command line as a user meets it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tellback import cli
from tests.support.command import tellback_here
from tests.support.patience import PATIENCE

TELLBACK = str(Path(sys.executable).with_name("tellback"))


def tellback(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TELLBACK, *words], capture_output=True, text=True, cwd=cwd, timeout=PATIENCE, check=False
    )


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from tellback.cli import app; "
        "import typer.testing; result = typer.testing.CliRunner().invoke(app, ['--help']); "
        "assert result.exit_code == 0, result.output; "
        "heavy = {'numpy', 'numba', 'polars', 'matplotlib', 'scipy', 'torch'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


@pytest.mark.parametrize("words", [(), ("run",), ("list",), ("paper",), ("paper", "synthetic")])
def test_every_command_explains_itself(words: tuple[str, ...]) -> None:
    result = tellback_here(*words, "--help", cwd=Path())
    assert result.returncode == 0
    assert "Usage" in result.stdout


def test_list_shows_worlds_agents_and_models() -> None:
    result = tellback_here("list", cwd=Path())
    assert result.returncode == 0
    for name in ("synthetic", "loril", "greedy", "epsilon-greedy", "uniform", "mixture"):
        assert name in result.stdout
    assert "1[x'" in result.stdout, "brackets are text, not markup"


def test_run_prints_a_table_with_intervals_and_draws_a_figure(tmp_path: Path) -> None:
    words = "run synthetic --agent loril --agent greedy --agent uniform --rounds 300 --seeds 3"
    settings = "--set k=0.2 --set synthetic.instructions=50 --figure regret"
    result = tellback(*words.split(), *settings.split(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "k=0.2" in result.stdout
    assert "n = 3" in result.stdout
    assert (tmp_path / "regret.png").stat().st_size > 10_000
    assert (tmp_path / "regret.svg").read_text().startswith("<?xml")
    assert len(list((tmp_path / "results" / "runs").rglob("*.parquet"))) == 9


def test_one_seed_gives_a_result_without_an_interval(tmp_path: Path) -> None:
    words = "run synthetic -a uniform --rounds 50 --seeds 1 --on inline"
    result = tellback_here(*words.split(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "no interval" in result.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("run synthetik", "Did you mean 'synthetic'"),
        ("run synthetic --agent lorril", "Did you mean 'loril'"),
        ("run synthetic --set temprature=1", "Did you mean 'temperature'"),
        ("run synthetic --set lorl.k=1", "Did you mean 'loril'"),
        ("run synthetic --set rank=0", "rank must be at least 1, not 0"),
        ("run synthetic --set rank=2.5", "rank must be a whole number, not 2.5"),
        (
            "run synthetic --set temperature=-1",
            "temperature must be finite, at least 1e-06, not -1",
        ),
        ("run synthetic --set k=nan", "k must be finite"),
        ("run synthetic --set k=big", "k must be a number, not 'big'"),
        ("run synthetic -a epsilon-greedy --set epsilon=2", "at most 1, not 2"),
        ("run synthetic --set ties=frist", "Did you mean 'first'"),
        ("run synthetic --set k", "name=value"),
        ("run synthetic --rounds 0", "rounds must be at least 1, not 0"),
        ("run synthetic --seeds 0", "seeds must be at least 1, not 0"),
        ("run synthetic --set model=mixtur", "Did you mean 'mixture'"),
        ("run synthetic --set model=sentence", "sentence needs instructions in words"),
        ("run images --set encoder=thumbnail --set model=mixture", "needs a table of instructions"),
        ("run images --set variant=jiter", "Did you mean 'jitter'"),
        ("run images --set responses=33", "responses must be at most 32"),
        ("run images --set encoder=thumbnale", "Did you mean 'thumbnail'"),
        ("run images --set seed=3", "write autoencoder.seed"),
        (
            "run images --set model=sentence --set batch=3",
            "write autoencoder.batch or sentence.batch",
        ),
        ("run images --set model=sentence --set sentence.hiden=3", "Did you mean 'hidden'"),
        ("run images --set model=sentence --set sentense.hidden=3", "Did you mean 'sentence'"),
        (
            "run images --set model=sentence --set sentence.hidden=0",
            "hidden must be at least 1, not 0",
        ),
        ("paper images --scale 2", "scale must be finite"),
        ("check nowhere:Thing", "nowhere cannot be imported"),
        ("evaluate none.jsonl", "There is no file none.jsonl."),
        ("audit none.jsonl", "There is no file none.jsonl."),
        ("data check none.jsonl", "There is no file none.jsonl."),
        ("check tellback.agents:LORI", "Did you mean 'LORIL'"),
        ("check tellback.agents", "MODULE:NAME"),
        ("paper synthetic --scale 0", "scale must be finite, above 0"),
    ],
)
def test_a_mistake_is_named_before_any_work_starts(
    words: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # In this process: thirty others would spend a minute on starting.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["tellback", *words.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert says in told.replace("\n", " ")
    assert "Traceback" not in told
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_ends_the_process_with_code_2_and_without_a_traceback(tmp_path: Path) -> None:
    result = tellback("run", "synthetik", cwd=tmp_path)
    assert result.returncode == 2
    assert "Did you mean 'synthetic'" in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.stderr


def test_check_finds_a_module_in_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Lazy:\n"
        "    def respond(self, task, rng):\n"
        "        return task.choose(0)\n"
        "    def learn(self, task, choice, description):\n"
        "        pass\n"
        "class Rude(Lazy):\n"
        "    def respond(self, task, rng):\n"
        "        return 0\n"
    )
    good, bad = (
        tellback("check", "mine:Lazy", cwd=tmp_path),
        tellback_here("check", "mine:Rude", cwd=tmp_path),
    )
    assert good.returncode == 0, good.stdout + good.stderr
    assert "keeps to the protocol" in good.stdout
    assert bad.returncode == 1
    assert "not a Choice" in bad.stdout


def test_settings_that_are_valid_only_together_may_come_in_any_order(tmp_path: Path) -> None:
    words = "run synthetic -a uniform --rounds 20 --seeds 2 --on inline"
    settings = "--set asks=[0.5,0.5] --set instructions=2"
    result = tellback_here(*words.split(), *settings.split(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr


def test_a_world_without_regret_still_gets_its_table(tmp_path: Path) -> None:
    words = "run synthetic -a uniform -a greedy --rounds 20 --seeds 2 --set responses=1 --on inline"
    result = tellback_here(*words.split(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "no regret" in " ".join(result.stdout.split())


def test_a_spec_of_ones_own_can_be_run(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from tellback.agents import Greedy\n"
        "@dataclass(frozen=True)\n"
        "class Own(Greedy):\n"
        "    pass\n"
        "class Live:\n"
        "    pass\n"
    )
    words = ["run", "synthetic", "--rounds", "20", "--seeds", "2", "--on", "inline", "--agent"]
    own = tellback_here(*words, "mine:Own", cwd=tmp_path)
    assert own.returncode == 0, own.stderr
    assert "own" in own.stdout
    live = tellback_here(*words, "mine:Live", cwd=tmp_path)
    assert live.returncode == 2
    assert "it has no respond and no learn" in " ".join(live.stderr.split())


@pytest.mark.parametrize("option", ["--results", "--figure"])
def test_a_place_that_cannot_be_written_to_is_named_before_any_work(
    option: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    words = f"run synthetic -a uniform --rounds 20 --seeds 2 {option} file/x"
    result = tellback_here(*words.split(), cwd=tmp_path)
    assert result.returncode == 2
    assert "Nothing can be written" in " ".join(result.stderr.split())
    assert not (tmp_path / "results" / "runs").exists()


@pytest.mark.parametrize(
    "command", ["run synthetic -a uniform --seeds", "certify synthetic --seed"]
)
@pytest.mark.parametrize(
    ("figure", "says"),
    [
        ("x.gif", "A figure is written to .png, .svg, .pdf, not to 'x.gif'."),
        ("nowhere/x.png", "There is no folder nowhere: make it, or name another."),
    ],
)
def test_a_figure_that_cannot_be_written_is_refused_before_any_work(
    command: str, figure: str, says: str, tmp_path: Path
) -> None:
    words = f"{command} 1 --rounds 20 --figure {figure}"
    result = tellback_here(*words.split(), cwd=tmp_path)
    assert result.returncode == 2
    assert says in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())


def test_check_reports_what_somebodys_module_raises(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "raises.py").write_text(
        "class A:\n    def __init__(self):\n        raise KeyError\n"
    )
    for thing in ("broken:f", "raises:A"):
        result = tellback_here("check", thing, cwd=tmp_path)
        assert result.returncode == 2
        assert "Traceback" not in result.stderr


def test_parts_of_worlds_and_agents_can_be_set_by_their_kind(tmp_path: Path) -> None:
    words = "run images -a greedy -a uniform --rounds 12 --seeds 2 --set encoder=thumbnail"
    words += " --set model=sentence --on inline"
    settings = "--set thumbnail.cells=2 --set sentence.hidden=4 --set sentence.steps=1"
    result = tellback_here(*words.split(), *settings.split(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    sidecars = [path.read_text() for path in (tmp_path / "results" / "runs").rglob("*.json")]
    assert all('"cells": 2' in text for text in sidecars)
    assert sum('"hidden": 4' in text and '"steps": 1' in text for text in sidecars) == 2


def test_an_encoder_that_does_not_fit_is_named_without_a_traceback(tmp_path: Path) -> None:
    words = "run images -a uniform --rounds 5 --seeds 2 --set encoder=thumbnail"
    result = tellback_here(*words.split(), "--set", "thumbnail.cells=300", cwd=tmp_path)
    assert result.returncode == 2
    assert "cells must be at most 200" in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
