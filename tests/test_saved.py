"""Agents in files."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellback
from tellback import Choice, Facts, Task, play
from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, ModelAgent, Uniform
from tellback.errors import SettingError, TellbackError
from tellback.files import atomic_write
from tellback.models import Mixture, MixtureByAdam
from tellback.roles import Instruction, State
from tellback.saved import packed, save, unpacked
from tellback.worlds import Synthetic
from tests.support.oracles import Mirror

WORLD = Synthetic(instructions=5, responses=4, rank=3, seed=0)


def trained(spec: AgentSpec | None = None, lessons: int = 20) -> ModelAgent:
    agent = play(WORLD, spec or LORIL(), lessons).agent
    assert isinstance(agent, ModelAgent)
    return agent


def assert_same_state(one: State, other: State) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)
        assert np.asarray(value).dtype == np.asarray(other[name]).dtype, name


@pytest.mark.parametrize(
    "spec",
    [
        LORIL(k=0.3, lam=0.5, ties="first", model=Mixture(refresh=7)),
        LORIL(model=MixtureByAdam(learning_rate=0.1, steps=2)),
        EpsilonGreedy(epsilon=0.3),
        Greedy(),
        Uniform(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("lessons", [0, 20])
def test_a_loaded_agent_is_the_saved_one(spec: AgentSpec, lessons: int, tmp_path: Path) -> None:
    facts = Facts(dim=3, instructions=5, fixed_responses=True)
    agent: Any = spec.build(facts, np.random.default_rng(0))
    if lessons:
        agent = trained(spec, lessons)
    agent.save(tmp_path / "agent.npz")
    loaded: Any = tellback.load(tmp_path / "agent.npz")
    assert loaded is not agent
    assert (loaded.spec, loaded.facts) == (spec.resolved(facts), facts)
    assert_same_state(loaded.state(), agent.state())


def test_the_file_holds_no_pickle(tmp_path: Path) -> None:
    path = tmp_path / "agent.npz"
    trained().save(path)
    with np.load(path, allow_pickle=False) as file:
        for name in file.files:
            assert file[name].dtype.kind in "biuf"
    assert b"\x80\x04" not in path.read_bytes()[:4]


def test_a_state_comes_back_from_its_bytes_which_hold_no_pickle() -> None:
    state: State = {"a": np.arange(6.0).reshape(2, 3), "n": 3, "x": 0.1, "file": True}
    back = unpacked(packed(state))
    assert {name: np.asarray(value).tolist() for name, value in back.items()} == {
        name: np.asarray(value).tolist() for name, value in state.items()
    }
    with pytest.raises(SettingError, match="object"):
        packed({"a": np.array([object()])})


def test_any_name_and_folder_will_do(tmp_path: Path) -> None:
    agent = trained()
    for name in ("agent", "agent.bin", "deep/er/agent.npz", "name with spaces.npz"):
        agent.save(str(tmp_path / name))
        loaded: Any = tellback.load(str(tmp_path / name))
        assert_same_state(loaded.state(), agent.state())
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert tmp_path / name in files
    assert len(files) == 4, "no temporary file is left"


def test_the_same_agent_gives_the_same_state_when_saved_twice(tmp_path: Path) -> None:
    agent = trained()
    agent.save(tmp_path / "one.npz")
    loaded: Any = tellback.load(tmp_path / "one.npz")
    loaded.save(tmp_path / "two.npz")
    again: Any = tellback.load(tmp_path / "two.npz")
    assert_same_state(again.state(), agent.state())


def test_a_loaded_agent_can_be_told_at_once_what_was_on_its_way(tmp_path: Path) -> None:
    agent = trained()
    agent.save(tmp_path / "agent.npz")
    loaded: Any = tellback.load(tmp_path / "agent.npz")
    task = WORLD.build(np.random.default_rng(0)).world.task(1, (), np.random.default_rng(0))
    for one in (agent, loaded):
        one.learn(task, task.choose(2), 3)
    for x in range(5):
        asked = task._replace(instruction=x)
        choices = [one.respond(asked, np.random.default_rng(0)) for one in (agent, loaded)]
        assert choices[0].response == choices[1].response
        assert choices[0].bonus == pytest.approx(choices[1].bonus, rel=1e-9)


# Files that are not what they should be.


def refusal(path: Path) -> str:
    with pytest.raises(TellbackError) as error:
        tellback.load(path)
    assert str(path) in str(error.value), "the error must name the file"
    return str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no file" in refusal(tmp_path / "nowhere.npz")


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"PK\x03\x04", b"\x93NUMPY", b"\x80\x04K\x01.", b"{}", b"\0" * 5000],
)
def test_a_file_of_something_else_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    refusal(path)
    gc.collect()  # a file left open would be noticed here: warnings are errors


def test_foreign_arrays_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "arrays.npz", a=np.eye(3))
    np.save(tmp_path / "array.npy", np.eye(3))
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
        archive.writestr("tellback.npy", "hello")
    (tmp_path / "folder").mkdir()
    for name in ("arrays.npz", "array.npy", "archive.zip", "folder"):
        refusal(tmp_path / name)


class Bomb:
    """An object whose unpickling would be noticed."""

    def __reduce__(self) -> Any:
        return (pytest.fail, ("a pickle was loaded",))


def test_pickles_are_refused_unread(tmp_path: Path) -> None:
    header = np.frombuffer(json.dumps({"format": 1}).encode(), dtype=np.uint8)
    bombs = np.array([Bomb()], dtype=object)
    np.savez(tmp_path / "bomb.npz", tellback=header, model=bombs)
    refusal(tmp_path / "bomb.npz")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"not json",
        b"[]",
        b"3",
        b"null",
        b"{}",
        b'{"format": 99}',
        b'{"format": "1"}',
        b"\xff\xfe",
        b'{"format": 1, "agent": 3, "facts": {}}',
        b'{"format": 1, "agent": {"kind": "lorel"}, "facts": {"dim": 3, "instructions": 5}}',
        b'{"format": 1, "agent": {"kind": "loril", "k": -1}, "facts": {"dim": 3}}',
        b'{"format": 1, "agent": {"kind": "loril"}}',
        b'{"format": 1, "agent": {"kind": "loril"}, "facts": {"dimension": 3}}',
        b'{"format": 1, "agent": {"kind": "loril"}, "facts": {"dim": 0, "instructions": 5}}',
        b'{"format": 1, "agent": {"kind": "loril"}, "facts": {"dim": 3, "instructions": 5}}',
    ],
)
def test_a_header_that_makes_no_sense_is_refused(header: bytes, tmp_path: Path) -> None:
    path = tmp_path / "agent.npz"
    np.savez(path, tellback=np.frombuffer(header, dtype=np.uint8))
    refusal(path)


def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "agent.npz"
    trained(Greedy(), 3).save(path)
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        refusal(path)


def test_a_damaged_byte_is_either_harmless_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "agent.npz"
    agent = trained(Greedy(), 3)
    agent.save(path)
    content = path.read_bytes()
    refused = 0
    for place in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            loaded: Any = tellback.load(path)
        except TellbackError as error:
            assert str(path) in str(error)  # noqa: PT017
            refused += 1
        else:
            assert_same_state(loaded.state(), agent.state())
    assert refused > len(content) / 3 / 2


@pytest.mark.parametrize(
    "name", ["model.expected", "model.cursor", "explorer.inverse", "explorer.widths"]
)
def test_a_file_that_lacks_something_says_what(name: str, tmp_path: Path) -> None:
    path = tmp_path / "agent.npz"
    trained().save(path)
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files if key != f"state.{name}"}
    np.savez(path, **arrays)
    assert name.split(".")[1] in refusal(path)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("model.expected", np.zeros((5, 4))),
        ("model.totals", np.zeros(2)),
        ("model.entry_numbers", np.zeros((3, 2))),
        ("explorer.inverse", np.eye(4)),
        ("explorer.inverse", np.zeros(9)),
        ("explorer.widths", np.zeros(3)),
        ("explorer.count", np.int64(-1)),
    ],
)
def test_a_state_of_the_wrong_shape_is_refused(name: str, wrong: Any, tmp_path: Path) -> None:
    agent = trained()
    task = WORLD.build(np.random.default_rng(0)).world.task(1, (), np.random.default_rng(0))

    def restore_and_respond() -> None:  # how many widths there must be is known only then
        agent.restore({**agent.state(), name: wrong})
        agent.respond(task, np.random.default_rng(0))

    with pytest.raises(SettingError):
        restore_and_respond()


def test_an_agent_is_not_restored_from_one_of_another_size() -> None:
    other = play(WORLD.with_settings({"rank": 4}), LORIL(), 5).agent
    with pytest.raises(SettingError, match="shape"):
        trained().restore(other.state())  # type: ignore[attr-defined]


def test_a_refused_state_leaves_the_agent_as_it_was() -> None:
    agent = trained()
    before: Any = agent.state()
    later: Any = trained(lessons=30).state()
    for name in ("explorer.inverse", "model.cursor", "model.expected", "explorer.widths"):
        lacking = {key: value for key, value in later.items() if key != name}
        with pytest.raises((KeyError, TellbackError)):
            agent.restore(lacking)
        assert_same_state(agent.state(), before)


# Saving that fails.


class PowerCut(Exception):  # noqa: N818
    """Something that ends everything."""


def test_a_failure_while_saving_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "agent.npz"
    agent = trained()
    agent.save(path)
    before = path.read_bytes()

    def half(file: Any, *args: Any, **arrays: Any) -> None:
        file.write(b"PK\x03\x04 half of it")
        raise PowerCut

    monkeypatch.setattr(np, "savez", half)
    with pytest.raises(PowerCut):
        trained(lessons=30).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    loaded: Any = tellback.load(path)
    assert_same_state(loaded.state(), agent.state())


@pytest.mark.parametrize("step", ["replace", "chmod"])
def test_a_failure_at_the_last_step_leaves_the_old_file(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "note.txt"
    path.write_text("old")

    def fail(*args: Any, **kwargs: Any) -> None:
        raise PowerCut

    monkeypatch.setattr(Path, step, fail)
    with pytest.raises(PowerCut), atomic_write(path) as temporary:
        temporary.write_text("new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_of_the_writer_leaves_no_file(tmp_path: Path) -> None:
    def write_half() -> None:
        with atomic_write(tmp_path / "note.txt") as temporary:
            temporary.write_text("half")
            raise PowerCut

    with pytest.raises(PowerCut):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_absent_until_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    with atomic_write(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
        assert temporary.suffix == ".txt"
        assert temporary.parent == tmp_path
    assert path.read_text() == "new"


KILLED = """
import os, sys
import numpy as np
from tellback import play
from tellback.agents import LORIL
from tellback.worlds import Synthetic
agent = play(Synthetic(instructions=5, responses=4, rank=3, seed=0), LORIL(), 30).agent
def half(file, *args, **arrays):
    file.write(b"PK half of it")
    file.flush()
    os._exit(9)
np.savez = half
agent.save(sys.argv[1])
"""


def test_a_process_killed_while_saving_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "agent.npz"
    agent = trained()
    agent.save(path)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == 9
    loaded: Any = tellback.load(path)
    assert_same_state(loaded.state(), agent.state())


# Agents of one's own.


class Counting:
    """An agent of one's own."""

    def __init__(self, size: int = 3) -> None:
        self.table = np.zeros((size, size), dtype=np.int64)
        self.told = 0

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return task.choose(int(np.argmax(self.table[int(task.instruction)])))

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        self.table[int(description), choice.response] += 1
        self.told += 1

    def state(self) -> State:
        return {"table": self.table.copy(), "told": self.told, "share": 0.5}

    def restore(self, state: State) -> None:
        self.table = np.array(state["table"])
        self.told = int(state["told"])


def test_an_agent_of_ones_own_is_loaded_into_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "own.npz"
    agent = play(Mirror(), Counting(), 40).agent
    assert isinstance(agent, Counting)
    save(agent, path)
    other = Counting()
    assert tellback.load(path, into=other) is other
    np.testing.assert_array_equal(other.table, agent.table)
    assert other.told == 40
    assert type(other.told) is int


def test_an_agent_of_ones_own_cannot_be_made_from_the_file_alone(tmp_path: Path) -> None:
    save(Counting(), tmp_path / "own.npz")
    assert "into=" in refusal(tmp_path / "own.npz")


def test_a_state_that_does_not_fit_the_agent_it_is_loaded_into_is_refused(tmp_path: Path) -> None:
    save(Counting(), tmp_path / "own.npz")
    with pytest.raises(TellbackError, match=r"own\.npz"):
        tellback.load(tmp_path / "own.npz", into=trained())


class Holding(Counting):
    """An agent whose state holds what a test puts there."""

    def __init__(self, held: State | None = None) -> None:
        super().__init__()
        self.held: dict[str, Any] = dict(held or {})

    def state(self) -> State:
        return self.held

    def restore(self, state: State) -> None:
        self.held = dict(state)


@pytest.mark.parametrize(
    "value",
    [
        np.array([{}], dtype=object),
        np.array(["text"]),
        "text",
        None,
        {"a": 1},
        10**30,
        np.array([1j]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
    ],
    ids=repr,
)
def test_a_state_may_hold_arrays_and_numbers_only(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "own.npz"
    with pytest.raises(SettingError, match="memory"):
        save(Holding({"memory": value}), path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["file", "allow_pickle", "self", "args", "a/b", "é", "model.x"])
def test_a_state_may_use_any_other_name(name: str, tmp_path: Path) -> None:
    save(Holding({name: np.arange(3)}), tmp_path / "own.npz")
    other = Holding()
    tellback.load(tmp_path / "own.npz", into=other)
    assert list(other.held) == [name]
    np.testing.assert_array_equal(other.held[name], np.arange(3))


@pytest.mark.parametrize("value", [3, 2.5, True, float("nan"), float("inf"), -(2**62)])
def test_numbers_come_back_as_they_were(value: Any, tmp_path: Path) -> None:
    save(Holding({"number": value}), tmp_path / "own.npz")
    other = Holding()
    tellback.load(tmp_path / "own.npz", into=other)
    assert type(other.held["number"]) is type(value)
    assert repr(other.held["number"]) == repr(value)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint64, np.bool_, np.float64])
@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3), (0, 4)])
def test_arrays_come_back_as_they_were(dtype: Any, shape: tuple[int, ...], tmp_path: Path) -> None:
    array = np.ones(shape, dtype=dtype)
    save(Holding({"array": array}), tmp_path / "own.npz")
    other = Holding()
    tellback.load(tmp_path / "own.npz", into=other)
    assert other.held["array"].dtype == dtype
    np.testing.assert_array_equal(other.held["array"], array)


@pytest.mark.parametrize("content", [b"no agent", b"", b"PK"])
def test_another_file_is_refused_without_advice_on_pickles(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(TellbackError, match="not a whole file of a tellback agent") as refused:
        tellback.load(path)
    assert "pickle" not in str(refused.value)
