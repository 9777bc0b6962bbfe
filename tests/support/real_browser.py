"""A real browser for the tests, steered by Playwright."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tests.support.patience import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")

QUIETLY = (
    "--no-sandbox",  # which Chromium refuses to root otherwise
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Opens nothing by itself, and calls nobody."""


def chromium_path() -> str | None:
    """The browser that TELLBACK_CHROMIUM names, or else the first on the path."""
    if named := os.environ.get("TELLBACK_CHROMIUM"):
        return shutil.which(named)
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def missing() -> str | None:
    """Why there can be no browser here; None if there can."""
    if chromium_path() is None:
        sought = os.environ.get("TELLBACK_CHROMIUM", " or ".join(NAMES))
        return f"no {sought}: install Chromium or set TELLBACK_CHROMIUM"
    if find_spec("playwright") is None:
        return "no playwright: install the test extra"
    return None


class Loop:
    """The event loop of Playwright, which counts as running for as long as the browser is open.

    While one runs, `asyncio.run` refuses to start another in the same thread. So the loop is put
    to sleep where no browser is used, or else one test with a browser would spoil all later ones.
    """

    def __init__(self) -> None:
        self._asleep: asyncio.AbstractEventLoop | None = None

    def wake(self) -> None:
        """Let the browser be used."""
        if self._asleep is not None:
            asyncio._set_running_loop(self._asleep)
            self._asleep = None

    def sleep(self) -> None:
        """Let others run their loops."""
        running = asyncio._get_running_loop()
        if running is not None:
            self._asleep = running
            asyncio._set_running_loop(None)


LOOP = Loop()

MILLISECONDS = 1000 * PATIENCE
"""How long the browser waits for anything: a machine may be busy."""

WAIT_FOR_QUESTIONS = f"""document.addEventListener("readystatechange", () => {{
  const line = document.getElementById("really");
  if (line) line.dataset.longestMs = {MILLISECONDS};
}});"""
"""Before its scripts run, tells the Teach page to wait for a question just as long."""


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser without windows."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=MILLISECONDS)
    playwright = sync_playwright().start()
    try:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=list(QUIETLY), timeout=MILLISECONDS
        )
        changed: Any = browser
        changed.new_context = _patient(browser.new_context)
        changed.new_page = _patient(browser.new_page)
        try:
            yield browser
        finally:
            LOOP.wake()
            browser.close()
    finally:
        LOOP.wake()
        playwright.stop()


def _patient(make: Callable[..., Any]) -> Callable[..., Any]:
    """The same, and what it makes waits longer than Playwright and our pages do."""

    def made(**options: Any) -> Any:
        thing = make(**options)
        thing.set_default_timeout(MILLISECONDS)
        thing.add_init_script(WAIT_FOR_QUESTIONS)
        return thing

    return made
