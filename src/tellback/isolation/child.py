"""The agent's end: the program of an isolated agent. The referee starts it."""

from __future__ import annotations

import fcntl
import io
import os
import pickle
import select
import signal
import sys
import threading
import traceback
from multiprocessing import spawn
from typing import Any, BinaryIO

from tellback.isolation import packing, wire
from tellback.ledger import plain_choice, with_features_of
from tellback.read_only import read_only
from tellback.responses import Listed
from tellback.roles import Agent, AgentSpec, Choice, Task, demand
from tellback.streams import Stream


class Child:
    """Serves one agent."""

    def __init__(self) -> None:
        self._agent: Any = None
        self._listed: dict[int, Listed] = {}
        self._key: list[int] = []
        self._stream: Any = None
        self._latest: tuple[Task, Choice] | None = None
        self._failed: bytes | None = None  # by what was told and not asked

    def serve(self, source: BinaryIO, sink: BinaryIO) -> None:
        """Do what is asked until the referee has gone."""
        while True:
            try:
                forgotten, token, (name, *details) = pickle.loads(wire.receive(source))
            except EOFError:
                return
            for number in forgotten:
                self._listed.pop(number, None)
            answer = self._answered(name, details)
            if answer is not None:
                wire.send(sink, token + answer)

    def _answered(self, name: str, details: list[Any]) -> bytes | None:
        answer: bytes | None
        told = name.startswith("learn")
        if self._failed is not None:
            if told:
                return None
            answer, self._failed = self._failed, None
            return answer
        try:
            answer = getattr(self, f"_{name}")(*details)
        except BaseException as error:  # an agent may call sys.exit()
            kind = type(error).__name__
            answer = wire.encoded_error(kind, _message(error), traceback.format_exc())
            if told:
                self._failed, answer = answer, None
        return answer

    def _adopt(
        self, packed: bytes, program: str | None, facts: Any, init: tuple[int, int]
    ) -> bytes:
        self._agent = self._latest = None
        if program is not None:
            # As multiprocessing does it: the program is imported under another name, so that
            # what it does under `if __name__ == "__main__"` is not done.
            how, _, where = program.partition(" ")
            key = "init_main_from_name" if how == "module" else "init_main_from_path"
            spawn.prepare({key: where})
        agent = pickle.loads(packed)
        if isinstance(agent, AgentSpec):
            agent = agent.build(facts, Stream.with_key(init).at(0))
        demand(agent, Agent)
        self._agent = agent
        return wire.encoded_value(None)

    def _respond(
        self,
        context: Any,
        instruction: Any,
        number: int,
        matrix: Any,
        key: list[int],
        t: int,
    ) -> bytes:
        task = self._task(context, instruction, number, matrix)
        if key != self._key:
            self._key, self._stream = key, Stream.with_key(key)
        # Made plain as the ledger does it, so that the agent learns from the same choice.
        choice = plain_choice(self._agent.respond(task, self._stream.at(t)))
        if choice.response in task.responses:
            choice = with_features_of(task, choice)
        self._latest = (task, choice)
        return wire.encoded_choice(choice)

    def _learn_latest(self, description: Any) -> None:
        assert self._latest is not None
        self._teach(*self._latest, description)

    def _learn(self, *details: Any) -> None:
        self._teach(*self._round(*details))

    def _teach(self, task: Task, choice: Choice, description: Any) -> None:
        if description is not None:
            self._agent.learn(task, choice, description)
        elif hasattr(self._agent, "learn_silence"):
            self._agent.learn_silence(task, choice)

    def _withdraw(self, *details: Any) -> bytes:
        withdraw = getattr(self._agent, "withdraw", None)
        return wire.encoded_value(withdraw is not None and bool(withdraw(*self._round(*details))))

    def _state(self) -> bytes:
        return wire.encoded_state(self._agent.state())

    def _restore(self, state: dict[str, Any]) -> bytes:
        self._agent.restore(state)
        return wire.encoded_value(None)

    def _flush(self) -> bytes:
        return wire.encoded_value(None)

    def _has(self, name: str) -> bytes:
        value = getattr(self._agent, name, self)
        return wire.encoded_value(type(value) in (str, int, float, bool, type(None)))

    def _attribute(self, name: str) -> bytes:
        return wire.encoded_value(getattr(self._agent, name))

    def _round(
        self, context: Any, instruction: Any, number: int, matrix: Any, chosen: Any, told: Any
    ) -> tuple[Task, Choice, Any]:
        task = self._task(context, instruction, number, matrix)
        response, *rest, among = chosen
        shortlist = None if among is None else task.responses.shortlist(among)
        features = task.responses.features(response)
        return task, Choice._make((response, features, *rest, shortlist)), told

    def _task(self, context: Any, instruction: Any, number: int, matrix: Any) -> Task:
        if number < 0:
            context, instruction, responses = _Numbered(instruction, self._responses).load()
            return Task(read_only(context), instruction, responses)
        return Task(context, instruction, self._responses(number, matrix))

    def _responses(self, number: int, matrix: Any) -> Listed:
        if matrix is not None:
            self._listed[number] = Listed(matrix)
        return self._listed[number]


class _Numbered(pickle.Unpickler):
    """Unpickles tasks in which lists of responses are numbers."""

    def __init__(self, data: bytes, responses: Any) -> None:
        super().__init__(io.BytesIO(data))
        self._responses = responses

    def persistent_load(self, known: tuple[int, Any]) -> Any:
        return self._responses(*known)


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as another:  # an error of the agent's own class
        return f"(its text cannot be had: {type(another).__name__})"


def _end_with_referee(lifeline: int) -> None:
    """End, with all that was started here, when the referee ends or is killed."""
    os.set_inheritable(lifeline, False)
    if sys.platform == "linux":
        # Even where Python code cannot run: in the middle of a compiled function, or stopped.
        # Not prctl's signal at the parent's death, which comes when a thread of it ends.
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    threading.Thread(target=_watch, args=(lifeline, os.getppid()), daemon=True).start()


def _watch(lifeline: int, referee: int) -> None:
    """The same for other systems, and where the referee had ended before."""
    closed = select.poll()
    closed.register(lifeline, select.POLLIN)
    while not closed.poll(1000) and os.getppid() == referee:
        pass
    os.killpg(0, signal.SIGKILL)


def main(lifeline: int) -> None:
    """Serve on standard input and output, which the agent itself does not get."""
    _end_with_referee(lifeline)
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what the agent prints goes to standard error

    def leave_pipes() -> None:
        """What the agent forks must not hold them: the referee would wait for it."""
        for pipe in (source, sink):
            os.dup2(nothing, pipe.fileno(), inheritable=False)

    os.register_at_fork(after_in_child=leave_pipes)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the referee decides when to stop
    packing.in_agents_process = True
    Child().serve(source, sink)
    os._exit(0)
