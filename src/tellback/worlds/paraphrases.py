"""The image world with free wordings instead of templates.

The teacher types one of many wordings, and instructions have wordings that no teacher uses.

So the paper's reward, the probability that the teacher says exactly the instruction, would be
zero for every response. Here the hidden reward is by meaning: 1 if the picture fits the
instruction, else 0. An estimate of P(x | y, s) can rank responses by this reward, but does not
estimate it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from tellback.encoders.ngrams import NGrams
from tellback.encoders.text import TextEncoderSpec, demand_text_encoder
from tellback.roles import Simulation, Task
from tellback.similarity import SentencePair, Similar
from tellback.worlds.images import (
    Images,
    ImagesTruth,
    ImagesWorld,
    Scene,
    features_of_scenes,
    shape_of,
)
from tellback.worlds.pictures import Gallery
from tellback.worlds.sentences import Object, choice, sample
from tellback.worlds.wordings import (
    ASKING,
    TEACHING,
    Meaning,
    all_sentences,
    meaning_of,
    names_in,
    worded,
)

CALIBRATING_PAIRS = 1200  # alike, and as many unlike, of teaching wordings
MEASURING_PAIRS = 1000  # alike, and as many unlike, of an asking and a teaching wording


@dataclass(frozen=True)
class Paraphrases(Images):
    """Pictures to choose from, with instructions and descriptions in free words.

    The teacher draws one of 44 wordings; instructions have 24 other wordings. Names are the main
    one in 7 of 10 cases, else a synonym. One name in 50 in an instruction is a synonym that no
    teacher uses. Two wordings of each sort name only the type or only the colour.
    ``worlds.wordings`` has them all.

    The reward is by meaning: 1 if the picture fits the instruction, else 0. Exact words never
    come again, so P(x | y, s) cannot be the reward.

    Parameters
    ----------
    variant, responses, types, colours, encoder
        As in ``Images``.
    alike_by : TextEncoderSpec
        The encoder with which this world's ``match`` compares sentences. Agents do not know it.
    """

    alike_by: TextEncoderSpec = field(default_factory=NGrams)

    def __post_init__(self) -> None:
        super().__post_init__()
        demand_text_encoder("alike_by", self.alike_by)

    @property
    def match(self) -> Similar:
        """When a description matches the instruction, by words alone.

        Calibrated on pairs of teaching wordings. Its error rates are measured on pairs of an
        asking and a teaching wording, drawn as in tasks. If a description leaves the type or
        the colour open, words alone cannot decide.
        """
        return _match(self.alike_by, tuple(self.gallery.objects), self.responses)

    @staticmethod
    def names_in(sentence: str) -> list[str]:
        """The names of types and colours in a sentence: the words that its meaning rests on."""
        return names_in(sentence)

    def build(self, rng: np.random.Generator) -> Simulation:
        """Build the encoder of pictures, trained if it needs training."""
        return Simulation(
            world=ParaphrasesWorld(self, features_of_scenes(self.encoder, self.gallery)),
            teacher=ParaphrasesTeacher(),
            truth=ParaphrasesTruth(self.gallery),
        )


class ParaphrasesWorld(ImagesWorld):
    """Draws objects, places them, and asks for one of them in free words."""

    _spec: Paraphrases

    @cached_property
    def match(self) -> Similar:
        """When a description matches the instruction."""
        return self._spec.match

    def _ask(self, thing: Object, rng: np.random.Generator) -> str:
        return worded(choice(ASKING, rng), thing, rng, asking=True)


class ParaphrasesTeacher:
    """Describes the chosen picture in free words."""

    def describe(self, context: Scene, response: int, rng: np.random.Generator) -> str:
        """A sentence that is true of the picture, in one of the teaching wordings."""
        shape = shape_of(context, response)
        return worded(choice(TEACHING, rng), (shape.type, shape.colour), rng)


class ParaphrasesTruth(ImagesTruth):
    """1 if a picture fits the instruction, else 0."""

    by_meaning: ClassVar[bool] = True

    def __init__(self, gallery: Gallery) -> None:
        self._meanings = _meanings(tuple(gallery.objects))

    def reward(self, task: Task, response: int) -> float:
        """1 if the picture fits the instruction; 0 also for sentences of no wording."""
        shape = shape_of(task.context, response)
        meaning = self._meanings.get(str(task.instruction))
        return float(meaning is not None and meaning.fits((shape.type, shape.colour)))


@lru_cache(8)
def _meanings(objects: tuple[Object, ...]) -> dict[str, Meaning]:
    """The meaning of every sentence of this world."""
    return {
        sentence: meaning_of(wording, thing)
        for thing in objects
        for wording in TEACHING + ASKING
        for sentence in all_sentences(wording, thing)
    }


@lru_cache(8)
def _match(alike_by: TextEncoderSpec, objects: tuple[Object, ...], responses: int) -> Similar:
    rng = np.random.default_rng(0)  # the same match for all runs

    def pairs(wordings: Sequence[str], count: int, alike: bool) -> list[SentencePair]:
        return [_pair(wordings, objects, responses, rng, alike) for _ in range(count)]

    match = Similar.calibrated(
        alike_by,
        alike=pairs(TEACHING, CALIBRATING_PAIRS, True),
        unlike=pairs(TEACHING, CALIBRATING_PAIRS, False),
    )
    return match.measured_on(
        alike=pairs(ASKING, MEASURING_PAIRS, True), unlike=pairs(ASKING, MEASURING_PAIRS, False)
    )


def _pair(
    wordings: Sequence[str],
    objects: Sequence[Object],
    responses: int,
    rng: np.random.Generator,
    alike: bool,
) -> SentencePair:
    """An instruction of a task, and a description of a picture that fits it or not."""
    while True:
        shown = sample(objects, responses, rng)
        wording = choice(wordings, rng)
        meaning = meaning_of(wording, shown[0])
        others = [thing for thing in shown if meaning.fits(thing) == alike]
        if others:
            asked = worded(wording, shown[0], rng, asking=wordings is ASKING)
            return asked, worded(choice(TEACHING, rng), choice(others, rng), rng)
