"""Which groups and people of a recording a seed holds out, and how an exam asks."""

from __future__ import annotations

from dataclasses import dataclass

from tellback.errors import SettingError, unknown_name
from tellback.recordings import Recording
from tellback.streams import Streams
from tellback.worlds.recorded import Recorded
from tellback.worlds.recorded_pool import Entry, Pool, Split

MOST_GROUPS = 8
"""Groups held out for a number of candidates, or a third of those that can be, if fewer."""

PEOPLE_SHARE = 0.1
FEWEST_PEOPLE = 4
"""With fewer known people, nobody is held out."""

ROOMS, PEOPLE, BOTH = "unseen groups", "unheard people", "both"
EXAMS = (ROOMS, PEOPLE, BOTH)


@dataclass(frozen=True)
class Chosen(Split):
    """A part of a recording whose groups and people are listed."""

    chosen_groups: frozenset[str] = frozenset()
    chosen_people: frozenset[str] | None = None

    def groups(self, recording: Recording) -> frozenset[str]:
        """The listed groups."""
        return self.chosen_groups

    def people(self, recording: Recording) -> frozenset[str] | None:
        """The listed people; None if it does not matter."""
        return self.chosen_people


@dataclass(frozen=True)
class HeldOut:
    """What a seed holds out of training."""

    world: Recorded  # all of the recording
    rooms: dict[int, frozenset[str]]  # the groups of the exams, by the number of candidates
    people: frozenset[str]
    tuned_on: frozenset[str]  # groups that are in training only

    @classmethod
    def draw(
        cls, world: Recorded, candidates: tuple[int, ...], tuned_on: tuple[str, ...], seed: int
    ) -> HeldOut:
        """Draw groups that no setting was chosen on, and people.

        The groups of all numbers of candidates are taken from one random order, so that they
        overlap and much is left for training.
        """
        rng = Streams(seed).init("held out")
        order = rng.permutation(world.recording.groups).tolist()
        rooms = {}
        for k in candidates:
            usable = untuned(world, k, tuned_on)
            in_order = [group for group in order if group in usable]
            rooms[k] = frozenset(in_order[: min(MOST_GROUPS, len(usable) // 3)])
        people = world.recording.people
        held = max(1, round(PEOPLE_SHARE * len(people))) if len(people) >= FEWEST_PEOPLE else 0
        unheard = frozenset(rng.permutation(people).tolist()[:held]) if held else frozenset()
        return cls(world, rooms, unheard, frozenset(tuned_on))

    @property
    def heard(self) -> frozenset[str] | None:
        """The people of training; None if nobody is held out."""
        if not self.people:
            return None
        return frozenset(self.world.recording.people) - self.people

    def training(self) -> Pool:
        """The responses to play with: of no group and by no person of an exam."""
        groups = frozenset(self.world.recording.groups) - frozenset().union(*self.rooms.values())
        part = Chosen(chosen_groups=groups, chosen_people=self.heard)
        return Pool(self.world.recording, self.world.rows, part, self.world.candidates)

    def exam(self, name: str, candidates: int) -> tuple[Pool, frozenset[str] | None] | None:
        """The responses of an exam and who may ask; None if it cannot be held."""
        groups = self.rooms[candidates]
        if name == PEOPLE:
            examined = frozenset().union(*self.rooms.values()) | self.tuned_on
            groups = frozenset(self.world.recording.groups) - examined
        if name != ROOMS and not self.people:
            return None
        part = Chosen(chosen_groups=groups)
        try:
            pool = Pool(self.world.recording, self.world.rows, part, candidates)
        except SettingError:  # no group has so many
            return None
        return pool, (self.heard if name == ROOMS else self.people)


def untuned(world: Recorded, candidates: int, tuned_on: tuple[str, ...]) -> frozenset[str]:
    """The groups with so many candidates that no setting was chosen on."""
    groups = world.recording.groups
    for name in tuned_on:
        if name not in groups:
            raise unknown_name("group to tune on named", name, groups)
    try:
        pool = Pool(world.recording, world.rows, Split(), candidates)
    except SettingError:
        return frozenset()
    return frozenset(pool.groups) - frozenset(tuned_on)


def sentences_of(entry: Entry, people: frozenset[str] | None) -> list[int]:
    """Which of the texts about a response are by these people."""
    return [i for i, one in enumerate(entry.people) if people is None or one in people]
