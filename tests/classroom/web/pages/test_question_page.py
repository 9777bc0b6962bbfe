"""The question about a doubtful description, on the Teach page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tellback.classroom.learning.definition import Definition
from tellback.classroom.settings import Settings
from tellback.classroom.store.log import Kind, read_events
from tellback.classroom.store.tasks import Content
from tellback.responses import Listed
from tests.support.classroom_server import Running, running_classroom
from tests.support.real_browser import MILLISECONDS

LESSON = "places"
WORDS = ("went left", "went right", "stood still")
PLACES = np.eye(3)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """A lesson with 24 descriptions, and two responses that wait for one."""
    settings = Settings(f"sqlite:///{tmp_path}/classroom.db", accounts=False)
    with running_classroom(settings) as found:
        found.classroom.create(LESSON, Definition(dim=3), LESSON)
        learner = found.classroom.learner(LESSON)
        for number in range(24):
            place = Listed(PLACES[number % 3][None, :])
            asked = learner.ask("go", place, Content(), "robot")
            learner.describe(asked.number, "ann", WORDS[number % 3], anyones=True)
        for _ in range(2):
            learner.ask("go", Listed(PLACES[0][None, :]), Content(), "robot")
        yield found


def _doubted(page: Page, round: int) -> None:
    """Say of the response that it went right, and be asked."""
    expect(page.locator(f"#stage[data-round='{round}']")).to_be_visible()
    expect(page.locator("#said")).to_be_editable()
    page.locator("#said").fill(WORDS[1])
    page.keyboard.press("Enter")
    expect(page.locator("#really")).to_contain_text(f"Really “{WORDS[1]}”?")
    expect(page.locator("#really")).to_contain_text(f"what was called “{WORDS[0]}” before")
    expect(page.locator("#said")).to_be_focused()


def _stored(running: Running, round: int) -> Any:
    with running.classroom.database.read() as connection:
        events = read_events(connection, LESSON, kinds=[Kind.DESCRIBED])
        return next(one.data for one in events if one.round == round)


def test_typing_corrects_a_doubtful_description_and_enter_keeps_it(
    browser: Browser, running: Running
) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{running.url}/teach/{LESSON}")
        _doubted(page, 25)
        page.keyboard.type(WORDS[0])  # what was typed is selected, so it is replaced
        page.keyboard.press("Enter")
        expect(page.locator("#reveal")).to_contain_text(f"You said “{WORDS[0]}”")
        corrected = _stored(running, 25)
        assert (corrected["description"], corrected["first"]) == (WORDS[0], WORDS[1])
        _doubted(page, 26)
        page.keyboard.press("Enter")
        expect(page.locator("#reveal")).to_contain_text(f"You said “{WORDS[1]}”")
        kept = _stored(running, 26)
        assert (kept["description"], kept["sure"]) == (WORDS[1], True)
        assert "first" not in kept


@pytest.mark.parametrize("waits", [False, True], ids=["as for people", "as in these tests"])
def test_a_question_that_does_not_come_soon_is_not_waited_for(
    browser: Browser, running: Running, waits: bool
) -> None:
    held: list[Route] = []
    # The tests' browser tells pages to wait, so that no question is missed on a busy machine.
    make = browser.new_context if waits else partial(Browser.new_context, browser)
    with make() as context:
        context.set_default_timeout(MILLISECONDS)
        page = context.new_page()
        page.clock.install()
        page.route("**/question", lambda route: held.append(route))
        page.goto(f"{running.url}/teach/{LESSON}")
        expect(page.locator("#said")).to_be_editable()
        page.locator("#said").fill(WORDS[1])
        with page.expect_request("**/question"):
            page.keyboard.press("Enter")
        page.clock.fast_forward(10_000)
        if waits:
            held[0].fulfill(json={"says": "Really?"})
            expect(page.locator("#really")).to_contain_text("Really?")
            page.keyboard.press("Enter")
        expect(page.locator("#reveal")).to_contain_text(f"You said “{WORDS[1]}”")
        page.unroute_all()
    assert ("sure" in _stored(running, 25)) == waits
