"""What passes through the pipes is decoded strictly, and exactly."""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tellback.isolation import wire
from tellback.roles import Choice


@pytest.mark.parametrize("response", [0, 2**70, "a sentence", (1, "b", (2,)), ()])
@pytest.mark.parametrize("propensity", [None, 0.1])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_choices_survive_the_wire_bit_for_bit(
    response: Any, propensity: float | None, number: float
) -> None:
    numbers = (0.1 + 0.2, -0.0, propensity, number, 5e-324)
    frame = wire.encoded_choice(Choice(response, np.empty(0), *numbers))
    assert frame[:1] == wire.CHOICE
    found, account, shortlist = wire.decoded_choice(frame[1:])
    assert found == response
    assert shortlist is None
    for one, other in zip(account, numbers, strict=True):
        assert (one is None and other is None) or struct.pack("d", one) == struct.pack("d", other)


BOMB = pickle.dumps(print)


@pytest.mark.parametrize(
    "decode",
    [wire.decoded_choice, wire.decoded_value, wire.decoded_error, wire.decoded_state],
)
@pytest.mark.parametrize(
    "body",
    [b"", b"x", BOMB, b"[" * 100_000, b'{"a": 1}', b"[[1]]", b"\xff" * 60, b"[1, 2, 3]"],
    ids=repr,
)
def test_whatever_comes_is_decoded_or_refused(decode: Callable[[bytes], Any], body: bytes) -> None:
    with pytest.raises(wire.WireError):
        decode(body)


@pytest.mark.parametrize("text", [b"null", b"1.5", b'{"a": 1}', b"[null]", b"[" * 40 + b"]" * 40])
def test_a_response_is_a_number_a_text_or_a_tuple(text: bytes) -> None:
    body = b"[" + text + b", 0.0, 0.0, null, 0.0, 0.0]"
    with pytest.raises(wire.WireError):
        wire.decoded_choice(body)


@pytest.mark.parametrize(
    "account",
    [b"null, 0.0, null, 0.0, 0.0", b"0.0, 1, null, 0.0, 0.0", b'0.0, 0.0, "a", 0.0, 0.0', b"0.0"],
    ids=repr,
)
def test_the_other_fields_of_a_choice_are_numbers(account: bytes) -> None:
    with pytest.raises(wire.WireError, match="a choice w"):
        wire.decoded_choice(b"[0, " + account + b", null]")


def test_a_state_with_a_pickle_in_it_is_refused() -> None:
    file = io.BytesIO()
    arrays: dict[str, Any] = {"state.a": np.array([print], dtype=object)}
    np.savez(file, **arrays)
    with pytest.raises(wire.WireError):
        wire.decoded_state(file.getvalue())


def test_a_state_that_would_grow_is_refused() -> None:
    file = io.BytesIO()
    arrays: dict[str, Any] = {"state.a": np.zeros(100_000)}
    np.savez_compressed(file, **arrays)
    with pytest.raises(wire.WireError, match="compressed"):
        wire.decoded_state(file.getvalue())


def test_only_a_state_may_be_large() -> None:
    large = struct.pack("<Q", 1 << 30)
    assert wire.length_of(large, wire.most_bytes(wire.STATE)) == 1 << 30
    for kind in (wire.CHOICE, wire.VALUE, wire.ERROR):
        with pytest.raises(wire.WireError, match="bytes"):
            wire.length_of(large, wire.most_bytes(kind))


def test_the_text_of_an_error_is_cut() -> None:
    frame = wire.encoded_error("KeyError", "\u20ac" * 10**7, "x" * 10**7)
    assert len(frame) < wire.most_bytes(wire.ERROR)
