"""A recording teaches: every description of it, in order, before any live round."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple, Protocol

from tellback.errors import SettingError
from tellback.recordings.examples import in_words
from tellback.recordings.exporting import to_json
from tellback.recordings.features import Columns
from tellback.recordings.recording import RecordedResponse, Recording
from tellback.responses import Listed
from tellback.roles import Agent, Choice, Facts, Instruction, Task
from tellback.specs import Data

AT_ONCE = 1000
"""Descriptions in one import."""


_Taught = Iterator[tuple[Instruction, list[float] | None]]
"""Descriptions, each with the features of its response if they are sent."""


class TaughtRound(NamedTuple):
    """A description of a recording as ``Agent.learn`` takes it.

    The task offers the described response alone, and asks for what was said of it.
    """

    task: Task
    choice: Choice
    description: Instruction


class Recalls(Protocol):
    """A world in which recorded responses can be played again, such as ``Environment``."""

    def recall(self, recorded: RecordedResponse) -> tuple[Task, Any]:
        """The task and the response that were recorded; an error if they are not of this world."""


def taught_rounds(
    recording: Recording,
    columns: Columns | None = None,
    facts: Facts | None = None,
    world: Recalls | None = None,
) -> Iterator[TaughtRound]:
    """The descriptions of a recording, in order, with the features of their responses.

    Parameters
    ----------
    recording : Recording
        The responses, and what people said of them.
    columns : Columns, optional
        The columns of the features, by default those that fit the agent: the numbers of the
        recording alone if there are as many as the agent has features, else
        ``Columns.of(recording)``.
    facts : Facts, optional
        What the agent was made for. If its instructions are a table, the descriptions must be their
        numbers.
    world : Recalls, optional
        A world in which the responses can be played again: its features are taken, and a proposal
        learns from the responses, too. Without it the task offers the described response alone.
    """
    if world is not None:
        yield from _recalled(recording, columns, facts, world)
        return
    columns = columns or fitting_columns(recording, facts)
    if facts is not None and columns.dim != facts.dim:
        raise SettingError(
            f"columns must have {facts.dim} features, as the agent has, not {columns.dim}."
        )
    matrix, row_of = columns.rows(recording)
    listed: dict[int, Listed] = {}
    for response, row in zip(recording, row_of, strict=True):
        if row not in listed:
            listed[row] = Listed(matrix[row : row + 1])
        for said in response.descriptions:
            description = _instruction(response.id, said.text, facts)
            task = Task(None, description, listed[row])
            yield TaughtRound(task, task.choose(0), description)


def _recalled(
    recording: Recording, columns: Columns | None, facts: Facts | None, world: Recalls
) -> Iterator[TaughtRound]:
    if columns is not None:
        raise SettingError("Give columns or a world: the world has features of its own.")
    for recorded in recording:
        task, response = world.recall(recorded)
        for said in recorded.descriptions:
            description = _instruction(recorded.id, said.text, facts)
            asked = task._replace(instruction=description)
            yield TaughtRound(asked, asked.choose(response), description)


def fitting_columns(recording: Recording, facts: Facts | None = None) -> Columns:
    """The numbers of a recording alone if there are as many as an agent has features, or all."""
    if facts is not None and all(len(one.features) == facts.dim for one in recording):
        return Columns(numbers=facts.dim)
    return Columns.of(recording)


def teach(
    agent: Agent,
    recording: Recording,
    columns: Columns | None = None,
    world: Recalls | None = None,
) -> int:
    """Teach a live agent every description of a recording, in order; returns how many.

    The agent can play on from there: ``play(world, agent, ...)``. The certificate of such a run has
    no proof, as the agent has learned elsewhere.

    Parameters
    ----------
    agent : Agent
        A live agent, such as ``spec.build(Facts(columns.dim, None), rng)``.
    recording, columns, world
        As in ``taught_rounds``.
    """
    count = 0
    for one in taught_rounds(recording, columns, getattr(agent, "facts", None), world):
        agent.learn(*one)
        count += 1
    return count


def import_parts(
    recording: Recording, columns: Columns | None, candidates: str, facts: Facts
) -> Iterator[bytes]:
    """Imports that teach the agent of a lesson: a line with a round for each description.

    Parameters
    ----------
    recording, columns
        As in ``taught_rounds``. Columns are for lessons whose responses come as features.
    candidates : "features" or "texts"
        How the responses of the lesson come. Texts are the responses in words.
    facts : Facts
        Those of the lesson's agent.
    """
    if candidates == "features":
        rounds = taught_rounds(recording, columns, facts)
        said: _Taught = ((one.description, one.choice.features.tolist()) for one in rounds)
    elif candidates == "texts":
        said = (
            (_instruction(one.id, told.text, facts), None)
            for one in recording
            for told in one.descriptions
        )
    else:
        raise SettingError(f"A lesson of {candidates} cannot be taught by a recording.")
    lines = _import_lines(recording, said)
    while part := "".join(f"{to_json(line)}\n" for line in islice(lines, AT_ONCE)):
        yield part.encode()


def _import_lines(recording: Recording, said: _Taught) -> Iterator[Data]:
    described = (one for one in recording for _ in one.descriptions)
    for one, (description, row) in zip(described, said, strict=True):
        # Asked for what was said, it would always match: the teacher knew the request.
        line: Data = {"instruction": description, "description": description, "saw_request": True}
        words = in_words(one)
        line |= {"context": one.group, "response": 0, "texts": [words] if words else None}
        yield line | ({} if row is None else {"features": [row]})


def _instruction(id: str, text: str, facts: Facts | None) -> Instruction:
    if facts is None or facts.language:
        return text
    if text.isdecimal() and facts.fits(int(text)):
        return int(text)
    raise SettingError(
        f"The description {text!r} of response {id!r} must be {facts.allowed}: the agent learns a "
        "table of instructions."
    )
