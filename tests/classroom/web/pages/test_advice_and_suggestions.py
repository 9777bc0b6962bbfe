"""Under Progress the apprentice's report, and on the Teach page a program's suggestion."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tellback.classroom.client import Client
from tellback.classroom.settings import Settings
from tests.support.classroom_server import running_classroom

TEXTS = ["lamp on", "lamp off"]


def test_the_report_is_shown_and_a_suggestion_is_taken(browser: Browser, tmp_path: Path) -> None:
    settings = Settings(f"sqlite:///{tmp_path}/classroom.db", accounts=False)
    with running_classroom(settings) as running, Client(running.url) as client:
        lesson = client.create_lesson("lamp", candidates="texts", match={"kind": "same"})
        page = browser.new_page()
        page.goto(f"{running.url}/progress/{lesson.id}")
        expect(page.locator("#statuses")).to_have_text("0 responses: .")
        expect(page.locator("#apprentice-box")).to_be_hidden()
        for response in (0, 1, 0):
            acted = {"response": response, "propensity": 0.5}
            lesson.ask("bright", texts=TEXTS, acted=acted).describe("bright")
        expect(page.locator("#apprentice-says")).to_contain_text("Not decided.")
        expect(page.locator("#apprentice")).to_contain_text("What was done")
        number = lesson.ask("bright", texts=TEXTS).number
        lesson.suggest(number, "<b>a lamp</b>", by="seer-7b")
        page.goto(f"{running.url}/teach/{lesson.id}")
        expect(page.locator("#suggestion")).to_contain_text("seer-7b suggests “<b>a lamp</b>”")
        page.get_by_role("button", name="Use it").click()
        expect(page.locator("#said")).to_have_value("<b>a lamp</b>")
        page.keyboard.type(", lit")
        page.keyboard.press("Enter")
        expect(page.locator("#after")).to_be_visible()
        assert lesson.round(number)["suggested"] == {
            "by": "seer-7b",
            "edited": True,
            "ignored": False,
        }
        page.close()
