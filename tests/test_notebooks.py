"""The notebook of the examples runs in a real kernel, and shows what it promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tellback.notebooks import NotebookBar, in_notebook
from tests.support.patience import PATIENCE

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "examples" / "first_steps.ipynb"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    """What each cell showed."""
    for module in ("nbclient", "ipykernel"):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("notebook")
    places = {"JUPYTER_RUNTIME_DIR": "jupyter", "IPYTHONDIR": "ipython"}
    environment = os.environ | {name: str(folder / where) for name, where in places.items()}
    result = subprocess.run(
        [sys.executable, ROOT / "tests" / "support" / "notebook.py", NOTEBOOK],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    found: list[list[dict[str, Any]]] = json.loads(result.stdout)
    return found


def said(outputs: list[dict[str, Any]]) -> str:
    return "\n".join(one.get("text") or one["data"]["text/plain"] for one in outputs)


def test_every_cell_with_code_shows_something(shown: list[list[dict[str, Any]]]) -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    for cell, outputs in zip(cells, shown, strict=True):
        assert bool(outputs) == (cell["cell_type"] == "code"), cell["source"]


def test_runs_and_results_are_shown_as_tables_and_plots_as_pictures(
    shown: list[list[dict[str, Any]]],
) -> None:
    kinds = [kind for outputs in shown for one in outputs for kind in one.get("data", {})]
    assert kinds.count("image/png") == 2
    assert kinds.count("text/html") >= 5


def test_a_study_with_a_class_of_a_cell_shows_a_bar_and_says_where_it_plays(
    shown: list[list[dict[str, Any]]],
) -> None:
    (outputs,) = [one for one in shown if "Results of" in said(one)]
    assert "24 runs, rounds: 12,000 of 12,000" in said(outputs)
    assert "cannot import Imitator" in said(outputs)


def test_the_notebook_is_kept_without_outputs() -> None:
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_elsewhere_there_is_no_notebook_and_ipython_is_not_imported() -> None:
    assert not in_notebook()


def test_a_bar_is_drawn_only_when_a_percent_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    display = pytest.importorskip("IPython.display")
    drawn: list[str] = []

    class Handle:
        def update(self, bar: object) -> None:
            drawn.append(repr(bar))

    def show(bar: object, display_id: bool) -> Handle:
        drawn.append(repr(bar))
        return Handle()

    monkeypatch.setattr(display, "display", show)
    bar = NotebookBar()
    for done in (1, 2, 500, 1000):
        bar("rounds", done, 1000)
    assert drawn == ["rounds: 1 of 1,000", "rounds: 500 of 1,000", "rounds: 1,000 of 1,000"]
