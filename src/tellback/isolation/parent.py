"""The referee's end: an object that looks like an agent, and the process behind it."""

from __future__ import annotations

import io
import pickle
import secrets
import weakref
from typing import Any

import numpy as np

from tellback.errors import ProtocolError, SettingError, TellbackError
from tellback.isolation import wire
from tellback.isolation.packing import Packed
from tellback.isolation.process import AgentProcess
from tellback.read_only import PLAIN
from tellback.responses import Listed, Sampled, Shortlist
from tellback.roles import AgentSpec, Choice, Facts, Instruction, State, Task, new_tuple
from tellback.saved import InFiles
from tellback.streams import EMPTY_BUFFER, Stream

_ABSENT = np.empty(0)
_OWN_ERRORS: dict[str, type[TellbackError]] = {
    error.__name__: error for error in (SettingError, ProtocolError, TellbackError)
}


class IsolationError(TellbackError):
    """An isolated agent raised an error, died, or gave an invalid answer."""


class IsolatedAgent(InFiles):
    """An agent that lives in another process.

    It is asked and taught as every agent is, and can be saved. Attributes that are texts or
    numbers can be read from here; nothing else of it can. ``close()`` ends the process, and so
    does the end of this object or of this program.

    Parameters
    ----------
    agent : AgentSpec or Agent
        The settings of an agent, or a live one, of which the process gets a copy: the one
        that is given here learns nothing. ``Packed`` if it was packed before.
    facts : Facts
        What it may know beforehand.
    init : Stream
        Where it draws from when it is brought to life.
    """

    def __init__(self, agent: Any, facts: Facts, init: Stream) -> None:
        packed = agent if isinstance(agent, Packed) else Packed.of(agent)
        self.facts = facts
        self._given = packed.given
        self._process = AgentProcess()
        self.close = weakref.finalize(self, self._process.end)
        self._numbers: weakref.WeakKeyDictionary[Listed, int] = weakref.WeakKeyDictionary()
        self._met = 0  # how many lists of responses there have been
        self._forgotten: list[int] = []  # those that are no more, until the process is told
        self._latest: tuple[Task | None, Choice | None] = (None, None)
        self._ask("adopt", packed.data, packed.program, facts, init.key)

    @property
    def spec(self) -> AgentSpec | None:
        """What the agent was made from."""
        # Found when it is asked for: during a run, no method of the agent's is called here.
        if isinstance(self._given, AgentSpec):
            return self._given.resolved(self.facts)
        return getattr(self._given, "spec", None)

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        """The agent's choice; its features are looked up here."""
        body = self._ask("respond", *self._sent(task), *_place(rng), answer=wire.CHOICE)
        response, told, among = self._decoded(wire.decoded_choice, body)
        features = task.responses.features(response) if response in task.responses else _ABSENT
        shortlist = None if among is None else self._shortlist(task, among)
        choice: Choice = new_tuple(Choice, (response, features, *told, shortlist))
        self._latest = (task, choice)
        return choice

    def _shortlist(self, task: Task, among: tuple[Any, ...]) -> Shortlist:
        """The agent's shortlist, with the task's own features."""
        if not isinstance(task.responses, Sampled) or not among:
            raise self._ended("stated a shortlist where responses are listed")
        if any(one not in task.responses for one in among) or len(set(among)) < len(among):
            raise self._ended("stated a shortlist with something that is no response, or twice")
        return task.responses.shortlist(among)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None:
        """Pass a description on. An error of the agent comes up when it is next asked."""
        self._learn(task, choice, description)

    def learn_silence(self, task: Task, choice: Choice) -> None:
        """Pass on that a round was not described."""
        self._learn(task, choice, None)

    def _learn(self, task: Task, choice: Choice, description: Instruction | None) -> None:
        latest, chosen = self._latest
        if task is latest and choice is chosen:
            self._tell("learn_latest", description)
        else:
            self._tell("learn", *self._sent(task), _described(choice), description)

    def withdraw(self, task: Task, choice: Choice, description: Instruction) -> bool:
        """Take back what was learned from a description; False if the agent cannot."""
        sent = (*self._sent(task), _described(choice), description)
        return self._value("withdraw", *sent) is True

    def state(self) -> State:
        """All that was learned, in arrays and numbers."""
        body = self._ask("state", answer=wire.STATE)
        state: State = self._decoded(wire.decoded_state, body)
        return state

    def restore(self, state: State) -> None:
        """Go back to such a state."""
        self._ask("restore", dict(state))

    def flush(self) -> None:
        """Wait until all that was told has been learned; an error of the agent comes up here."""
        self._ask("flush")

    def __getattr__(self, name: str) -> Any:
        """An attribute of the agent that is a text or a number."""
        if name.startswith("_") or name in ("state", "restore", "close", "spec", "facts"):
            raise AttributeError(name)
        found = self._value("has", name)
        if found is not True:
            raise AttributeError(f"The isolated agent has no plain attribute {name!r}.")
        return self._value("attribute", name)

    def _sent(self, task: Task) -> tuple[Any, ...]:
        """A task as it is sent: lists of responses that the process has go by their number."""
        context, instruction, responses = task
        if type(context) in PLAIN and type(responses) is Listed:
            return context, instruction, *self._number(responses)
        return b"", self._pickled(tuple(task)), -1, None

    def _number(self, responses: Listed) -> tuple[int, Any]:
        number = self._numbers.get(responses)
        if number is not None:
            return number, None
        self._met += 1
        number = self._numbers[responses] = self._met
        weakref.finalize(responses, self._forgotten.append, number).atexit = False
        return number, responses.matrix

    def _pickled(self, thing: Any) -> bytes:
        file = io.BytesIO()
        pickler = _Numbering(file, self._number)
        pickler.dump(thing)
        return file.getvalue()

    def _value(self, *message: Any) -> str | int | float | bool | None:
        value: str | int | float | bool | None = self._decoded(
            wire.decoded_value, self._ask(*message)
        )
        return value

    def _decoded(self, decode: Any, body: bytes) -> Any:
        try:
            return decode(body)
        except wire.WireError as error:
            raise self._ended(f"answered with {error}") from error

    def _tell(self, *message: Any, token: bytes = b"") -> None:
        forgotten = self._forgotten[:]
        del self._forgotten[: len(forgotten)]
        sent = pickle.dumps((forgotten, token, message), protocol=5)
        try:
            self._process.send(sent)
        except (EOFError, OSError, ValueError) as error:
            raise self._ended("has ended") from error
        except BaseException:  # Ctrl-C: half a message may be in the pipe
            self.close()
            raise

    def _ask(self, *message: Any, answer: bytes = wire.VALUE) -> bytes:
        # What the agent wrote before it was asked cannot have the token, and is no answer.
        token = secrets.token_bytes(wire.TOKEN_BYTES)
        self._tell(*message, token=token)
        try:
            frame = self._process.receive(wire.most_bytes(answer))
        except (EOFError, OSError, ValueError) as error:
            raise self._ended("has ended") from error
        except wire.WireError as error:
            raise self._ended(f"answered with {error}") from error
        except BaseException:  # Ctrl-C: the answer to come would be taken for that of the next
            self.close()
            raise
        if frame[: len(token)] != token:
            raise self._ended(f"answered something else than {message[0]}")
        frame = frame[len(token) :]
        kind, body = frame[:1], frame[1:]
        if kind == wire.ERROR:
            raise _raised(*self._decoded(wire.decoded_error, body))
        if kind != answer:
            raise self._ended(f"answered {message[0]} with {kind!r}")
        return body

    def _ended(self, what: str) -> IsolationError:
        self.close()
        code = self._process.returncode
        return IsolationError(
            f"The process of the isolated agent {what} (exit code {code}). What it wrote to "
            "standard error is above."
        )


def _place(rng: np.random.Generator) -> tuple[list[int], int]:
    """The key of a stream and its round: nothing of the seed."""
    state = rng.bit_generator.state
    if state["bit_generator"] == "Philox":
        first, second, t, fourth = state["state"]["counter"].tolist()
        unused = state["buffer_pos"] == EMPTY_BUFFER and not state["has_uint32"]
        if unused and not (first or second or fourth):
            return state["state"]["key"].tolist(), t
    raise ProtocolError(
        "An isolated agent draws from the stream of its run, at the beginning of a round. To "
        "use it elsewhere, save it and load it."
    )


class _Numbering(pickle.Pickler):
    """Pickles, but lists of responses by their number."""

    def __init__(self, file: io.BytesIO, number: Any) -> None:
        super().__init__(file, protocol=5)
        self._number = number

    def persistent_id(self, thing: Any) -> tuple[int, Any] | None:
        return self._number(thing) if type(thing) is Listed else None


def _described(choice: Choice) -> tuple[Any, ...]:
    """A choice without features, which the process looks up; a shortlist by its responses."""
    response, _, *told, shortlist = choice
    return response, *told, None if shortlist is None else shortlist.responses


def _raised(kind: str, message: str, traceback: str) -> TellbackError:
    if kind in _OWN_ERRORS:
        return _OWN_ERRORS[kind](f"{message}\n\nIn the isolated agent:\n{traceback}")
    return IsolationError(f"The isolated agent raised {kind}: {message}\n\n{traceback}")
