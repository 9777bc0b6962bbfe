"""Questions about earlier descriptions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tellback.classroom.learning import questions


def test_the_latest_description_whose_request_is_shown_is_not_asked_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = [(1, "ann"), (2, "ann"), (3, "ben"), (4, "ann")]
    described = [SimpleNamespace(seq=seq, account=who, sure=False) for seq, who in said]
    doubts = SimpleNamespace(right={1: 0.2, 2: 0.1, 3: 0.0, 4: 0.0})
    weighed: Any = SimpleNamespace(descriptions=described, doubts=doubts)
    monkeypatch.setattr(questions, "weighed", lambda learner: weighed)
    nobody: Any = None
    assert [one.seq for one in questions.open_questions(nobody, "ann")] == [2, 1]
    assert questions.open_questions(nobody, "ben") == []
