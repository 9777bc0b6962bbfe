"""A recording: responses that people have described."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tellback.errors import SettingError

MOST = 3.4e38
"""Of a feature, positive or negative: models store features in single precision."""

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

    def to_data(self) -> dict[str, str]:
        """The description as JSON holds it."""
        return {"text": self.text, **({"person": self.person} if self.person else {})}


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
        The path of a picture, relative to the folder of the recording.
    step_descriptions : tuple of tuple of Said
        What people said of each step, in the order of the steps; empty if nobody did.
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
    step_descriptions: tuple[tuple[Said, ...], ...] = ()

    @property
    def people(self) -> frozenset[str]:
        """The people with known names who described the whole of it."""
        return frozenset(said.person for said in self.descriptions) - {""}

    def to_data(self) -> dict[str, Any]:
        """The response as a line of JSON holds it: what is empty is left out."""
        data: dict[str, Any] = {"id": self.id, "group": self.group}
        for name in ("goal", "features", "steps", "tokens", "text", "image"):
            if value := getattr(self, name):
                data[name] = value
        data["descriptions"] = [said.to_data() for said in self.descriptions]
        if self.step_descriptions:
            data["step_descriptions"] = [
                [said.to_data() for said in step] for step in self.step_descriptions
            ]
        return data

    def to_line(self) -> str:
        """The response as a line of a file."""
        if not all(-MOST <= number <= MOST for number in self.features):
            raise SettingError(
                f"Response {self.id!r} has features that are not finite, or above {MOST:g}."
            )
        return json.dumps(self.to_data(), ensure_ascii=False)


@dataclass(frozen=True)
class Recording:
    """Responses that people have described, in the order of their file.

    Parameters
    ----------
    responses : tuple of RecordedResponse
        The responses; no two have the same id.
    folder : Path or str
        Where the pictures are. It is not compared.
    """

    responses: tuple[RecordedResponse, ...]
    folder: Path | str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if len(self.by_id) < len(self.responses):
            [(twice, _)] = Counter(response.id for response in self).most_common(1)
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
        return tuple(sorted({person for response in self for person in response.people}))

    def only(self, groups: Iterable[str]) -> Recording:
        """The responses of some groups."""
        wanted = set(groups)
        return replace(self, responses=tuple(one for one in self if one.group in wanted))

    def by_step(self) -> Recording:
        """Every described step as a response of its own.

        Its id is that of the whole with the number of the step: ``trial/2``. Its goal is what was
        done and to what: the same step at another time has the same goal.
        """
        return replace(self, responses=tuple(_step_responses(self)))

    def picture_path(self, response: RecordedResponse) -> Path:
        """Where the picture of a response is."""
        return Path(self.folder) / response.image

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file that ``write`` makes of it, and of the pictures after it."""
        hashed = hashlib.sha256()
        for response in self:
            hashed.update(response.to_line().encode(errors="surrogatepass") + b"\n")
        for response in self:
            if response.image:
                hashed.update(self.picture_path(response).read_bytes())
        return hashed.hexdigest()


def _step_responses(recording: Recording) -> Iterator[RecordedResponse]:
    for whole in recording:
        described = zip(whole.steps, whole.step_descriptions, strict=bool(whole.step_descriptions))
        for number, (step, said) in enumerate(described):
            if said:
                yield RecordedResponse(
                    f"{whole.id}/{number}", whole.group, said, goal=" ".join(step), steps=(step,)
                )
