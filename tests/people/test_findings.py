"""What is planned, what was found, and the report of it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from tellback.errors import SettingError
from tellback.lab import Store
from tellback.lab.compare import MeanInterval
from tellback.people.findings import ALL, Findings, Place, run_benchmark
from tellback.people.held_out import EXAMS, ROOMS
from tellback.people.plan import (
    BATCH,
    COSINE,
    GRU,
    RANDOM,
    RECOMMENDED,
    RIDGE,
    TFIDF,
    Benchmark,
    wrong_name,
)
from tellback.people.report import write_report
from tellback.people.tables import BAR_PLACE, BARS, success_sections, verdicts
from tellback.people.tuned_on import groups_in
from tellback.recordings import Recording, Said
from tests.support.recordings import small_recording, written
from tests.support.studies import Idle, Inline

NASTY = '<script src="http://example.org/x.js">the mug</script>'


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recording = small_recording(rooms=8, responses=16, people=16, each=4)
    nasty = tuple(
        replace(one, descriptions=(*one.descriptions, Said(f"{NASTY} {one.id}", "mallory")))
        for one in recording
    )
    return written(tmp_path_factory.mktemp("people"), Recording(nasty))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def found(file: Path, store: Store) -> Findings:
    small = Benchmark(str(file), (0, 1), (3,), ("room 0",), scale=0.02)
    return run_benchmark(small, store, on=Inline())


def test_everybody_is_examined_and_nothing_is_played_twice(found: Findings, store: Store) -> None:
    benchmark = found.benchmark
    everybody = [RECOMMENDED, wrong_name(0.39), TFIDF, COSINE, RIDGE, GRU, RANDOM]
    assert found.learners() == everybody
    assert {place[:2] for place in found.places()} == {("whole", 3), ("steps", 3)}
    again = run_benchmark(benchmark, store, on=Idle())
    assert list(again.lines()) == list(found.lines())


def test_chance_is_exact_and_learners_know_nothing_at_first(found: Findings) -> None:
    for exam in EXAMS:
        first = found.at(Place("whole", 3, exam), RECOMMENDED, 0)
        assert first is not None
        assert first.mean == pytest.approx(1 / 3)
    last = found.benchmark.marks[-1]
    place = Place("whole", 3, ROOMS)
    chance, best = (found.at(place, name, last) for name in (RANDOM, RECOMMENDED))
    assert chance is not None
    assert best is not None
    assert chance.mean == pytest.approx(1 / 3)
    assert best.mean > 0.8


def test_intervals_are_students_over_seeds(file: Path) -> None:
    shares = [0.5, 0.7, 0.6, float("nan")]
    findings = Findings(
        Benchmark(str(file), (0, 1), (3,)), {(BAR_PLACE, RECOMMENDED, 100): list(shares)}
    )
    [line] = findings.lines()
    half = student.ppf(0.975, 2) * np.std(shares[:3], ddof=1) / np.sqrt(3)
    assert line.success.n == 3
    assert line.success.low == pytest.approx(0.6 - half)
    assert line.success.high == pytest.approx(0.6 + half)


def test_all_is_planned_with_its_seeds(file: Path) -> None:
    plan = Benchmark(str(file), tuple(range(18)), (3, 8), ("room 0",), wrong=0.2)
    runs = list(plan.runs())
    assert len({one.run.identity for one in runs}) == len(runs)
    assert plan.few_seeds == (0, 1, 2)

    def seeds(learner: str, level: str, k: int, taught: bool = False) -> list[int]:
        return [
            one.run.seed
            for one in runs
            if learner in one.learners
            and one.level == level
            and k in one.candidates
            and one.run.taught is taught
        ]

    for learner in (RECOMMENDED, wrong_name(0.2)):
        assert seeds(learner, "whole", 3) == list(range(18))
    assert seeds(RECOMMENDED, "whole", 3, taught=True) == list(range(18))
    for level, k in (("whole", 8), ("steps", 3), ("steps", 8)):
        assert seeds(RECOMMENDED, level, k) == [0, 1, 2]
        for learner in (RIDGE, GRU, *BATCH):
            assert seeds(learner, level, k) == [0, 1, 2]
    assert seeds(wrong_name(0.2), "whole", 8) == []
    assert all(one.run.marks[-1] == one.run.rounds for one in runs)
    assert all(one.run.tuned_on == ("room 0",) for one in runs)
    assert plan.seconds() > 0


def test_what_the_recording_does_not_have_is_left_out(tmp_path: Path) -> None:
    whole = tuple(replace(one, step_descriptions=()) for one in small_recording(rooms=6))
    file = str(written(tmp_path, Recording(whole)))
    plan = Benchmark(file, (0, 1), (3, 20), wrong=0.0)
    assert plan.panels == {"whole": (3,)}
    learners = Counter(one.learners[0] for one in plan.runs() if not one.run.taught)
    assert learners == {RECOMMENDED: 2, RIDGE: 2, GRU: 2}
    with pytest.raises(SettingError, match="fewer than 3 groups with 20"):
        Benchmark(file, (0, 1), (20,))
    with pytest.raises(SettingError, match="two or more"):
        Benchmark(file, (0,), (3,))


def test_bars_are_reached_or_not(file: Path) -> None:
    plan = Benchmark(str(file), (0, 1), (3,))
    for above, words in ((0.01, "reached"), (-0.01, "not reached")):
        shares = {
            (BAR_PLACE, wrong_name(bar.wrong) if bar.wrong else RECOMMENDED, bar.mark): [
                bar.at_least + above,
                bar.at_least + above,
            ]
            for bar in BARS
        }
        told = [str(one) for one in verdicts(Findings(plan, shares))]
        assert told == [words] * 6
    wide = {(BAR_PLACE, RECOMMENDED, 100): [0.6, 1.0]}
    [narrow] = verdicts(Findings(plan, wide))
    assert str(narrow) == "reached, narrowly"
    assert narrow.success == MeanInterval(0.8, 0.0, 1.0, 2)


def test_the_report_is_one_page_that_fetches_nothing(found: Findings, tmp_path: Path) -> None:
    found.shares[BAR_PLACE, RECOMMENDED, ALL] = [0.97, 0.98]
    files = write_report(found, tmp_path)
    assert [one.name for one in files] == [
        "report.html",
        "people.png",
        "people.svg",
        "held_out.png",
        "held_out.svg",
    ]
    page = files[0].read_text(encoding="utf-8")
    assert "<script" not in page
    assert not re.search(r'(?:src|href)="(?!#)', page)
    for learner in found.learners():
        assert learner.replace("'", "&#x27;") in page
    assert "What the recommended agent gets right" in page
    assert "responses that tie for the highest share the point" in page
    assert found.examples
    assert all({"asked", "chosen", "meant", "right"} <= set(one) for one in found.examples)
    assert "keywords" in page


def test_tables_have_a_row_for_each_learner_and_exam(found: Findings) -> None:
    for section in success_sections(found):
        counted = Counter(row[0] for row in section.rows)
        assert counted[EXAMS[1]] == counted[EXAMS[2]] == len(found.learners()) - 1
        assert all(len(row) == len(section.headers) for row in section.rows)


def test_groups_come_from_lines_or_from_a_study_file(tmp_path: Path) -> None:
    lines, study, other = (tmp_path / name for name in ("a.txt", "a.toml", "b.toml"))
    lines.write_text("room 1\n\n room 2 \nroom 1\n")
    study.write_text('[worlds.a]\ntuned_on = ["room 1", "room 2"]\n[worlds.b]\nkind = "x"\n')
    assert groups_in(lines) == groups_in(study) == ("room 1", "room 2")
    other.write_text('[worlds.a]\nkind = "recorded"\n')
    with pytest.raises(SettingError, match=r"No world of .* has tuned_on"):
        groups_in(other)
    other.write_text("worlds = [1\n")
    with pytest.raises(SettingError, match="is no study file"):
        groups_in(other)
