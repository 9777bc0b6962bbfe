"""The tables of the pages that are written from results."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import pages
from tellback.lab import Store
from tellback.league.plan import grounds


def test_without_results_a_page_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [ground for ground in grounds() if ground.name == "raw features"]
    monkeypatch.setattr(pages, "grounds", lambda: few)
    store, page = Store(tmp_path / "runs"), tmp_path / "page.md"
    for write, name in (
        (pages.optimiser_rows, "results.md"),
        (pages.league_tables, "howto/which-agent.md"),
    ):
        before = (pages.DOCS / name).read_text()
        page.write_text(before)
        write(store, page)
        assert page.read_text() == before
