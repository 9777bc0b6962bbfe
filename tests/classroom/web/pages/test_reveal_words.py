"""What the card after a description says is so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tellback.classroom.settings import Settings
from tests.support.classroom_server import running_classroom

REVEALED = """async ([answer]) => {
  const teach = document.querySelector("script[src*='teach.js']").src;
  const { drawReveal } = await import(teach.replace("teach.js", "reveal.js"));
  return drawReveal("said", { asked: "asked", saw_request: false, ...answer }, null).innerText;
}"""

Revealed = Callable[..., str]


@pytest.fixture(scope="module")
def revealed(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Revealed]:
    """The words of the card, given the answer of the service."""
    database = tmp_path_factory.mktemp("words") / "classroom.db"
    with (
        running_classroom(Settings(f"sqlite:///{database}", accounts=False)) as running,
        browser.new_context() as context,
    ):
        running.classroom.demonstrate()
        page = context.new_page()
        page.goto(f"{running.url}/teach/pictures")

        def words(**answer: Any) -> str:
            return str(page.evaluate(REVEALED, [answer]))

        yield words


def test_a_verdict_is_about_the_agent_and_claims_nothing_of_the_words(revealed: Revealed) -> None:
    assert "✓ A match: the agent did" in revealed(matched=True, judged_by="truth")
    missed = revealed(matched=False, judged_by="truth")
    assert missed.endswith("✗ No match: the agent did something else.")
    recorded = revealed(matched=True, judged_by="recording")
    assert recorded.endswith("✓ A match: a person said the request of this response.")
    other = revealed(matched=False, judged_by="equality")
    assert other.endswith("Other words than those of the request.")


def test_an_effect_names_what_was_tried_and_is_not_told_where_nothing_was(
    revealed: Revealed,
) -> None:
    unknown: dict[str, Any] = {
        "changes": [],
        "gained": None,
        "lost": None,
        "right": None,
        "requests": 3,
    }
    latest = revealed(matched=None, effect=unknown)
    assert "Your sentence changed no answer to the latest requests." in latest
    held_out = revealed(matched=None, effect=unknown | {"gained": 0, "lost": 0, "right": 2})
    assert "Your sentence changed no answer." in held_out
    assert "changed" not in revealed(matched=None, effect=unknown | {"requests": 0})


@pytest.mark.parametrize(
    ("agrees", "how"), [(None, "you."), (True, "and you agree."), (False, "in another way.")]
)
def test_a_second_description_is_not_said_to_teach_nor_to_be_left_out(
    revealed: Revealed, agrees: bool | None, how: str
) -> None:
    said = revealed(second=True, saw_request=True, agrees=agrees, matched=None, judged_by="people")
    assert f"{how} Yours is compared with theirs, and not taught." in said
    assert "matches" not in said
