"""Certificates and bounds from the command line, and the theory's settings in files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tellback import cli
from tellback.agents import LORIL, Certified, Greedy, Printed, SelfNormalized
from tellback.errors import SettingError
from tellback.lab import plan_from_toml
from tellback.lab.bounds import is_about, regret_bounds, said_of
from tellback.models import FiniteClass, Ridge
from tellback.theory import (
    meaningful_from,
    repaired_regret_bound,
    self_normalized_regret_bound,
)
from tellback.worlds import Adversarial, Images, Realizable, Synthetic


def run(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command here, which is faster than in a process of its own."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setattr(sys, "argv", ["tellback", *words.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    code = ended.value.code
    return code if isinstance(code, int) else 0


def test_certify_shows_the_certificate_its_light_and_the_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "certify realizable --agent greedy --set model=finite-class --rounds 3000 --figure c"
    words += " --delta 0.2"
    assert run(words, tmp_path, monkeypatch) == 0
    out = capsys.readouterr().out
    said = "(proven with probability 80%, since the truth is one of the 64 members of its class)"
    assert f"{said}; calibration green" in out
    assert "Calibration by matches alone: grey" in out
    assert "Theorem 2, repaired (delta = 0.2)" in out
    assert "for scale only" in out, "the theorem is not about greedy"
    assert (tmp_path / "c.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "--set model=finite-class --set class_seed=3",
            "not proven: it is not so that the truth is one of the 64 members of its class",
        ),
        (
            "--set model=ridge --k self-normalized",
            "proven with probability 95%, since the truth is f(x) . g(y, s) with no f(x) longer "
            "than B = 2)",
        ),
        ("--k self-normalized", "not proven: the radius self-normalized is for the model ridge"),
        ("--k 0.1", "not proven: k = 0.1 was chosen and not derived"),
    ],
)
def test_certify_says_what_its_certificate_rests_on(
    words: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(f"certify realizable --rounds 50 --agent greedy {words}", tmp_path, monkeypatch) == 0
    assert says in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("certify synthetic --agent uniform", "uniform has no model"),
        ("certify synthetic --k repared", "Did you mean 'repaired'"),
        ("certify synthetic --delta 2", "delta must be"),
        ("certify images --set encoder=thumbnail", "give a number as --k"),
        ("run images --set encoder=thumbnail --bound", "Theorem 2 needs a table"),
        ("run hard --set responses=10", "responses must be at least 8e"),
        ("run hard --set horizon=100", "horizon must be at least"),
    ],
)
def test_what_cannot_be_certified_or_bounded_is_said_before_any_work(
    words: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(words, tmp_path, monkeypatch) == 2
    assert says in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


def test_run_draws_the_bound_above_the_curves_and_says_how_loose_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "run synthetic --rounds 100 --seeds 1 --workers 1 --bound --figure bound.png"
    words += " --set instructions=20 --agent greedy"
    assert run(words, tmp_path, monkeypatch) == 0
    out = capsys.readouterr().out
    assert "times the regret" in out
    assert "vacuous, because it exceeds the number of rounds until round" in out
    assert (tmp_path / "bound.svg").exists()


def test_the_bound_is_for_the_class_and_the_delta_of_the_agent() -> None:
    facts, model = Realizable().facts, FiniteClass()
    agent = LORIL.as_repaired(0.2, model=model)
    log_size, length = model.known_class(facts)
    bound = regret_bounds(facts, agent)["Theorem 2, repaired"]
    assert bound(500) == repaired_regret_bound(500, 4, length, log_size, 0.2)
    assert is_about(agent)
    assert not is_about(LORIL(model=model))
    assert not is_about(Certified(agent))
    first = meaningful_from(bound)
    assert "vacuous" in said_of("B", bound, first - 1, 1.0, agent)
    assert "vacuous" not in said_of("B", bound, first, 1.0, agent)
    assert "where regret is zero" in said_of("B", bound, first, 0.0, agent)


def test_with_ridge_the_bound_is_for_its_radius_and_its_ridge() -> None:
    facts = Realizable().facts
    agent = LORIL(k=SelfNormalized(0.2), lam=0.5, model=Ridge(0.5))
    (bound,) = regret_bounds(facts, agent).values()
    assert bound(700) == self_normalized_regret_bound(700, 10, 4, 0.2, 2.0, 0.5)
    assert is_about(agent)
    assert not is_about(agent.with_settings({"model": Ridge(1.0)}))
    assert not is_about(agent.with_settings({"model": None}))


def test_there_is_no_bound_where_instructions_are_sentences() -> None:
    with pytest.raises(SettingError, match="table of instructions"):
        regret_bounds(Images().facts, Greedy())


def test_a_file_can_have_worlds_within_worlds_and_radii() -> None:
    text = """
    rounds = 100
    reported = "0-2"

    [worlds.hostile]
    kind = "adversarial"
    world = { kind = "synthetic", instructions = 5, responses = 7, rank = 3 }

    [agents.printed]
    kind = "loril"
    k = { kind = "printed", delta = 0.1 }
    lam = "1/t"

    [agents.named]
    kind = "loril"
    k = "repaired"
    lam = "1/t"

    [agents.certified]
    kind = "certified"
    agent = { kind = "greedy" }
    """
    (study,) = plan_from_toml(text).studies
    assert study.world == Adversarial(Synthetic(instructions=5, responses=7, rank=3))
    assert study.agents["printed"] == (LORIL(k=Printed(0.1), lam="1/t"),)
    assert study.agents["named"] == (LORIL.as_repaired(),)
    assert study.agents["certified"] == (Certified(Greedy()),)
