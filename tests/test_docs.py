"""The documentation runs, and builds without a warning."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import tellback_here
from tests.support.patience import PATIENCE
from tests.support.ports import held_port
from tests.support.scripts import run_script

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def resembles(text: str, pattern: str) -> bool:
    """Whether a text is a pattern in which ... stands for anything."""
    parts = [re.escape(part) for part in pattern.split("...")]
    return re.fullmatch(".*".join(parts), text.strip(), flags=re.DOTALL) is not None


def python_of(page: Path) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL))


WITH_CODE = [page for page in PAGES if python_of(page)]


def test_there_is_code_to_run() -> None:
    assert ROOT / "README.md" in WITH_CODE
    assert len(WITH_CODE) >= 6


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    with held_port() as port:  # the one of the page may be somebody else's here
        script.write_text(python_of(page).replace("8791", str(port)))
        done = run_script(script, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    shown = re.findall(r"```python\n.*?```\n\n```text\n(.*?)```", page.read_text(), re.DOTALL)
    assert not shown or resembles(done.stdout, "".join(shown).strip()), done.stdout


def test_the_page_on_diagnosis_names_commands_that_work(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "howto" / "diagnose.md").read_text()
    first, second = re.findall(r"^\$ tellback (.*)$", text, flags=re.MULTILINE)
    played = tellback_here(*first.split(), "--on", "inline", cwd=tmp_path)
    assert played.returncode == 0, played.stderr
    (run,) = re.findall(r"tellback diagnose (\w+)", played.stdout)
    assert second == "diagnose RUN"
    diagnosed = tellback_here("diagnose", run, cwd=tmp_path)
    assert diagnosed.returncode == 0, diagnosed.stderr
    assert "Over-exploration." in diagnosed.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    done = run_script(example, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert "WARNING -" not in built.stderr
    # Nothing is fetched from any other host when a page is read.
    for page in tmp_path.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|link)[^>]*(?:src|href)=\"(https?:[^\"]+)", page.read_text()
        )
        assert not loaded, (page, loaded)


def test_readme_links_exist() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text()):
        assert target.startswith("http") or (ROOT / target).exists(), target
