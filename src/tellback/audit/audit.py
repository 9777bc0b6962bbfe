"""Which descriptions of a recording are probably wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from tellback.arrays import Array
from tellback.audit.doubt import Doubts, doubts
from tellback.audit.order import Order
from tellback.audit.reasons import reasons
from tellback.audit.sampling import number_wrong
from tellback.audit.sentences import Place, Sentences
from tellback.errors import SettingError, real, unknown_name, whole
from tellback.recordings import Columns, Recording, Said
from tellback.theory.shares import LEVEL

SURE = 0.95
"""From which probability on a description is kept."""


@dataclass(frozen=True)
class Judged:
    """A description, and what is thought of it.

    Parameters
    ----------
    place : Place
        Where it is.
    said : Said
        The description.
    right : float
        The probability that it is right: 1 or 0 if somebody answered, NaN if nothing can be told.
    fits : str
        The response of its group that it fits best.
    """

    place: Place
    said: Said
    right: float
    fits: str


@dataclass(frozen=True)
class StillWrong:
    """The share of wrong descriptions among those kept.

    Parameters
    ----------
    kept : int
        How many descriptions are kept.
    expected : float
        The share of them that is wrong, as the words tell it; NaN if they tell nothing.
    asked : int
        How many of those that would be kept anyway were asked about at random.
    found : int
        How many of these were wrong.
    low, high : float
        The interval by these answers. It holds whatever the words tell, if the answers are
        right and their number did not depend on them. From 0 to 1 if nobody was asked.
    level : float
        Its level.
    """

    kept: int
    expected: float
    asked: int
    found: int
    low: float
    high: float
    level: float = LEVEL


@dataclass(frozen=True)
class Audit:
    """What is thought of every description of a recording. ``audit`` makes it.

    Parameters
    ----------
    recording : Recording
        The recording.
    sentences : Sentences
        Its descriptions, as arrays.
    doubts : Doubts
        What their words tell.
    sure : float
        From which probability on a description is kept.
    seed : int
        Of the questions drawn at random.
    answers : mapping
        What people said of descriptions: whether they are right; None if nobody could tell.
    """

    recording: Recording
    sentences: Sentences
    doubts: Doubts
    sure: float = SURE
    seed: int = 0
    answers: Mapping[Place, bool | None] = field(default_factory=dict)

    @property
    def told(self) -> bool:
        """Whether the words tell anything of which descriptions are wrong."""
        return not np.isnan(self.doubts.wrong)

    @cached_property
    def right(self) -> Array:
        """The probability of each description to be right; answers are believed."""
        right = self.doubts.right.copy()
        for place, answer in self.answers.items():
            if answer is not None:
                right[self._index[place]] = float(answer)
        return right

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """All descriptions, in the order of the recording."""
        return tuple(self._judged(i) for i in range(len(self.sentences)))

    def worst(self, most: int = 10) -> tuple[Judged, ...]:
        """Those that are least probably right; none if nothing can be told."""
        likely_wrong = np.flatnonzero(self.right < 0.5)
        order = np.argsort(self.right[likely_wrong], kind="stable")
        return tuple(self._judged(int(i)) for i in likely_wrong[order[:most]])

    def questions(self, most: int | None = None) -> tuple[Judged, ...]:
        """What to ask people next: what has no answer yet, in the order of its worth.

        Each fifth is drawn at random from what would be kept (see ``still_wrong``).
        """
        asked = {self._index[place] for place in self.answers}
        left = [int(i) for i in self._order.questions if int(i) not in asked]
        return tuple(self._judged(i) for i in left[:most])

    def answer(self, answers: Mapping[Place, bool | None]) -> Audit:
        """The audit with more answers; later ones replace earlier ones.

        Parameters
        ----------
        answers : mapping
            For a place whether the description is right, or None if the person cannot tell.
        """
        for place, answer in answers.items():
            if place not in self._index:
                _refuse(self.recording, place)
            if answer not in (True, False, None):
                raise SettingError(
                    f"The answer about {place} must be True, False or None, not {answer!r}."
                )
        merged = MappingProxyType({**self.answers, **answers})
        return replace(self, answers=merged)

    @cached_property
    def kept(self) -> frozenset[Place]:
        """The descriptions that are kept: those answered to be right, and those sure enough."""
        kept = set(self._order.kept.tolist())
        for place, answer in self.answers.items():
            (kept.add if answer else kept.discard)(self._index[place])
        return frozenset(self.sentences.places[i] for i in kept)

    def cleaned(self) -> Recording:
        """The recording with only the descriptions that are kept.

        A response keeps its place even if none of its descriptions is kept.
        """
        kept = self.kept
        return replace(
            self.recording,
            responses=tuple(
                replace(
                    response,
                    descriptions=tuple(
                        said
                        for number, said in enumerate(response.descriptions)
                        if Place(response.id, number) in kept
                    ),
                )
                for response in self.recording
            ),
        )

    def still_wrong(self, level: float = LEVEL) -> StillWrong:
        """The share of wrong descriptions among those kept."""
        answers = {self._index[place]: answer for place, answer in self.answers.items()}
        part, sample = self._order.sample(frozenset(answers))
        found = sum(answers[int(i)] is False for i in sample)
        unclear = sum(answers[int(i)] is None for i in sample)
        # Those about which nobody could tell are dropped, and may be right or wrong.
        low = number_wrong(len(part), len(sample), found, level)[0] - found
        high = number_wrong(len(part), len(sample), found + unclear, level)[1] - found - unclear
        kept = len(self.kept)
        by_words = [1 - self.right[self._index[place]] for place in self.kept]
        return StillWrong(
            kept=kept,
            expected=float(np.mean(by_words)) if kept else 0.0,
            asked=len(sample),
            found=found,
            low=low / kept if kept else 0.0,
            high=high / kept if kept else 0.0,
            level=level,
        )

    def reasons(self, place: Place) -> tuple[str, ...]:
        """Why a description is believed or not, in sentences."""
        if place not in self._index:
            _refuse(self.recording, place)
        if place in self.answers:
            answer = self.answers[place]
            said = "cannot be judged" if answer is None else "is right" if answer else "is wrong"
            return (f"A person said that it {said}.",)
        return reasons(self.recording, self.sentences, self.doubts, self._index[place])

    def people(self) -> tuple[tuple[str, int, float], ...]:
        """People with known names, how much they said, and which share of it is wrong; worst first.

        The share is drawn towards that of all people, the more so the less somebody said.
        """
        said = np.bincount(
            self.sentences.person[self.sentences.person >= 0], minlength=len(self.doubts.people)
        )
        found = [
            (name, int(said[i]), float(self.doubts.people[i]))
            for i, name in enumerate(self.recording.people[: len(said)])
        ]
        return tuple(sorted(found, key=lambda one: -one[2]))

    @cached_property
    def _index(self) -> dict[Place, int]:
        return {place: i for i, place in enumerate(self.sentences.places)}

    @cached_property
    def _order(self) -> Order:
        return Order(self.doubts.right, self.sure, self.seed)

    def _judged(self, i: int) -> Judged:
        return Judged(
            place=self.sentences.places[i],
            said=self.sentences.said[i],
            right=float(self.right[i]),
            fits=self.recording.responses[int(self.doubts.best[i])].id,
        )


def audit(
    recording: Recording, *, columns: Columns | None = None, sure: float = SURE, seed: int = 0
) -> Audit:
    """Find descriptions that are probably wrong, by the words of all of them.

    Parameters
    ----------
    recording : Recording
        Responses that people have described.
    columns : Columns, optional
        The features of responses; by default those of all that the recording holds.
    sure : float
        From which probability on a description is kept.
    seed : int
        Of the questions drawn at random. With the same seed they are the same.
    """
    sure = real("sure", sure, above=0, at_most=0.9999)
    seed = whole("seed", seed, at_least=0)
    sentences = Sentences.of(recording, columns)
    if not len(sentences):
        raise SettingError("The recording has no descriptions.")
    return Audit(recording, sentences, doubts(sentences), sure, seed)


def _refuse(recording: Recording, place: Place) -> None:
    response = recording.by_id.get(place.response)
    if response is None:
        raise unknown_name("response", place.response, list(recording.by_id)[:20])
    raise SettingError(
        f"number must be from 0 to {len(response.descriptions) - 1} for the descriptions of "
        f"{place.response!r}, not {place.number!r}."
    )


__all__ = ["SURE", "Audit", "Judged", "Place", "Said", "StillWrong", "audit"]
