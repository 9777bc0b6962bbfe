"""How reliable each teacher is, with an interval."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from benchmarks.careless import HONEST, CarelessTeacher, ConstantTeacher, Look, lesson
from tellback.classroom.learning.doubts import weigh
from tellback.classroom.learning.reliability import KNOWN, Evidence, share_right
from tellback.classroom.store.active import ActiveDescription
from tellback.classroom.store.database import open_database
from tellback.roles import Choice
from tests.support.classroom_lessons import SENTENCES

WORDS = ("went left", "went right", "stood still")


def test_evidence_that_says_nothing_leaves_everything_open() -> None:
    share = share_right([Evidence()] * 30, sharpness=0.0)
    assert share.share == pytest.approx(0.5)
    assert share.high - share.low > 0.94


@pytest.mark.parametrize("right", [0, 3, 12])
def test_known_answers_count_as_in_the_textbook(right: int) -> None:
    evidence = [Evidence(KNOWN)] * right + [Evidence(-KNOWN)] * (12 - right)
    share = share_right(evidence, sharpness=1.0)
    assert share.share == pytest.approx((right + 1) / 14, abs=2e-3)  # Laplace
    assert share.low <= right / 12 <= share.high


def test_surprise_alone_is_read_severely_and_mildly() -> None:
    doubtful = share_right([Evidence(lift=0.3)] * 20, sharpness=0.6)
    assert doubtful.low < 0.3
    assert doubtful.high == 1.0
    clear = share_right([Evidence(lift=2.5)] * 40, sharpness=0.9)
    assert clear.low > 0.8
    # What says as much of known answers narrows it.
    both = share_right([Evidence(lift=0.3)] * 20 + [Evidence(KNOWN)] * 10, sharpness=0.6)
    assert both.low > doubtful.low


def test_that_a_teacher_stands_by_a_description_is_no_evidence() -> None:
    places = np.eye(3)
    said = [
        ActiveDescription(
            n, n, "go", Choice(0, places[n % 3]), WORDS[(n + (n % 7 == 0)) % 3], account="ann"
        )
        for n in range(48)
    ]
    plain = weigh(lambda: SENTENCES.build().model, said)
    stubborn = weigh(lambda: SENTENCES.build().model, [one._replace(sure=True) for one in said])
    assert plain.surprise == stubborn.surprise
    assert max(plain.surprise.lifts[n] for n in range(0, 48, 7)) < 0


@pytest.mark.parametrize(
    ("slips", "honest", "kind"),
    [
        (0.0, HONEST, CarelessTeacher),
        (0.2, 0.0, CarelessTeacher),
        (0.4, 0.0, CarelessTeacher),
        (0.0, 0.0, ConstantTeacher),
    ],
)
def test_stated_intervals_hold_the_share_of_right_descriptions(
    tmp_path: Path, slips: float, honest: float, kind: type[CarelessTeacher]
) -> None:
    """A short version of ``python -m benchmarks.careless intervals``."""
    looks: dict[int, list[Look]] = {16: [], 24: []}
    with closing(open_database(f"sqlite:///{tmp_path / 'careless.db'}")) as database:
        for seed in range(2):
            lesson(database, seed, slips, honest, "weigh", kind, looks, count=24)
    for stated, right in (look for found in looks.values() for look in found):
        assert stated is None or stated.low <= right <= stated.high
    if kind is ConstantTeacher:  # who says the same of everything, says nothing
        assert all(look.stated is None for found in looks.values() for look in found)
