"""A recording: responses that people have described."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tellback.errors import SettingError

Step = tuple[str, ...]
"""What was done, and to what: ``("PickupObject", "alarmclock")``."""


class Said(NamedTuple):
    """A description of a recorded response, and who gave it.

    Attributes
    ----------
    text : str
        The description.
    person : str
        Who gave it; empty if nobody knows. Two unknown people count as two people.
    """

    text: str
    person: str = ""


@dataclass(frozen=True)
class RecordedResponse:
    """A response of a recording.

    What was done is given as numbers, steps, tokens, a text or a picture, or several of these.

    Parameters
    ----------
    id : str
        Its name, unique in the recording.
    group : str
        Where it was recorded, such as a room. Responses of one group can be candidates together.
    descriptions : tuple of Said
        What people said of it.
    goal : str
        What it was for, if the recording tells. Responses with the same goal are never candidates
        together, because the same sentence fits both. Empty if nobody knows.
    features : tuple of float
        Numbers.
    steps : tuple of Step
        Its steps in order.
    tokens : tuple of str
        What occurred in it, in any order, repeated if it occurred again.
    text : str
        The response as a text.
    image : str
        The path of a picture, relative to the file of the recording.
    """

    id: str
    group: str
    descriptions: tuple[Said, ...]
    goal: str = ""
    features: tuple[float, ...] = ()
    steps: tuple[Step, ...] = ()
    tokens: tuple[str, ...] = ()
    text: str = ""
    image: str = ""


@dataclass(frozen=True)
class Recording:
    """Responses that people have described, in the order of their file.

    Parameters
    ----------
    responses : tuple of RecordedResponse
        The responses; no two have the same id.
    """

    responses: tuple[RecordedResponse, ...]

    def __post_init__(self) -> None:
        if len(self.by_id) < len(self.responses):
            seen: set[str] = set()
            twice = next(r.id for r in self.responses if r.id in seen or seen.add(r.id))
            raise SettingError(f"Two responses of the recording have the id {twice!r}.")

    def __len__(self) -> int:
        return len(self.responses)

    def __iter__(self) -> Iterator[RecordedResponse]:
        return iter(self.responses)

    def __repr__(self) -> str:
        said = sum(len(response.descriptions) for response in self)
        return (
            f"Recording({len(self)} responses in {len(self.groups)} groups, "
            f"{said} descriptions by {len(self.people)} people)"
        )

    @cached_property
    def by_id(self) -> dict[str, RecordedResponse]:
        """The responses by their ids."""
        return {response.id: response for response in self.responses}

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups, in alphabetical order."""
        return tuple(sorted({response.group for response in self}))

    @cached_property
    def people(self) -> tuple[str, ...]:
        """The people whose names are known, in alphabetical order."""
        people = {said.person for response in self for said in response.descriptions}
        return tuple(sorted(people - {""}))

    def only(self, groups: Iterable[str]) -> Recording:
        """The responses of some groups."""
        wanted = set(groups)
        return Recording(tuple(response for response in self if response.group in wanted))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of all content, in order."""
        return hashlib.sha256(repr(self.responses).encode(errors="surrogatepass")).hexdigest()
