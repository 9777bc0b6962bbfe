"""Who may do what in a classroom, and how little it gives away."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from fastapi import Depends, FastAPI, Request
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tellback.classroom.settings import Settings
from tellback.classroom.store import accounts, passwords, sessions, tokens
from tellback.classroom.store.database import Database, open_database
from tellback.classroom.web.api import accounts as accounts_api
from tellback.classroom.web.api import sessions as sessions_api
from tellback.classroom.web.api import tokens as tokens_api
from tellback.classroom.web.middleware import add_middleware
from tellback.classroom.web.monitoring import request_log
from tellback.classroom.web.pages import public_pages
from tellback.classroom.web.problem_handlers import DescribedApp
from tellback.classroom.web.problems import TITLES
from tellback.classroom.web.security import caller_cache, rate_limiter
from tellback.classroom.web.security.authentication import needs
from tellback.classroom.web.security.callers import Caller, Role
from tellback.classroom.web.security.rate_limiter import RateLimiter, neighbours
from tellback.classroom.web.security.same_origin import without_port
from tellback.classroom.web.serving import demand_safe_host
from tellback.cli.accounts import accounts_app
from tellback.errors import FieldError, TellbackError, UnknownNameError

PASSWORD = "correct horse battery"
SMALL = passwords.Cost(2, 8, 1)
COOKIE = "tellback-session"
ORIGIN = "http://localhost:8000"
PROBLEM_CONTENT = {
    "application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}
}
MEMBERS = {"type", "title", "status", "detail", "code", "field", "retry_after"}


@pytest.fixture(autouse=True)
def _quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "COST", SMALL)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all tables and nothing in them, to be copied."""
    path = tmp_path_factory.mktemp("made") / "classroom.db"
    open_database(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


@pytest.fixture
def database(made: Path, tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "classroom.db"
    path.write_bytes(made.read_bytes())
    database = Database(f"sqlite:///{path}")
    yield database
    database.close()


@pytest.fixture
def _no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow machine buckets would fill up again while a test empties them."""
    monkeypatch.setattr(rate_limiter, "monotonic", lambda: 0.0)


@pytest.fixture
def settings(database: Database) -> Settings:
    return Settings(str(database))


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = request_log.log_to(stream)
    yield stream
    request_log.logger.removeHandler(handler)


def app_of(settings: Settings, database: Database) -> FastAPI:
    app = DescribedApp(openapi_url=None)
    app.state.classroom = SimpleNamespace(settings=settings, database=database)
    add_middleware(app, settings)
    for module in (sessions_api, accounts_api, tokens_api):
        app.include_router(module.router, prefix="/api/v1")
    app.include_router(public_pages.router)

    @app.get("/api/v1/fails")
    def fails() -> None:
        raise RuntimeError(PASSWORD)

    @app.post("/api/v1/lessons/{lesson}/size")
    async def size(lesson: str, request: Request) -> int:
        return len(await request.body())

    @app.post("/api/v1/lessons/{lesson}/import")
    async def imported(lesson: str, request: Request) -> int:
        return len(await request.body())

    @app.get("/api/v1/review")
    def review(caller: Annotated[Caller, Depends(needs(Role.REVIEWER))]) -> str:
        return caller.name

    return app


def client_of(app: FastAPI, **options: Any) -> TestClient:
    return TestClient(app, base_url="http://localhost:8000", **options)


@pytest.fixture
def app(settings: Settings, database: Database) -> FastAPI:
    return app_of(settings, database)


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return client_of(app)


def add(database: Database, name: str, role: Role = Role.TEACHER) -> accounts.Account:
    return accounts.add(database, name, role, PASSWORD)


def sign_in(client: TestClient, name: str, password: str = PASSWORD, **more: Any) -> Any:
    return client.post("/api/v1/login", json={"name": name, "password": password}, **more)


def signed_in(app: FastAPI, name: str) -> TestClient:
    """A browser whose user has signed in, and whose pages send along what they must."""
    client = client_of(app)
    answer = sign_in(client, name)
    assert answer.status_code == 200, answer.text
    client.headers["Origin"] = ORIGIN
    return client


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


# Passwords


def test_a_password_fits_itself_and_nothing_else() -> None:
    kept = passwords.hashed(PASSWORD)
    assert passwords.fits(PASSWORD, kept)
    assert not passwords.fits(PASSWORD + " ", kept)
    assert not passwords.fits("", kept)
    assert not passwords.fits(PASSWORD, None)
    assert not passwords.fits(PASSWORD, "scrypt$nonsense")
    assert kept != passwords.hashed(PASSWORD)


def test_a_password_hashed_at_another_cost_still_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = passwords.hashed(PASSWORD)
    monkeypatch.setattr(passwords, "COST", passwords.Cost(4, 8, 2))
    assert passwords.fits(PASSWORD, kept)


def test_the_same_letters_from_another_keyboard_are_the_same_password() -> None:
    assert passwords.fits("three cafe\u0301s", passwords.hashed("three caf\u00e9s"))


@pytest.mark.parametrize("password", ["", "x" * 9, "x" * 201])
def test_too_short_and_too_long_passwords_are_refused(password: str) -> None:
    with pytest.raises(FieldError, match="10 to 200"):
        passwords.hashed(password)


def test_guessing_a_password_takes_32_megabytes_and_its_hash_fits_the_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    assert 128 * passwords.COST.n * passwords.COST.r >= 32 * 2**20
    kept = passwords.hashed(PASSWORD)
    assert kept.startswith("scrypt$32768$8$3$")
    assert len(kept) <= 200


def test_an_unknown_name_costs_as_many_hashes_as_a_known_one(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(database, "ada")
    accounts.add(database, "robot", Role.ENGINEER, None)
    computed: list[passwords.Cost] = []
    hashing = passwords._hashed

    def counted(password: str, cost: passwords.Cost, salt: bytes) -> str:
        computed.append(cost)
        return hashing(password, cost, salt)

    monkeypatch.setattr(passwords, "_hashed", counted)
    for name in ("ada", "nobody", "robot", "\x00"):
        computed.clear()
        assert accounts.signed_in(database, name, "not the password") is None
        assert computed == [SMALL]


# Accounts


@pytest.mark.parametrize("name", ["", " ada", "a\nb", "a\x00", "x" * 81, "\u202eada", "\ud800"])
def test_names_that_cannot_be_read_are_refused(database: Database, name: str) -> None:
    with pytest.raises(FieldError, match="printable"):
        accounts.add(database, name, Role.TEACHER, PASSWORD)


def test_two_accounts_cannot_have_one_name(database: Database) -> None:
    add(database, "caf\u00e9")
    with pytest.raises(accounts.NameTakenError, match="already"):
        add(database, "cafe\u0301")


def test_the_last_admin_can_be_neither_shut_nor_demoted(database: Database) -> None:
    ada = add(database, "ada", Role.ADMIN)
    bob = add(database, "bob", Role.ADMIN)
    accounts.change(database, bob.id, disabled=True)
    for change in ({"disabled": True}, {"role": "teacher"}):
        with pytest.raises(accounts.LastAdminError):
            accounts.change(database, ada.id, **change)
    assert accounts.find(database, ada.id) == ada


def test_of_two_admins_who_dismiss_each_other_at_once_one_stays(database: Database) -> None:
    ids = [add(database, name, Role.ADMIN).id for name in ("ada", "bob")]
    refused: list[str] = []

    def dismiss(identity: str) -> None:
        try:
            accounts.change(database, identity, role="teacher")
        except accounts.LastAdminError:
            refused.append(identity)

    threads = [threading.Thread(target=dismiss, args=(identity,)) for identity in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == accounts.enabled_admins(database) == 1


# Secrets


def test_no_secret_is_in_the_database(app: FastAPI, database: Database, tmp_path: Path) -> None:
    add(database, "ada", Role.ENGINEER)
    client = signed_in(app, "ada")
    session = client.cookies[COOKIE]
    token = client.post("/api/v1/tokens", json={"name": "robot"}).json()["secret"]
    database.close()
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("classroom.db*"))
    assert b"ada" in stored
    for secret in (PASSWORD, session, token, token[3:]):
        assert secret.encode() not in stored


def test_log_lines_name_route_and_account_and_no_secret(
    app: FastAPI, database: Database, log: io.StringIO
) -> None:
    ada = add(database, "ada", Role.ENGINEER)
    client = signed_in(app, "ada")
    client.get("/api/v1/me")
    secret = client.post("/api/v1/tokens", json={"name": "robot"}).json()["secret"]
    made = client.get("/api/v1/tokens", headers=bearer(secret)).json()[0]["id"]
    client.delete(f"/api/v1/tokens/{made}?{secret}")
    sign_in(client, "ada", "not the password")
    client.post("/api/v1/login", json={"name": "ada", "password": ["a secret"]})
    client.get("/api/v1/fails")
    client.get(f"/{secret}")
    client.request("NO-SUCH-METHOD", "/api/v1/me")
    written = log.getvalue()
    for held in (PASSWORD, "not the password", "a secret", secret, client.cookies[COOKIE]):
        assert held not in written
    lines = [json.loads(line) for line in written.splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["method"], line["route"], line["status"]) for line in requests] == [
        ("POST", "/api/v1/login", 200),
        ("GET", "/api/v1/me", 200),
        ("POST", "/api/v1/tokens", 201),
        ("GET", "/api/v1/tokens", 200),
        ("DELETE", "/api/v1/tokens/{token}", 204),
        ("POST", "/api/v1/login", 401),
        ("POST", "/api/v1/login", 422),
        ("GET", "/api/v1/fails", 500),
        ("GET", "(none)", 404),
        ("other", "/api/v1/me", 405),
    ]
    assert [line["account"] for line in requests[:5]] == [ada.id] * 5
    assert requests[-2]["account"] is None
    failure = next(line for line in lines if line["event"] == "failed")
    assert failure["error"] == "RuntimeError"
    assert failure["id"] == requests[7]["id"]
    assert "in fails" in failure["where"][-1]


@pytest.mark.parametrize(
    ("path", "params", "route"),
    [
        ("/", {}, "/"),
        ("/lessons/1/rounds/1", {"lesson": "1", "round": "1"}, "/lessons/{lesson}/rounds/{round}"),
        ("/api/v1/teach/api", {"lesson": "api"}, "/api/v1/teach/{lesson}"),
        ("/ask/a/b.png", {"rest": "a/b.png"}, "/ask/{rest}"),
        ("/images/3/a.b.png", {"round": "3", "index": "a.b"}, "/images/{round}/{index}.png"),
    ],
)
def test_a_route_has_names_where_the_path_has_values(
    path: str, params: dict[str, str], route: str
) -> None:
    assert request_log.route_of({"path": path, "path_params": params, "route": object()}) == route


# Signing in


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(
    client: TestClient, database: Database
) -> None:
    add(database, "ada")
    shut = add(database, "shut")
    accounts.change(database, shut.id, disabled=True)
    answers = [sign_in(client, "ada", "wrong"), sign_in(client, "nobody"), sign_in(client, "shut")]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert all(answer.headers["www-authenticate"] == "Bearer" for answer in answers)
    assert not any("set-cookie" in answer.headers for answer in answers)


def test_signing_in_sets_a_cookie_that_no_script_can_read(
    client: TestClient, database: Database
) -> None:
    ada = add(database, "ada", Role.REVIEWER)
    answer = sign_in(client, "ada")
    me = answer.json()
    assert {"account": ada.id, "name": "ada", "role": "reviewer"}.items() <= me.items()
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"{COOKIE}=")
    assert {"httponly", "samesite=lax", "path=/"} <= set(cookie.split("; "))
    assert client.get("/api/v1/me").json() == me


def test_behind_https_the_cookie_travels_over_nothing_else(
    settings: Settings, database: Database
) -> None:
    add(database, "ada")
    app = app_of(replace(settings, secure=True), database)
    client = TestClient(app, base_url="https://localhost")
    answer = sign_in(client, "ada")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"__Host-{COOKIE}=")
    assert "Secure" in cookie.split("; ")
    assert "Domain" not in cookie
    assert answer.headers["strict-transport-security"] == "max-age=31536000"
    assert client.get("/api/v1/me").status_code == 200


def test_each_sign_in_begins_a_new_session_and_ends_the_one_before(
    app: FastAPI, database: Database
) -> None:
    add(database, "ada")
    client = signed_in(app, "ada")
    before = client.cookies[COOKIE]
    assert sign_in(client, "ada").status_code == 200
    assert client.cookies[COOKIE] != before
    stale = client_of(app, cookies={COOKIE: before})
    assert code(stale.get("/api/v1/me")) == (401, "not_signed_in")


def test_a_session_that_the_visitor_made_up_is_not_adopted(
    app: FastAPI, database: Database
) -> None:
    add(database, "ada")
    client = client_of(app, cookies={COOKIE: "planted"})
    answer = sign_in(client, "ada", headers={"Origin": ORIGIN})
    assert "planted" not in answer.headers["set-cookie"]
    assert client_of(app, cookies={COOKIE: "planted"}).get("/api/v1/me").status_code == 401


def test_signing_out_ends_the_session_at_once(app: FastAPI, database: Database) -> None:
    add(database, "ada")
    client = signed_in(app, "ada")
    secret = client.cookies[COOKIE]
    assert client.post("/api/v1/logout").status_code == 204
    assert COOKIE not in client.cookies
    assert client_of(app, cookies={COOKIE: secret}).get("/api/v1/me").status_code == 401


def test_who_changes_the_password_stays_signed_in_here_and_nowhere_else(
    app: FastAPI, database: Database
) -> None:
    add(database, "ada")
    here, elsewhere = signed_in(app, "ada"), signed_in(app, "ada")
    body = {"current": "not the password", "new": "another password"}
    assert code(here.put("/api/v1/me/password", json=body)) == (403, "wrong_password")
    body["current"] = PASSWORD
    answer = here.put("/api/v1/me/password", json=body)
    assert here.get("/api/v1/me").json() == answer.json()
    assert elsewhere.get("/api/v1/me").status_code == 401
    assert sign_in(client_of(app), "ada").status_code == 401
    assert sign_in(client_of(app), "ada", "another password").status_code == 200


def test_sessions_last_twelve_hours_after_the_last_use_and_seven_days_at_most(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = add(database, "ada")
    now = 1_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    begun = now
    secret = sessions.create(database, ada.id)
    idle = sessions.create(database, ada.id)
    while sessions.find(database, secret):
        now += 11 * 3600
        assert now - begun < 8 * 24 * 3600
    assert now - begun >= 7 * 24 * 3600
    now = begun + 12 * 3600
    assert sessions.find(database, idle) is None
    now = begun + 7 * 24 * 3600
    assert sessions.remove_expired(database) == 2


# Tokens


def test_tokens_expire(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = add(database, "ada", Role.ENGINEER)
    now = 1_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    _, brief = tokens.make(database, ada.id, "brief", lasts=60)
    _, lasting = tokens.make(database, ada.id, "lasting")
    assert tokens.find(database, brief)
    now += 60
    assert tokens.find(database, brief) is None
    assert tokens.find(database, lasting)


def test_an_expired_token_is_refused_even_if_it_was_good_a_moment_ago(
    client: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = add(database, "ada")
    token, secret = tokens.make(database, ada.id, "robot", lasts=1000)
    assert client.get("/api/v1/me", headers=bearer(secret)).json()["name"] == "ada"
    assert token.expires is not None
    clock_of(client, lambda: token.expires or 0.0)
    monkeypatch.setattr("time.time", lambda: token.expires)
    assert code(client.get("/api/v1/me", headers=bearer(secret))) == (401, "not_signed_in")


def clock_of(client: TestClient, clock: Callable[[], float]) -> None:
    """Tell the client's app another time."""
    app: Any = client.app
    app.state.caller_cache._clock = clock


def test_a_revoked_token_is_refused_here_at_once_and_elsewhere_within_five_seconds(
    settings: Settings, database: Database
) -> None:
    add(database, "ada", Role.ENGINEER)
    here, there = app_of(settings, database), app_of(settings, database)
    client = signed_in(here, "ada")
    made = client.post("/api/v1/tokens", json={"name": "robot", "days": 2}).json()
    assert made["secret"].startswith("tb_")
    robots = [client_of(app, headers=bearer(made["secret"])) for app in (here, there)]
    assert [robot.get("/api/v1/me").status_code for robot in robots] == [200, 200]
    assert client.delete(f"/api/v1/tokens/{made['id']}").status_code == 204
    assert robots[0].get("/api/v1/me").status_code == 401
    clock = there.state.caller_cache._clock
    clock_of(robots[1], lambda: clock() + 5)
    assert robots[1].get("/api/v1/me").status_code == 401


def test_what_was_read_before_something_was_revoked_is_not_remembered_after_it() -> None:
    remembered, ada = caller_cache.CallerCache(), Caller("1", "ada", Role.TEACHER)
    before = remembered.generation
    remembered.forget_account("1")
    remembered.remember("digest", ada, None, before)
    assert remembered.caller("digest") is None
    remembered.remember("digest", ada, None, remembered.generation)
    assert remembered.caller("digest") == ada
    assert caller_cache.FRESH_SECONDS <= 5


def test_tokens_that_nobody_made_are_refused(client: TestClient) -> None:
    for secret in ("", "tb_", "tb_guessed", "x" * 10_000, "\u00e9", "tb_\u00ff"):
        headers = {b"Authorization": f"Bearer {secret}".encode("latin-1")}
        answer = client.get("/api/v1/me", headers=headers)
        assert code(answer) == (401, "not_signed_in"), secret
        assert answer.headers["www-authenticate"] == "Bearer"


def test_a_session_is_no_token_and_a_token_is_no_session(app: FastAPI, database: Database) -> None:
    ada = add(database, "ada")
    session = sessions.create(database, ada.id)
    _, token = tokens.make(database, ada.id, "robot")
    assert client_of(app, cookies={COOKIE: token}).get("/api/v1/me").status_code == 401
    assert client_of(app, headers=bearer(session)).get("/api/v1/me").status_code == 401


def test_a_bad_token_is_not_made_good_by_a_cookie(app: FastAPI, database: Database) -> None:
    add(database, "ada")
    client = signed_in(app, "ada")
    assert client.get("/api/v1/me", headers=bearer("tb_guessed")).status_code == 401


def test_engineers_see_and_revoke_their_own_tokens_and_admins_all(
    app: FastAPI, database: Database
) -> None:
    add(database, "root", Role.ADMIN)
    ada = add(database, "ada", Role.ENGINEER)
    add(database, "eve", Role.ENGINEER)
    root, eve = signed_in(app, "root"), signed_in(app, "eve")
    made = root.post("/api/v1/tokens", json={"name": "robot", "account": ada.id}).json()
    robot = client_of(app, headers=bearer(made["secret"]))
    assert robot.get("/api/v1/me").json()["name"] == "ada"
    assert [one["id"] for one in robot.get("/api/v1/tokens").json()] == [made["id"]]
    assert eve.get("/api/v1/tokens").json() == []
    assert code(eve.get("/api/v1/tokens?everybody=true")) == (403, "forbidden")
    assert code(eve.delete(f"/api/v1/tokens/{made['id']}")) == (404, "not_found")
    for_ada = {"name": "mine", "account": ada.id}
    assert code(eve.post("/api/v1/tokens", json=for_ada)) == (403, "forbidden")
    assert robot.get("/api/v1/me").status_code == 200
    (shown,) = root.get("/api/v1/tokens?everybody=true").json()
    assert "secret" not in shown
    assert root.delete(f"/api/v1/tokens/{made['id']}").status_code == 204
    assert robot.get("/api/v1/me").status_code == 401
    nobody = {"name": "x", "account": "0" * 20}
    assert code(root.post("/api/v1/tokens", json=nobody)) == (404, "not_found")


# Roles


def test_each_role_may_do_what_the_ones_before_it_may() -> None:
    order = [Role.TEACHER, Role.REVIEWER, Role.ENGINEER, Role.ADMIN]
    for i, one in enumerate(order):
        assert [one.may(needed) for needed in order] == [j <= i for j in range(4)]


def test_endpoints_are_open_from_their_role_upwards(client: TestClient, database: Database) -> None:
    needed = {"me": "teacher", "review": "reviewer", "tokens": "engineer", "accounts": "admin"}
    for role in Role:
        _, secret = tokens.make(database, add(database, role, role).id, "robot")
        for path, least in needed.items():
            answer = client.get(f"/api/v1/{path}", headers=bearer(secret))
            assert answer.status_code == (200 if role.may(Role(least)) else 403), (role, path)
    for path in needed:
        assert client.get(f"/api/v1/{path}").status_code == 401


def test_an_admin_manages_accounts(app: FastAPI, database: Database) -> None:
    root_account = add(database, "root", Role.ADMIN)
    root = signed_in(app, "root")
    new = {"name": "ada", "role": "teacher", "password": PASSWORD}
    answer = root.post("/api/v1/accounts", json=new)
    assert answer.status_code == 201
    assert "password" not in answer.json()
    path = f"/api/v1/accounts/{answer.json()['id']}"
    assert code(root.post("/api/v1/accounts", json=new)) == (409, "name_taken")
    ada = signed_in(app, "ada")
    assert ada.get("/api/v1/review").status_code == 403
    assert root.patch(path, json={"role": "reviewer"}).json()["role"] == "reviewer"
    assert ada.get("/api/v1/review").status_code == 200, "a new role counts at once"
    assert root.patch(path, json={"password": "a new password"}).status_code == 200
    assert ada.get("/api/v1/me").status_code == 401
    assert [one["name"] for one in root.get("/api/v1/accounts").json()] == ["ada", "root"]
    assert code(root.patch(f"/api/v1/accounts/{'0' * 20}", json={})) == (404, "not_found")
    own = f"/api/v1/accounts/{root_account.id}"
    assert code(root.patch(own, json={"disabled": True})) == (409, "last_admin")
    assert code(root.patch("/api/v1/accounts/%00", json={})) == (422, "invalid")
    assert code(root.patch(path, json={"disabled": 0})) == (422, "invalid")


def test_a_disabled_account_is_out_at_once_and_for_good(app: FastAPI, database: Database) -> None:
    add(database, "root", Role.ADMIN)
    ada = add(database, "ada", Role.ENGINEER)
    root, browser = signed_in(app, "root"), signed_in(app, "ada")
    _, secret = tokens.make(database, ada.id, "robot")
    robot = client_of(app, headers=bearer(secret))
    assert [one.get("/api/v1/me").status_code for one in (browser, robot)] == [200, 200]
    for disabled in (True, False):
        changed = root.patch(f"/api/v1/accounts/{ada.id}", json={"disabled": disabled})
        assert changed.json()["disabled"] is disabled
        assert [one.get("/api/v1/me").status_code for one in (browser, robot)] == [401, 401]
        assert sign_in(client_of(app), "ada").status_code == (401 if disabled else 200)


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"name": "x", "password": PASSWORD, "admin": True}, "admin"),
    ({"name": "x"}, "password"),
    ({"name": "x" * 81, "password": PASSWORD}, "name"),
    ({"name": "a\x00b", "password": PASSWORD}, "name"),
    ({"name": "x", "password": "short"}, "password"),
    ({"name": "x", "password": "y" * 201}, "password"),
    ({"name": "x", "password": PASSWORD, "role": "king"}, "role"),
    ({"name": {"a": 1}, "password": PASSWORD}, "name"),
]


def test_bodies_that_do_not_fit_are_refused_by_field_and_not_repeated(
    app: FastAPI, database: Database
) -> None:
    add(database, "root", Role.ADMIN)
    root = signed_in(app, "root")
    for body, field in UNFIT:
        answer = root.post("/api/v1/accounts", json=body)
        assert code(answer) == (422, "invalid"), body
        assert answer.json()["field"] == field
        for value in (PASSWORD, "y" * 201, "king"):
            assert value not in answer.text
    assert len(accounts.listed(database)) == 1


def test_bodies_that_are_no_object_are_refused(client: TestClient) -> None:
    headers = {"Content-Type": "application/json"}
    for body in (b"{", b"[" * 100_000, b"\xff\xfe", b'"\\ud800"', b"", b"null"):
        answer = client.post("/api/v1/login", content=body, headers=headers)
        assert answer.status_code in (400, 422), body[:10]
        assert set(answer.json()) == MEMBERS


def test_a_form_of_another_site_is_no_sign_in(client: TestClient, database: Database) -> None:
    add(database, "ada")
    body = json.dumps({"name": "ada", "password": PASSWORD})
    headers = {"Content-Type": "text/plain"}
    assert client.post("/api/v1/login", content=body, headers=headers).status_code == 422


# Forgery


def test_a_program_with_a_token_needs_no_origin(client: TestClient, database: Database) -> None:
    ada = add(database, "ada", Role.ENGINEER)
    _, secret = tokens.make(database, ada.id, "robot")
    answer = client.post("/api/v1/tokens", json={"name": "x"}, headers=bearer(secret))
    assert answer.status_code == 201


FETCH, FORM = {"Sec-Fetch-Mode": "no-cors"}, {"Sec-Fetch-Mode": "navigate"}
FROM_ELSEWHERE: dict[str, dict[str, str]] = {
    "a form": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"} | FORM,
    "a form in an older browser": {"Origin": "https://evil.example"},
    "a fetch without CORS": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    | FETCH,
    "a fetch without an origin": {"Sec-Fetch-Site": "cross-site"} | FETCH,
    "a sandboxed page": {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
    "a sandboxed page in an older browser": {"Origin": "null"},
    "a page of ours without a referrer": {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
    "another port": {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"},
    "another port in an older browser": {"Origin": "http://localhost:3000"},
    "no port": {"Origin": "http://localhost"},
    "another scheme": {"Origin": "https://localhost:8000", "Sec-Fetch-Site": "cross-site"},
    "another scheme in an older browser": {"Origin": "https://localhost:8000"},
    "no scheme of the web": {"Origin": "file://localhost:8000"},
    "another name of ours": {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "cross-site"},
    "a sibling": {"Sec-Fetch-Site": "same-site"},
    "a sibling that names us": {"Sec-Fetch-Site": "same-site", "Origin": ORIGIN},
    "a name that begins as ours": {"Origin": "http://localhost.evil.example:8000"},
    "a lie about the site": {"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"},
    "no URL": {"Origin": "http://["},
    "an empty origin": {"Origin": ""},
    "an unknown site": {"Sec-Fetch-Site": "elsewhere"},
}
FROM_US: list[dict[str, str]] = [
    {"Origin": ORIGIN},
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "same-origin", "Origin": ORIGIN},
]
FROM_NOWHERE: list[dict[str, str]] = [{}, {"Sec-Fetch-Site": "none"}]


@pytest.mark.parametrize("with_accounts", [True, False])
@pytest.mark.parametrize(
    "kind", ["application/json", "text/plain", "multipart/form-data; boundary=x"]
)
def test_changes_that_another_page_asks_for_are_refused(
    settings: Settings, database: Database, with_accounts: bool, kind: str
) -> None:
    client = client_of(app_of(replace(settings, accounts=with_accounts), database))
    for name, headers in FROM_ELSEWHERE.items():
        answer = client.post("/api/v1/lessons/x/size", headers=headers | {"Content-Type": kind})
        assert code(answer) == (403, "other_origin"), name
        assert "access-control-allow-origin" not in answer.headers
    for headers in FROM_US + FROM_NOWHERE:
        assert client.post("/api/v1/lessons/x/size", headers=headers).status_code == 200, headers


def test_a_change_with_the_cookie_of_a_session_must_come_from_our_own_pages(
    app: FastAPI, database: Database
) -> None:
    add(database, "ada", Role.ENGINEER)
    client = signed_in(app, "ada")
    del client.headers["Origin"]
    body = {"name": "robot"}
    for headers in (*FROM_ELSEWHERE.values(), *FROM_NOWHERE):
        answer = client.post("/api/v1/tokens", json=body, headers=headers)
        assert code(answer) == (403, "other_origin"), headers
        assert code(client.post("/api/v1/logout", headers=headers)) == (403, "other_origin")
    assert tokens.listed(database) == []
    assert client.get("/api/v1/me").status_code == 200
    for headers in FROM_US:
        assert client.post("/api/v1/tokens", json=body, headers=headers).status_code == 201


def test_two_origins_or_sites_count_as_the_worse(app: FastAPI, database: Database) -> None:
    add(database, "ada", Role.ENGINEER)
    client = signed_in(app, "ada")
    del client.headers["Origin"]
    evil = [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")]
    for own in (("Origin", ORIGIN), ("Sec-Fetch-Site", "same-origin")):
        for other in evil:
            for headers in ([own, other], [other, own]):
                answer = client.post("/api/v1/logout", headers=headers)
                assert code(answer) == (403, "other_origin")


def test_nobody_is_signed_in_by_another_page(client: TestClient, database: Database) -> None:
    add(database, "mallory")
    body = {"name": "mallory", "password": PASSWORD}
    for headers in FROM_ELSEWHERE.values():
        answer = client.post("/api/v1/login", json=body, headers=headers)
        assert code(answer) == (403, "other_origin")
        assert COOKIE not in client.cookies


def test_behind_https_only_https_is_our_origin(settings: Settings, database: Database) -> None:
    app = app_of(replace(settings, hosts=("teach.example",), secure=True), database)
    client = TestClient(app, base_url="https://teach.example")
    path, same = "/api/v1/lessons/x/size", {"Sec-Fetch-Site": "same-origin"}
    for origin in ("http://teach.example", "http://teach.example:443", "https://teach.example:1"):
        assert code(client.post(path, headers={"Origin": origin})) == (403, "other_origin")
    assert code(client.post(path, headers=same | {"Origin": "http://teach.example"}))[0] == 403
    own = {"Origin": "https://teach.example"}
    for headers in (own, own | same, own | {"Host": "teach.example:443"}):
        assert client.post(path, headers=headers).status_code == 200
    # A proxy may leave the port out of Host.
    elsewhere = same | {"Origin": "https://teach.example:8443"}
    assert client.post(path, headers=elsewhere).status_code == 200


def test_a_page_of_one_account_does_not_act_for_another(app: FastAPI, database: Database) -> None:
    ada, ben = add(database, "ada"), add(database, "ben")
    client = signed_in(app, "ben")
    answer = client.get("/api/v1/me", headers={"Tellback-Account": ada.id})
    assert code(answer) == (409, "other_account")
    answer = client.post("/api/v1/logout", headers={"Tellback-Account": ada.id})
    assert code(answer) == (409, "other_account")
    assert client.get("/api/v1/me", headers={"Tellback-Account": ben.id}).status_code == 200


@pytest.mark.parametrize("with_accounts", [True, False])
def test_requests_to_a_name_that_is_not_ours_are_refused(
    settings: Settings, database: Database, with_accounts: bool
) -> None:
    client = client_of(app_of(replace(settings, accounts=with_accounts), database))
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "localhost:x", ""):
        answer = client.get("/login", headers={"Host": host})
        assert code(answer) == (421, "unknown_host"), host
    for host in ("localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:8000", "[::1]"):
        answer = client.get("/login", headers={"Host": host}, follow_redirects=False)
        assert answer.status_code in (200, 303), host


def test_a_request_with_two_hosts_or_none_is_refused(client: TestClient) -> None:
    headers = [("Host", "localhost"), ("Host", "evil.example")]
    assert code(client.get("/login", headers=headers)) == (400, "bad_host")


def test_the_port_is_taken_off_a_host() -> None:
    hosts = ["a:80", "a", "[::1]", "[::1]:80", "a:", "a:b"]
    assert [without_port(host) for host in hosts] == ["a", "a", "[::1]", "[::1]", "a:", "a:b"]


# Limits


@pytest.mark.usefixtures("_no_time_passes")
def test_guessing_passwords_is_slowed_down_for_the_guesser_alone(
    app: FastAPI, database: Database
) -> None:
    add(database, "ada")
    guesser = client_of(app, client=("203.0.113.1", 1))
    for _ in range(10):
        assert sign_in(guesser, "ada", "wrong").status_code == 401
    answer = sign_in(guesser, "ada")
    assert code(answer) == (429, "rate_limited")
    assert 1 <= int(answer.headers["retry-after"]) <= 6
    assert sign_in(client_of(app, client=("203.0.113.2", 1)), "ada").status_code == 200


@pytest.mark.usefixtures("_no_time_passes")
def test_trying_many_names_is_slowed_down_too(app: FastAPI) -> None:
    with client_of(app) as client:
        statuses = [sign_in(client, f"name {i}").status_code for i in range(61)]
    assert statuses == [401] * 60 + [429]


@pytest.mark.usefixtures("_no_time_passes")
def test_too_many_requests_are_told_when_to_come_back(
    settings: Settings, database: Database
) -> None:
    ada, bob = add(database, "ada"), add(database, "bob")
    app = app_of(replace(settings, requests_a_minute=3), database)
    robots = [
        client_of(app, headers=bearer(tokens.make(database, one.id, "robot")[1]))
        for one in (ada, bob)
    ]
    assert [robot.get("/api/v1/me").status_code for robot in robots] == [200, 200]
    for robot in robots:  # known by now, so that each has its own share
        assert [robot.get("/api/v1/me").status_code for _ in range(4)] == [200, 200, 200, 429]
    guesses = [client_of(app, headers=bearer(f"tb_{i}")).get("/api/v1/me") for i in range(2)]
    assert [guess.status_code for guess in guesses] == [401, 429]
    assert 1 <= int(guesses[1].headers["retry-after"]) <= 20


def test_a_bucket_gives_so_many_at_once_and_then_so_many_a_minute() -> None:
    now = 0.0
    six = RateLimiter(6, lambda: now)
    assert [six.wait("a") for _ in range(7)] == [0] * 6 + [10]
    assert six.wait("b") == 0
    now = 4
    assert six.wait("a") == pytest.approx(6)
    now = 10
    assert [six.wait("a"), six.wait("a")] == [0, pytest.approx(10)]
    now = 10_000
    assert [six.wait("a") for _ in range(7)] == [0] * 6 + [10]
    assert [RateLimiter(0).wait("a") for _ in range(100)] == [0] * 100


@given(st.lists(st.floats(0, 30), max_size=60), st.integers(1, 20))
def test_no_pattern_of_requests_gets_more_than_a_bucket_and_its_refill(
    pauses: list[float], a_minute: int
) -> None:
    now, passed = 0.0, 0
    some = RateLimiter(a_minute, lambda: now)
    for pause in pauses:
        now += pause
        passed += some.wait("a") == 0
        assert passed <= a_minute + now * a_minute / 60 + 1e-6


def test_one_subscriber_counts_as_one_address() -> None:
    assert neighbours("192.0.2.7") == "192.0.2.7"
    assert neighbours("2001:db8::1") == neighbours("2001:db8::ffff:1") != neighbours("2001:db9::1")
    assert neighbours("::ffff:192.0.2.7") == "192.0.2.7"
    assert neighbours("not:an:address") == "not:an:address"


@pytest.mark.parametrize("chunked", [False, True])
def test_bodies_may_have_so_many_bytes_and_no_more(
    settings: Settings, database: Database, chunked: bool
) -> None:
    client = client_of(app_of(replace(settings, largest_body=1000), database))

    def send(path: str, size: int) -> Any:
        def parts() -> Iterator[bytes]:
            for start in range(0, size, 300):
                yield b"x" * min(300, size - start)

        return client.post(path, content=parts() if chunked else b"x" * size)

    assert send("/api/v1/lessons/x/size", 1000).json() == 1000
    assert code(send("/api/v1/lessons/x/size", 1001)) == (413, "too_large")
    assert send("/api/v1/lessons/x/import", 10_000).json() == 10_000
    assert code(send("/api/v1/lessons/x/import", 10_001)) == (413, "too_large")
    assert code(send("/api/v1/login", 1001)) == (413, "too_large")


# What every answer says


@pytest.mark.usefixtures("_no_time_passes")
def test_every_answer_has_the_headers_that_keep_a_browser_safe(
    settings: Settings, database: Database
) -> None:
    app = app_of(replace(settings, requests_a_minute=7, largest_body=100), database)
    client = client_of(app)
    answers = {
        200: client.get("/login"),
        401: client.get("/api/v1/me"),
        404: client.get("/nowhere"),
        405: client.delete("/login"),
        413: client.post("/api/v1/login", content=b"x" * 101),
        422: client.post("/api/v1/login", json={}),
        500: client.get("/api/v1/fails"),
        403: client.post("/login", headers={"Origin": "null"}),
        421: client.get("/login", headers={"Host": "evil.example"}),
        429: client.get("/login"),
    }
    for status, answer in answers.items():
        assert answer.status_code == status
        policy = answer.headers["content-security-policy"].split("; ")
        assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= set(policy)
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "camera=()" in answer.headers["permissions-policy"]
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "strict-transport-security" not in answer.headers
        assert answer.headers["x-request-id"]
        if status != 200:
            assert answer.headers["content-type"] == "application/problem+json"
            problem = answer.json()
            assert set(problem) == MEMBERS
            assert problem["status"] == status
            assert problem["type"] == f"/problems#{problem['code']}"
            assert problem["title"] == TITLES[problem["code"]]
            assert answer.headers.get("retry-after") == (
                None if problem["retry_after"] is None else str(problem["retry_after"])
            )
    assert PASSWORD not in answers[500].text


def test_a_method_that_is_not_there_is_told_which_are(client: TestClient) -> None:
    for path, methods in {"me": "GET", "tokens": "GET, POST", "tokens/1": "DELETE"}.items():
        answer = client.request("PUT", f"/api/v1/{path}")
        assert code(answer) == (405, "method_not_allowed")
        assert answer.headers["allow"] == methods


def test_a_request_keeps_the_id_it_came_with_if_that_is_harmless(client: TestClient) -> None:
    kept = client.get("/login", headers={"X-Request-Id": "job-17"})
    assert kept.headers["x-request-id"] == "job-17"
    replaced = client.get("/login", headers={"X-Request-Id": "x" * 65})
    assert len(replaced.headers["x-request-id"]) == 16


def test_the_login_page_has_no_script_or_style_inside(client: TestClient) -> None:
    page = client.get("/login").text
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert scripts == [""]  # from a file of ours, and nothing inside
    assert re.search(r'<script type="module" src="/static/[^"]*login.js"', page)
    assert "<style" not in page
    assert " style=" not in page
    assert 'role="alert"' in page
    for field in ("name", "password"):
        assert f'<label for="{field}">' in page
        assert f'id="{field}"' in page


def test_the_description_of_the_api_names_tokens_and_every_refusal(app: FastAPI) -> None:
    described = app.openapi()
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for path in ("/api/v1/me", "/api/v1/accounts", "/api/v1/tokens"):
        endpoint = described["paths"][path]["get"]
        assert endpoint["security"] == [{"token": []}]
        assert {"400", "401", "403", "413", "421", "429"} <= set(endpoint["responses"])
    endpoint = described["paths"]["/api/v1/login"]["post"]
    assert "security" not in endpoint
    assert endpoint["responses"]["422"]["content"] == PROBLEM_CONTENT
    assert set(described["components"]["schemas"]["ProblemDocument"]["required"]) == MEMBERS
    assert "/login" not in described["paths"]


# Without accounts


def test_on_ones_own_machine_nobody_signs_in(settings: Settings, database: Database) -> None:
    client = client_of(app_of(replace(settings, accounts=False), database))
    me = client.get("/api/v1/me").json()
    assert (me["name"], me["role"]) == ("you", "admin")
    assert client.get("/login", follow_redirects=False).headers["location"] == "/"
    assert code(sign_in(client, "ada")) == (409, "no_accounts")
    assert code(client.post("/api/v1/tokens", json={"name": "x"})) == (409, "no_accounts")
    change = {"current": PASSWORD, "new": PASSWORD}
    assert code(client.put("/api/v1/me/password", json=change)) == (409, "no_accounts")
    assert client.post("/api/v1/logout").status_code == 204


def test_a_classroom_listens_beyond_this_machine_only_with_accounts_and_an_admin(
    settings: Settings, database: Database
) -> None:
    for host in ("127.0.0.1", "localhost", "::1"):
        demand_safe_host(replace(settings, accounts=False), host, database)
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", ""):
        with pytest.raises(TellbackError, match=r"127\.0\.0\.1"):
            demand_safe_host(replace(settings, accounts=False), host, database)
        with pytest.raises(TellbackError, match="tellback accounts add NAME --role admin"):
            demand_safe_host(settings, host, database)
    add(database, "ada", Role.ENGINEER)
    root = add(database, "root", Role.ADMIN)
    demand_safe_host(settings, "0.0.0.0", database)
    other = add(database, "other", Role.ADMIN)
    accounts.change(database, root.id, disabled=True)
    demand_safe_host(settings, "0.0.0.0", database)
    assert accounts.find(database, other.id) == other


# The command line


def test_accounts_are_managed_from_the_command_line(database: Database) -> None:
    url = str(database)

    def call(*words: str, typed: str = "") -> str:
        result = CliRunner().invoke(accounts_app, [*words, "--database", url], input=typed)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        assert PASSWORD not in result.output
        return result.output

    call("add", "root", "--role", "admin", typed=f"{PASSWORD}\n{PASSWORD}\n")
    call("add", "ada", "--password-stdin", typed=f"{PASSWORD}\n")
    assert accounts.signed_in(database, "root", PASSWORD)
    ada = accounts.signed_in(database, "ada", PASSWORD)
    assert ada
    assert ada.role == "teacher"
    call("role", "ada", "engineer")
    secret = call("token", "ada", "--for", "robot", "--days", "3").strip()
    holder = tokens.find(database, secret)
    assert holder
    assert holder.role == "engineer"
    call("disable", "ada")
    assert tokens.find(database, secret) is None
    assert "disabled" in call("list")
    with pytest.raises(TellbackError, match="disabled"):
        call("token", "ada")
    call("enable", "ada")
    call("password", "ada", "--password-stdin", typed="another password\n")
    assert accounts.signed_in(database, "ada", "another password")
    with pytest.raises(UnknownNameError, match="nobody"):
        call("disable", "nobody")
    with pytest.raises(accounts.LastAdminError):
        call("role", "root", "teacher")
    with pytest.raises(FieldError, match="10 to 200"):
        call("add", "eve", "--password-stdin", typed="short\n")


def test_what_is_logged_is_a_line_of_json(log: io.StringIO) -> None:
    request_log.logger.warning("two\nlines", extra={"fields": {"count": 3}})
    (line,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (line["event"], line["level"], line["count"]) == ("two\nlines", "warning", 3)
