"""Random streams keyed by seed, role and round.

World, teacher and agent of a run draw from streams of their own, and each stream starts
afresh every round at a place that depends on nothing but the run's seed, the role and the
round's number. Hence two agents with one seed meet the same tasks however much either of
them draws, a run can be taken up at any round, and descriptions may be given in any order.

A stream is a NumPy ``Generator`` over the counter-based Philox generator: the round's
number is a word of its counter. The key follows from seed and role. An agent that draws from a
stream can read its key, and from the key find a seed below 2**64. From the key of a larger
seed, which is a cryptographic hash, there is no way back.
"""

from __future__ import annotations

import ctypes
import hashlib
import zlib
from collections.abc import Sequence

import numpy as np

from tellback.arrays import AnyArray
from tellback.errors import whole

EMPTY_BUFFER = 4
"""Philox makes four words at a time; position 4 says that all are used."""

SECRET_FROM = 2**64
"""Seeds from here on are not found by trying, and their keys do not show them either."""


class _PhiloxState(ctypes.Structure):
    """NumPy's C state of a Philox generator (``philox_state`` in its philox.h)."""

    _fields_ = (
        ("counter", ctypes.POINTER(ctypes.c_uint64 * 4)),
        ("key", ctypes.POINTER(ctypes.c_uint64 * 2)),
        ("buffer_position", ctypes.c_int),
        ("buffer", ctypes.c_uint64 * 4),
        ("has_uint32", ctypes.c_int),
        ("uinteger", ctypes.c_uint32),
    )


# Where in the state, counted in C integers, the two are that repositioning resets.
_BUFFER_POSITION = _PhiloxState.buffer_position.offset // ctypes.sizeof(ctypes.c_int)
_HAS_UINT32 = _PhiloxState.has_uint32.offset // ctypes.sizeof(ctypes.c_int)


class Stream:
    """The random stream of one role in one run.

    Parameters
    ----------
    seed : int
        The run's seed.
    role : str
        Whose stream it is; another role with the same seed gets an unrelated one.
    """

    def __init__(self, seed: int, role: str) -> None:
        self._build(_key(whole("seed", seed, at_least=0), role))

    @classmethod
    def with_key(cls, key: Sequence[int]) -> Stream:
        """The stream with a key, for one who may draw from it and not know the seed."""
        stream = cls.__new__(cls)
        stream._build(np.array(key, dtype=np.uint64))
        return stream

    @property
    def key(self) -> tuple[int, int]:
        """The two words that make it, which follow from seed and role."""
        first, second = self._philox.state["state"]["key"].tolist()
        return first, second

    def _build(self, key: AnyArray) -> None:
        self._philox = np.random.Philox(key=key)
        self.generator = np.random.Generator(self._philox)
        # Repositioning through the public ``state`` property costs ten times as much as
        # writing the counter in place, three times a round. What is read there is held
        # against the public state before anything is written.
        self._state = _PhiloxState.from_address(self._philox.ctypes.state_address)
        self._counter = memoryview(self._state.counter.contents).cast("B").cast("Q")
        self._integers = memoryview(self._state).cast("B").cast("i")
        self._in_place = self._layout_is_as_expected()

    def at(self, t: int) -> np.random.Generator:
        """The stream at the beginning of round ``t`` (the same object every time)."""
        if not self._in_place:
            self._reposition_publicly(t)
            return self.generator
        counter, integers = self._counter, self._integers
        counter[0] = counter[1] = counter[3] = 0
        counter[2] = t
        integers[_BUFFER_POSITION] = EMPTY_BUFFER
        integers[_HAS_UINT32] = 0
        return self.generator

    def _reposition_publicly(self, t: int) -> None:
        state = self._philox.state
        state["state"]["counter"][:] = (0, 0, t, 0)
        state["buffer_pos"] = EMPTY_BUFFER
        state["has_uint32"] = 0
        self._philox.state = state

    def _layout_is_as_expected(self) -> bool:
        """Whether the bytes at the state's address mean what ``_PhiloxState`` says."""
        self._reposition_publicly(7)
        self.generator.integers(2**31, dtype=np.uint32)
        public = self._philox.state
        state = self._state
        as_expected: bool = (
            list(self._counter) == public["state"]["counter"].tolist()
            and list(state.key.contents) == public["state"]["key"].tolist()
            and state.buffer_position == public["buffer_pos"]
            and list(state.buffer) == public["buffer"].tolist()
            and state.has_uint32 == public["has_uint32"]
            and state.uinteger == public["uinteger"]
        )
        return as_expected


def _key(seed: int, role: str) -> AnyArray:
    if seed >= SECRET_FROM:
        # Not SeedSequence: every step of it can be undone, so that an agent which reads the
        # key of its own stream would compute the seed, and from that the truth.
        digest = hashlib.blake2b(f"{seed:x} {role}".encode(), digest_size=16).digest()
        return np.frombuffer(digest, dtype="<u8").astype(np.uint64)
    # A small seed can be found by trying anyway; results that are stored keep their bits.
    entropy = [seed, zlib.crc32(role.encode())]
    return np.random.SeedSequence(entropy).generate_state(2, np.uint64)


CLASS_STREAM = "model class"
"""The role whose initial stream draws the members of a known model class."""


class Streams:
    """The streams of one run, by role.

    Parameters
    ----------
    seed : int
        The run's seed.
    """

    def __init__(self, seed: int) -> None:
        self._seed = whole("seed", seed, at_least=0)

    def stream(self, role: str) -> Stream:
        """A stream for the rounds of the run."""
        return Stream(self._seed, role)

    def init(self, role: str) -> np.random.Generator:
        """The generator from which a world or an agent draws when it is brought to life."""
        return self.init_stream(role).at(0)

    def init_stream(self, role: str) -> Stream:
        """The stream to which that generator belongs."""
        return Stream(self._seed, f"birth of {role}")
