"""The first lesson of a new user: one command, a browser, and sixty sentences."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, expect

from tests.support.ports import held_port
from tests.support.teach_process import answering, running

ROUNDS = 60

# What this person calls things, and how they put it: words of their own.
COLOURS = {
    (220, 30, 30): ("red", "crimson"),
    (30, 60, 220): ("blue", "navy"),
    (20, 150, 50): ("green", "emerald"),
    (245, 220, 30): ("yellow", "golden"),
    (0, 0, 0): ("black", "jet black"),
    (128, 128, 128): ("grey", "gray"),
    (0, 200, 220): ("cyan", "turquoise"),
    (250, 140, 20): ("orange", "amber"),
}
SHAPES = {
    "square": ("square", "box"),
    "rectangle": ("rectangle", "bar"),
    "triangle": ("triangle", "wedge"),
    "circle": ("circle", "disc"),
}
SENTENCES = (
    "{colour} {shape}",
    "a {colour} {shape}",
    "It took the {colour} {shape}.",
    "the {shape} in {colour}",
    "That is a {shape}, a {colour} one",
    "This time the {colour} {shape}!",
    "i see a {shape} coloured {colour}",
    "well, {colour} {shape} again",
    "Looks {colour} to me, and it's a {shape}",
    "the agent went for a {colour} {shape}",
)


def seen(picture: bytes) -> tuple[str, str]:
    """The colour and the shape of a picture, by its pixels, as (usual colour, usual shape)."""
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")).astype(int)
    inside = (pixels != 255).any(axis=2)
    mean = pixels[inside].mean(axis=0)
    colour = min(COLOURS, key=lambda one: float(np.abs(np.array(one) - mean).sum()))
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    height, width = np.ptp(rows) + 1, np.ptp(columns) + 1
    filled = inside.sum() / (height * width)
    if width > 1.5 * height:
        return COLOURS[colour][0], "rectangle"
    shape = "square" if filled > 0.9 else "circle" if filled > 0.65 else "triangle"
    return COLOURS[colour][0], shape


def worded(colour: str, shape: str, rng: np.random.Generator) -> str:
    """A sentence of this person about it: three names in ten are not the usual ones."""
    colours = next(names for names in COLOURS.values() if names[0] == colour)
    shapes = SHAPES[shape]
    return SENTENCES[rng.integers(len(SENTENCES))].format(
        colour=colours[int(rng.random() < 0.3)], shape=shapes[int(rng.random() < 0.3)]
    )


def test_sixty_sentences_in_the_browser_lift_an_agent_from_chance_to_four_in_five(
    page: Page, tmp_path: Path
) -> None:
    rng = np.random.default_rng(7)
    with (
        held_port() as port,
        running(tmp_path, "teach", "--no-browser", "--port", str(port)) as process,
    ):
        url = f"http://127.0.0.1:{port}"
        with answering(url, process):
            page.goto(f"{url}/teach/pictures")
            before = met(page, url)
            page.goto(f"{url}/teach/pictures")
            for _ in range(2 * ROUNDS):  # some are answers to questions about earlier ones
                describe(page, url, rng)
                if described(page, url) >= ROUNDS:
                    break
            assert described(page, url) == ROUNDS
            after = met(page, url)
        assert process.poll() is None
    assert before <= 35  # chance is 20
    assert after >= 80


def describe(page: Page, url: str, rng: np.random.Generator) -> None:
    """Type what the marked picture is. Asked whether it really is that, this person is sure."""
    picture = page.locator("#candidates li:has(.label) img")
    expect(picture).to_have_count(1)
    place = picture.get_attribute("src")
    assert place is not None
    page.keyboard.type(worded(*seen(page.request.get(url + place).body()), rng))
    for _ in range(2):
        asked = page.locator("#really").text_content()
        page.keyboard.press("Enter")
        page.wait_for_function(
            """([place, asked]) => {
                const picture = document.querySelector("#candidates li:has(.label) img");
                const now = document.getElementById("really").textContent;
                return picture && (picture.getAttribute("src") !== place || (now && now !== asked));
            }""",
            arg=[place, asked],
        )
        if picture.get_attribute("src") != place:
            return
    raise AssertionError("It was asked twice about one description.")


def described(page: Page, url: str) -> int:
    """How many descriptions the service counts. The page counts them a moment later."""
    answer = page.request.get(f"{url}/api/v1/lessons/pictures/curve").json()
    return int(answer["described"])


def met(page: Page, url: str) -> int:
    """How many of the hundred held-out requests the Progress page says are met."""
    page.goto(f"{url}/progress/pictures")
    shown = page.get_by_text(re.compile(r"^\d+ of 100$")).first
    expect(shown).to_be_visible()
    text = shown.text_content()
    assert text is not None
    return int(text.split()[0])
