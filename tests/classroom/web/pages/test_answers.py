"""A lesson whose descriptions are a closed list: the page has a button and a key for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tellback.audit.lesson import ANSWERS, read_lesson, write_lesson
from tellback.classroom.client import Client
from tellback.classroom.settings import Settings
from tests.support.audits import audited
from tests.support.classroom_server import Running, running_classroom
from tests.support.patience import PATIENCE


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    settings = Settings(f"sqlite:///{tmp_path}/classroom.db", accounts=False)
    with running_classroom(settings) as found:
        yield found


def moved_on(page: Page, round: int) -> None:
    expect(page.locator("#stage")).to_have_attribute("data-round", str(round))
    expect(page.locator("#stage")).to_be_visible()


def test_an_audit_is_answered_with_buttons_and_keys(
    browser: Browser, running: Running, tmp_path: Path
) -> None:
    found = audited()
    asked = found.questions(4)
    write_lesson(tmp_path / "questions.jsonl", asked, found.recording)
    with Client(running.url) as there, browser.new_context() as context:
        lesson = there.create_lesson("Audit", candidates="texts", answers=ANSWERS)
        lesson.import_(tmp_path / "questions.jsonl")
        page = context.new_page()
        page.goto(f"{running.url}/teach/{lesson.id}")
        moved_on(page, 1)
        expect(page.locator("#context")).to_contain_text(asked[0].said.text)
        expect(page.locator("input:visible")).to_have_count(0)
        assert Axe().run(page).response["violations"] == []
        page.get_by_role("button", name="yes").click()
        moved_on(page, 2)
        expect(page.locator("#reveal")).to_have_text("You said “yes”.")
        page.keyboard.press("n")
        moved_on(page, 3)
        page.keyboard.press("Alt+y")
        moved_on(page, 4)
        page.keyboard.press("u")
        moved_on(page, 3)
        page.keyboard.press("c")
        moved_on(page, 4)
        lesson.export(tmp_path / "answered.jsonl")
    told = read_lesson(tmp_path / "answered.jsonl", found.recording)
    assert told.answers == {asked[0].place: True, asked[1].place: False, asked[2].place: None}


def test_answers_that_share_a_letter_have_numbers_and_others_are_refused(
    browser: Browser, running: Running
) -> None:
    answers = ["cat", "dog", "dingo"]  # C is taken: you cannot tell
    with Client(running.url) as there, browser.new_context() as context:
        lesson = there.create_lesson("Animals", dim=2, answers=answers)
        for _ in range(2):
            lesson.ask("dog", features=[[1.0, 0.0], [0.0, 1.0]])
        path = f"{running.url}/api/v1/lessons/{lesson.id}/rounds/1/description"
        refused = httpx.put(path, json={"description": "horse"}, timeout=PATIENCE)
        assert refused.status_code == 422
        assert "'cat' or 'dog' or 'dingo'" in refused.text
        page = context.new_page()
        page.goto(f"{running.url}/teach/{lesson.id}")
        moved_on(page, 1)
        keys = page.locator("[data-answer] kbd")
        expect(keys).to_have_text(["1", "D", "3"])
        page.keyboard.press("d")
        moved_on(page, 2)
        expect(page.locator("#reveal")).to_contain_text("A match")
        assert lesson.round(1)["description"] == "dog"
