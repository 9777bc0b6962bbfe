"""The lesson of the house in a real browser, taught by a person who reads the drawing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tellback.classroom.settings import Settings
from tests.support.classroom_server import Running, running_classroom
from tests.support.house_reader import Seen, drawing_in, looked_at, told

SENTENCES = 30
PLAN = "#candidates img.drawing"
SCREENS = ({"width": 1280, "height": 800}, {"width": 390, "height": 844})


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Running]:
    settings = Settings(f"sqlite:///{tmp_path}/classroom.db", accounts=False)
    with running_classroom(settings) as running:
        running.classroom.demonstrate("house")
        yield running


def opened(browser: Browser, **options: Any) -> tuple[Page, list[str]]:
    """A page, and what the browser complains of: errors, and what the security policy forbids."""
    page = browser.new_context(**options).new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def hear(said: ConsoleMessage) -> None:
        if said.type == "error":
            complaints.append(said.text)

    page.on("console", hear)
    return page, complaints


def seen_on(page: Page) -> Seen:
    """What the person sees of the drawing on the page."""
    expect(page.locator(PLAN)).to_have_count(1)
    return looked_at(drawing_in(page.locator(PLAN).get_attribute("src") or ""))


def say(page: Page, text: str) -> None:
    """Type a sentence, and wait for the next path."""
    before = page.locator("#stage").get_attribute("data-round")
    page.locator("#said").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator("#stage")).not_to_have_attribute("data-round", before or "")
    expect(page.locator("#said")).to_be_editable()


def met(page: Page, url: str) -> int:
    """How many of the hundred held-out requests the Progress page says are met."""
    page.goto(f"{url}/progress/house")
    shown = page.get_by_text(re.compile(r"^\d+ of 100$")).first
    expect(shown).to_be_visible()
    return int((shown.text_content() or "").split()[0])


def test_thirty_sentences_by_a_person_who_reads_the_drawing_teach_the_way(
    browser: Browser, house: Running
) -> None:
    page, complaints = opened(browser)
    rng = np.random.default_rng(7)
    page.goto(f"{house.url}/teach/house")
    seen_on(page)
    before = house.classroom.learner("house").examined()[1].right
    for _ in range(SENTENCES):
        say(page, told(seen_on(page), rng))
    expect(page.locator("#count")).to_have_text(f"{SENTENCES} descriptions")
    page.get_by_role("button", name="Undo").first.click()
    expect(page.locator("#reveal")).to_contain_text("Taken back")
    expect(page.locator("#count")).to_have_text(f"{SENTENCES - 1} descriptions")
    say(page, told(seen_on(page), rng))
    assert before <= 15  # a path at random meets 7 of 100
    assert met(page, house.url) >= 40
    expect(page.locator(".chart .chance")).to_have_count(0)  # nobody knows it of paths
    expect(page.locator("#unsure-box")).to_be_hidden()

    page.goto(f"{house.url}/preview/house")
    expect(page.locator(PLAN)).to_have_attribute("alt", "A floor plan")
    plan = seen_on(page)
    kept = house.classroom.learner("house").agent.seq
    ends = set()
    for room in sorted(set(plan.rooms.values())):
        page.locator("#request").fill(f"please walk to the {room}")
        page.keyboard.press("Enter")
        expect(page.locator("#preview")).to_contain_text(room)
        expect(page.locator("#preview")).to_contain_text("It would go like this")
        expect(page.locator(PLAN)).to_have_attribute("alt", "A path on a floor plan")
        found = seen_on(page)
        assert (found.rooms, found.path[0]) == (plan.rooms, plan.path[0])
        ends.add(found.rooms.get(found.path[-1]) == room)
    assert True in ends
    assert house.classroom.learner("house").agent.seq == kept  # asking stores nothing
    page.context.close()
    assert complaints == []


@pytest.mark.parametrize("screen", SCREENS, ids=["wide", "phone"])
def test_plan_sentence_and_last_result_are_on_one_screen_and_fit_for_everybody(
    browser: Browser, house: Running, screen: dict[str, int]
) -> None:
    page, complaints = opened(browser, viewport=screen, reduced_motion="reduce")
    page.goto(f"{house.url}/teach/house")
    say(page, told(seen_on(page), np.random.default_rng(1)))
    seen_on(page)
    image = page.get_by_role("img", name="A path on a floor plan")
    expect(image).to_be_visible()
    assert "animate" not in (image.get_attribute("src") or "")
    expect(page.locator(".legend")).to_contain_text("On the plan: ")
    page.evaluate("scrollTo(0, 0)")
    for what in (PLAN, "#said"):
        box = page.locator(what).bounding_box()
        assert box is not None
        assert 0 <= box["y"] <= box["y"] + box["height"] <= screen["height"]
    assert page.locator("#candidates").evaluate("box => box.scrollHeight <= box.clientHeight + 1")
    result = page.locator("#reveal .asked").bounding_box()
    assert result is not None
    assert result["y"] + 60 <= screen["height"]  # at least what was asked for
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert Axe().run(page).response["violations"] == []
    page.context.close()
    assert complaints == []


def test_the_path_draws_itself_unless_motion_is_unwanted(browser: Browser, house: Running) -> None:
    page, complaints = opened(browser, reduced_motion="no-preference")
    page.goto(f"{house.url}/teach/house")
    seen_on(page)
    assert "animateMotion" in (page.locator(PLAN).get_attribute("src") or "")
    page.context.close()
    assert complaints == []
