"""``tellback teach`` and ``tellback serve``: the classroom."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tellback.cli.accounts import DatabaseUrl, default_database
from tellback.cli.show import console
from tellback.errors import SettingError

if TYPE_CHECKING:
    from tellback.classroom.settings import Settings

PORT = 8765


def teach(
    database: DatabaseUrl = None,
    port: Annotated[int, typer.Option(help="The port to listen on; or the next free one.")] = PORT,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page.")
    ] = True,
    house: Annotated[
        bool, typer.Option("--house", help="Teach an agent to walk through a house instead.")
    ] = False,
    recording: Annotated[
        Path | None,
        typer.Option("--from", help="A recording, which teaches before your first description."),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="A folder of pictures, to teach with.")
    ] = None,
    frames: Annotated[
        bool,
        typer.Option("--frames", help="With --pictures: each folder in it is a strip of frames."),
    ] = False,
    texts: Annotated[
        Path | None, typer.Option(help="A CSV table with a column text, to teach with.")
    ] = None,
    candidates: Annotated[
        int,
        typer.Option(help="Of your own material: how many responses to show at a time.", min=2),
    ] = 5,
    held_out: Annotated[
        float | None,
        typer.Option(
            help="The share that is held out for the exam: of the descriptions, or with --from of "
            "the groups.",
            show_default="0.25, with --from 0",
        ),
    ] = None,
) -> None:
    """Teach an agent in your browser: look at what it did, and type what that was.

    It starts with a demonstration: pictures, five at a time; or, with --house, a path through a
    floor plan. With --pictures or --texts, you describe your own. With --from, the descriptions
    of a recording teach first, and then you describe its responses. Your lessons are kept in a
    file of your data folder; the next time, the agent is where you left it. The page is reachable
    from this machine only, and needs no account.

    Example: tellback teach --pictures holiday
    """
    _demand_extra()
    from tellback.classroom.settings import Settings, free_port

    host = "127.0.0.1"
    found = free_port(host, port)
    _say_starting(host, found, stderr=True)
    from tellback.classroom.web import serving

    settings = Settings(
        database or default_database(), accounts=False, requests_a_minute=0, private_webhooks=True
    )
    given = {"--house": house, "--from": recording, "--pictures": pictures, "--texts": texts}
    named = [name for name, value in given.items() if value]
    if len(named) > 1:
        raise SettingError(f"Give either {' or '.join(named)}, not both.")
    own = pictures or texts
    if recording is not None:
        lesson = _from_recording(settings, recording, candidates, held_out or 0.0)
    elif own is not None:
        share = 0.25 if held_out is None else held_out
        lesson = _from_own(settings, own, pictures is not None, frames, candidates, share)
    else:
        lesson = _demonstration(settings, house)
    url = f"http://{host}:{found}/teach/{lesson}"
    console(stderr=True).print(
        f"Teach at [bold]{url}[/]   (lessons are kept in {settings.database}; Ctrl-C ends)",
        soft_wrap=True,
    )
    if browser:
        threading.Timer(1.5, webbrowser.open, (url,)).start()
    serving.serve(settings, host, found, level=30)


def serve(
    database: DatabaseUrl = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.", min=1, max=65535)] = PORT,
    workers: Annotated[int, typer.Option(help="The number of processes.", min=1)] = 1,
    name: Annotated[
        list[str] | None,
        typer.Option(help="A host name of the service; can be repeated."),
    ] = None,
    secure: Annotated[
        bool, typer.Option("--secure", help="It is reached over HTTPS, through a proxy.")
    ] = False,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="The address or network of a proxy, which tells the client's address; can be "
            "repeated. It needs --secure.",
            show_default="this machine",
        ),
    ] = None,
    accounts: Annotated[
        bool, typer.Option("--accounts/--no-accounts", help="Whether people must sign in.")
    ] = True,
    demonstration: Annotated[
        bool, typer.Option("--demonstration", help="Create the demonstration lessons.")
    ] = False,
    lease: Annotated[
        float, typer.Option(help="Seconds for which a response is reserved for a teacher.")
    ] = 180.0,
    requests: Annotated[
        int, typer.Option(help="Requests a minute from one account; 0 for any number.", min=0)
    ] = 6000,
    private_webhooks: Annotated[
        bool, typer.Option("--private-webhooks", help="Webhooks may lead to private addresses.")
    ] = False,
) -> None:
    """Run the classroom as a service: people sign in, programs send tokens.

    Make an account first: tellback accounts add NAME --role admin. It listens for other machines
    only with accounts. Put a proxy before it that speaks HTTPS, and give --secure and the --name by
    which it is reached. Logs are lines of JSON on standard error.
    """
    _demand_extra()
    if proxy and not secure:
        raise SettingError("--proxy needs --secure: without it, no proxy is believed.")
    _say_starting(host, port, stderr=False)  # where the lines of the log are not
    from tellback.classroom.settings import LOOPBACK_NAMES, Settings
    from tellback.classroom.store.accounts import listed
    from tellback.classroom.store.database import open_database
    from tellback.classroom.web import serving

    settings = Settings(
        database or default_database(),
        accounts=accounts,
        hosts=(*LOOPBACK_NAMES, *(name or [])),
        secure=secure,
        lease_seconds=lease,
        requests_a_minute=requests,
        proxies=tuple(proxy or Settings.proxies),
        private_webhooks=private_webhooks,
    )
    store = open_database(settings.database)
    try:
        serving.demand_safe_host(settings, host, store)
        if settings.accounts and not listed(store):
            print("Nobody can sign in yet: tellback accounts add NAME --role admin")
    finally:
        store.close()
    if demonstration:
        for house in (False, True):
            _demonstration(settings, house)
    serving.serve(settings, host, port, workers)


def _say_starting(host: str, port: int, stderr: bool) -> None:
    """Say at once what happens: what comes next takes some seconds, or longer the first time."""
    address = f"[{host}]" if ":" in host else host
    console(stderr=stderr).print(
        f"Starting the classroom, which will listen on http://{address}:{port}. "
        "(The first start compiles code: up to a minute.)",
        soft_wrap=True,
    )


def _demand_extra() -> None:
    from tellback.extras import demand_extra

    needed = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "jinja2", "polars", "precis_i18n")
    demand_extra("classroom", needed, "The classroom")


def _demonstration(settings: Settings, house: bool = False) -> str:
    from tellback.classroom.learning.demonstration import HOUSE, PICTURES, rehearse
    from tellback.classroom.web.classroom import Classroom

    with console(stderr=True).status("Preparing the demonstration"):
        room = Classroom(settings)
        try:
            lesson = room.demonstrate(HOUSE if house else PICTURES)
            rehearse(room.learner(lesson).definition)
            return lesson
        finally:
            room.close()


def _from_recording(settings: Settings, path: Path, candidates: int, held_out: float) -> str:
    from tellback.classroom.learning.demonstration import rehearse
    from tellback.classroom.web.classroom import Classroom

    with console(stderr=True).status(f"Teaching the agent with {path}"):
        room = Classroom(settings)
        try:
            lesson = room.lesson_from(path, candidates, held_out)
            rehearse(room.learner(lesson).definition)
            return lesson
        finally:
            room.close()


def _from_own(
    settings: Settings, path: Path, pictured: bool, frames: bool, candidates: int, held_out: float
) -> str:
    from tellback.classroom.learning.collecting import collect
    from tellback.classroom.learning.own_files import (
        LARGEST_PICTURE,
        own_lesson_id,
        pictures_in,
        texts_in,
    )
    from tellback.classroom.web.classroom import Classroom

    with console(stderr=True).status(f"Reading {path}"):
        responses = pictures_in(path, frames) if pictured else texts_in(path)
        collected = collect(
            responses, candidates=candidates, held_out=held_out, largest=LARGEST_PICTURE
        )
        room = Classroom(settings)
        try:
            lesson = room.own_lesson(path.name, collected, own_lesson_id(collected, path)).id
        finally:
            room.close()
    if collected.material.seen_by == "thumbnail":
        console(stderr=True).print(
            "The agent sees colours and their places only: without the extra `pictures` there is "
            "no network that was trained on photographs.",
            soft_wrap=True,
        )
    return lesson
