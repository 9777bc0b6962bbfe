"""The files to run a classroom with: they name commands and options that there are."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import typer
import yaml

from tellback.cli import app

DEPLOY = Path(__file__).parent.parent / "deploy"
SQLITE = "sqlite:////var/lib/tellback/lessons.db"


def options_of(words: list[str]) -> dict[str, object]:
    """What the command line makes of some words; an error if it does not know them."""
    command = typer.main.get_command(app)
    context = command.make_context("tellback", words, resilient_parsing=False)
    name, inner, rest = command.resolve_command(context, context._protected_args + context.args)  # type: ignore[attr-defined]
    assert inner is not None
    found: dict[str, object] = inner.make_context(name, rest).params
    return found


def test_the_container_serves_beyond_itself_as_nobody_in_particular() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    words = json.loads(re.findall(r"^CMD (.*)$", text, re.MULTILINE)[0])
    assert options_of(words)["host"] == "0.0.0.0"
    assert f"TELLBACK_DATABASE={SQLITE}" in text
    assert text.index("USER tellback") < text.index("ENTRYPOINT")
    assert "/readyz" in text
    for copied in re.findall(r"^COPY (.*) \S+$", text, re.MULTILINE):
        assert all((DEPLOY.parent / name).exists() for name in copied.split())


def test_the_services_of_the_compose_file_fit_together() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    classroom, database = services["classroom"], services["database"]["environment"]
    words = [re.sub(r"\$\{\w+:-(\w+)\}", r"\1", word) for word in classroom["command"]]
    options = options_of(words)
    assert (options["secure"], options["name"], options["workers"]) == (True, ["localhost"], 2)
    assert options["proxy"] == ["172.30.0.0/24"]
    user, name = database["POSTGRES_USER"], database["POSTGRES_DB"]
    url = classroom["environment"]["TELLBACK_DATABASE"]
    assert url == f"postgresql://{user}:${{DATABASE_PASSWORD:?}}@database/{name}"
    assert (DEPLOY / classroom["build"]["context"] / classroom["build"]["dockerfile"]).exists()


def test_the_unit_of_systemd_is_one(tmp_path: Path) -> None:
    text = (DEPLOY / "tellback.service").read_text()
    start = re.findall(r"^ExecStart=(\S+) (.*)$", text, re.MULTILINE)[0]
    assert options_of(shlex.split(start[1]))["database"] == SQLITE
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd-analyze")
    unit = tmp_path / "tellback.service"
    unit.write_text(text.replace(start[0], "/bin/true"))
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_database_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLBACK_DATABASE", SQLITE)
    assert options_of(["serve"])["database"] == SQLITE
