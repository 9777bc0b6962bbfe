"""The classroom of a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tellback.classroom.settings import Settings
from tellback.classroom.web import classroom
from tellback.classroom.web.classroom import Classroom
from tellback.classroom.web.classroom import secret_seed as real_seed  # before tests replace it


@pytest.mark.parametrize("accounts", [True, False])
def test_requests_cannot_be_computed_beforehand_where_there_are_accounts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accounts: bool
) -> None:
    monkeypatch.setattr(classroom, "secret_seed", real_seed)
    seeds = []
    for name in ("one", "other"):
        room = Classroom(Settings(f"sqlite:///{tmp_path}/{name}.db", accounts=accounts))
        seeds.append(room.learner(room.demonstrate()).definition.seed)
        room.database.close()
    assert (seeds[0] != seeds[1]) == accounts
