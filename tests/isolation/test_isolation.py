"""An isolated agent plays as it always does, and finds no truth however it looks."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellback import Task, load, play, rounds
from tellback.agents import LORIL, Greedy, Uniform
from tellback.encoders import Thumbnail
from tellback.errors import SettingError, TellbackError
from tellback.isolation import IsolatedAgent, IsolationError, parent
from tellback.isolation import process as processes
from tellback.models import Ridge
from tellback.responses import Listed
from tellback.roles import AgentSpec
from tellback.specs import known_kinds
from tellback.streams import Stream
from tellback.worlds import Demonstrations, Images, Synthetic
from tests.support import burglars
from tests.support.patience import PATIENCE, wait_until

SMALL = Synthetic(instructions=6, responses=4, rank=3)
FRESH = Demonstrations(SMALL.with_settings({"contexts": "fresh"}))
WORDS = Images(responses=4, colours=("red", "blue", "grey"), encoder=Thumbnail(cells=2))
SHIPPED = [
    spec() for spec in known_kinds(AgentSpec).values() if spec.__module__.startswith("tellback.")
]


@pytest.fixture(scope="module")
def process() -> Iterator[Any]:
    """One process that serves many agents, one after the other, to save time."""
    process = processes.AgentProcess()
    yield process
    process.end()


@pytest.fixture
def reused(process: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "AgentProcess", lambda: process)
    monkeypatch.setattr(process, "end", lambda: None)


def assert_same(one: Any, other: Any) -> None:
    for name in ("regrets", "rewards", "estimates", "bonuses", "propensities", "widths", "highest"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("instructions", "responses", "descriptions"):
        assert list(getattr(one, name)) == list(getattr(other, name)), name
    assert other.proof is None  # of what runs elsewhere there is only its word


def fitting(agent: AgentSpec) -> list[Any]:
    """Small worlds that an agent takes."""
    found = []
    for world in (SMALL, FRESH, WORDS):
        try:
            agent.build(world.facts, np.random.default_rng(0))
        except SettingError:
            continue
        found.append(world)
    return found


QUICK = ("loril", "thompson", "imitation")


@pytest.mark.usefixtures("reused")
@pytest.mark.parametrize(
    "agent",
    [
        pytest.param(agent, marks=() if agent.kind in QUICK else pytest.mark.slow, id=agent.kind)
        for agent in SHIPPED
    ],
)
def test_every_agent_plays_the_same_bit_for_bit(agent: AgentSpec) -> None:
    worlds = fitting(agent)
    assert worlds
    for world in worlds:
        one, other = (play(world, agent, 25, seed=5, isolated=alone) for alone in (False, True))
        assert isinstance(other.agent, IsolatedAgent)
        assert_same(one, other)
        ours: Any = one.agent
        states = ours.state(), other.agent.state()
        assert states[0].keys() == states[1].keys()
        for name, value in states[0].items():
            np.testing.assert_array_equal(value, states[1][name], err_msg=name)


@pytest.mark.usefixtures("reused")
def test_late_descriptions_and_resumed_runs_are_the_same_too(tmp_path: Path) -> None:
    def delay(t: int, rng: np.random.Generator) -> int | None:
        return None if t % 7 == 0 else int(rng.integers(4))

    agent = LORIL(model=Ridge())
    assert_same(
        play(SMALL, agent, 60, seed=1, delay=delay),
        play(SMALL, agent, 60, seed=1, delay=delay, isolated=True),
    )
    whole = play(SMALL, agent, 60, seed=1)
    half: Any = play(SMALL, agent, 30, seed=1, isolated=True).agent
    half.save(tmp_path / "agent")
    loaded = load(tmp_path / "agent")
    for later in (
        play(SMALL, half, 30, seed=1, start=30),
        play(SMALL, loaded, 30, seed=1, start=30, isolated=True),
    ):
        np.testing.assert_array_equal(later.regrets, whole.regrets[30:])


@pytest.mark.usefixtures("reused")
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("kind", [burglars.Bytewise, burglars.Tagging, burglars.OwnFeatures])
def test_odd_choices_are_made_plain_here_and_there(kind: Any, late: bool) -> None:
    delay = (lambda t, rng: 2) if late else None
    one, other = (
        play(SMALL, kind(), 20, seed=1, delay=delay, isolated=alone) for alone in (False, True)
    )
    assert_same(one, other)
    ours: Any = one.agent
    theirs: Any = other.agent
    assert ours.seen == theirs.seen > 0


@pytest.mark.usefixtures("reused")
def test_rounds_can_be_isolated() -> None:
    one, other = (
        [r.choice.estimate for r in islice(rounds(SMALL, LORIL(), seed=2, isolated=alone), 10)]
        for alone in (False, True)
    )
    assert one == other


# What it finds.

FINDS = ("frames", "garbage", "seed_seq", "words")


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_without_isolation_a_burglar_finds_the_truth() -> None:
    found: Any = play(SMALL, burglars.Burglar(), 3, seed=7).agent
    assert found.found["frames"] > 0
    assert found.found["garbage"] > 0
    assert found.found["seeds"] == 1


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_with_isolation_it_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["tellback", "run", "synthetic"])
    run = play(SMALL, burglars.Burglar(), 3, seed=None, isolated=True)
    found: Any = run.agent
    assert found.state() == dict.fromkeys([*FINDS, "seeds"], 0)
    assert run.seed > 2**64
    again = play(SMALL, burglars.Burglar(), 3, seed=run.seed)  # the run can be repeated
    np.testing.assert_array_equal(run.regrets, again.regrets)


@pytest.mark.usefixtures("reused")
def test_the_settings_of_an_agent_find_nothing_either() -> None:
    found: Any = play(SMALL, burglars.Sneaky(), 3, seed=7, isolated=True).agent
    assert found.begun == 0


@pytest.mark.usefixtures("reused")
def test_code_among_the_settings_runs_before_there_is_a_truth() -> None:
    agent = burglars.Carrier(burglars.Tool())
    run: Any = play(SMALL, agent, 3, seed=None, isolated=True)
    assert run.agent.begun == 0
    assert run.agent_name == "Carrier(0)"


@pytest.mark.usefixtures("reused")
def test_settings_may_be_in_slots() -> None:
    run: Any = play(SMALL, burglars.Slotted(5), 3, isolated=True)
    assert run.agent.begun == 5


@pytest.mark.usefixtures("reused")
def test_a_world_with_a_seed_of_its_own_gets_a_warning() -> None:
    world = Demonstrations(SMALL.with_settings({"seed": 0}))
    with pytest.warns(UserWarning, match="'synthetic' has a seed of its own"):
        play(world, Uniform(), 1, seed=None, isolated=True)
    with pytest.warns(UserWarning, match="has a seed of its own"):
        rounds(world, Uniform(), isolated=True)


@pytest.mark.usefixtures("reused")
def test_a_small_seed_can_be_guessed_even_then() -> None:
    """The same results, bit for bit, cannot hide a seed from one who tries them all."""
    found: Any = play(SMALL, burglars.Burglar(), 3, seed=7, isolated=True).agent
    assert found.state() == {**dict.fromkeys(FINDS, 0), "seeds": 1}


# What goes wrong there.


@pytest.mark.usefixtures("reused")
def test_an_error_comes_back_with_its_traceback() -> None:
    with pytest.raises(IsolationError, match=r"(?s)KeyError: 'what it had learned'.*burglars.py"):
        play(SMALL, burglars.Faulty(), 1, isolated=True)
    with pytest.raises(IsolationError, match="SystemExit: enough"):
        play(SMALL, burglars.Leaver(), 1, isolated=True)
    with pytest.raises(IsolationError, match="its text cannot be had: RuntimeError"):
        play(SMALL, burglars.Mute(), 1, isolated=True)
    agent = IsolatedAgent(LORIL(model=Ridge()), SMALL.facts, Stream(0, "birth of agent"))
    task = Task(None, 0, Listed(1e8 * np.eye(3)))
    with pytest.raises(SettingError, match="length of 1e"):
        agent.respond(task, Stream(0, "agent").at(1))


def test_an_agent_that_ends_its_process_is_named() -> None:
    with pytest.raises(IsolationError, match=r"has ended \(exit code 3\)"):
        play(SMALL, burglars.Quitter(), 3, isolated=True)


def test_a_killed_process_is_noticed_and_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE_SECONDS", PATIENCE)
    agent: Any = play(SMALL, Uniform(), 3, isolated=True).agent
    os.kill(agent._process.pid, signal.SIGKILL)
    with pytest.raises(IsolationError, match=r"has ended \(exit code -9\)"):
        play(SMALL, agent, 3)
    other: Any = play(SMALL, Uniform(), 3, isolated=True).agent
    process = other._process
    del other
    gc.collect()
    assert process.returncode == 0


def test_a_process_that_is_left_behind_does_not_hold_the_referee(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "LOOK_MILLISECONDS", 10)
    path = tmp_path / "pid"
    with pytest.raises(IsolationError, match=r"has ended \(exit code 3\)"):
        play(SMALL, burglars.Holder(str(path)), 3, isolated=True)
    wait_until(lambda: not _lives(int(path.read_text())))


def test_a_fork_leaves_the_pipes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LOOK_MILLISECONDS", None)  # only the end of the pipe tells
    with pytest.raises(IsolationError, match=r"has ended \(exit code 3\)"):
        play(SMALL, burglars.Forker(), 3, isolated=True)


def test_ctrl_c_ends_it_while_the_pipe_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = IsolatedAgent(burglars.Sleeper(), SMALL.facts, Stream(0, "birth of agent"))
    task = Task(None, 0, Listed(np.eye(3)))
    wait = processes.AgentProcess._wait

    def interrupted(self: Any, ready: Any) -> None:
        if ready is self._writable:
            raise KeyboardInterrupt
        wait(self, ready)

    monkeypatch.setattr(processes.AgentProcess, "_wait", interrupted)
    monkeypatch.setattr(processes, "PATIENCE_SECONDS", 0.0)

    def teach_for_ever() -> None:
        while True:
            agent.learn(task, task.choose(0), 0)

    with pytest.raises(KeyboardInterrupt):
        teach_for_ever()
    assert agent._process.returncode == -signal.SIGKILL
    with pytest.raises(IsolationError, match="has ended"):
        agent.flush()


def test_an_answer_to_what_was_not_asked_is_none() -> None:
    with pytest.raises(IsolationError, match="answered something else than respond"):
        play(SMALL, burglars.Early(), 3, isolated=True)


def test_what_it_writes_into_the_pipe_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(IsolationError, match="answered"):
        play(SMALL, burglars.Noisy(), 3, isolated=True)
    assert "hello" not in capfd.readouterr().out


PARENT = """
import sys
sys.path.insert(0, {tests!r})
from tests.support import burglars
from tellback import play
from tellback.worlds import Synthetic
play(Synthetic(instructions=6, responses=4, rank=3), burglars.Endless({path!r}), 3, isolated=True)
"""


def test_it_ends_with_the_referee_even_in_the_middle_of_something(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    tests = str(Path(__file__).parents[2])
    code = PARENT.format(tests=tests, path=str(path))
    referee = subprocess.Popen([sys.executable, "-c", code])
    wait_until(lambda: path.exists() and path.read_text() != "")
    referee.kill()
    referee.wait()
    pid = int(path.read_text())
    wait_until(lambda: not _lives(pid))


def _lives(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


IN_MAIN = """
from dataclasses import dataclass
from tellback import play
from tellback.agents import Greedy
from tellback.worlds import Synthetic

@dataclass(frozen=True)
class Mine(Greedy):
    pass

if __name__ == "__main__":
    run = play(Synthetic(instructions=6, responses=4, rank=3), Mine(), 5, isolated=True)
    print(len(run), type(run.agent).__name__)
"""


def test_an_agent_of_a_script_is_found_there(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(IN_MAIN)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stdout == "5 IsolatedAgent\n", done.stderr


@pytest.mark.slow
def test_a_script_that_plays_when_it_is_imported_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(IN_MAIN.replace('__name__ == "__main__"', "True"))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert 'put what it does under if __name__ == "__main__"' in done.stderr


def test_an_agent_that_cannot_be_sent_is_named() -> None:
    class Local(burglars.Burglar):
        pass

    with pytest.raises(SettingError, match="cannot be sent"):
        play(SMALL, Local(), 3, isolated=True)


@pytest.mark.usefixtures("reused")
def test_elsewhere_it_says_what_to_do() -> None:
    agent: Any = play(SMALL, Greedy(), 3, isolated=True).agent
    task = SMALL.build(np.random.default_rng(0)).world.task(1, (), np.random.default_rng(0))
    with pytest.raises(TellbackError, match="save it and load it"):
        agent.respond(task, np.random.default_rng(0))
    with pytest.raises(AttributeError, match="model"):
        _ = agent.model
