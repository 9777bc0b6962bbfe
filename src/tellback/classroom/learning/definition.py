"""The definition of a lesson: responses, instructions, agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np

import tellback.encoders
import tellback.models
import tellback.worlds  # noqa: F401 - their specs can be named in definitions
from tellback.agents import LORIL, Greedy
from tellback.agents.agent import ModelAgent, ModelAgentSpec
from tellback.agents.proposing import Proposing
from tellback.classroom.learning.own_material import Material
from tellback.encoders.autoencoder import Autoencoder
from tellback.encoders.encoder import EncoderSpec
from tellback.encoders.ngrams import NGrams
from tellback.encoders.text import TextEncoderSpec
from tellback.encoders.thumbnail import Thumbnail
from tellback.errors import FieldError, TellbackError, one_of, real, whole
from tellback.matching import MatchSpec, Same
from tellback.models import Keywords, Ridge
from tellback.roles import Facts, Instruction, WorldSpec
from tellback.similarity import Similar
from tellback.specs import Data, Spec, part_from_data, part_types
from tellback.streams import Streams

FEATURES, TEXTS, IMAGES = "features", "texts", "images"
CANDIDATES = (FEATURES, TEXTS, IMAGES)
"""The kinds of responses: features, or texts or pictures that are encoded here."""

OFF, ASK, WEIGH = "off", "ask", "weigh"
DOUBT = (OFF, ASK, WEIGH)
"""What is done about doubtful descriptions."""

LONGEST_GUIDE = 2_000
MOST_CAUGHT = 0.5

LARGEST_DIM = 4096
LARGEST_TABLE = 2**20
"""Limit on features times instructions: models keep some numbers for each pair."""

LARGEST_STATE = 150 * 2**20  # bytes
"""Limit on the state of a new agent. Some copies of it are kept in memory, too."""

LARGEST_SETTING = 1_000
LARGEST_SETTINGS = {
    "batch": 256,
    "dim": LARGEST_DIM,
    "embedding": 512,
    "hidden": 512,
    "layers": 4,
    "longest": 16,
    "rank": 256,
    "refresh": 10_000,
    "seed": 2**63 - 1,
    "shortest": 16,
    "size": 64,
    "vocabulary": 10_000,
    "waves": 1_000,
    "words": 8,
}
"""Limits on whole numbers in settings: most are sizes or repetitions.

Users who need more can run the agent in a program of their own.
"""

MOST_PAIRS = 10_000
MOST_ANSWERS, LONGEST_ANSWER = 9, 40
"""Limits on the answers of a lesson: each is a button with a key."""


@dataclass(frozen=True)
class Definition:
    """The definition of a lesson.

    Parameters
    ----------
    candidates : "features", "texts" or "images"
        The kind of responses.
    dim : int, optional
        The number of features of a response, where features are given.
    instructions : int, optional
        The number of instructions; None if they are sentences.
    agent : ModelAgentSpec or Proposing, optional
        The agent. By default one that can learn from any features.
    encoder : TextEncoderSpec or EncoderSpec, optional
        The encoder of texts or pictures.
    match : MatchSpec, optional
        When a description matches a request. By default equality for a table of instructions,
        and similarity for sentences.
    world : WorldSpec, optional
        The source of tasks in a demonstration; without, programs bring them.
    answers : tuple of str, optional
        The only descriptions that are taken, such as ("yes", "no"). Teachers get a button for each.
    second_share : float
        The share of responses that are described by a second teacher, too: those of which a
        second description tells most, where doubt is not off.
    doubt : "off", "ask" or "weigh", optional
        What is done about doubtful descriptions: nothing; their teacher is asked; or the agent
        also leaves them out. By default teachers are asked where the model is quick enough.
    guide : str
        How to describe, a text that teachers can open.
    catch : float
        The share of a teacher's responses whose answers are known, to catch carelessness. They
        look like any other.
    seed : int
        The seed of all random streams.
    material : Material, optional
        The settings of a lesson of one's own material, whose items are stored with it.
    """

    candidates: str = FEATURES
    dim: int | None = None
    instructions: int | None = None
    agent: ModelAgentSpec | Proposing | None = None
    encoder: TextEncoderSpec | EncoderSpec | None = None
    match: MatchSpec | None = None
    world: WorldSpec | None = None
    answers: tuple[str, ...] | None = None
    second_share: float = 0.0
    doubt: str | None = None
    guide: str = ""
    catch: float = 0.0
    seed: int = 0
    material: Material | None = None
    facts: Facts = field(init=False)

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "candidates", _named("candidates", one_of, self.candidates, CANDIDATES))
        set_field(self, "encoder", self._usual_encoder())
        dim = self._dim()
        set_field(self, "dim", dim)
        if self.instructions is not None:
            _named("instructions", whole, self.instructions)
            if self.instructions > LARGEST_DIM:
                raise FieldError("instructions", f"instructions must be at most {LARGEST_DIM}.")
        if dim * (self.instructions or 1) > LARGEST_TABLE:
            raise FieldError(
                "instructions", f"dim times instructions must be at most {LARGEST_TABLE:,}."
            )
        set_field(self, "facts", Facts(dim, self.instructions))
        set_field(self, "agent", self._checked_agent())
        set_field(self, "answers", self._checked_answers())
        free = self.facts.language and self.answers is None
        set_field(self, "match", self.match or (Similar() if free else Same()))
        assert self.match is not None
        _refuse_huge("match", self.match.to_data())
        share = _named("second_share", real, self.second_share, at_least=0, at_most=1)
        set_field(self, "second_share", share)
        usual = ASK if self._doubtable else OFF
        set_field(self, "doubt", _named("doubt", one_of, self.doubt or usual, DOUBT))
        if self.doubt != OFF and not self.facts.language:
            raise FieldError("doubt", "doubt is for descriptions in words, not for numbers.")
        if len(self.guide) > LONGEST_GUIDE:
            raise FieldError("guide", f"guide must have at most {LONGEST_GUIDE:,} characters.")
        set_field(self, "catch", _named("catch", real, self.catch, at_least=0, at_most=MOST_CAUGHT))
        set_field(self, "seed", _named("seed", whole, self.seed, at_least=0))

    @property
    def _doubtable(self) -> bool:
        """Whether descriptions can be weighed quickly, by a model that learns from few."""
        model = getattr(self.agent, "model", None)
        words = self.facts.language and self.answers is None
        return words and isinstance(model, Keywords)

    def _usual_encoder(self) -> TextEncoderSpec | EncoderSpec | None:
        wanted: type[Spec] | None = {TEXTS: TextEncoderSpec, IMAGES: EncoderSpec}.get(
            self.candidates
        )
        if wanted is None:
            if self.encoder is not None:
                raise FieldError("encoder", "encoder is for texts and images, not for features.")
            return None
        if self.encoder is None:
            return NGrams(dim=256) if self.candidates == TEXTS else Thumbnail()
        if not isinstance(self.encoder, wanted):
            raise FieldError(
                "encoder", f"encoder must encode {self.candidates}, not {self.encoder!r}."
            )
        if isinstance(self.encoder, Autoencoder):
            raise FieldError(
                "encoder", "encoder must need no training: an autoencoder has to be trained first."
            )
        _refuse_huge("encoder", self.encoder.to_data())
        return self.encoder

    def _dim(self) -> int:
        if self.world is not None:
            return self.world.facts.dim
        given = self.dim if self.encoder is None else self.encoder.dim
        if given is None:
            raise FieldError("dim", "dim must say how many features a response has.")
        dim: int = _named("dim", whole, given)
        if dim > LARGEST_DIM:
            raise FieldError("dim", f"dim must be at most {LARGEST_DIM}, not {dim}.")
        return dim

    def _checked_agent(self) -> ModelAgentSpec | Proposing:
        agent = self.agent or _usual_agent(self.facts)
        if not isinstance(agent, ModelAgentSpec | Proposing):
            raise FieldError(
                "agent", f"agent must be a model and an explorer, such as loril, not {agent!r}."
            )
        _refuse_huge("agent", agent.to_data())
        return agent.resolved(self.facts)

    def _checked_answers(self) -> tuple[str, ...] | None:
        given: Any = self.answers  # from data: it may be anything
        if given is None:
            return None
        if not self.facts.language:
            raise FieldError("answers", "answers are for lessons whose instructions are sentences.")
        if not isinstance(given, list | tuple) or not 2 <= len(given) <= MOST_ANSWERS:
            raise FieldError("answers", f"answers must be from 2 to {MOST_ANSWERS} texts.")
        if not all(isinstance(one, str) and _is_short(one.strip()) for one in given):
            raise FieldError("answers", f"answers must be texts of 1 to {LONGEST_ANSWER} letters.")
        if len({one.strip().casefold() for one in given}) < len(given):
            raise FieldError("answers", f"answers must be different, not {given!r}.")
        return tuple(one.strip() for one in given)

    def demand_description(self, description: Instruction, field: str = "description") -> None:
        """Raise an error that names the field, unless this can be a description in the lesson."""
        self.demand_instruction(description, field)
        if self.answers is not None:
            _named(field, one_of, description, self.answers)

    def demand_instruction(self, instruction: Instruction, field: str = "instruction") -> None:
        """Raise an error that names the field, unless this is an instruction of the lesson."""
        if not self.facts.fits(instruction):
            raise FieldError(field, f"{field} must be {self.facts.allowed} in this lesson.")

    def build(self) -> ModelAgent:
        """A new agent: the same one every time."""
        assert self.agent is not None
        return self.agent.build(self.facts, Streams(self.seed).init("agent"))

    def try_out(self) -> None:
        """Build the agent once, so that a definition that cannot work is refused now."""
        try:
            _refuse_large(self.build())
        except FieldError:
            raise
        except (TellbackError, MemoryError, ValueError) as error:
            raise FieldError("agent", f"agent cannot be built: {error}") from error

    def to_data(self) -> Data:
        """The definition as plain data."""
        data: Data = {}
        for setting in fields(self):
            value = getattr(self, setting.name)
            if setting.init:
                data[setting.name] = value.to_data() if isinstance(value, Spec) else value
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Definition:
        """The definition that ``to_data`` described, or part of it; errors name the field."""
        values = dict(data)
        for name in part_types(cls):
            if values.get(name) is not None:
                values[name] = _named(name, partial(part_from_data, cls), values[name])
        return cls(**values)

    @classmethod
    def stored(cls, data: Mapping[str, Any]) -> Definition:
        """The definition of a lesson that an older tellback may have stored.

        Where a part has a newer version by now, that one learns the lesson's log anew.
        """
        return cls.from_data(_unversioned(data))


def _unversioned(data: Mapping[str, Any]) -> Data:
    return {
        name: _unversioned(value) if isinstance(value, Mapping) else value
        for name, value in data.items()
        if name != "version"
    }


def _named(name: str, check: Any, *values: Any, **limits: Any) -> Any:
    """The checked value; an error names the field."""
    try:
        return check(name, *values, **limits)
    except (TellbackError, TypeError, ValueError, OverflowError, OSError) as error:
        raise FieldError(name, str(error)) from error


def _is_short(text: str) -> bool:
    return 0 < len(text) <= LONGEST_ANSWER and text.isprintable()


def _usual_agent(facts: Facts) -> ModelAgentSpec:
    if not facts.language:
        return LORIL(model=Ridge())
    # Without waves, a description costs a lesson little memory and time.
    return Greedy(model=Keywords.for_features(facts.dim).with_settings({"waves": 0}))


def _refuse_huge(field: str, data: Mapping[str, Any]) -> None:
    """Refuse settings that would need too much memory or time."""
    for name, value in data.items():
        most = LARGEST_SETTINGS.get(name, LARGEST_SETTING)
        if isinstance(value, Mapping):
            _refuse_huge(field, value)
        elif isinstance(value, list | tuple) and len(value) > MOST_PAIRS:
            raise FieldError(field, f"{name} must have at most {MOST_PAIRS:,} entries in a lesson.")
        elif isinstance(value, int) and value > most:
            raise FieldError(field, f"{name} must be at most {most:,} in a lesson, not {value:,}.")


def _refuse_large(agent: ModelAgent) -> None:
    size = sum(np.asarray(value).nbytes for value in agent.state().values())
    if size > LARGEST_STATE:
        raise FieldError(
            "agent",
            f"agent may keep at most {LARGEST_STATE:,} bytes in a lesson, not {size:,}.",
        )
