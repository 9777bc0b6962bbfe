"""``tellback paper``: verdicts as soon as they are known, reports when a part is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tellback.agents import Greedy, Uniform
from tellback.cli.paper import Options, Part, _played, _simulate
from tellback.lab import Results, Study
from tellback.lab.engines.beside import Beside
from tellback.paper.claims import Claim
from tellback.worlds import Synthetic


def test_a_verdict_is_said_when_its_studies_are_done_and_a_report_when_its_part_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []

    def judge(found: list[Results]) -> list[Claim]:
        names = " and ".join(one.study.name for one in found)
        told.append(names)
        return [Claim("claimed", "", names, "measured", "holds", "")]

    def report(found: list[Results], folder: Path) -> tuple[list[Claim], list[Path]]:
        told.append(f"report of {len(found)}")
        return judge(found), [folder]

    a, b, c = (_study(name) for name in "abc")
    pair = Part(tmp_path / "pair", [([a, b], judge)], report)
    single = Part(tmp_path / "single", [([c], judge)], report, simulations=[lambda: judge([])])
    with Beside(inline=True) as beside:
        _simulate([pair, single], beside)
        claims = _played([pair, single], Options(tmp_path, on="inline"), beside)
    # Judged when it is known, and again for the report.
    assert told == ["", "a and b", "report of 2", "a and b", "c", "report of 1", "c"]
    assert [[one.reading for one in part] for part in claims] == [["a and b"], ["c"]]
    said = capfd.readouterr().err
    verdicts = ("claimed. : measured", "claimed. a and b: measured", "claimed. c: measured: holds.")
    assert sorted(map(said.index, verdicts)) == [*map(said.index, verdicts)]


def _study(name: str) -> Study:
    return Study(
        name=name,
        world=Synthetic(instructions=3, responses=3, rank=2, seed=ord(name)),
        agents={"greedy": (Greedy(),), "random": (Uniform(),)},
        rounds=20,
        tuning=(),
        reported=(0, 1, 2),
    )
