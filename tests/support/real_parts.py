"""Real parts that tests need: a PostgreSQL and a browser.

Where one is missing, the tests that need it are skipped, and the end of the report says so loudly.
With TELLBACK_SKIP_NOTHING=1 they fail.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support import real_browser, real_postgres
from tests.support.real_browser import LOOP, chromium_path
from tests.support.real_postgres import Postgres

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = [
    "Postgres",
    "browser",
    "chromium_path",
    "page",
    "postgres_server",
    "pytest_runtest_protocol",
    "pytest_runtest_teardown",
    "pytest_terminal_summary",
]

MARK = "real part missing: "


def need(part: str, why_missing: str | None) -> None:
    """Skip the test, or fail it if nothing may be skipped, unless the part is there."""
    if why_missing is None:
        return
    if os.environ.get("TELLBACK_SKIP_NOTHING", "0") not in ("", "0"):
        pytest.fail(f"{part} is missing, and TELLBACK_SKIP_NOTHING is set: {why_missing}")
    pytest.skip(f"{MARK}{part} ({why_missing})")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """One PostgreSQL for all tests of this process; each takes a database of its own."""
    need("PostgreSQL", real_postgres.missing())
    server = Postgres(in_memory=True)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this process; each takes a page of its own."""
    need("a browser", real_browser.missing())
    with real_browser.open_browser() as opened:
        yield opened


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page without a past: cookies and storage are of this test alone."""
    with browser.new_context() as context:
        yield context.new_page()


def _uses_browser(item: pytest.Item | None) -> bool:
    return "browser" in getattr(item, "fixturenames", ())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let the browser's event loop run only in the tests that use it."""
    if _uses_browser(item):
        LOOP.wake()
    try:
        return (yield)
    finally:
        LOOP.sleep()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """The last test of a file also ends what others of it shared, which may be a page."""
    if nextitem is None or nextitem.path != item.path:
        LOOP.wake()
    return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what was not tested."""
    skipped = Counter(
        reason.partition(MARK)[2]
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple) and MARK in (reason := report.longrepr[2])
    )
    if not skipped:
        return
    terminalreporter.write_sep("=", "NOT TESTED", red=True, bold=True)
    for part, number in sorted(skipped.items()):
        tests = "test needs" if number == 1 else "tests need"
        terminalreporter.write_line(f"{number} {tests} {part}", red=True, bold=True)
    terminalreporter.write_line("TELLBACK_SKIP_NOTHING=1 makes these fail.", red=True, bold=True)
