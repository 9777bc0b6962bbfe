"""Lists that are cut say no wrong number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tellback.classroom.settings import Settings
from tellback.classroom.web.api.descriptions import MOST_CHANGES
from tests.support.classroom_server import Running, running_classroom
from tests.support.patience import PATIENCE

REVEALED = """async ([changes]) => {
  const teach = document.querySelector("script[src*='teach.js']").src;
  const { drawReveal } = await import(teach.replace("teach.js", "reveal.js"));
  const effect = { learned: 1, changes, gained: 0, lost: 0, right: null, requests: 0 };
  return drawReveal("said", { asked: "asked", matched: null, effect }, null).innerText;
}"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    database = tmp_path_factory.mktemp("cut") / "classroom.db"
    with running_classroom(Settings(f"sqlite:///{database}", accounts=False)) as running:
        running.classroom.demonstrate()
        yield running


def test_changed_answers_are_counted_only_where_all_are_known(
    browser: Browser, shown: Running
) -> None:
    page = browser.new_page()
    page.goto(f"{shown.url}/teach/pictures")

    def revealed(requests: list[str]) -> str:
        changes = [{"request": one, "was_right": None, "is_right": None} for one in requests]
        return str(page.evaluate(REVEALED, [changes]))

    some = revealed(["a", "a", "b", "c", "d", "e", "e", "f"])
    assert "changed 8 answers to the latest requests." in some
    assert "(2 times)" in some
    assert "and 3 more" in some
    assert "more" not in revealed(["a", "b", "c", "d"])
    cut = revealed([f"request {number}" for number in range(MOST_CHANGES)])
    assert f"changed {MOST_CHANGES} answers or more to the latest requests." in cut
    assert cut.endswith("and others")
    page.close()


def test_progress_says_how_many_more_words_nobody_has_said(
    browser: Browser, shown: Running
) -> None:
    place = f"{shown.url}/api/v1/lessons/pictures/progress"
    words: dict[str, Any] = httpx.get(place, timeout=PATIENCE).json()["words"]
    assert words["more_unsaid"] > 0
    page = browser.new_page()
    page.goto(f"{shown.url}/progress/pictures")
    end = f"“{words['unsaid'][-1]}” and {words['more_unsaid']} more."
    expect(page.locator("#words-unsaid")).to_contain_text(end)
    page.close()
