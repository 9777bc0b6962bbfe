"""Teaching fits one screen: the browser is asked where things are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect

from tellback.classroom.learning.content import responses_from
from tellback.classroom.learning.definition import Definition
from tellback.classroom.settings import Settings
from tellback.classroom.store.tasks import Content
from tests.support.classroom_server import Running, running_classroom

SIZES = ((1280, 800), (1366, 633), (1024, 768), (390, 844))
SAID = "the one in the middle, I would say"
LONG = "Walk to the {} one, pick it up, carry it over to the table and put it down there."

INSIDE = """([name, around]) => {
  const box = document.querySelector(name).getBoundingClientRect();
  const all = { top: 0, left: 0, bottom: innerHeight, right: innerWidth };
  const frame = around ? document.querySelector(around).getBoundingClientRect() : all;
  return box.width > 0 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1
    && box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.bottom <= innerHeight;
}"""
"""Whether an element is within the window, and within the box around it, which may scroll."""

WANTED = {
    ".picked, img.drawing": "#candidates",
    "#said": "",
    ".main-button": "",
    "nav li:last-child a": "",
    "#reveal .asked": "#after",
    "#reveal .verdict": "#after",
    "#reveal .achieved": "#after",
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    database = tmp_path_factory.mktemp("screen") / "classroom.db"
    with running_classroom(Settings(f"sqlite:///{database}", accounts=False)) as found:
        found.classroom.demonstrate()
        found.classroom.demonstrate("house")
        for count in (10, 25):
            texts = [LONG.format(f"{place}th") for place in range(1, count + 1)]
            id = f"texts-{count}"
            found.classroom.create(id, Definition(candidates="texts"), id)
            learner = found.classroom.learner(id)
            responses, _ = responses_from(learner.definition, None, texts, None)
            for _ in range(3):
                learner.ask("the third, please", responses, Content("A kitchen.", texts), "robot")
        yield found


@pytest.mark.parametrize("lesson", ["pictures", "house", "texts-10", "texts-25"])
def test_pick_field_and_last_result_are_visible_together_without_scrolling(
    browser: Browser, running: Running, lesson: str
) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{running.url}/teach/{lesson}")
        expect(page.locator("#stage")).to_be_visible()
        page.locator("#said").fill(SAID)
        page.keyboard.press("Enter")
        expect(page.locator("#after")).to_be_visible()
        expect(page.locator("#said")).to_be_editable()
        expect(page.locator(".picked, img.drawing")).to_be_visible()
        wanted = dict(WANTED)
        if lesson.startswith("texts"):  # there are no held-out requests
            del wanted["#reveal .achieved"]
        assert missing_of(page, wanted) == []
        if lesson == "house":  # nothing is doubted there
            return
        doubted = {"says": f"Really “{SAID}”? It looks like what was called “{SAID}” before."}
        page.route("**/question", lambda route: route.fulfill(json=doubted))
        page.locator("#said").fill(SAID)
        page.keyboard.press("Enter")
        expect(page.locator("#really")).to_contain_text("Really")
        expect(page.locator("#after")).to_be_visible()
        asked = {name: WANTED[name] for name in (".picked, img.drawing", "#said", ".main-button")}
        assert missing_of(page, asked | {"#really": "", "#after": ""}) == []


def test_undo_stays_in_sight_however_long_the_result_is(browser: Browser, running: Running) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{running.url}/teach/pictures")
        expect(page.locator("#stage")).to_be_visible()
        page.locator("#said").fill(SAID)
        page.keyboard.press("Enter")
        expect(page.locator("#undo-this")).to_be_visible()
        page.evaluate("document.querySelector('#reveal .achieved').style.minHeight = '100rem'")
        buttons = {"#undo-this": "#after", "#change-this": "#after"}
        for size in SIZES[:3]:  # on phones the result is a narrow strip, which scrolls
            assert not_visible(page, buttons, *size) == []


@pytest.mark.parametrize("lesson", ["pictures", "house", "texts-10"])
def test_what_was_described_is_on_the_card_where_it_is_judged_or_changed(
    browser: Browser, running: Running, lesson: str
) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.route("**/description?*", asking)
        page.goto(f"{running.url}/teach/{lesson}")
        shown = page.locator(".picked img, .picked .text, img.drawing")
        expect(shown).to_be_visible()
        before = shown.get_attribute("src") if lesson == "pictures" else shown.text_content()
        page.locator("#said").fill(SAID)
        page.keyboard.press("Enter")
        small = page.locator("#described > *")
        expect(small).to_be_visible()
        expect(page.locator("#said")).to_be_editable()
        wanted = {"#described > *": "#after"}
        if lesson == "texts-10":
            assert small.text_content() == before
            assert missing_of(page, wanted | {".judge button:last-child": "#after"}) == []
        elif lesson == "pictures":
            assert small.get_attribute("src") == before
        page.locator("#change-this").click()
        assert missing_of(page, wanted | {"#changed": "#after"}) == []


def asking(route: Route) -> None:
    """Answer as the service does when it asks for a judgement, which it does of a random part."""
    answer = route.fetch()
    route.fulfill(response=answer, json={**answer.json(), "asks_judgement": True})


def missing_of(page: Page, wanted: dict[str, str]) -> list[tuple[tuple[int, int], str]]:
    """What is not on the screen, by the size of the window."""
    return [(size, name) for size in SIZES for name in not_visible(page, wanted, *size)]


def not_visible(page: Page, wanted: dict[str, str], width: int, height: int) -> list[str]:
    """What is not on the screen, of a window of this size."""
    page.set_viewport_size(ViewportSize(width=width, height=height))
    hidden = [name for name, around in wanted.items() if not page.evaluate(INSIDE, [name, around])]
    if page.evaluate("document.documentElement.scrollHeight > innerHeight"):
        hidden.append("the page scrolls")
    return hidden
