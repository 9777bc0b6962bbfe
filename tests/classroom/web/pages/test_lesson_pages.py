"""The pages, in a real browser, as teachers use them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response, expect

from tellback.classroom.learning.content import responses_from
from tellback.classroom.learning.definition import Definition
from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, sessions
from tellback.classroom.store.descriptions import describe
from tellback.classroom.store.log import writing
from tellback.classroom.store.rounds import RoundStatus, change_round, find_asked, find_round
from tellback.classroom.store.tables import events as table
from tellback.classroom.store.tasks import Content
from tellback.classroom.web.pages import assets
from tellback.matching import MatchSpec
from tests.support.classroom_server import Running, running_classroom
from tests.support.patience import PATIENCE

SCRIPT = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
PASSWORD = "correct horse battery"
PHONE = {"width": 360, "height": 740}
SCREEN = {"width": 1280, "height": 900}


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Running]:
    """On one's own machine, with the demonstration."""
    settings = Settings(f"sqlite:///{tmp_path}/classroom.db", accounts=False)
    with running_classroom(settings) as running:
        running.classroom.demonstrate()
        yield running


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Running]:
    """With accounts: two teachers, one of whom has an evil name."""
    with running_classroom(Settings(f"sqlite:///{tmp_path}/classroom.db")) as running:
        for name in ("ann", SCRIPT[:60]):
            accounts.add(running.classroom.database, name, "teacher", PASSWORD)
        running.classroom.demonstrate()
        yield running


class Visit:
    """A browser of one person, and everything it was sent."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.url = url
        self.context = context
        self.page = context.new_page()
        self.hosts: set[str] = set()
        self.complaints: list[str] = []
        self.answers: list[Response] = []
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        self.page.on("response", lambda answer: self.answers.append(answer))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)

    def _hear(self, message: ConsoleMessage) -> None:
        # A refusal or a lost connection is noted there too; what pages make of it is tested.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.complaints.append(message.text)

    def received(self) -> str:
        """All text that came over the network so far."""
        wanted = ("json", "html", "javascript")
        return "\n".join(
            answer.text()
            for answer in self.answers
            if any(kind in answer.headers.get("content-type", "") for kind in wanted)
        )

    def teach(self, lesson: str = "pictures") -> None:
        self.page.goto(f"{self.url}/teach/{lesson}")
        self.ready()

    def ready(self) -> None:
        expect(self.page.locator("#stage")).to_be_visible()

    def nothing(self, says: str) -> None:
        """Nothing is left to do here: it was all sent. The text is there before, but hidden."""
        expect(self.page.locator("#nothing")).to_be_visible()
        expect(self.page.locator("#nothing")).to_contain_text(says)

    @property
    def round(self) -> int:
        return int(self.page.locator("#stage").get_attribute("data-round") or 0)

    def next_after(self, round: int) -> int:
        self.page.wait_for_function(
            "old => document.getElementById('stage').dataset.round !== String(old)", arg=round
        )
        expect(self.page.locator("#said")).to_be_editable()
        return self.round

    def tell(self, text: str) -> int:
        """Describe what is shown; the round that comes next."""
        before = self.round
        self.page.locator("#said").fill(text)
        self.page.keyboard.press("Enter")
        return self.next_after(before)


@contextmanager
def visiting(
    browser: Browser, running: Running, account: str | None = None, **options: Any
) -> Iterator[Visit]:
    """A visit, during which nothing goes elsewhere and the browser does not complain."""
    with browser.new_context(**options) as context:
        if account is not None:
            database = running.classroom.database
            secret = sessions.create(database, accounts.named(database, account).id)
            context.add_cookies([{"name": "tellback-session", "value": secret, "url": running.url}])
        visit = Visit(context, running.url)
        yield visit
        assert not visit.complaints
        assert visit.hosts == {urlsplit(running.url).netloc}
        assert visit.page.title() != "taken"


def events(running: Running, lesson: str = "pictures") -> list[tuple[str, int, dict[str, Any]]]:
    with running.classroom.database.read() as connection:
        rows = connection.execute(
            table.select().where(table.c.lesson == lesson).order_by(table.c.seq)
        )
        return [(row.kind, row.round, json.loads(row.data)) for row in rows if row.kind != "asked"]


def asked_in(running: Running, number: int, lesson: str = "pictures") -> Any:
    with running.classroom.database.read() as connection:
        return find_asked(connection, lesson, find_round(connection, lesson, number)).instruction


def match_of(running: Running) -> MatchSpec:
    match = running.classroom.learner("pictures").definition.match
    assert match is not None
    return match


def texts_lesson(running: Running, id: str, rounds: list[tuple[str, list[str]]]) -> None:
    """A lesson into which a program brought tasks."""
    room = running.classroom
    room.create(id, Definition(candidates="texts"), id)
    for instruction, texts in rounds:
        learner = room.learner(id)
        responses, _ = responses_from(learner.definition, None, texts, None)
        learner.ask(instruction, responses, Content("Where it stood.", texts), "robot")


def test_a_lesson_is_taught_by_keyboard_alone(browser: Browser, own: Running) -> None:
    with visiting(browser, own) as visit:
        page, keys = visit.page, visit.page.keyboard
        page.goto(own.url)
        visit.ready()
        assert urlsplit(page.url).path == "/teach/pictures"
        expect(page.locator("#said")).to_be_focused()
        expect(page.locator(".candidate")).to_have_count(5)
        expect(page.locator(".picked .label")).to_contain_text("➜ Agent")
        first = visit.round
        keys.press("Enter")
        expect(page.locator("#problem")).to_have_text("Say something, or skip it.")
        keys.type("a black circle")
        keys.press("Enter")
        second = visit.next_after(first)
        reveal = page.locator("#reveal")
        expect(reveal).to_contain_text(f"“{asked_in(own, first)}”")
        expect(reveal).to_contain_text("atch")
        expect(reveal).to_contain_text("of 100")
        expect(page.locator("#said")).to_be_focused()
        keys.press("Alt+s")
        third = visit.next_after(second)
        expect(reveal).to_have_text("Skipped.")
        keys.press("Escape")
        keys.press("c")
        fourth = visit.next_after(third)
        keys.press("Escape")
        keys.press("f")
        fifth = visit.next_after(fourth)
        expect(reveal).to_have_text("Flagged.")
        keys.type("scuff")  # letters are letters in the field
        expect(page.locator("#said")).to_have_value("scuff")
        # The page goes back at once, and tells the service a moment later.
        with page.expect_response(lambda answer: answer.request.method == "DELETE"):
            keys.press("Alt+u")
        assert visit.next_after(fifth) == fourth
        expect(page.locator("#count")).to_have_text("1 description")
    told = [(kind, number) for kind, number, _ in events(own)]
    assert told[-5:] == [
        ("described", first),
        ("skipped", second),
        ("cannot_tell", third),
        ("flagged", fourth),
        ("withdrawn", fourth),
    ]


def test_what_was_asked_is_nowhere_before_it_is_described(browser: Browser, own: Running) -> None:
    secret, later = "a wombat on a unicycle", "an emu under an umbrella"
    texts_lesson(own, "hidden", [(secret, ["left", "right"]), (later, ["left", "right"])])
    with visiting(browser, own) as visit:
        visit.teach("hidden")
        expect(visit.page.locator("#context")).to_have_text("Where it stood.")
        visit.page.locator("#said").type("some")
        visit.page.wait_for_timeout(300)
        assert secret not in visit.page.content()
        assert secret not in visit.received()
        visit.page.locator("#said").fill("something else")
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator("#reveal")).to_contain_text(secret)
        # Nor does what the sentence changed tell of what is still to be described.
        assert visit.next_after(1) == 2
        told = httpx.get(f"{own.url}/api/v1/lessons/hidden/progress", timeout=PATIENCE).text
        assert later not in visit.received() + visit.page.content() + told
        visit.page.locator("#said").fill("something")
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator("#reveal")).to_contain_text(later)
        visit.nothing("nothing to describe just now")
        # And by itself the next one appears.
        learner = own.classroom.learner("hidden")
        responses, _ = responses_from(learner.definition, None, ["up", "down"], None)
        learner.ask("up, please", responses, Content(texts=["up", "down"]), "robot")
        visit.ready()
        assert visit.round == 3


def test_the_last_one_is_undone_exactly_also_after_the_next_has_appeared(
    browser: Browser, own: Running
) -> None:
    said = "  a Ünicode  círcle, “quoted” \u200d 🔵 "
    with visiting(browser, own) as visit:
        visit.teach()
        first = visit.round
        second = visit.tell(said)
        visit.page.locator("#said").type("half a sent")
        visit.page.locator("#undo-this").click()
        assert visit.next_after(second) == first
        expect(visit.page.locator("#said")).to_have_value(said)
        assert visit.tell("a square") == second
        expect(visit.page.locator("#said")).to_have_value("half a sent")
        # What was described after the request had been seen is marked.
        expect(visit.page.locator("#reveal")).to_contain_text("Left out of the matches")
        visit.page.reload()
        visit.ready()
        visit.page.keyboard.press("Alt+u")
        assert visit.next_after(second) == first
        expect(visit.page.locator("#said")).to_have_value("a square")
        visit.tell("a square")
        visit.page.get_by_role("button", name="Change").click()
        expect(visit.page.locator("#changed")).to_be_focused()
        visit.page.keyboard.type(" of red")
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator("#reveal")).to_contain_text("“a square of red”")
        expect(visit.page.locator("#said")).to_be_focused()
        assert visit.round == second
    mine = [(kind, data) for kind, number, data in events(own) if number == first]
    kinds = [kind for kind, _ in mine]
    assert kinds[-6:] == ["described", "withdrawn"] * 2 + ["described"] * 2
    assert mine[-6][1]["description"] == said
    assert mine[-1][1] == mine[-1][1] | {"description": "a square of red", "saw_request": True}


def test_what_one_tab_describes_another_tab_shows_no_longer(browser: Browser, own: Running) -> None:
    with visiting(browser, own) as visit:
        visit.teach()
        first = visit.round
        other = Visit(visit.context, own.url)
        other.teach()
        assert other.round == first
        other.page.locator("#said").fill("half a sent")
        visit.tell("a circle")
        second = other.next_after(first)
        expect(other.page.locator("#aside")).to_contain_text("in another tab")
        expect(other.page.locator("#aside")).to_contain_text("half a sent")
        undo = other.page.locator("[data-does=undo]")
        undo.click()
        assert other.next_after(second) == first
        expect(undo).to_be_disabled()  # there is nothing more to take back
    told = [kind for kind, number, _ in events(own) if number == first]
    assert told.count("described") == 1


def test_a_correction_without_words_is_told_so(browser: Browser, own: Running) -> None:
    with visiting(browser, own) as visit:
        visit.teach()
        first = visit.round
        visit.page.locator("[data-does=flagged]").click()
        visit.next_after(first)
        visit.page.goto(f"{own.url}/inbox/pictures")
        visit.page.get_by_role("button", name="Correct").click()
        expect(visit.page.locator("#inbox .problem")).to_contain_text("Say what it shows")
        visit.page.locator("#inbox input").fill("a circle")
        visit.page.get_by_role("button", name="Correct").click()
        expect(visit.page.locator("#nothing")).to_be_visible()


def test_what_was_typed_survives_a_reload_and_a_lost_connection(
    browser: Browser, own: Running
) -> None:
    with visiting(browser, own) as visit:
        page = visit.page
        visit.teach()
        first = visit.round
        page.locator("#said").fill("draft of a draft")
        page.reload()
        visit.ready()
        assert visit.round == first
        expect(page.locator("#said")).to_have_value("draft of a draft")
        visit.context.set_offline(True)
        page.locator("#said").fill("said into the void")
        page.keyboard.press("Enter")
        banner = page.locator("#banner")
        expect(banner).to_have_text("You are offline; what you typed is kept and will be sent.")
        expect(page.locator("#reveal")).to_contain_text("Kept: “said into the void”")
        visit.context.set_offline(False)
        second = visit.next_after(first)
        expect(banner).to_be_hidden()
        expect(page.locator("#reveal")).to_contain_text(f"“{asked_in(own, first)}”")
        # What is undone before it could be sent comes to nothing, however it is sent.
        visit.context.set_offline(True)
        page.locator("#said").fill("rather not")
        page.keyboard.press("Enter")
        expect(page.locator("#reveal")).to_contain_text("Kept: “rather not”")
        page.locator("#undo-this").click()
        expect(page.locator("#said")).to_have_value("rather not")
        visit.context.set_offline(False)
        expect(banner).to_be_hidden()
        assert visit.round == second
        # The service fails after it has done what it was told: nothing is done twice.
        answers: list[int] = []

        def lose(route: Any) -> None:
            answers.append(route.fetch().status)
            if len(answers) < 3:
                route.fulfill(status=503, body="")
            else:
                route.continue_()

        page.route("**/description?effect=true", lose)
        visit.tell("said once")
        page.unroute_all(behavior="wait")
    assert answers[:3] == [200, 200, 200]
    told = [data["description"] for kind, _, data in events(own) if kind == "described"]
    assert told.count("said into the void") == told.count("said once") == 1
    standing = {number: data.get("description") for _, number, data in events(own)}
    assert (standing[first], standing[second]) == ("said into the void", "said once")


def test_two_teachers_never_get_the_same_response(browser: Browser, shared: Running) -> None:
    with (
        visiting(browser, shared, "ann") as ann,
        visiting(browser, shared, SCRIPT[:60]) as bob,
    ):
        seen: dict[str, list[int]] = {"ann": [], "bob": []}
        ann.teach()
        bob.teach()
        for i in range(3):
            seen["ann"].append(ann.round)
            seen["bob"].append(bob.round)
            ann.tell(f"ann's {i}")
            bob.tell(SCRIPT)
        assert not set(seen["ann"]) & set(seen["bob"])
        expect(ann.page.locator(".who")).to_contain_text("ann")

        # What became another's is not sent, but not thrown away either.
        lost = ann.round
        ann.page.locator("#said").fill("too late " + SCRIPT)
        room = shared.classroom
        with writing(room.database, "pictures") as log:
            change_round(log, lost, claimed_by="robot")
            describe(log, lost, "robot", "taken", match_of(shared))
        ann.page.keyboard.press("Enter")
        ann.next_after(lost)
        notice = ann.page.locator("#aside")
        expect(notice).to_contain_text("described by somebody else")
        expect(notice).to_contain_text("too late " + SCRIPT)
        notice.get_by_role("button", name="Dismiss").click()
        expect(notice).to_be_hidden()

        # Signed out elsewhere: to the login and back, and the words are still there.
        here = ann.round
        ann.page.locator("#said").fill("before and after")
        ann.context.clear_cookies()
        ann.page.keyboard.press("Enter")
        expect(ann.page).to_have_url(re.compile(r"/login\?next=%2Fteach%2Fpictures$"))
        ann.page.get_by_label("Name").fill("ann")
        ann.page.get_by_label("Password").fill("wrong password")
        expect(ann.page.get_by_role("button", name="Sign in")).to_be_enabled()  # the script runs
        ann.page.keyboard.press("Enter")
        expect(ann.page.get_by_role("alert")).to_contain_text("wrong")
        ann.page.get_by_label("Password").fill(PASSWORD)
        ann.page.keyboard.press("Enter")
        expect(ann.page).to_have_url(re.compile(r"/teach/pictures$"))
        expect(ann.page.locator("#reveal")).to_contain_text("“before and after”")
        ann.ready()
        assert ann.round != here
        ann.page.locator("#said").fill("a secret draft")
        assert "a secret draft" in ann.page.evaluate("JSON.stringify(localStorage)")
        ann.page.get_by_role("button", name="Sign out").click()
        expect(ann.page).to_have_url(re.compile(r"/login(\?.*)?$"))
        assert ann.page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
    told = [data["description"] for kind, _, data in events(shared) if kind == "described"]
    assert told.count("before and after") == 1
    assert not any("too late" in description for description in told)


def test_scripts_in_what_people_write_are_shown_as_text(browser: Browser, shared: Running) -> None:
    evil = SCRIPT[:60]
    texts_lesson(shared, "evil", [(SCRIPT, [SCRIPT, "another"]), (SCRIPT + "!", ["b", SCRIPT])])
    with visiting(browser, shared, evil) as bob:
        bob.teach("evil")
        expect(bob.page.locator(".candidate")).to_contain_text([SCRIPT, "another"])
        bob.tell(SCRIPT + "?")
        expect(bob.page.locator("#reveal")).to_contain_text(f"It had been asked for “{SCRIPT}”")
        expect(bob.page.locator("#reveal")).to_contain_text(f"You said “{SCRIPT}?”")
        bob.page.locator("#said").fill(SCRIPT + "?")
        bob.page.keyboard.press("Enter")
        expect(bob.page.locator("#reveal")).to_contain_text(f"It had been asked for “{SCRIPT}!”")
        bob.page.goto(f"{shared.url}/progress/evil")
        expect(bob.page.locator("#teachers")).to_contain_text(evil)
        expect(bob.page.locator(".who")).to_contain_text(evil)
        expect(bob.page.locator("#unsure")).to_contain_text(SCRIPT)
        assert bob.page.locator("img[src=x]").count() == 0

    with visiting(browser, shared, "ann") as ann:
        ann.page.goto(f"{shared.url}/check/evil")
        expect(ann.page.locator("#quote")).to_have_text(f"“{SCRIPT}?”")
        ann.page.keyboard.press("1")
        expect(ann.page.locator("#reveal")).to_contain_text(re.compile("✓ Right|was of number 2"))
        expect(ann.page.locator("#none")).to_be_hidden()
        expect(ann.page.locator("#next")).to_be_focused()
        assert ann.page.locator("img[src=x]").count() == 0
        ann.page.keyboard.press("Enter")
        expect(ann.page.locator("#next")).to_be_hidden()
        ann.page.get_by_role("button", name="None of them").click()
        expect(ann.page.locator("#reveal")).to_have_text(
            re.compile("The description was of number")
        )
        expect(ann.page.locator(".second")).to_have_count(0)
        ann.page.locator("#next").click()
        for name in ("Yes", "No"):  # then she is asked whether the agent did what was asked
            expect(ann.page.locator("#title")).to_have_text("Did it do that?")
            expect(ann.page.locator("#quote")).to_contain_text(SCRIPT)
            ann.page.get_by_role("button", name=name, exact=True).click()
        ann.nothing("nothing to check")
    assert [kind for kind, *_ in events(shared, "evil")[-3:]] == ["checked", "judged", "judged"]


def test_a_preview_is_shown_and_progress_is_kept_up(browser: Browser, own: Running) -> None:
    with visiting(browser, own) as visit:
        visit.teach()
        visit.tell("a black circle")
        visit.page.goto(f"{own.url}/preview/pictures")
        expect(visit.page.locator(".candidate")).to_have_count(5)
        visit.page.keyboard.type("something it has never heard of")
        visit.page.keyboard.press("Enter")
        thought = visit.page.locator("#preview")
        expect(thought).to_contain_text("know yet")
        expect(thought).to_contain_text("estimate")
        expect(visit.page.locator(".picked")).to_have_count(1)
        expect(visit.page.locator(".second")).to_have_count(1)
        before = visit.page.locator(".candidate img").first.get_attribute("src")
        visit.page.get_by_role("button", name="Other responses").click()
        expect(visit.page.locator(".candidate img").first).not_to_have_attribute(
            "src", before or ""
        )
        expect(visit.page.locator(".picked")).to_have_count(1)

        visit.page.goto(f"{own.url}/progress/pictures")
        described = visit.page.locator("#described")
        expect(described).not_to_be_empty()
        count = int(described.inner_text())
        svg = visit.page.locator("#curve svg")
        assert "chance is 20%" in (svg.get_attribute("aria-label") or "")
        room = own.classroom
        opened = room.learner("pictures").ask_from_world("robot")
        with writing(room.database, "pictures") as log:
            describe(log, opened.number, "robot", "a square", match_of(own), anyones=True)
        expect(described).to_have_text(str(count + 1))  # without a reload
        expect(visit.page.locator("#teachers")).to_contain_text("robot")


def test_numbers_stand_for_instructions_where_a_lesson_has_a_table_of_them(
    browser: Browser, own: Running
) -> None:
    room = own.classroom
    room.create("Numbers", Definition(candidates="features", dim=3, instructions=4), "numbers")
    learner = room.learner("numbers")
    features = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    responses, _ = responses_from(learner.definition, features, None, None)
    learner.ask(2, responses, Content(), "robot")
    with visiting(browser, own) as visit:
        visit.teach("numbers")
        expect(visit.page.locator(".candidate")).to_contain_text(["1.00  0.00  0.00", "Response 2"])
        visit.page.locator("#said").fill("nine")
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator("#problem")).to_contain_text("must be")
        expect(visit.page.locator("#said")).to_have_value("nine")
        visit.page.locator("#said").fill("2")
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator("#reveal")).to_contain_text("✓ A match: the agent did")


def _violations(page: Page) -> list[str]:
    found = Axe().run(page)
    return [
        f"{page.url} {one['id']}: {node['html'][:200]}"
        for one in found.response["violations"]
        for node in one["nodes"]
    ]


TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.querySelectorAll('body *')]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 0.5)
    .map(one => `wider than a phone: ${one.outerHTML.slice(0, 200)}`)"""
TOO_SMALL = """() => [...document.querySelectorAll('a, button, input, summary')]
    .filter(one => one.checkVisibility() && !one.matches('.skip, p:not(.links) > a'))
    .filter(one => one.getBoundingClientRect().height < 43.5)
    .map(one => `too small to touch: ${one.outerHTML.slice(0, 200)}`)"""


def test_pages_are_fit_for_everybody_light_and_dark_large_and_small(
    browser: Browser, shared: Running
) -> None:
    room = shared.classroom
    room.create("Second", Definition(candidates="texts"), "second")
    opened = room.learner("pictures").ask_from_world("robot")
    with writing(room.database, "pictures") as log:
        describe(log, opened.number, "robot", "a square", match_of(shared), anyones=True)
    complaints: list[str] = []

    def judge(page: Page) -> None:
        for scheme, size in (("light", SCREEN), ("dark", PHONE)):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            page.set_viewport_size(size)  # type: ignore[arg-type]
            complaints.extend(_violations(page))
        complaints.extend(page.evaluate(TOO_WIDE))
        complaints.extend(page.evaluate(TOO_SMALL))

    with visiting(browser, shared, "ann") as visit:
        page = visit.page
        visit.teach()
        visit.tell("a red square")
        page.get_by_role("button", name="Change").click()
        judge(page)
        page.goto(f"{shared.url}/preview/pictures")
        page.locator("#request").fill("a red square")
        page.locator("#request").press("Enter")
        expect(page.locator(".picked")).to_be_visible()
        judge(page)
        page.goto(f"{shared.url}/progress/pictures")
        expect(page.locator("#all")).to_be_visible()
        page.locator("#curve-box summary").click()
        judge(page)
        page.goto(f"{shared.url}/check/pictures")
        page.locator(".choice").first.click()
        expect(page.locator("#next")).to_be_visible()
        judge(page)
        for path, what in (
            ("/check/second", "#nothing"),
            ("/", ".lessons"),
            ("/teach/none", "h1"),
        ):
            page.goto(shared.url + path)
            expect(page.locator(what).first).to_be_visible()
            judge(page)
    with visiting(browser, shared) as visit:
        visit.page.goto(f"{shared.url}/progress/pictures")
        assert urlsplit(visit.page.url).path == "/login"
        judge(visit.page)
    assert complaints == []


def test_who_has_not_signed_in_is_sent_to_the_login(shared: Running) -> None:
    with httpx.Client(base_url=shared.url, timeout=PATIENCE) as client:
        for path in ("/", "/teach/pictures", "/preview/none", "/progress/x", "/check/pictures"):
            answer = client.get(path)
            assert answer.status_code == 303
            assert answer.headers["location"] == f"/login?next={path}"
        assert "csrf" not in client.get("/login").text


def test_there_is_a_page_for_lessons_that_are_not_there(own: Running) -> None:
    for path in ("/teach/none", "/teach/%00", "/preview/..%2f..", "/progress/A", "/check/'"):
        answer = httpx.get(own.url + path, timeout=PATIENCE)
        assert answer.status_code == 404, path
    missing = httpx.get(own.url + "/teach/none", timeout=PATIENCE)
    assert "There is no such lesson" in missing.text


def test_files_of_pages_are_kept_under_names_that_change_with_them(own: Running) -> None:
    with httpx.Client(base_url=own.url, timeout=PATIENCE) as client:
        html = client.get("/teach/pictures").text
        styles = html.split('<link rel="stylesheet" href="')[1].split('"')[0]
        answer = client.get(styles)
        assert answer.headers["content-type"].startswith("text/css")
        assert "immutable" in answer.headers["cache-control"]
        folder = styles.rpartition("/")[0]
        script = client.get(f"{folder}/teach.js")
        assert script.headers["content-type"].startswith("text/javascript")
        # Under the name of another version they are checked each time.
        old = client.get("/static/0123456789ab/teach.js")
        assert old.headers["cache-control"] == "no-cache"
        known = {"If-None-Match": old.headers["etag"]}
        assert client.get("/static/0123456789ab/teach.js", headers=known).status_code == 304
        assert client.get(f"{folder}/..%2f..%2frendering.py").status_code == 404
        assert client.get(f"{folder}/none.js").status_code == 404


def test_pages_hold_no_script_and_no_style_of_their_own() -> None:
    templates = Path(assets.__file__).parent / "templates"
    for file in templates.glob("*.html"):
        text = file.read_text()
        assert " style=" not in text
        assert "<style" not in text
        assert " on" + "click" not in text
        assert "|safe" not in text.replace(" ", "")
        assert text.count("<script") == text.count('<script type="module" src="{{ asset(')


def test_the_statuses_of_the_pages_are_those_of_the_store() -> None:
    script = (Path(assets.__file__).parent / "static" / "progress.js").read_text()
    for status in RoundStatus:
        assert f"  {status.value}: " in script
