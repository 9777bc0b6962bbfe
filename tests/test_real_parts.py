"""The PostgreSQL and the browser of the tests are real, durable and leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from tests.support.patience import PATIENCE
from tests.support.real_parts import Postgres

pytest_plugins = ["pytester"]


def ask(url: str, *statements: str) -> object:
    """The first field that the last statement gives; every one is committed."""
    engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as connection:
        for statement in statements:
            result = connection.execute(text(statement))
        return result.scalar() if result.returns_rows else None


def test_a_real_server_answers(postgres_server: Postgres) -> None:
    version = ask(postgres_server.url("postgres"), "select version()")
    assert str(version).startswith("PostgreSQL")


def test_what_is_committed_is_forced_to_disk(postgres_server: Postgres) -> None:
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):
        assert ask(postgres_server.url("postgres"), f"show {setting}") == "on"


def test_a_new_database_is_empty_and_nobody_elses(postgres_server: Postgres) -> None:
    one, other = postgres_server.create_database(), postgres_server.create_database()
    ask(one, "create table mine (x int)")
    count = "select count(*) from information_schema.tables where table_schema = 'public'"
    assert ask(one, count) == 1
    assert ask(other, count) == 0


@pytest.mark.parametrize("immediate", [False, True])
def test_a_restart_keeps_committed_rows(postgres_server: Postgres, immediate: bool) -> None:
    url = postgres_server.create_database()
    ask(url, "create table kept (x int)", "insert into kept values (7)")
    before = ask(url, "select pg_postmaster_start_time()")
    postgres_server.restart(immediate=immediate)
    assert ask(url, "select x from kept") == 7
    assert ask(url, "select pg_postmaster_start_time()") != before


START_AND_TELL = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.support.real_postgres import Postgres
server = Postgres()
print(server._folder, (server._data / "postmaster.pid").read_text().split()[0], flush=True)
input()
server.stop()
"""


@pytest.mark.parametrize("killed", [False, True])
def test_no_server_and_no_folder_outlives_the_tests(
    postgres_server: Postgres, killed: bool
) -> None:
    tests = subprocess.Popen(
        [sys.executable, "-c", START_AND_TELL, str(Path(__file__).parents[1])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert tests.stdin is not None
    assert tests.stdout is not None
    folder, pid = tests.stdout.readline().split()
    assert Path(folder).exists()
    if killed:
        tests.send_signal(signal.SIGKILL)
    tests.communicate("\n" if not killed else None)
    until = time.monotonic() + PATIENCE
    while (Path(folder).exists() or alive(int(pid))) and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(folder).exists()
    assert not alive(int(pid))


def alive(pid: int) -> bool:
    """A process that has ended but was not waited for is not alive."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def test_a_browser_opens_a_page_and_runs_its_script(page: Page) -> None:
    page.goto("data:text/html,<h1>Hello</h1><script>document.title = 6 * 7</script>")
    assert page.get_by_role("heading").inner_text() == "Hello"
    assert page.title() == "42"


async def seven() -> int:
    await asyncio.sleep(0)
    return 7


def test_after_a_browser_others_may_run_their_event_loops() -> None:
    assert asyncio.run(seven()) == 7


def test_a_browser_works_on_after_other_event_loops(page: Page) -> None:
    page.set_content("<p>again</p>")
    assert page.get_by_text("again").count() == 1


NEEDY = """
def test_one(postgres_server): ...
def test_two(postgres_server): ...
def test_three(page): ...
def test_four(): ...
"""


@pytest.fixture
def without_parts(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("TELLBACK_POSTGRES", "/nowhere")
    monkeypatch.setenv("TELLBACK_CHROMIUM", "/nowhere")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest("from tests.support.real_parts import *")
    pytester.makepyfile(NEEDY)
    return pytester


def test_what_is_missing_is_skipped_and_loudly_named(
    without_parts: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TELLBACK_SKIP_NOTHING", raising=False)
    told = without_parts.runpytest_subprocess()
    told.assert_outcomes(passed=1, skipped=3)
    told.stdout.fnmatch_lines(
        [
            "=*= NOT TESTED =*=",
            "2 tests need PostgreSQL (no initdb: *)",
            "1 test needs a browser (no /nowhere: *)",
        ]
    )


def test_what_is_missing_fails_where_nothing_may_be_skipped(
    without_parts: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELLBACK_SKIP_NOTHING", "1")
    told = without_parts.runpytest_subprocess()
    told.assert_outcomes(passed=1, errors=3)
    assert "NOT TESTED" not in told.stdout.str()
