"""How well words alone tell whether two sentences of a recording are of one response."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import NamedTuple

from tellback.encoders.ngrams import NGrams
from tellback.roles import Simulation
from tellback.similarity import FEWEST_PAIRS, SentencePair, Similar
from tellback.streams import Stream

ROUNDS = 1200
"""Rounds in which they are looked for."""


class _Pair(NamedTuple):
    """An instruction, what the teacher said of a response, and of which half both responses are."""

    sentences: SentencePair
    alike: bool
    half: bool


def measured_match(simulation: Simulation) -> Similar:
    """A match for the rounds of a world of recordings.

    A pair is an instruction and what the teacher would say of the right response, or of another
    one. The threshold is chosen on one half of the responses, and the error rates are measured on
    the other half. In a very small recording all responses serve for both.
    """
    found = list(_pairs(simulation))
    halves = [_parted([pair for pair in found if pair.half is half]) for half in (False, True)]
    if min(len(pairs) for half in halves for pairs in half) < FEWEST_PAIRS:
        halves = [_parted(found)] * 2
    (alike, unlike), (other_alike, other_unlike) = halves
    return Similar.calibrated(NGrams(), alike, unlike).measured_on(other_alike, other_unlike)


def _parted(pairs: list[_Pair]) -> tuple[list[SentencePair], list[SentencePair]]:
    """The sentences of the alike pairs, and those of the others."""
    alike, unlike = (
        [pair.sentences for pair in pairs if pair.alike is alike] for alike in (True, False)
    )
    return alike, unlike


def _pairs(simulation: Simulation) -> Iterator[_Pair]:
    """An alike pair of each round, and one unlike, if that is not across the halves."""
    world, teacher, truth = simulation.world, simulation.teacher, simulation.truth
    assert truth is not None
    of_world, of_teacher = Stream(0, "match"), Stream(0, "teacher of the match")
    for t in range(1, ROUNDS + 1):
        task = world.task(t, (), of_world.at(t))
        ids = task.context.ids
        target = next(y for y in range(len(ids)) if truth.reward(task, y))
        half = _half(ids[target])
        others = [y for y in range(len(ids)) if y != target and _half(ids[y]) is half]
        for response in (target, *others[:1]):
            told = teacher.describe(task.context, response, of_teacher.at(t))
            yield _Pair((str(task.instruction), str(told)), response == target, half)


def _half(name: str) -> bool:
    """Which half of the responses one is in, the same each time and in every process."""
    return bool(zlib.crc32(name.encode()) & 1)
