"""Which recorded responses can be shown together, and who may ask for them and describe them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from tellback.errors import SettingError, one_of, real, unknown_name, whole
from tellback.recordings import RecordedResponse, Recording
from tellback.recordings.features import FeatureRows

HOLD_OUT = ("", "groups", "people", "both")
PARTS = ("train", "exam")
PATIENCE = 100
"""Random draws of candidates in a group, before a search that surely finds some."""


@dataclass(frozen=True)
class Split:
    """What of a recording is for training, and what for an exam.

    Parameters
    ----------
    hold_out : "", "groups", "people" or "both"
        What the exam has that training has not.
    share : float
        The share of the groups, of the people, or of each, that is held out.
    seed : int
        Of the shuffle.
    part : "train" or "exam"
        Which of the two.
    tuned_on : tuple of str
        Groups on which settings were chosen: they are never in an exam.
    """

    hold_out: str = ""
    share: float = 0.25
    seed: int = 0
    part: str = "train"
    tuned_on: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        one_of("hold_out", self.hold_out, HOLD_OUT)
        one_of("part", self.part, PARTS)
        real("share", self.share, above=0, at_most=1)
        whole("split", self.seed, at_least=0)
        if self.part == "exam" and not self.hold_out:
            raise SettingError('part="exam" needs hold_out: "groups", "people" or "both".')

    def groups(self, recording: Recording) -> frozenset[str]:
        """The groups of this part."""
        for name in self.tuned_on:
            if name not in recording.groups:
                raise unknown_name("group in tuned_on named", name, recording.groups)
        if self.hold_out in ("groups", "both"):
            return self._part("groups", recording.groups)
        never = self.tuned_on if self.part == "exam" else ()
        return frozenset(recording.groups) - frozenset(never)

    def people(self, recording: Recording) -> frozenset[str] | None:
        """The people who give instructions in this part; None if it does not matter."""
        if self.hold_out not in ("people", "both"):
            return None
        return self._part("people", recording.people)

    def _part(self, what: str, names: Sequence[str]) -> frozenset[str]:
        eligible = [name for name in names if what == "people" or name not in self.tuned_on]
        held = round(self.share * len(eligible))
        if not 0 < held < len(names):
            raise SettingError(
                f"hold_out={self.hold_out!r} with share={self.share:g} holds out {held} of "
                f"{len(names)} {what}: some must be held out, and some not."
            )
        order = np.random.default_rng([self.seed, PARTS.index("exam")]).permutation(len(eligible))
        exam = frozenset(eligible[i] for i in order[:held])
        return exam if self.part == "exam" else frozenset(names) - exam


class Entry(NamedTuple):
    """A response that can be a candidate.

    Attributes
    ----------
    id : str
        Its name.
    group : str
        Its group.
    goal : object
        Responses with equal goals are never shown together.
    row : int
        The row of its features. Responses with one row are never shown together either.
    texts : tuple of str
        What people said of it.
    people : tuple of object
        Who said that; each unknown person is another.
    asked : tuple of int
        Which of the texts may be the instruction.
    """

    id: str
    group: str
    goal: object
    row: int
    texts: tuple[str, ...]
    people: tuple[object, ...]
    asked: tuple[int, ...]

    def told(self, asker: object) -> list[int]:
        """Which of the texts are by somebody other than the asker."""
        return [i for i, person in enumerate(self.people) if person != asker]


class Pool:
    """The responses of one part of a recording that can be candidates, by group.

    A response can be a candidate if two people have described it, so that one can ask and another
    can tell. A group is used if enough of its responses differ in goal and features.

    Parameters
    ----------
    recording : Recording
        The recording.
    rows : FeatureRows
        Its features.
    split : Split
        The part of it.
    candidates : int
        How many responses are shown in a round.
    """

    def __init__(
        self, recording: Recording, rows: FeatureRows, split: Split, candidates: int
    ) -> None:
        self.candidates = whole("candidates", candidates, at_least=2)
        groups, people = split.groups(recording), split.people(recording)
        by_group: dict[str, list[Entry]] = {}
        for one, row in zip(recording, rows.row_of, strict=True):
            entry = _entry(one, row, people, split.part)
            if one.group in groups and entry.asked and len(set(entry.people)) > 1:
                by_group.setdefault(one.group, []).append(entry)
        self._groups = [
            entries for entries in by_group.values() if most_different(entries) >= candidates
        ]
        if not self._groups:
            raise SettingError(
                f"No group of this part has {candidates} responses that differ in goal and "
                "features and that two people have described: show fewer candidates, or set fewest "
                "to less, if its tokens are rare."
            )
        self._ends = list(accumulate(map(len, self._groups)))

    @property
    def entries(self) -> list[Entry]:
        """All that can be shown."""
        return [entry for entries in self._groups for entry in entries]

    @property
    def groups(self) -> list[str]:
        """The groups that are used."""
        return [entries[0].group for entries in self._groups]

    def draw(self, rng: np.random.Generator) -> list[Entry]:
        """The candidates of a round, in random order.

        A group is drawn in proportion to its responses; its responses in random order, those left
        out that are too much like an earlier one.
        """
        entries = self._groups[bisect(self._ends, int(rng.random() * self._ends[-1]))]
        for _ in range(PATIENCE):
            order = rng.permutation(len(entries)).tolist()
            found = list(_different(entries, order, self.candidates))
            if len(found) == self.candidates:
                return found
        matched = _matching([entries[i] for i in order])
        return [matched[i] for i in rng.permutation(len(matched))[: self.candidates]]


def most_different(entries: Sequence[Entry]) -> int:
    """How many responses of a group can be shown together, at most."""
    return len(_matching(entries))


def _entry(one: RecordedResponse, row: int, people: frozenset[str] | None, part: str) -> Entry:
    """A response with the people who may ask for it and describe it in this part.

    If people are held out, sentences of unknown people are left out, because they may be anyone's;
    in training, those of people held out too. In the exam everybody else may describe.
    """
    said = [
        (text, person or (one.id, i))
        for i, (text, person) in enumerate(one.descriptions)
        if people is None or (person in people if part == "train" else person)
    ]
    asked = [i for i, (_, person) in enumerate(said) if people is None or person in people]
    return Entry(
        id=one.id,
        group=one.group,
        goal=one.goal or (one.id,),
        row=row,
        texts=tuple(text for text, _ in said),
        people=tuple(person for _, person in said),
        asked=tuple(asked),
    )


def _different(entries: Sequence[Entry], order: Sequence[int], count: int) -> Iterator[Entry]:
    """The first responses in an order that differ in goal and features from those before."""
    goals, rows = set(), set()
    for i in order:
        entry = entries[i]
        if entry.goal not in goals and entry.row not in rows:
            goals.add(entry.goal)
            rows.add(entry.row)
            yield entry
            if len(goals) == count:
                return


def _matching(entries: Sequence[Entry]) -> list[Entry]:
    """As many as possible that differ in goal and features.

    Responses are the edges of a graph between goals and rows; none of these share an end.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    goals = {goal: i for i, goal in enumerate(dict.fromkeys(entry.goal for entry in entries))}
    rows = {row: i for i, row in enumerate(dict.fromkeys(entry.row for entry in entries))}
    edges = {(goals[entry.goal], rows[entry.row]): entry for entry in entries}
    ends = tuple(np.array(list(edges)).T)
    graph = csr_array((np.ones(len(edges)), ends), shape=(len(goals), len(rows)))
    matched = maximum_bipartite_matching(graph, perm_type="column")
    return [edges[goal, row] for goal, row in enumerate(matched.tolist()) if row >= 0]
