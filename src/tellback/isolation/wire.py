"""What passes through the pipes between the referee and an isolated agent.

Messages are frames: eight bytes that give the length, then so many bytes. Towards the agent
they are pickled: the referee is trusted. Towards the referee they begin with the token of the
question, and are one of a few kinds, each decoded strictly: JSON, and arrays by NumPy without
pickle.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from typing import Any, BinaryIO

import numpy as np

from tellback.roles import ACCOUNT, Choice, State
from tellback.saved import packed, unpacked

CHOICE, ERROR, STATE, VALUE = b"C", b"E", b"S", b"V"
"""The kinds of answers."""

TOKEN_BYTES = 8
"""Of the random token that comes with a question and must be in its answer."""

_MOST_BYTES, _MOST_BYTES_OF_A_STATE = 1 << 24, 1 << 32
_LONGEST_TEXT = 100_000  # of an error

_LENGTH = struct.Struct("<Q")
HEADER = _LENGTH.size
_DEEPEST = 32


class WireError(Exception):
    """An answer that is not allowed."""


def most_bytes(kind: bytes) -> int:
    """Of one answer: a broken or hostile process must not make the referee read for ever."""
    return _MOST_BYTES_OF_A_STATE if kind == STATE else _MOST_BYTES


def framed(message: bytes) -> bytes:
    """A frame."""
    return _LENGTH.pack(len(message)) + message


def length_of(header: bytes, most: int) -> int:
    """How many bytes follow the first ``HEADER`` ones of a frame."""
    length: int = _LENGTH.unpack(header)[0]
    if length > most:
        raise WireError(f"{length} bytes, where {most} are allowed")
    return length


def send(pipe: BinaryIO, message: bytes) -> None:
    """Write a frame."""
    pipe.write(framed(message))
    pipe.flush()


def receive(pipe: BinaryIO) -> bytes:
    """Read a frame; an EOFError if the other side has gone."""
    return _read(pipe, _LENGTH.unpack(_read(pipe, HEADER))[0])


def _read(pipe: BinaryIO, count: int) -> bytes:
    data = pipe.read(count)
    if len(data) < count:
        raise EOFError
    return data


def encoded_choice(choice: Choice) -> bytes:
    """A choice without its features, which the referee looks up.

    Not ``Choice.to_data``: an infinite width must arrive as it is.
    """
    response, _, *account, shortlist = choice
    numbers = [None if number is None else float(number) for number in account]
    among = None if shortlist is None else _plain(shortlist.responses)
    return CHOICE + json.dumps([_plain(response), *numbers, among]).encode()


def decoded_choice(body: bytes) -> tuple[Any, list[float | None], tuple[Any, ...] | None]:
    """The response, what the agent says of it, and the responses of its shortlist."""
    fields = _json(body)
    if not isinstance(fields, list) or len(fields) != 2 + len(ACCOUNT):
        raise WireError("a choice with other fields")
    response, *account, among = fields
    if among is not None and not isinstance(among, list):
        raise WireError(f"a shortlist of {type(among).__name__}")
    for name, number in zip(ACCOUNT, account, strict=True):
        if type(number) is not float and (number is not None or name != "propensity"):
            raise WireError(f"a choice whose {name} is of {type(number).__name__}")
    return _response(response), account, None if among is None else _response(among)


def _plain(response: Any) -> Any:
    if isinstance(response, np.integer):
        return int(response)
    if isinstance(response, tuple):
        return [_plain(part) for part in response]
    if isinstance(response, int | str):
        return response
    raise TypeError(
        "An isolated agent's response must be a whole number, a text or a tuple of them, "
        f"not {response!r}."
    )


def _response(data: Any, depth: int = 0) -> Any:
    if isinstance(data, list) and depth < _DEEPEST:
        return tuple(_response(part, depth + 1) for part in data)
    if type(data) in (int, str, bool):
        return data
    raise WireError(f"a response of {type(data).__name__}")


def encoded_value(value: object) -> bytes:
    """A text, a number, True, False or None."""
    if type(value) not in (str, int, float, bool, type(None)):
        raise TypeError(f"{type(value).__name__} stays in the agent's process.")
    return VALUE + json.dumps(value).encode()


def decoded_value(body: bytes) -> str | int | float | bool | None:
    """The text, the number, True, False or None."""
    value: str | int | float | bool | None = _json(body)
    if type(value) not in (str, int, float, bool, type(None)):
        raise WireError(f"a value of {type(value).__name__}")
    return value


def encoded_error(kind: str, message: str, traceback: str) -> bytes:
    """What went wrong in the agent, as text."""
    texts = [kind[:_LONGEST_TEXT], message[:_LONGEST_TEXT], traceback[-_LONGEST_TEXT:]]
    return ERROR + json.dumps(texts).encode()


def decoded_error(body: bytes) -> tuple[str, str, str]:
    """The class of an error, its message and its traceback."""
    data = _json(body)
    if not isinstance(data, list) or len(data) != 3 or {type(one) for one in data} != {str}:
        raise WireError("an error that is no text")
    kind, message, traceback = data
    return kind, message, traceback


def encoded_state(state: State) -> bytes:
    """Arrays and numbers in NumPy's format."""
    return STATE + packed(state)


def decoded_state(body: bytes) -> State:
    """The arrays and numbers."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as members:
            infos = members.infolist()
        # As NumPy's savez writes it. What is compressed may be a thousand times as large.
        if any(info.compress_type != zipfile.ZIP_STORED for info in infos):
            raise WireError("a state that is compressed")
        if sum(info.file_size for info in infos) > len(body):
            raise WireError("a state that is larger than its bytes")
        return unpacked(body)
    except WireError:
        raise
    except Exception as error:  # NumPy and zipfile raise many kinds
        raise WireError(f"a state that cannot be read: {error!r}") from error


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"no JSON: {error!r}") from error
