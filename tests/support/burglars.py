"""Agents that look for the truth where no agent should look.

They are in a module of their own, which an isolated agent's process imports.
"""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tellback import Choice, Simulation, Task
from tellback.isolation import wire
from tellback.roles import AgentSpec, Facts, State, WorldSpec
from tellback.run import Recorder
from tellback.streams import Stream, Streams

TRIED_SEEDS = 200


class Burglar:
    """Looks round in its second round; ``state()`` says how much it found, by each way."""

    def __init__(self) -> None:
        self.asked = 0
        self.begun = 0
        self.found: dict[str, int] = {}

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        self.asked += 1
        if self.asked == 2:
            self.found = {
                "frames": _frames(),
                "garbage": sum(map(_is_secret, gc.get_objects())),
                "seed_seq": int(getattr(rng.bit_generator, "_seed_seq", None) is not None),
                "words": _words(),
                "seeds": _seeds(rng),
            }
        return task.choose(0)

    def learn(self, task: Task, choice: Choice, description: Any) -> None: ...

    def state(self) -> State:
        return dict(self.found)

    def restore(self, state: State) -> None: ...


def _is_secret(thing: Any) -> bool:
    # By the class alone: isinstance(thing, ...) asks the thing, and a proxy of what is gone raises.
    kind = type(thing)
    if issubclass(kind, type):
        return False
    return issubclass(kind, Simulation | WorldSpec) or (
        hasattr(kind, "reward") and hasattr(kind, "best")
    )


def _frames() -> int:
    """How many secrets, or seeds, are in the variables of those who called."""
    frame, found = sys._getframe(), 0
    while frame is not None:
        for name, value in frame.f_locals.items():
            found += _is_secret(value) or (name == "seed" and isinstance(value, int))
        frame = frame.f_back  # type: ignore[assignment]
    return found


def _words() -> int:
    """How often the world's name is in the arguments and the environment of this process."""
    words = [*sys.argv, *os.environ.values(), Path("/proc/self/cmdline").read_text()]
    return sum("synthetic" in word for word in words)


def _seeds(rng: np.random.Generator) -> int:
    """How many small seeds would have given the random numbers that were given."""
    key = rng.bit_generator.state["state"]["key"].tolist()
    return sum(list(Stream(seed, "agent").key) == key for seed in range(TRIED_SEEDS))


@dataclass(frozen=True)
class Sneaky(AgentSpec):
    """Its settings look round wherever they are asked to do something."""

    def build(self, facts: Facts, rng: np.random.Generator) -> Burglar:
        burglar = Burglar()
        burglar.begun = _frames()
        return burglar

    def resolved(self, facts: Facts) -> AgentSpec:
        assert not _frames(), "a truth in the frames of the settings"
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        assert not _frames(), "a truth in the frames of the settings"
        return super().__reduce_ex__(protocol)


def truths() -> int:
    """How many truths, records or large seeds there are in the variables of those who called."""
    frame, found = sys._getframe(), 0
    while frame is not None:
        for name, value in frame.f_locals.items():
            found += isinstance(value, Simulation | Recorder | Streams)
            found += name == "seed" and isinstance(value, int)
        frame = frame.f_back  # type: ignore[assignment]
    return found


class Tool:
    """A setting that looks round when it is pickled."""

    def __reduce__(self) -> Any:
        return int, (truths(),)


@dataclass(frozen=True)
class Carrier(AgentSpec):
    """A spec with code among its settings; its name looks round, too."""

    tool: Any = None

    def build(self, facts: Facts, rng: np.random.Generator) -> Burglar:
        burglar = Burglar()
        burglar.begun = self.tool
        return burglar

    def __repr__(self) -> str:
        return f"Carrier({truths()})"


@dataclass(frozen=True, slots=True)
class Slotted(AgentSpec):
    """A spec whose settings are in slots."""

    first: int = 0

    def build(self, facts: Facts, rng: np.random.Generator) -> Burglar:
        burglar = Burglar()
        burglar.begun = self.first
        return burglar


class Endless(Burglar):
    """Never answers, and says in a file who it is."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        Path(self.path).write_text(str(os.getpid()))
        re.match(r"(a+)+b", "a" * 60)  # and no other thread of this process runs meanwhile
        raise AssertionError


class Noisy(Burglar):
    """Writes into every pipe that it has, and to standard output."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        print("hello")
        for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
            try:
                os.write(int(name), b"\x05\0\0\0\0\0\0\0Vcos\n")
            except OSError:
                continue
        return super().respond(task, rng)


class Quitter(Burglar):
    """Ends its process."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        os._exit(3)


class Faulty(Burglar):
    """Fails when it learns."""

    def learn(self, task: Task, choice: Choice, description: Any) -> None:
        raise KeyError("what it had learned")


class Leaver(Burglar):
    """Calls sys.exit()."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        sys.exit("enough")


class Sleeper(Burglar):
    """Never has done learning."""

    def learn(self, task: Task, choice: Choice, description: Any) -> None:
        time.sleep(1000)


class Holder(Burglar):
    """Ends its process, and leaves another one behind that holds all its pipes."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
            with suppress(OSError):
                os.set_inheritable(int(name), True)
        other = subprocess.Popen(["sleep", "1000"], close_fds=False)
        Path(self.path).write_text(str(other.pid))
        os._exit(3)


class Forker(Burglar):
    """Ends its process, and leaves a fork of it behind."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        if os.fork():
            os._exit(3)
        time.sleep(1000)
        os._exit(0)


class Early(Burglar):
    """Answers before it is asked."""

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        answer = wire.framed(bytes(wire.TOKEN_BYTES) + wire.encoded_choice(task.choose(1)))
        for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
            if int(name) > 2:
                with suppress(OSError):
                    os.write(int(name), answer)
        return task.choose(0)


class Mute(Burglar):
    """Raises an error that cannot be printed."""

    class Unprintable(Exception):  # noqa: N818
        def __str__(self) -> str:
            raise RuntimeError("no")

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        raise self.Unprintable


class Odd(Burglar):
    """What it does depends on what its choice is like when it learns from it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0

    def choice(self, task: Task, y: int) -> Choice:
        raise NotImplementedError

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        return self.choice(task, self.seen % 4)

    def learn(self, task: Task, choice: Choice, description: Any) -> None:
        self.seen += 1 + int(100 * choice.features.sum() + choice.features[0] * 10)
        self.seen += (type(choice) is Choice) + 2 * (type(choice.response) is int)


class Bytewise(Odd):
    """Its responses are numbers of another type."""

    def choice(self, task: Task, y: int) -> Choice:
        return task.choose(y)._replace(response=np.uint8(y))


class Tagging(Odd):
    """Its choices are of a class of its own."""

    def choice(self, task: Task, y: int) -> Choice:
        return Tagged(*task.choose(y))


class Tagged(Choice):
    """Such a choice."""


class OwnFeatures(Odd):
    """Its choices have features of its own."""

    def choice(self, task: Task, y: int) -> Choice:
        return task.choose(y)._replace(features=np.full(task.responses.dim, 7.0 + y))
