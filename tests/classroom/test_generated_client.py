"""Clients that a public generator makes from the description of the API read well, and work."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, tokens
from tellback.classroom.web.app import create_app
from tests.support.classroom_server import running_classroom
from tests.support.patience import PATIENCE
from tests.support.real_parts import need

GENERATOR = "openapi-python-client==0.29.1"
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "api.md"
PROGRAM = """
import sys
from io import BytesIO
from classroom import AuthenticatedClient
from classroom.api.lessons import create_lesson
from classroom.api.log import export, import_rounds
from classroom.api.progress import get_apprentice
from classroom.api.rounds import ask, list_rounds
from classroom.api.teaching import describe, suggest
from classroom.models import Acted, NewDescription, NewLesson, NewRound, NewSuggestion
from classroom.types import File

client = AuthenticatedClient(sys.argv[1], token=sys.argv[2], raise_on_unexpected_status=True)
lesson = create_lesson.sync(client=client, body=NewLesson(name="lamp", dim=2)).id
task = {"instruction": "bright", "features": [[1.0, 0.0], [0.0, 1.0]]}
asked = ask.sync(lesson, client=client, body=NewRound(**task))
told = describe.sync(lesson, asked.round_, client=client, body=NewDescription(description="dark"))
assert told.new and told.asked == "bright"
done = ask.sync(lesson, client=client, body=NewRound(**task, acted=Acted(response=1)))
assert done.response == 1 and done.advice.response in (0, 1)
said = NewSuggestion(description="dim", by="a model")
assert suggest.sync(lesson, done.round_, client=client, body=said).new
listed = list_rounds.sync(lesson, client=client).rounds
assert [one.status for one in listed] == ["described", "open"]
assert get_apprentice.sync(lesson, client=client).rounds == 1
file = export.sync(lesson, client=client)
copy = create_lesson.sync(client=client, body=NewLesson(name="copy", dim=2)).id
body = File(payload=BytesIO(file.payload.read()))
print(import_rounds.sync(copy, client=client, body=body).rounds)
"""


def test_operations_have_short_names_and_no_two_the_same(tmp_path: Path) -> None:
    app = create_app(Settings(f"sqlite:///{tmp_path}/empty.db"))
    app.state.classroom.database.close()
    paths = app.openapi()["paths"]
    ids = [one["operationId"] for methods in paths.values() for one in methods.values()]
    assert max(Counter(ids).values()) == 1
    for name in ids:  # such as ask, get_round, delete_all_words
        assert re.fullmatch(r"[a-z]+(_[a-z]+){0,2}", name), name
        assert len(name) <= 20


def _run(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    given = list(map(str, words))
    return subprocess.run(
        given, cwd=folder, capture_output=True, text=True, timeout=10 * PATIENCE, check=False
    )


@pytest.mark.slow
def test_a_generated_client_teaches_a_lesson(tmp_path: Path) -> None:
    _run(sys.executable, "-m", "venv", tmp_path / "env", folder=tmp_path)
    python = tmp_path / "env" / "bin" / "python"
    installed = _run(python, "-m", "pip", "install", "--quiet", GENERATOR, folder=tmp_path)
    need("the generator of clients", installed.stderr if installed.returncode else None)
    advised = PAGE.read_text().split("```yaml\n")[1].split("```")[0]
    (tmp_path / "files.yaml").write_text(advised + "post_hooks: []\n")
    settings = Settings(f"sqlite:///{tmp_path}/classroom.db")
    with running_classroom(settings) as running:
        database = running.classroom.database
        account = accounts.add(database, "robot", "engineer", None)
        _, secret = tokens.make(database, account.id, "generated")
        generate = (python.parent / "openapi-python-client", "generate", "--meta", "none")
        made = _run(
            *generate,
            *("--url", f"{running.url}/openapi.json", "--output-path", "classroom"),
            *("--config", "files.yaml", "--fail-on-warning"),
            folder=tmp_path,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        done = _run(python, "-c", PROGRAM, running.url, secret, folder=tmp_path)
        assert done.stdout == "2\n", done.stderr
