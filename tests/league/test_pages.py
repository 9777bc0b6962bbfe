"""The tables of the pages that are written from results."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import pages
from tellback.lab import Store
from tellback.league.plan import league_worlds


def test_without_results_a_page_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [place for place in league_worlds() if place.name == "raw features"]
    monkeypatch.setattr(pages, "league_worlds", lambda: few)
    store, page = Store(tmp_path / "runs"), tmp_path / "page.md"
    for write, name in (
        (pages.optimiser_rows, "results.md"),
        (pages.league_tables, "howto/which-agent.md"),
    ):
        before = (pages.DOCS / name).read_text()
        page.write_text(before)
        write(store, page)
        assert page.read_text() == before
