"""Practice, items that catch carelessness, and what pages say of a lesson, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tellback.classroom.learning.definition import Definition
from tellback.classroom.settings import Settings
from tellback.classroom.store.known import known_rounds
from tellback.classroom.store.lessons import change_lesson, find_lesson
from tellback.classroom.store.rounds import Known, find_asked, find_round
from tellback.classroom.store.tasks import Content
from tellback.responses import Listed
from tellback.roles import Choice
from tests.classroom.web.pages.test_one_screen import missing_of
from tests.support.classroom_server import Running, running_classroom

TEXTS = ["a cup of tea", "a glass of milk", "a bowl of soup"]
PLACES = np.eye(3)


@pytest.fixture
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service of its own for each test."""
    database = tmp_path_factory.mktemp("known") / "classroom.db"
    with running_classroom(Settings(f"sqlite:///{database}", accounts=False)) as found:
        found.classroom.create("drinks", Definition(dim=3), "drinks")
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


def _asked(running: Running, count: int = 1) -> None:
    for _ in range(count):
        content = Content("A café.", TEXTS)
        running.classroom.learner("drinks").ask("something hot", Listed(PLACES), content, "robot")


def _item(running: Running, place: int, **known: Any) -> None:
    learner = running.classroom.learner("drinks")
    responses = Listed(PLACES)
    learner.open_known(
        "something hot",
        responses,
        Content("A café.", TEXTS),
        Choice(place, responses.features(place), propensity=1.0),
        Known((TEXTS[place],), **known),
        "robot",
    )


def _tell(page: Page, said: str) -> None:
    expect(page.locator("#said")).to_be_editable()
    page.locator("#said").fill(said)
    page.keyboard.press("Enter")


def test_practice_tells_the_answer_gently_and_then_the_lesson_begins(
    page: Page, running: Running
) -> None:
    _item(running, 0, practice=True)
    _item(running, 1, practice=True, only=True)
    _asked(running)
    page.goto(f"{running.url}/teach/drinks")
    expect(page.locator("#question")).to_contain_text("Practice")
    assert missing_of(page, {".picked": "#candidates", "#said": "", ".main-button": ""}) == []
    _tell(page, "a nice cup of tea")
    expect(page.locator("#reveal")).to_contain_text("Just so")
    expect(page.locator("#stage[data-round='2']")).to_be_visible()
    _tell(page, "tea")
    expect(page.locator("#reveal")).to_contain_text("One would say “a glass of milk” here.")
    expect(page.locator("#reveal")).not_to_contain_text("asked for")
    expect(page.locator("#stage[data-round='3']")).to_be_visible()
    expect(page.locator("#question")).to_have_text("What did the agent pick?")
    shown = {".picked": "#candidates", "#said": "", "#reveal .verdict": "#after"}
    assert missing_of(page, shown) == []
    assert running.classroom.learner("drinks").agent.learned == 0


def test_an_item_that_catches_carelessness_looks_like_any_other(
    page: Page, running: Running
) -> None:
    with running.classroom.database.write() as connection:
        change_lesson(connection, "drinks", catch=0.5)
    _item(running, 2)
    _asked(running, 12)
    page.goto(f"{running.url}/teach/drinks")
    seen: dict[str, tuple[str, str]] = {}
    for _ in range(12):
        expect(page.locator("#stage")).to_be_visible()
        round = page.locator("#stage").get_attribute("data-round") or ""
        heading = page.locator("#question").inner_text()
        _tell(page, "a bowl of soup")
        expect(page.locator(f"#stage[data-round='{round}']")).to_have_count(0)
        said = page.locator("#reveal .asked").inner_text()
        expect(page.locator("#count")).to_have_text(
            f"{len(seen) + 1} description{'s' if seen else ''}"
        )
        expect(page.locator("#after")).not_to_contain_text(re.compile("teach|taught|Sentence"))
        seen[round] = (heading, said)
        if "1" in seen and len(seen) > 1:
            break
    assert "1" in seen  # the item
    assert len(set(seen.values())) == 1


def test_after_a_description_nothing_is_said_that_nobody_knows(
    page: Page, running: Running
) -> None:
    _asked(running, 8)
    page.goto(f"{running.url}/teach/drinks")
    for number in range(1, 9):
        expect(page.locator(f"#stage[data-round='{number}']")).to_be_visible()
        _tell(page, f"{TEXTS[number % 3]}, so it seems")
        expect(page.locator("#reveal")).to_contain_text(f"You said “{TEXTS[number % 3]}")
        expect(page.locator("#reveal")).not_to_contain_text("sound")


def test_the_effect_of_a_weighing_is_told_as_that(page: Page, running: Running) -> None:
    _asked(running, 2)

    def weighed(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        flip = {"request": "tea", "before": 0, "after": 1, "was_right": None, "is_right": None}
        told["effect"] |= {"weighed": 3, "changes": [flip, flip]}
        route.fulfill(response=answer, json=told)

    page.route("**/description?effect=true", weighed)
    page.goto(f"{running.url}/teach/drinks")
    _tell(page, "a cup of tea")
    expect(page.locator("#reveal .effect")).to_contain_text("All sentences were weighed anew")
    expect(page.locator("#reveal .effect")).to_contain_text("3 others")
    expect(page.locator("#reveal .effect")).to_contain_text("changed 2 answers")


def test_check_does_not_say_that_nobody_else_described(page: Page, running: Running) -> None:
    page.goto(f"{running.url}/check/drinks")
    expect(page.locator("#nothing")).to_contain_text("all who teach here count as one person")
    expect(page.locator("#nothing")).not_to_contain_text("only one")


def test_without_held_out_requests_progress_promises_none(page: Page, running: Running) -> None:
    page.goto(f"{running.url}/progress/drinks")
    expect(page.locator("#unsure")).to_have_text(
        "None of the latest requests that left it a choice."
    )


def test_an_archived_lesson_is_taken_out_on_its_teach_page(page: Page, running: Running) -> None:
    _asked(running)
    with running.classroom.database.write() as connection:
        change_lesson(connection, "drinks", archived=True)
    page.goto(f"{running.url}/teach/drinks")
    expect(page.locator("#nothing")).to_contain_text("archive: it shows no responses")
    page.get_by_role("button", name="Take out of the archive").click()
    expect(page.locator("#stage")).to_be_visible()
    expect(page.get_by_role("button", name="Take out of the archive")).to_have_count(0)


def test_guide_and_share_are_set_on_the_lessons_page(page: Page, running: Running) -> None:
    page.goto(f"{running.url}/?all")
    page.locator("[data-id=drinks] summary").click()
    page.get_by_label("How to describe: teachers can open this").fill("Say what is in it.")
    page.locator("#catch-drinks").fill("10")
    page.locator("[data-id=drinks] .settings button").click()
    expect(page.locator("[data-id=drinks] .saved")).to_have_text("Saved.")
    with running.classroom.database.read() as connection:
        definition = find_lesson(connection, "drinks").definition
    assert (definition["guide"], definition["catch"]) == ("Say what is in it.", 0.1)
    page.goto(f"{running.url}/teach/drinks")
    expect(page.get_by_text("Say what is in it.")).to_be_hidden()
    page.get_by_text("How to describe").click()
    expect(page.get_by_text("Say what is in it.")).to_be_visible()


def test_an_empty_inbox_vouches_for_no_description(page: Page, running: Running) -> None:
    page.goto(f"{running.url}/inbox/drinks")
    expect(page.locator("#nothing")).to_contain_text("A wrong description may still be among")


@pytest.mark.parametrize(
    ("practice", "catch", "says"),
    [
        (True, 0.0, "Other teachers will get it."),
        (False, 0.0, "Nobody gets it yet"),
        (False, 0.1, "Other teachers may get it"),
    ],
)
def test_a_reviewer_uses_a_description_as_a_known_answer_and_is_told_who_gets_it(
    page: Page, running: Running, practice: bool, catch: float, says: str
) -> None:
    with running.classroom.database.write() as connection:
        change_lesson(connection, "drinks", catch=catch)
    _asked(running)
    learner = running.classroom.learner("drinks")
    learner.describe(1, "ann", "a hot drink", anyones=True)
    page.goto(f"{running.url}/check/drinks")
    expect(page.locator("#quote")).to_have_text("“a hot drink”")
    with learner.reading() as connection:
        response = find_asked(connection, "drinks", find_round(connection, "drinks", 1)).choice
    page.locator(".choice").nth(response.response).click()
    page.get_by_label("for practice").set_checked(practice)
    page.get_by_role("button", name="Use it as a known answer").click()
    expect(page.locator("#reveal")).to_contain_text(says)
    with learner.reading() as connection:
        (item,) = known_rounds(connection, "drinks")
    assert item.asked.known == Known(("a hot drink",), practice=practice)
