"""A stream's place depends on seed, role and round, and on nothing else."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from tellback.errors import SettingError
from tellback.streams import SECRET_FROM, Stream, Streams

Draw = Callable[[np.random.Generator], object]

DRAWS: dict[str, Draw] = {
    "nothing": lambda rng: None,
    "one number": lambda rng: rng.random(),
    "seven numbers": lambda rng: rng.random(7),
    "half a word": lambda rng: rng.integers(2**31, dtype=np.uint32),
    "three half words": lambda rng: rng.integers(2**31, size=3, dtype=np.uint32),
    "normals": lambda rng: rng.standard_normal(1001),
    "float32": lambda rng: rng.random(3, dtype=np.float32),
    "bytes": lambda rng: rng.bytes(5),
    "a shuffle": lambda rng: rng.permutation(17),
}


def sample(rng: np.random.Generator) -> bytes:
    """What a round might draw, with half words, whole words and rejection."""
    parts = [
        rng.integers(2**31, size=3, dtype=np.uint32).tobytes(),
        rng.random(5).tobytes(),
        rng.integers(10, size=3).tobytes(),
        rng.standard_normal(9).tobytes(),
    ]
    return b"".join(parts)


@pytest.mark.parametrize("name", DRAWS)
def test_what_was_drawn_before_does_not_matter(name: str) -> None:
    stream = Stream(5, "agent")
    DRAWS[name](stream.at(3))
    DRAWS[name](stream.at(9))
    assert sample(stream.at(4)) == sample(Stream(5, "agent").at(4))


@pytest.mark.parametrize("words", [1234, 2**70, 2**200 + 2**140 + 2**65 + 3])
def test_a_generator_that_was_advanced_far_does_not_matter_either(words: int) -> None:
    stream = Stream(5, "agent")
    stream.at(3).bit_generator.advance(words)  # type: ignore[attr-defined]
    assert sample(stream.at(4)) == sample(Stream(5, "agent").at(4))


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("t", [0, 1, 2, 1000, 2**32, 2**40 + 1])
def test_the_fast_way_to_a_round_is_the_public_way_bit_for_bit(name: str, t: int) -> None:
    fast, public = Stream(8, "world"), Stream(8, "world")
    public._in_place = False
    for stream in (fast, public):
        DRAWS[name](stream.at(t + 5))
    assert sample(fast.at(t)) == sample(public.at(t))


def test_the_fast_way_is_in_use_here() -> None:
    assert Stream(0, "world")._in_place


def test_rounds_may_be_visited_in_any_order() -> None:
    forwards, backwards = Stream(1, "teacher"), Stream(1, "teacher")
    there = [sample(forwards.at(t)) for t in range(50)]
    back = [sample(backwards.at(t)) for t in reversed(range(50))]
    assert there == back[::-1]


def test_seeds_roles_and_rounds_all_give_other_numbers() -> None:
    seen = {
        sample(Stream(seed, role).at(t))
        for seed in (0, 1, 2, 2**40, 2**100)
        for role in ("world", "teacher", "agent", "delay", "birth of world")
        for t in range(40)
    }
    assert len(seen) == 5 * 5 * 40


def test_rounds_do_not_overlap_even_when_much_is_drawn() -> None:
    stream = Stream(0, "world")
    words = np.concatenate([stream.at(t).integers(2**63, size=20_000) for t in range(5)])
    assert len(np.unique(words)) == len(words)


def test_first_numbers_of_the_rounds_are_uniform_and_uncorrelated() -> None:
    stream = Stream(0, "agent")
    first = np.array([stream.at(t).random() for t in range(20_000)])
    other = Stream(0, "teacher")
    beside = np.array([other.at(t).random() for t in range(20_000)])
    assert stats.kstest(first, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 0.03
    assert abs(np.corrcoef(first, beside)[0, 1]) < 0.03


def test_first_numbers_of_the_seeds_are_uniform() -> None:
    first = np.array([Stream(seed, "world").at(1).random() for seed in range(4000)])
    assert stats.kstest(first, "uniform").pvalue > 0.01


def test_no_seed_is_reachable_from_the_generator() -> None:
    rng = Streams(12345).stream("agent").at(1)
    assert rng.bit_generator.seed_seq is None
    assert 12345 not in np.asarray(rng.bit_generator.state["state"]["key"]).tolist()


ROLES = ("world", "teacher", "agent", "delay", "birth of world", "birth of agent")


def reversible_key(seed: int, role: str) -> list[int]:
    """By NumPy's SeedSequence, which can be undone."""
    entropy = [seed, zlib.crc32(role.encode())]
    words: list[int] = np.random.SeedSequence(entropy).generate_state(2, np.uint64).tolist()
    return words


@pytest.mark.parametrize("role", ROLES)
def test_small_seeds_keep_their_streams(role: str) -> None:
    for seed in (0, 1, 12345, SECRET_FROM - 1):
        assert list(Stream(seed, role).key) == reversible_key(seed, role)


def test_the_key_of_a_large_seed_cannot_be_undone() -> None:
    seeds = (SECRET_FROM, SECRET_FROM + 1, 2**127 + 3, 2**128 - 1, 2**20_000)
    keys = {(seed, role): Stream(seed, role).key for seed in seeds for role in ROLES}
    assert len(set(keys.values())) == len(keys)
    for (seed, role), key in keys.items():
        assert list(key) != reversible_key(seed, role)
    # Runs with such a seed can be repeated, on any machine.
    assert keys[2**127 + 3, "agent"] == (
        13603060748431327225,
        13671035719095470081,
    )


def test_births_are_streams_of_their_own() -> None:
    streams = Streams(3)
    born = [sample(streams.init(role)) for role in ("world", "agent")]
    lived = [sample(streams.stream(role).at(0)) for role in ("world", "agent")]
    assert len({*born, *lived}) == 4
    assert born == [sample(Streams(3).init(role)) for role in ("world", "agent")]


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None, True])
def test_a_seed_that_is_no_whole_number_is_refused_by_name(seed: object) -> None:
    with pytest.raises(SettingError, match="seed"):
        Streams(seed)  # type: ignore[arg-type]
