"""Pages for one's own material, for lessons and for accounts, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tellback.classroom.learning import collecting
from tellback.classroom.learning.definition import Definition
from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, sessions, tokens
from tellback.classroom.store.rounds import find_asked, find_round
from tellback.classroom.store.tasks import find_task
from tellback.classroom.web.security.credentials import cookie_name
from tellback.encoders.thumbnail import Thumbnail
from tellback.recordings import Recording, write
from tests.classroom.web.pages.test_one_screen import SIZES, WANTED, not_visible
from tests.support.classroom_server import Running, running_classroom
from tests.support.own_material import chores
from tests.support.photographs import written

WANTED_HERE = {k: v for k, v in WANTED.items() if k != "#reveal .achieved"}  # not from the first
PASSWORD = "correct horse battery"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Running]:
    settings = Settings(f"sqlite:///{tmp_path}/classroom.db", accounts=False)
    with running_classroom(settings) as running:
        yield running


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Running]:
    with running_classroom(Settings(f"sqlite:///{tmp_path}/classroom.db")) as running:
        for name, role in (("ada", "admin"), ("eng", "engineer"), ("tea", "teacher")):
            accounts.add(running.classroom.database, name, role, PASSWORD)
        yield running


def signed_in(page: Page, running: Running, name: str) -> Page:
    database = running.classroom.database
    secret = sessions.create(database, accounts.named(database, name).id)
    page.context.add_cookies([{"name": cookie_name(False), "value": secret, "url": running.url}])
    return page


def accessible(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def made(page: Page, running: Running, chosen: Path, frames: bool = False) -> str:
    """Choose a folder or a file, and make a lesson of it. Returns the id."""
    page.goto(f"{running.url}/new")
    page.locator("#folder" if chosen.is_dir() else "#file").set_input_files(chosen)
    expect(page.locator("#make")).to_be_visible()
    if frames:
        page.locator("#frames").check()
    accessible(page)
    page.get_by_role("button", name="Make the lesson").click()
    page.wait_for_url("**/teach/*")
    expect(page.locator("#stage")).to_be_visible()
    return page.url.rpartition("/")[2]


def tell(page: Page, text: str) -> None:
    before = page.locator("#stage").get_attribute("data-round")
    page.locator("#said").fill(text)
    page.keyboard.press("Enter")
    page.wait_for_function(
        "old => document.querySelector('#stage').dataset.round !== old", arg=before
    )


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "usual_encoder", Thumbnail)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("kind", ["pictures", "strips", "steps", "texts"])
def test_dropped_material_is_taught_on_one_screen(
    page: Page, own: Running, tmp_path: Path, kind: str
) -> None:
    if kind in ("pictures", "strips"):
        chosen = tmp_path / "holiday"
        for folder in range(6):
            written(chosen / f"clip {folder}", 2, seed=folder)
    elif kind == "steps":
        chosen = tmp_path / "chores.jsonl.gz"
        write(chosen, Recording(tuple(one.recorded for one in chores(described=True))))
    else:
        chosen = tmp_path / "drinks.csv"
        chosen.write_text("text,price\n" + "".join(f"drink {i} of many,{i}\n" for i in range(9)))
    lesson = made(page, own, chosen, frames=kind == "strips")
    tell(page, "the one in the middle, I would say")
    expect(page.locator("#reveal .verdict")).to_be_visible()
    expect(page.locator("#said")).to_be_editable()
    page.wait_for_function("() => [...document.images].every((one) => one.complete)")
    assert [(size, name) for size in SIZES for name in not_visible(page, WANTED_HERE, *size)] == []
    accessible(page)
    if kind == "strips":
        box = page.locator(".picked img").bounding_box()
        assert box is not None
        assert box["width"] > 1.9 * box["height"]
    if kind == "steps":
        assert page.locator(".picked ol li").count() == 2
    page.goto(f"{own.url}/progress/{lesson}")
    expect(page.locator("#held-out")).to_contain_text("held out and not taught")
    assert own.classroom.learner(lesson).name in ("holiday", "chores", "drinks")


def test_what_is_no_material_is_said_so(page: Page, own: Running, tmp_path: Path) -> None:
    page.goto(f"{own.url}/new")
    accessible(page)
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    page.locator("#file").set_input_files(tmp_path / "a.csv")
    page.get_by_role("button", name="Make the lesson").click()
    expect(page.locator("#problem")).to_contain_text("The column 'text' is missing")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("x")
    page.locator("#folder").set_input_files(tmp_path / "folder")
    expect(page.locator("#problem")).to_contain_text("There are no pictures")
    expect(page.locator("#make")).to_be_hidden()


@pytest.mark.slow
def test_two_hundred_photographs_are_a_lesson_with_a_curve(
    page: Page, own: Running, tmp_path: Path
) -> None:
    photographs = written(tmp_path / "holiday", 200, seed=7)
    lesson = made(page, own, tmp_path / "holiday")
    learner = own.classroom.learner(lesson)
    assert learner.definition.material is not None
    assert learner.definition.material.seen_by == "efficientnet"
    for _ in range(70):
        number = int(page.locator("#stage").get_attribute("data-round") or 0)
        with own.classroom.database.read() as connection:
            items = find_task(connection, lesson, number).items or []
            asked = find_asked(connection, lesson, find_round(connection, lesson, number))
        tell(page, photographs[items[asked.choice.response]].says)
    page.goto(f"{own.url}/progress/{lesson}")
    expect(page.locator("#curve-box")).to_be_visible()
    point = learner.examined()[1]
    assert point.right / point.requests >= 0.7


def test_lessons_are_renamed_archived_and_deleted_by_a_typed_word(
    page: Page, shared: Running
) -> None:
    for id in ("first", "second"):
        shared.classroom.create(id, Definition(dim=2), id)
    signed_in(page, shared, "ada").goto(f"{shared.url}/?all")

    def box(id: str) -> str:
        return f"[data-id={id}]"

    def reloaded(shown: Locator) -> None:
        """Wait for the new page, and for its script: before that, buttons do nothing."""
        expect(shown).to_be_visible()
        page.wait_for_load_state()

    page.locator(f"{box('first')} summary").click()
    accessible(page)
    expect(page.locator(f"{box('first')} .delete")).to_contain_text("To delete “first” and all")
    problem = page.locator(f"{box('first')} .problem")
    rename = page.locator(box("first")).get_by_role("button", name="Rename")
    for name, says in (
        (" ", "A lesson needs a name."),
        ("second", "another lesson named “second”"),
    ):
        page.locator("#name-first").fill(name)
        rename.click()
        expect(problem).to_contain_text(says)
    save = page.locator(box("first")).get_by_role("button", name="Save")
    page.locator("#catch-first").fill("70")
    save.click()
    expect(problem).to_contain_text("a whole number from 0 to 50")
    page.locator("#catch-first").fill("7")
    save.click()
    expect(page.locator(f"{box('first')} .saved")).to_have_text("Saved.")
    expect(problem).to_be_empty()
    assert shared.classroom.learner("first").definition.catch == 0.07
    page.locator("#name-first").fill("Another name")
    rename.click()
    reloaded(page.get_by_role("link", name="Another name", exact=True))
    page.locator(f"{box('second')} summary").click()
    page.locator(box("second")).get_by_role("button", name="Put into the archive").click()
    reloaded(page.get_by_text("In the archive: 1"))
    page.get_by_text("In the archive: 1").click()
    page.locator(f"{box('second')} summary").click()
    accessible(page)
    page.locator(box("second")).get_by_role("button", name="Take out").click()
    reloaded(page.get_by_role("link", name="second", exact=True))
    page.locator(f"{box('first')} summary").click()
    delete = page.locator(box("first")).get_by_role("button", name="Delete for good")
    page.locator("#word-first").fill("yes")
    expect(delete).to_be_disabled()
    page.locator("#word-first").fill("delete")
    delete.click()
    expect(page.get_by_role("link", name="Another name", exact=True)).to_have_count(0)
    # An engineer manages lessons, and does not delete them.
    signed_in(page, shared, "eng").goto(f"{shared.url}/?all")
    page.locator(f"{box('second')} summary").click()
    assert page.locator(".delete").count() == 0


def test_accounts_and_passwords_are_managed_on_a_page(page: Page, shared: Running) -> None:
    database = shared.classroom.database
    _, secret = tokens.make(database, accounts.named(database, "eng").id, "robot")
    signed_in(page, shared, "ada").goto(f"{shared.url}/accounts")
    expect(page.locator("[data-name=tea]")).to_be_visible()
    page.locator("#add-name").fill("newcomer")
    page.locator("#add-role").select_option("reviewer")
    page.locator("#add-password").fill("short")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#add .problem")).not_to_be_empty()
    page.locator("#add-password").fill(PASSWORD)
    page.get_by_role("button", name="Add").click()
    expect(page.locator("[data-name=newcomer]")).to_contain_text("reviewer")
    person = page.locator("[data-name=newcomer]")
    person.get_by_text("Manage").click()
    accessible(page)
    person.get_by_label("Role of newcomer").select_option("teacher")
    person.get_by_role("button", name="Set the role").click()
    expect(page.locator("#banner")).to_have_text("newcomer is teacher now.")
    person.get_by_text("Manage").click()
    person.get_by_label("New password of newcomer").fill("another " + PASSWORD)
    person.get_by_role("button", name="Set the password").click()
    expect(page.locator("#banner")).to_contain_text("all sessions have ended")
    assert accounts.signed_in(database, "newcomer", "another " + PASSWORD) is not None
    person.get_by_text("Manage").click()
    person.get_by_role("button", name="Disable newcomer").click()
    expect(person).to_contain_text("disabled")
    page.locator("[data-name=eng]").get_by_text("Manage").click()
    page.get_by_role("button", name="Revoke the token robot of eng").click()
    expect(page.locator("#banner")).to_have_text("The token robot is revoked.")
    assert tokens.find(database, secret) is None
    # The last admin stays.
    page.locator("[data-name=ada]").get_by_text("Manage").click()
    page.get_by_role("button", name="Disable ada").click()
    expect(page.locator("[data-name=ada] .problem")).to_contain_text("last account")


def test_engineers_make_and_revoke_their_own_tokens(page: Page, shared: Running) -> None:
    signed_in(page, shared, "eng").goto(f"{shared.url}/accounts")
    assert page.locator("#add, #all").count() == 0
    page.locator("#token-days").fill("0")
    page.locator("#token-name").fill("my robot")
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator("#new-token .problem")).not_to_be_empty()
    page.locator("#token-days").fill("7")
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator("#tokens li")).to_contain_text("my robot, until ")
    accessible(page)
    secret = page.locator("#secret code").inner_text()
    there, sent = f"{shared.url}/api/v1/me", {"Authorization": f"Bearer {secret}"}
    assert httpx.get(there, headers=sent).json()["name"] == "eng"
    page.get_by_role("button", name="Revoke the token my robot").click()
    expect(page.locator("#tokens li")).to_have_count(0)
    assert httpx.get(there, headers=sent).status_code == 401


def test_everybody_changes_their_own_password_and_only_admins_see_others(
    page: Page, shared: Running
) -> None:
    signed_in(page, shared, "tea").goto(f"{shared.url}/accounts")
    assert page.locator("#add, #all, #tokens").count() == 0
    accessible(page)
    page.locator("#current").fill(PASSWORD)
    page.locator("#fresh").fill("new " + PASSWORD)
    page.get_by_role("button", name="Change it").click()
    expect(page.locator("#banner")).to_have_text("Your password is changed.")
    page.goto(f"{shared.url}/new")
    assert "Only an engineer makes lessons" in page.content()


def test_these_pages_ask_for_a_login(shared: Running) -> None:
    for path in ("/new", "/accounts"):
        answer = httpx.get(shared.url + path)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/login?next={path}")
