"""``tellback teach`` and ``tellback serve``, as they are typed."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tellback.classroom.settings import free_port
from tellback.errors import TellbackError
from tests.support.command import tellback_here
from tests.support.patience import PATIENCE
from tests.support.ports import held_port
from tests.support.recordings import small_recording, written
from tests.support.teach_process import answering, ended, running


@pytest.fixture
def port() -> Iterator[int]:
    with held_port() as port:
        yield port


def test_one_command_teaches_and_the_next_time_the_agent_is_where_it_was_left(
    tmp_path: Path, port: int
) -> None:
    url = f"http://127.0.0.1:{port}"
    with running(tmp_path, "teach", "--no-browser", "--port", str(port)) as process:
        with answering(url, process) as client:
            shown = client.post("/api/v1/lessons/pictures/claims").json()
            place = f"/api/v1/lessons/pictures/rounds/{shown['round']}/description"
            said = {"description": "a red square"}
            assert client.put(place, json=said).json()["new"]
            page = client.get("/teach/pictures")
            assert page.status_code == 200
            assert page.headers["content-type"].startswith("text/html")
        code, err = ended(process)
    assert code == 0, err
    assert f"{url}/teach/pictures" in err
    assert "Traceback" not in err
    with running(tmp_path, "teach", "--no-browser", "--port", str(port)) as process:
        with answering(url, process) as client:
            again = client.get("/api/v1/lessons/pictures/progress").json()
            asked = client.post(
                "/api/v1/lessons/pictures/preview", json={"instruction": "red", "round": 1}
            ).json()
        ended(process)
    assert again["described"] == 1
    assert asked["learned"] == 1


def test_workers_end_when_the_main_process_is_killed(tmp_path: Path, port: int) -> None:
    words = ("serve", "--workers", "2", "--port", str(port))
    with (
        running(tmp_path, *words) as process,
        answering(f"http://127.0.0.1:{port}", process),
    ):
        process.kill()
        process.communicate(timeout=PATIENCE)  # until no process can write any more


def test_a_proxy_that_would_not_be_believed_is_refused(tmp_path: Path) -> None:
    words = ("serve", "--proxy", "10.0.0.2", "--database", "sqlite:///lessons.db")
    done = tellback_here(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "--proxy needs --secure" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_taken_port_is_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port("127.0.0.1", port) > port
    with pytest.raises(TellbackError, match="No port"):
        free_port("192.0.2.1", 8765)  # no address of this machine


@pytest.mark.slow  # the soak test, too, has two
def test_several_processes_serve_one_lesson(tmp_path: Path, port: int) -> None:
    words = ("serve", "--no-accounts", "--demonstration", "--workers", "2", "--port", str(port))
    with running(tmp_path, *words) as process:
        with answering(f"http://127.0.0.1:{port}", process):
            pass
        place = f"http://127.0.0.1:{port}/api/v1/lessons/pictures"
        numbers = []
        for _ in range(12):  # each with a connection of its own, to reach either process
            shown = httpx.post(f"{place}/claims", timeout=PATIENCE).json()
            numbers.append(shown["round"])
            told = {"description": "a blue circle"}
            said = f"{place}/rounds/{shown['round']}/description"
            given = httpx.put(said, json=told, timeout=PATIENCE)
            assert given.status_code == 200
        code, err = ended(process)
    assert numbers == list(range(1, 13))
    assert code == 0, err


def test_each_process_tells_the_metrics_of_all(tmp_path: Path, port: int) -> None:
    words = ("serve", "--no-accounts", "--workers", "2", "--port", str(port))
    with running(tmp_path, *words) as process, answering(f"http://127.0.0.1:{port}", process) as c:
        for wanted in range(1, 21):
            # A connection stays with a process: each of these may come to either.
            assert httpx.get(f"{c.base_url}/livez", timeout=PATIENCE).status_code == 200
            told = httpx.get(f"{c.base_url}/metrics", timeout=PATIENCE).text
            assert f'{{method="GET",route="/livez",status="200"}} {wanted}.0\n' in told
            assert "\ntellback_lessons 0.0\n" in told


def test_both_demonstrations_are_served_and_a_path_described_before_a_kill_is_kept(
    tmp_path: Path, port: int
) -> None:
    url, place = f"http://127.0.0.1:{port}", "/api/v1/lessons/house"
    words = ("serve", "--no-accounts", "--demonstration", "--port", str(port))
    with running(tmp_path, *words) as process, answering(url, process) as client:
        lessons = client.get("/api/v1/lessons").json()["lessons"]
        assert {one["id"] for one in lessons} == {"pictures", "house"}
        for said in ("to the kitchen", "past the lamp to the hall"):
            round = client.post(f"{place}/claims").json()["round"]
            given = {"description": said}
            client.put(f"{place}/rounds/{round}/description", json=given).raise_for_status()
        asked = {"instruction": "to the hall", "round": 1}
        before = client.post(f"{place}/preview", json=asked).json()
        process.kill()
    words = ("teach", "--house", "--no-browser", "--port", str(port))
    with running(tmp_path, *words) as process:
        with answering(url, process) as client:
            after = client.post(f"{place}/preview", json=asked).json()
            assert client.get("/teach/house").status_code == 200
        code, err = ended(process)
    assert code == 0, err
    assert f"{url}/teach/house" in err
    assert after["learned"] == 2
    assert after == before


def test_the_house_and_a_recording_are_two_lessons(tmp_path: Path) -> None:
    with running(tmp_path, "teach", "--house", "--from", "r.jsonl", "--no-browser") as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "either --house or --from" in err


def test_a_table_of_texts_is_a_lesson_and_the_same_one_the_next_time(
    tmp_path: Path, port: int
) -> None:
    table = tmp_path / "menu.csv"
    table.write_text("text\na cup of tea\na glass of milk\na mug of cocoa\n")
    words = ("teach", "--texts", str(table), "--no-browser", "--port", str(port))
    ids = []
    for _ in range(2):
        with running(tmp_path, *words) as process:
            with answering(f"http://127.0.0.1:{port}", process) as client:
                (lesson,) = client.get("/api/v1/lessons").json()["lessons"]
                shown = client.post(f"/api/v1/lessons/{lesson['id']}/claims").json()
            code, err = ended(process)
        assert code == 0, err
        assert f"/teach/{lesson['id']}" in err
        assert len(shown["texts"]) == 3
        ids.append(lesson["id"])
    assert ids[0] == ids[1]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with running(tmp_path, "teach", "--pictures", "nowhere", "--no-browser") as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "There is no folder nowhere." in err


def test_a_service_is_not_opened_to_others_without_accounts(tmp_path: Path) -> None:
    for words, says in (
        (("--no-accounts",), "listens on this machine only"),
        ((), "tellback accounts add NAME --role admin"),
    ):
        with running(tmp_path, "serve", "--host", "0.0.0.0", *words) as process:
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert says in err


def test_a_recording_teaches_before_the_first_live_round(tmp_path: Path, port: int) -> None:
    path = written(tmp_path)
    words = ("teach", "--from", str(path), "--candidates", "3", "--no-browser", "--port", str(port))
    with running(tmp_path, *words) as process:
        with answering(f"http://127.0.0.1:{port}", process) as client:
            (lesson,) = client.get("/api/v1/lessons").json()["lessons"]
            place = f"/api/v1/lessons/{lesson['id']}"
            assert lesson["name"] == "r.jsonl"
            assert client.get(f"{place}/progress").json()["described"] == 72
            shown = client.post(f"{place}/claims").json()
            assert len(shown["texts"]) == 3
            assert shown["context"].startswith("room ")
        code, err = ended(process)
    assert code == 0, err
    assert f"/teach/{lesson['id']}" in err


def test_a_recording_that_cannot_teach_is_refused_in_one_line(tmp_path: Path) -> None:
    for name, says in (("none.jsonl", "none.jsonl"), ("r.jsonl", "show fewer candidates")):
        written(tmp_path, small_recording(responses=3))
        with running(tmp_path, "teach", "--from", str(tmp_path / name), "--no-browser") as process:
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert says in err
        starting, _refusal = err.strip().splitlines()
        assert starting.startswith("Starting the classroom")
