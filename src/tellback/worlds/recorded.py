"""Worlds of recordings: people's real sentences about recorded responses.

Each round shows some responses of one group. One person's sentence about one of them is the
instruction. The description is another person's sentence about the chosen one. Exact words hardly
ever come again, so the hidden reward is by meaning: 1 for the response that the instruction was
written about, else 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.encoders.efficientnet import EfficientNet
from tellback.encoders.encoder import EncoderSpec
from tellback.encoders.ngrams import NGrams
from tellback.encoders.text import TextEncoderSpec, demand_text_encoder
from tellback.errors import SettingError, one_of, real, whole
from tellback.recordings import Recording, read
from tellback.recordings.features import FEWEST, Columns, FeatureRows
from tellback.recordings.reading import LEVELS
from tellback.responses import Listed
from tellback.roles import Exchange, Facts, Preparing, Simulation, Task, WorldSpec
from tellback.similarity import Similar
from tellback.specs import Data
from tellback.worlds.recorded_match import measured_match
from tellback.worlds.recorded_pool import PATIENCE, Pool, Split
from tellback.worlds.sentences import choice


class Shown(NamedTuple):
    """The context s: the responses that are shown.

    Attributes
    ----------
    group : str
        Where they were recorded.
    ids : tuple of str
        Their names, in the order of the responses.
    told : tuple of int
        The number of the sentence with which each would be described. None is by the person who
        gave the instruction.
    """

    group: str
    ids: tuple[str, ...]
    told: tuple[int, ...]


@dataclass(frozen=True)
class Recorded(WorldSpec):
    """Recorded responses to choose from, with people's own sentences.

    Parameters
    ----------
    path : str
        The file or folder of the recording (``tellback.recordings.read``).
    candidates : int
        The number of responses to choose from. They are of one group and differ in goal and
        features.
    level : "whole" or "steps"
        Whether a response is a whole one of the file, or a described step of one.
    hold_out : "", "groups", "people" or "both"
        What the exam has that training has not. In an exam with people held out, they give the
        instructions, and anybody else describes.
    share : float
        The share of groups or people that is held out.
    split : int
        The seed of the shuffle that decides which.
    part : "train" or "exam"
        Which part to play in.
    tuned_on : tuple of str
        Groups on which settings were chosen: they are never in an exam.
    encoder : EncoderSpec, torch module, callable or None
        Turns pictures into features, if the responses have pictures; by default ``EfficientNet()``.
    text : TextEncoderSpec
        Turns responses that are texts into features.
    fewest : int
        Tokens that occur in fewer responses are no features.
    order : bool
        Whether the first and the last step with an action are features.
    wrong : float
        The share of descriptions that are of another of the responses shown: a careless teacher.
    like : str
        Another recording, whose columns the features have: then an agent that was taught with
        that one can be tried on this one.
    sha256 : str
        The digest of the content (``Recording.digest``; with ``like``, that of both). It is
        filled in if empty. A file with other content is refused, so that results of an
        edited file are never taken for those of the old one.
    """

    path: str = ""
    candidates: int = 5
    level: str = "whole"
    hold_out: str = ""
    share: float = 0.25
    split: int = 0
    part: str = "train"
    tuned_on: tuple[str, ...] = ()
    encoder: EncoderSpec | Any = None
    text: TextEncoderSpec = field(default_factory=NGrams)
    fewest: int = FEWEST
    order: bool = False
    wrong: float = 0.0
    like: str = ""
    sha256: str = ""

    def __post_init__(self) -> None:
        demand_text_encoder("text", self.text)
        if not isinstance(self.order, bool):
            raise SettingError(f"order must be True or False, not {self.order!r}.")
        self._set_validated(tuned_on=tuple(map(str, self.tuned_on)))
        self._split()
        self._set_validated(
            path=str(self.path),
            like=str(self.like),
            candidates=whole("candidates", self.candidates, at_least=2),
            level=one_of("level", self.level, LEVELS),
            share=float(self.share),
            split=int(self.split),
            fewest=whole("fewest", self.fewest),
            wrong=real("wrong", self.wrong, at_least=0, at_most=1),
        )
        if self.path:
            self._set_validated(sha256=_checked_digest(self.path, self.like, self.sha256))
            if self.encoder is None and any(
                one.image for one in _read(self.path, _stamp(self.path))
            ):
                self._set_validated(encoder=EfficientNet())  # named: it is part of the identity

    @property
    def facts(self) -> Facts:
        """The size of the features; instructions are sentences."""
        return Facts(self.columns.dim, None)

    @property
    def recording(self) -> Recording:
        """All of the recording, at the level that is played."""
        return self._content.recording

    @property
    def columns(self) -> Columns:
        """The columns of the features."""
        return self._content.columns

    @property
    def rows(self) -> FeatureRows:
        """The features of all responses of the recording."""
        return self._content.rows

    @property
    def pool(self) -> Pool:
        """The responses of this part that can be shown."""
        return _pool(self)

    def to_data(self) -> Data:
        """The settings as plain data; an error if the encoder is a live object."""
        if self.encoder is not None and not isinstance(self.encoder, EncoderSpec):
            raise SettingError(
                f"The encoder {self.encoder!r} is a live object, which has no identity to store "
                "results under: make it the spec of an encoder."
            )
        return super().to_data()

    def brief(self) -> str:
        """The kind and the settings that differ from their defaults, without the digest."""
        whole = super().brief().replace(f" sha256={self.sha256}", "")
        return whole.replace(f"tuned_on={self.tuned_on}", f"tuned_on=<{len(self.tuned_on)} values>")

    def prepare(self, progress: Preparing | None = None) -> None:
        """Read the file, and refuse a recording that cannot be played, before any run."""
        _ = self.pool

    def build(self, rng: np.random.Generator) -> Simulation:
        """Build the world; all about it is in the recording, so nothing is drawn."""
        return simulation_in(self.pool, self.rows.matrix, self.wrong)

    def _split(self) -> Split:
        return Split(self.hold_out, self.share, self.split, self.part, self.tuned_on)

    @property
    def _content(self) -> _Content:
        if not self.path:
            raise SettingError("path must name a recording, a file or a folder: it is empty.")
        files = (self.path, self.like, self.sha256)
        return _content(*files, self.level, self.fewest, self.order, self.text, self.encoder)


def simulation_of(
    recording: Recording,
    candidates: int = 5,
    *,
    columns: Columns | None = None,
    split: Split | None = None,
    wrong: float = 0.0,
) -> Simulation:
    """The world of a recording in memory, for ``play``; a study needs ``Recorded``.

    Parameters
    ----------
    recording : Recording
        The responses.
    candidates : int
        The number of responses to choose from.
    columns : Columns, optional
        The columns of the features, by default ``Columns.of(recording)``.
    split : Split, optional
        The part of the recording to play in, by default all of it.
    wrong : float
        The share of descriptions that are of another of the responses shown.
    """
    columns = columns or Columns.of(recording)
    rows = columns.rows(recording)
    pool = Pool(recording, rows, split or Split(), candidates)
    return simulation_in(pool, rows.matrix, real("wrong", wrong, at_least=0, at_most=1))


def simulation_in(pool: Pool, matrix: Array, wrong: float = 0.0) -> Simulation:
    """The world of some responses, given the features of all."""
    texts = {entry.id: entry.texts for entry in pool.entries}
    world = RecordedWorld(pool, matrix, wrong)
    return Simulation(world, RecordedTeacher(texts, wrong), RecordedTruth(texts))


class RecordedWorld:
    """Draws responses of one group, and asks for one of them in a person's words."""

    memory: ClassVar[int] = 0

    def __init__(self, pool: Pool, matrix: Array, wrong: float) -> None:
        self.facts = Facts(matrix.shape[1], None)
        self._pool = pool
        self._matrix = matrix
        self._wrong = wrong

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """Responses that differ, and a sentence about one of them."""
        for _ in range(PATIENCE):
            entries = self._pool.draw(rng)
            target = choice(entries, rng)
            sentence = choice(target.asked, rng)
            instruction, asker = target.texts[sentence], target.people[sentence]
            if sum(instruction in entry.texts for entry in entries) == 1:
                break  # nobody has said the same of another one
        told = tuple(choice(entry.told(asker), rng) for entry in entries)
        shown = Shown(target.group, tuple(entry.id for entry in entries), told)
        return Task(shown, instruction, Listed(self._matrix[[entry.row for entry in entries]]))

    @cached_property
    def match(self) -> Similar:
        """When a description matches the instruction, by words alone, with its error rates."""
        return _match(self._pool, self._wrong)


class RecordedTeacher:
    """Says what another person said of the chosen response, or carelessly of another one."""

    def __init__(self, texts: Mapping[str, tuple[str, ...]], wrong: float) -> None:
        self._texts = texts
        self._wrong = wrong

    def describe(self, context: Shown, response: int, rng: np.random.Generator) -> str:
        """A sentence by somebody other than the person who gave the instruction."""
        _demand_shown(context, response)
        if self._wrong and rng.random() < self._wrong:
            others = [y for y in range(len(context.ids)) if y != response]
            response = choice(others, rng)
        return self._texts[context.ids[response]][context.told[response]]


class RecordedTruth:
    """1 for the response that the instruction was written about, else 0."""

    by_meaning: ClassVar[bool] = True

    def __init__(self, texts: Mapping[str, tuple[str, ...]]) -> None:
        self._texts = texts

    def reward(self, task: Task, response: int) -> float:
        """1 if a person said the instruction of the response; 0 for sentences of nobody."""
        _demand_shown(task.context, response)
        return float(task.instruction in self._texts[task.context.ids[response]])

    def best(self, task: Task) -> float:
        """1 if a person said the instruction of one of the responses."""
        return float(any(task.instruction in self._texts[one] for one in task.context.ids))


def _demand_shown(context: Shown, response: int) -> None:
    if not 0 <= response < len(context.ids):
        raise SettingError(
            f"A response is a whole number from 0 to {len(context.ids) - 1}, not {response!r}."
        )


# --- files, read once in a process -------------------------------------------------------------


class _Content(NamedTuple):
    """A recording with its features."""

    recording: Recording
    columns: Columns
    rows: FeatureRows


def _checked_digest(path: str, like: str, given: str) -> str:
    """The digest of the files as they are now; an error if another is given."""
    now = _digest(path)
    if like:
        both = f"{now} {_digest(like)}"
        now = hashlib.sha256(both.encode()).hexdigest()
    if given not in ("", now):
        raise SettingError(
            f"sha256 of {path} is {now}, not {given!r}: the recording has changed. "
            "Leave sha256 empty to take it as it is now."
        )
    return now


def _digest(path: str) -> str:
    recording = _read(path, _stamp(path))
    pictured = any(response.image for response in recording)
    # A picture can be edited while the file of the recording stays the same.
    return replace(recording).digest if pictured else recording.digest


def _stamp(path: str) -> tuple[object, ...]:
    """What changes if a file is edited."""
    place = Path(path)
    if not place.exists():
        raise SettingError(f"path must name a recording, a file or a folder: there is no {path}.")
    files = sorted(place.rglob("*")) if place.is_dir() else [place]
    return tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)


@lru_cache(4)
def _read(path: str, stamp: tuple[object, ...]) -> Recording:
    return read(path)


@lru_cache(4)
def _content(
    path: str,
    like: str,
    sha256: str,
    level: str,
    fewest: int,
    order: bool,
    text: TextEncoderSpec,
    encoder: EncoderSpec | Any,
) -> _Content:
    _checked_digest(path, like, sha256)
    recordings = [_read(one, _stamp(one)) for one in (path, like or path)]
    if level == "steps":
        recordings = [one.by_step() for one in recordings]
        if not len(recordings[0]):
            raise SettingError(f"level must be 'whole': {path} has no descriptions of steps.")
    recording, model = recordings
    columns = Columns.of(model, fewest=fewest, order=order, text=text, encoder=encoder)
    return _Content(recording, columns, columns.rows(recording))


@lru_cache(8)
def _pool(spec: Recorded) -> Pool:
    content = spec._content
    return Pool(content.recording, content.rows, spec._split(), spec.candidates)


@lru_cache(8)
def _match(pool: Pool, wrong: float) -> Similar:
    no_features = np.zeros((1 + max(entry.row for entry in pool.entries), 1))
    return measured_match(simulation_in(pool, no_features, wrong))
