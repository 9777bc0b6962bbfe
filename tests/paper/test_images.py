"""The paper's second experiment from the command line, killed and taken up again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import matplotlib as mpl
import matplotlib.image
import numpy as np
import polars
import pytest

from tellback import cli
from tellback.agents import Greedy
from tellback.extras import install_command
from tellback.models import Sentence
from tellback.paper import images
from tellback.worlds.pictures import COLOURS
from tests.support.command import WIDE, tellback_here
from tests.support.patience import PATIENCE

pytest.importorskip("torch")
pytest.importorskip("safetensors")

TELLBACK = str(Path(sys.executable).with_name("tellback"))
SCALE = 0.02
WORDS = [TELLBACK, "paper", "images", "--scale", str(SCALE)]
SHEETS = ("objects", "reconstructions", "storyboard", "speech")


class Place(NamedTuple):
    """A results folder and a cache of its own, so that nothing is found done before."""

    folder: Path

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **WIDE,
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "MPLCONFIGDIR": mpl.get_cachedir(),  # its list of fonts is long in the making
        }

    def start(self) -> subprocess.Popen[str]:
        with self.log.open("w") as log:
            return subprocess.Popen(
                [*WORDS, "--results", str(self.results)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
                env={**os.environ, **self.environment},
            )

    def finish(self) -> str:
        process = self.start()
        out, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, self.log.read_text()
        return out

    def kill_when(self, ready: Callable[[], bool]) -> None:
        """Start, and kill everything that was started as soon as it is ready."""
        process = self.start()
        deadline = time.monotonic() + PATIENCE
        try:
            while not ready():
                assert process.poll() is None, self.log.read_text()
                assert time.monotonic() < deadline, self.log.read_text()
                time.sleep(0.02)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL

    def encoders(self) -> list[Path]:
        return visible(self.folder / "cache" / "tellback" / "encoders", "*")

    def runs(self) -> list[Path]:
        return visible(self.results / "runs", "*.parquet")

    def contents(self) -> dict[str, bytes]:
        """Every result: runs, the table of all curves, and every figure."""
        found = [*self.runs(), *visible(self.results / "images", "*")]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}


def visible(folder: Path, names: str) -> list[Path]:
    """Hidden files are the leftovers of writes that were killed; they do not count."""
    files = [path for path in folder.rglob(names) if path.is_file()]
    return sorted(path for path in files if not path.name.startswith("."))


def stamps(paths: list[Path]) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in paths}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, str]:
    place = Place(tmp_path_factory.mktemp("undisturbed"))
    words = [*WORDS[1:], "--results", str(place.results), "--on", "inline"]
    with patch.dict(os.environ, place.environment):
        done = tellback_here(*words, cwd=place.folder)
    assert done.returncode == 0, done.stderr
    return place, done.stdout


def test_it_prints_the_claim_beside_what_was_measured(undisturbed: tuple[Place, str]) -> None:
    place, out = undisturbed
    words = " ".join(out.split())
    assert "4.8% less" in words
    assert f"n = {images.CLAIMED.seeds}" in words
    assert "canon, the paper's features" in words
    notes = (place.results / "report.html").read_text()
    assert "4.8% lies in the interval" in notes or "4.8% is not in the interval" in notes
    for agent in ("LORIL", "epsilon-greedy", "greedy", "random"):
        assert agent in words
    assert "Written:" in words
    for name in SHEETS:
        assert f"images/{name}.png" in words


def pixels(place: Place, name: str) -> Any:
    """A figure as whole numbers from 0 to 255."""
    read: Any = matplotlib.image.imread(place.results / "images" / f"{name}.png")
    return (read[..., :3] * 255).round().astype(np.int64)


@pytest.mark.parametrize("name", [*SHEETS, "regret"])
def test_it_draws_pictures_that_show_something(name: str, undisturbed: tuple[Place, str]) -> None:
    shown = pixels(undisturbed[0], name)
    height, width, _ = shown.shape
    assert min(height, width) >= 300
    _, often = np.unique(shown @ [1 << 16, 1 << 8, 1], return_counts=True)
    assert len(often) > 50
    assert often.max() < 0.99 * height * width
    # Something is drawn in every quarter of the figure.
    for rows in (slice(height // 2), slice(height // 2, None)):
        for columns in (slice(width // 2), slice(width // 2, None)):
            assert shown[rows, columns].std() > 1


def test_every_colour_is_among_the_objects(undisturbed: tuple[Place, str]) -> None:
    shown = pixels(undisturbed[0], "objects")
    for name, colour in COLOURS.items():
        # Four objects of some thousand pixels each.
        assert (shown == colour).all(axis=2).sum() > 5_000, name


def test_it_writes_the_raw_results(undisturbed: tuple[Place, str]) -> None:
    place, _ = undisturbed
    table = polars.read_parquet(place.results / "images" / "regret.parquet")
    (study,) = images.studies(SCALE)
    assert len(place.runs()) == len(study)
    assert table["study"].unique().to_list() == [study.name]
    assert set(table["agent"].unique()) == set(study.agents)
    assert table["t"].max() == study.rounds
    assert not table["regret"].is_nan().any()
    settings = table.group_by("agent", "seeds").agg(
        polars.col("setting").n_unique(), polars.col("seed").unique()
    )
    for agent, seeds, number, which in settings.iter_rows():
        tuning = seeds == "tuning"
        assert number == (len(study.agents[agent]) if tuning else 1)
        assert set(which) == set(study.tuning if tuning else study.reported)
    svg = (place.results / "images" / "regret.svg").read_text()
    assert svg.startswith("<?xml")
    assert "LORIL" in svg


def test_the_encoder_is_trained_once_and_kept(undisturbed: tuple[Place, str]) -> None:
    (encoder,) = undisturbed[0].encoders()
    assert encoder.name.startswith("autoencoder-")
    assert encoder.suffix == ".safetensors"


@pytest.mark.slow
def test_a_second_call_computes_nothing_anew(undisturbed: tuple[Place, str]) -> None:
    place, out = undisturbed
    kept, contents = stamps([*place.runs(), *place.encoders()]), place.contents()
    again = place.finish()
    assert stamps([*place.runs(), *place.encoders()]) == kept
    assert place.contents() == contents
    assert again == out


@pytest.mark.slow  # the same engine is killed in test_killed_studies; here, the encoder's training
def test_killed_again_and_again_it_ends_with_the_same_results(
    undisturbed: tuple[Place, str], tmp_path: Path
) -> None:
    place = Place(tmp_path)
    (study,) = images.studies(SCALE)
    at_once = len(list(study.runs()))
    # While the encoder is trained, and among the runs of the chosen settings.
    place.kill_when(lambda: "training an autoencoder" in place.log.read_text())
    assert place.encoders() == place.runs() == []
    place.kill_when(lambda: len(place.runs()) >= at_once + 2)
    late = stamps([*place.runs(), *place.encoders()])
    assert at_once < len(place.runs()) < len(study)
    out = place.finish()
    # What was finished stayed as it was.
    assert late.items() <= stamps([*place.runs(), *place.encoders()]).items()
    expected, found = undisturbed[0].contents(), place.contents()
    assert found.keys() == expected.keys()
    differ = {name for name in expected if found[name] != expected[name]}
    assert differ <= {"results/images/report.html"}  # which says how long the runs took
    assert out.split("Written:")[0] == undisturbed[1].split("Written:")[0]


@pytest.mark.parametrize("missing", ["torch", "safetensors"])
def test_without_the_vision_extra_it_says_in_a_line_what_to_install(
    missing: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ["tellback", "paper", "images", "--scale", "0.02", "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert f"needs {missing}" in line
    assert install_command("vision") in line
    assert not (tmp_path / "cache").exists()
    assert visible(tmp_path, "*") == []


@pytest.mark.parametrize("scale", ["0", "-1", "1.5", "nan"])
def test_a_scale_that_makes_no_sense_is_refused_before_any_work(
    scale: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["tellback", "paper", "images", "--scale", scale, "--results", str(tmp_path / "r")]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert "scale must be finite, above 0 and at most 1" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# What is in the studies.


def test_the_whole_experiment_is_the_papers_and_a_trial_is_smaller() -> None:
    (study,) = images.studies()
    assert study.rounds == images.ROUNDS
    assert len(study.reported) >= 3 * images.CLAIMED.seeds
    (trial,) = images.studies(SCALE)
    assert trial.rounds < study.rounds
    assert len(trial) < len(study)
    assert len(trial.reported) == images.CLAIMED.seeds
    assert len(trial.tuning) >= 2


def test_both_readings_and_variants_are_in_the_full_experiment() -> None:
    worlds: dict[str, Any] = {**images.worlds(full=True)}
    assert {(w.variant, w.encoder.summed_over) for w in worlds.values()} == {
        (variant, summed) for variant in ("canon", "jitter") for summed in ("channels", "places")
    }
    assert [study.name for study in images.studies(full=True)] == list(worlds)
    (name,) = images.worlds()
    assert worlds[name] == images.worlds()[name]


def test_the_study_of_other_models_changes_the_model_and_nothing_else() -> None:
    study = images.other_models()
    agents: list[Any] = [agent for (agent,) in study.agents.values()]
    assert {agent.with_settings({"model": None}) for agent in agents} == {Greedy()}
    assert len({agent.model for agent in agents}) == len(agents)
    assert study.agents[images.BASE] == (Greedy(model=Sentence()),)
    assert study.world == next(iter(images.worlds().values()))
