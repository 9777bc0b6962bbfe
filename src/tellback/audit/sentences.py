"""The descriptions of a recording, as arrays."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tellback.arrays import Array, Indices
from tellback.encoders.text import plain_words
from tellback.models.word_columns import stem
from tellback.recordings import FEWEST, Columns, Recording, Said

Floats = NDArray[np.float32]

MOST_WORDS = 400
"""The most frequent words count, up to so many."""

FEWEST_TIMES = 3
"""Words in fewer descriptions are left out."""

FEWEST_TOGETHER = 5
"""Groups with fewer responses are compared as one group."""

MOST_COMPARED = 500
"""With so many responses of its group a description is compared, at most."""

MOST_TWINS = 20
"""A text at more responses than that is a stock phrase, and no copy."""


class Place(NamedTuple):
    """Where a description is in a recording.

    Attributes
    ----------
    response : str
        The id of its response.
    number : int
        Its number among the descriptions of the response, from 0.
    """

    response: str
    number: int

    def __str__(self) -> str:
        return f"{self.response} #{self.number}"


class Group(NamedTuple):
    """Responses that are compared with each other.

    Attributes
    ----------
    size : int
        How many there are.
    compared : Indices
        Those with which descriptions are compared.
    sentences : Indices
        The descriptions of all of them.
    """

    size: int
    compared: Indices
    sentences: Indices


@dataclass(frozen=True)
class Sentences:
    """The descriptions of a recording.

    Parameters
    ----------
    places : tuple of Place
        Where each is.
    said : tuple of Said
        Each.
    response : Indices
        The response of each, by its position in the recording.
    person : Indices
        Who said it; -1 if nobody knows.
    words : tuple of str
        The words that count, without the s of the plural.
    told : Floats
        Which of them occur in each description: a row of 0 and 1.
    features : Floats
        The features of responses that differ: a row each, the blocks of numbers, tokens, texts and
        pictures scaled to the same spread.
    row_of : Indices
        The row of each response.
    groups : tuple of Group
        The groups, those that are too small as one.
    twins : Indices
        Pairs of a description and another response of its group that has the same text.
    """

    places: tuple[Place, ...]
    said: tuple[Said, ...]
    response: Indices
    person: Indices
    words: tuple[str, ...]
    told: Floats
    features: Floats
    row_of: Indices
    groups: tuple[Group, ...]
    twins: Indices

    @classmethod
    def of(cls, recording: Recording, columns: Columns | None = None) -> Sentences:
        """The descriptions of a recording, with features by ``columns``."""
        found = [
            (Place(response.id, number), said, i)
            for i, response in enumerate(recording)
            for number, said in enumerate(response.descriptions)
        ]
        places, said = tuple(one[0] for one in found), tuple(one[1] for one in found)
        response = np.array([one[2] for one in found], dtype=np.int64)
        if columns is None:
            columns = Columns.of(recording, fewest=max(1, min(FEWEST, len(recording) // 20)))
        rows = columns.rows(recording)
        words, told = _told([plain_words(one.text) for one in said])
        names = {name: i for i, name in enumerate(recording.people)}
        groups = _groups(recording, response)
        return cls(
            places=places,
            said=said,
            response=response,
            person=np.array([names.get(one.person, -1) for one in said], dtype=np.int64),
            words=words,
            told=told,
            features=_scaled(rows.matrix, columns, rows.row_of),
            row_of=np.array(rows.row_of, dtype=np.int64),
            groups=groups,
            twins=_twins(said, response, groups),
        )

    def __len__(self) -> int:
        return len(self.said)


def _told(sentences: list[list[str]]) -> tuple[tuple[str, ...], Floats]:
    stems = [{stem(word) for word in sentence} for sentence in sentences]
    counts = Counter(word for sentence in stems for word in sorted(sentence))
    often = sorted(
        (word for word, n in counts.items() if n >= FEWEST_TIMES), key=lambda word: counts[word]
    )
    words = tuple(often[::-1][:MOST_WORDS])
    column = {word: i for i, word in enumerate(words)}
    told = np.zeros((len(stems), len(words)), dtype=np.float32)
    for i, sentence in enumerate(stems):
        told[i, [column[word] for word in sentence if word in column]] = 1
    return words, told


def _scaled(matrix: Array, columns: Columns, row_of: tuple[int, ...]) -> Floats:
    """Each block of columns with a total variance of 1 over the responses."""
    weights = np.bincount(row_of, minlength=len(matrix)) / max(len(row_of), 1)
    centred = matrix - weights @ matrix
    spread = np.sqrt(weights @ centred**2)
    numbers, tokens = columns.numbers, columns.numbers + len(columns.tokens)
    # Numbers may be in any unit: each counts the same. Other columns keep their own scale.
    centred[:, :numbers] /= np.where(spread[:numbers] > 0, spread[:numbers], 1)
    spread[:numbers] = spread[:numbers] > 0
    for block in (slice(numbers), slice(numbers, tokens), slice(tokens, None)):
        total = np.sqrt((spread[block] ** 2).sum())
        centred[:, block] /= total if total > 0 else 1
    return centred.astype(np.float32)


def _groups(recording: Recording, response: Indices) -> tuple[Group, ...]:
    members: dict[str, list[int]] = defaultdict(list)
    for i, one in enumerate(recording):
        members[one.group].append(i)
    large = [few for few in members.values() if len(few) >= FEWEST_TOGETHER]
    rest = sorted(i for few in members.values() if len(few) < FEWEST_TOGETHER for i in few)
    group_of = np.full(len(recording), -1, dtype=np.int64)
    found = [np.array(some, dtype=np.int64) for some in (*large, rest) if some]
    for g, some in enumerate(found):
        group_of[some] = g
    order = np.argsort(group_of[response], kind="stable")
    ends = np.searchsorted(group_of[response][order], np.arange(len(found) + 1))
    return tuple(
        Group(len(some), _evenly(some), np.sort(order[ends[g] : ends[g + 1]]))
        for g, some in enumerate(found)
    )


def _evenly(some: Indices) -> Indices:
    """At most ``MOST_COMPARED`` of them."""
    if len(some) <= MOST_COMPARED:
        return some
    return some[np.linspace(0, len(some) - 1, MOST_COMPARED).astype(np.int64)]


def _twins(said: tuple[Said, ...], response: Indices, groups: tuple[Group, ...]) -> Indices:
    pairs = []
    for group in groups:
        at: dict[str, dict[int, None]] = defaultdict(dict)
        texts = [" ".join(plain_words(said[i].text)) for i in group.sentences]
        for i, text in zip(group.sentences, texts, strict=True):
            at[text][int(response[i])] = None
        for i, text in zip(group.sentences, texts, strict=True):
            if text and 1 < len(at[text]) <= MOST_TWINS:
                pairs += [(int(i), other) for other in at[text] if other != response[i]]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
