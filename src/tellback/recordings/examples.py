"""Examples: a description as the request, and what was done as the answer.

Hindsight relabelling: whatever was asked for, what was done is a right answer to its own
description. So descriptions train any model that follows instructions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tellback.recordings.recording import RecordedResponse, Recording, Said
from tellback.specs import Data


@dataclass(frozen=True)
class Example:
    """A description and the response that it is of.

    Parameters
    ----------
    id : str
        The round, or the id in a recording.
    description : str
        What was said of the response: the request of the example.
    response : str
        What was done, in words; empty if nobody knows words for it.
    index : int or None
        Which of the possible responses it was, from 0.
    context : str
        The situation, in words.
    person : str
        Who said it; empty if nobody knows.
    candidates : tuple of str
        All possible responses in words, in order; empty if they are not known.
    features : tuple of float
        The numbers that an agent learned from.
    recorded : RecordedResponse or None
        The response in the recording that the example is from.
    """

    id: str
    description: str
    response: str = ""
    index: int | None = None
    context: str = ""
    person: str = ""
    candidates: tuple[str, ...] = ()
    features: tuple[float, ...] = ()
    recorded: RecordedResponse | None = field(default=None, repr=False)

    @property
    def answer(self) -> str:
        """What was done, in words; else which response it was; else its id."""
        return self.response or (self.id if self.index is None else numbered(self.index))

    def to_chat(self, context: bool = True, candidates: bool = False) -> Data:
        """The example as fine-tuning tools read it: a list of messages.

        Parameters
        ----------
        context : bool
            Whether a system message tells the situation, where it is known.
        candidates : bool
            Whether the possible responses are listed above the request, where several are known.
        """
        request = self.description
        if candidates and len(self.candidates) > 1:  # a single one would be the answer
            listed = (f"- {', '.join(one.splitlines())}" for one in self.candidates)
            request = "\n".join([*listed, "", request])
        messages = [
            {"role": "user", "content": request},
            {"role": "assistant", "content": self.answer},
        ]
        if context and self.context:
            messages.insert(0, {"role": "system", "content": self.context})
        return {"messages": messages}

    def to_recorded(self, group: str) -> RecordedResponse:
        """The example as a line of a recording, in the group of its context or else in this one."""
        if self.recorded is not None:
            said = (Said(self.description, self.person),)
            return replace(self.recorded, descriptions=said, step_descriptions=())
        return RecordedResponse(
            id=self.id,
            group=self.context.strip() or group,
            descriptions=(Said(self.description, self.person),),
            features=self.features,
            text=self.response,
        )


def numbered(index: int) -> str:
    """A response that has no words, by its number from 0."""
    return f"response {index}"


def examples_of(recording: Recording) -> Iterator[Example]:
    """An example for each description of a recording, in order. Its group is the context."""
    for one in recording:
        for said in one.descriptions:
            yield Example(
                one.id,
                said.text,
                in_words(one),
                context=one.group,
                person=said.person,
                features=one.features,
                recorded=one,
            )


def in_words(response: RecordedResponse) -> str:
    """A recorded response in words: its text, or a line for each step, or its tokens.

    Examples
    --------
    >>> mug = RecordedResponse("1", "kitchen", (), steps=(("Pick", "mug"), ("Put", "mug", "sink")))
    >>> print(in_words(mug))
    Pick mug
    Put mug sink
    """
    if response.text:
        return response.text
    if response.steps:
        return "\n".join(" ".join(step) for step in response.steps)
    return ", ".join(response.tokens) or response.image
