"""What there is in a recording, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from tellback.encoders.text import plain_words
from tellback.recordings.recording import Recording


@dataclass(frozen=True)
class Summary:
    """What there is in a recording.

    Parameters
    ----------
    responses : int
        The responses.
    groups : int
        The groups.
    goals : int
        The different goals.
    people : int
        The people whose names are known.
    descriptions : int
        The descriptions.
    unknown : int
        Those of people who are not named.
    undescribed : int
        The responses that nobody has described.
    words : int
        The different words of the descriptions.
    length : float
        The mean number of words of a description.
    steps : int
        The steps that somebody has described.
    """

    responses: int
    groups: int
    goals: int
    people: int
    descriptions: int
    unknown: int
    undescribed: int
    words: int
    length: float
    steps: int

    @classmethod
    def of(cls, recording: Recording) -> Summary:
        """Count."""
        said = [one for response in recording for one in response.descriptions]
        words = [plain_words(one.text) for one in said]
        return cls(
            responses=len(recording),
            groups=len(recording.groups),
            goals=len({response.goal for response in recording} - {""}),
            people=len(recording.people),
            descriptions=len(said),
            unknown=sum(not one.person for one in said),
            undescribed=sum(not response.descriptions for response in recording),
            words=len({word for sentence in words for word in sentence}),
            length=sum(map(len, words)) / max(len(words), 1),
            steps=sum(bool(said) for one in recording for said in one.step_descriptions),
        )
