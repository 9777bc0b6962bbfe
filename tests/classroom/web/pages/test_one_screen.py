"""Teaching fits one screen: the browser is asked where things are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tellback.classroom.learning.content import responses_from
from tellback.classroom.learning.definition import Definition
from tellback.classroom.settings import Settings
from tellback.classroom.store.tasks import Content
from tests.support.classroom_server import Running, running_classroom

SIZES = ((1280, 800), (1366, 633), (1024, 768), (390, 844))
LONG = "Walk to the {} one, pick it up, carry it over to the table and put it down there."
expect.set_options(timeout=120_000)  # a machine may be busy

INSIDE = """(name) => {
  const box = document.querySelector(name).getBoundingClientRect();
  const list = document.querySelector("#candidates").getBoundingClientRect();
  const all = { top: 0, left: 0, bottom: innerHeight, right: innerWidth };
  const frame = name === ".picked" ? list : all;
  return box.width > 0 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1
    && box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.bottom <= innerHeight;
}"""
"""Whether an element is within the window, and the pick within its list, too."""

WANTED = (".picked", "#said", ".main-button", "#reveal .asked", "#reveal .verdict")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    database = tmp_path_factory.mktemp("screen") / "classroom.db"
    with running_classroom(Settings(f"sqlite:///{database}", accounts=False)) as found:
        found.classroom.demonstrate()
        for count in (10, 25):
            texts = [LONG.format(f"{place}th") for place in range(1, count + 1)]
            id = f"texts-{count}"
            found.classroom.create(id, Definition(candidates="texts"), id)
            learner = found.classroom.learner(id)
            responses, _ = responses_from(learner.definition, None, texts, None)
            for _ in range(2):
                learner.ask("the third, please", responses, Content("A kitchen.", texts), "robot")
        yield found


@pytest.mark.parametrize("lesson", ["pictures", "texts-10", "texts-25"])
def test_pick_field_and_last_result_are_visible_together_without_scrolling(
    browser: Browser, running: Running, lesson: str
) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{running.url}/teach/{lesson}")
        expect(page.locator("#stage")).to_be_visible()
        page.locator("#said").fill("the one in the middle, I would say")
        page.keyboard.press("Enter")
        expect(page.locator("#after")).to_be_visible()
        expect(page.locator("#said")).to_be_editable()
        expect(page.locator(".picked")).to_be_visible()
        missing = [(size, name) for size in SIZES for name in _not_visible(page, *size)]
        assert missing == []


def _not_visible(page: Page, width: int, height: int) -> list[str]:
    page.set_viewport_size(ViewportSize(width=width, height=height))
    hidden = [name for name in WANTED if not page.evaluate(INSIDE, name)]
    if page.evaluate("document.documentElement.scrollHeight > innerHeight"):
        hidden.append("the page scrolls")
    return hidden
