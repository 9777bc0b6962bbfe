"""ALFRED itself, where it lies beside the project: the counts that its README states."""

from __future__ import annotations

from pathlib import Path

import pytest

from tellback.recordings import AGAIN, Columns, Summary, read

DATA = Path(__file__).parents[3] / "shared" / "data" / "alfred"

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="ALFRED is not beside the project")


def test_all_trajectories_and_sentences_are_read() -> None:
    found = Summary.of(read(DATA / "valid_seen.jsonl.gz"))
    assert (found.responses, found.descriptions) == (251, 820)
    assert (found.groups, found.people) == (88, 133)


def test_second_occurrences_are_features_of_their_own() -> None:
    recording = read(DATA / "train.jsonl.gz")
    assert (len(recording), len(recording.groups), len(recording.people)) == (6574, 108, 244)
    tokens = Columns.of(recording).tokens
    again = [token for token in tokens if token.endswith(AGAIN)]
    assert (len(tokens), len(again)) == (851, 250)
