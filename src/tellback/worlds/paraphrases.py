"""Pictures, and people who say it in their own words.

The image world again, but nobody keeps to templates: the teacher types one of many wordings,
and what is asked for is worded in ways that no teacher uses.

Hence the paper's reward, the probability that the teacher says the very words of the
instruction, would be zero for every response. Here the hidden reward goes by meaning: 1 if
the picture is what the instruction asks for, else 0. It is what the person who asks cares
about. An estimate of P(x | y, s) can order responses by it, but is no estimate of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import ClassVar, TypeVar

import numpy as np

from tellback.encoders.ngrams import NGrams
from tellback.encoders.text import TextEncoderSpec, demand_text_encoder
from tellback.responses import Listed
from tellback.roles import Exchange, Simulation, Task
from tellback.similarity import SentencePair, Similar
from tellback.worlds.images import Images, Scene, SceneFeatures, features_of_scenes, shape_of
from tellback.worlds.pictures import Gallery
from tellback.worlds.sentences import Object
from tellback.worlds.wordings import ASKING, TEACHING, Meaning, all_sentences, meaning_of, worded

Thing = TypeVar("Thing")

CALIBRATING_PAIRS = 1200  # of either sort, among teaching wordings: a fourth teaches the space
MEASURING_PAIRS = 1000  # of either sort, an asking wording and a teaching wording each


@dataclass(frozen=True)
class Paraphrases(Images):
    """Pictures to choose from, asked for and described in free words.

    The teacher draws one of 44 wordings, each name by its usual word seven times out of ten
    and else by a synonym; tasks ask in 24 other wordings. One name in fifty that is asked
    for is a synonym which no teacher uses. Two wordings of each sort name only the type or
    only the colour. ``worlds.wordings`` has them all.

    The reward goes by meaning: 1 if the picture fits what the instruction says of it, else 0.
    Exact words never return, so P(x | y, s) would be no reward.

    Parameters
    ----------
    variant, responses, types, colours, encoder
        As in ``Images``.
    alike_by : TextEncoderSpec
        By which encoder this world's ``match`` compares sentences. Agents know nothing of it.
    """

    alike_by: TextEncoderSpec = field(default_factory=NGrams)

    def __post_init__(self) -> None:
        super().__post_init__()
        demand_text_encoder("alike_by", self.alike_by)

    @property
    def match(self) -> Similar:
        """When a description is what was asked for, as judged by words alone.

        Calibrated on pairs of teaching wordings; its error rates are measured on pairs of an
        asking and a teaching wording, drawn as the tasks draw them. A description that leaves
        open what was asked for cannot be judged rightly each time.
        """
        return _match(self.alike_by, tuple(self.gallery.objects), self.responses)

    def build(self, rng: np.random.Generator) -> Simulation:
        """Bring the encoder of pictures to life, training it first if that was never done."""
        return Simulation(
            world=ParaphrasesWorld(self, features_of_scenes(self.encoder, self.gallery)),
            teacher=ParaphrasesTeacher(),
            truth=ParaphrasesTruth(self.gallery),
        )


class ParaphrasesWorld:
    """Draws objects, places them, and asks for one of them in words of its own."""

    memory: ClassVar[int] = 0

    def __init__(self, spec: Paraphrases, features: SceneFeatures) -> None:
        self.facts = spec.facts
        self._spec = spec
        self._gallery = spec.gallery
        self._features = features

    @cached_property
    def match(self) -> Similar:
        """When a description is what was asked for."""
        return self._spec.match

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """A scene, and a sentence that is true of one of its pictures."""
        shown = _drawn(self._gallery.objects, self._spec.responses, rng)
        wanted = _any(shown, rng)
        instruction = worded(_any(ASKING, rng), wanted, rng, asking=True)
        scene = Scene(tuple(self._gallery.shape(thing, rng) for thing in shown))
        return Task(scene, instruction, Listed(self._features(scene)))


class ParaphrasesTeacher:
    """Types what the chosen picture shows."""

    def describe(self, context: Scene, response: int, rng: np.random.Generator) -> str:
        """A sentence that is true of the picture, in one of the teaching wordings."""
        shape = shape_of(context, response)
        return worded(_any(TEACHING, rng), (shape.type, shape.colour), rng)


class ParaphrasesTruth:
    """1 if a picture fits what an instruction means, else 0."""

    by_meaning: ClassVar[bool] = True

    def __init__(self, gallery: Gallery) -> None:
        self._meanings = _meanings(tuple(gallery.objects))

    def reward(self, task: Task, response: int) -> float:
        """Whether the picture is what was asked for; words of no wording mean nothing here."""
        shape = shape_of(task.context, response)
        meaning = self._meanings.get(str(task.instruction))
        return float(meaning is not None and meaning.fits((shape.type, shape.colour)))

    def best(self, task: Task) -> float:
        """1 if any picture is."""
        return max(self.reward(task, y) for y in range(len(task.context.shapes)))


@lru_cache(8)
def _meanings(objects: tuple[Object, ...]) -> dict[str, Meaning]:
    """What every sentence of this world means."""
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
    """What may be asked in a task, and told of a picture that is, or is not, what was asked."""
    while True:
        shown = _drawn(objects, responses, rng)
        wording = _any(wordings, rng)
        meaning = meaning_of(wording, shown[0])
        others = [thing for thing in shown if meaning.fits(thing) == alike]
        if others:
            asked = worded(wording, shown[0], rng, asking=wordings is ASKING)
            return asked, worded(_any(TEACHING, rng), _any(others, rng), rng)


def _drawn(objects: Sequence[Object], count: int, rng: np.random.Generator) -> list[Object]:
    return [objects[i] for i in rng.choice(len(objects), count, replace=False)]


def _any(things: Sequence[Thing], rng: np.random.Generator) -> Thing:
    return things[int(rng.random() * len(things))]
