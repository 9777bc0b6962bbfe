"""The lines of a log that is sent: rounds played elsewhere, or a lesson that was taken out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tellback.classroom.learning.content import (
    Content,
    listed_from,
    picture_from,
    png_of,
    responses_from,
)
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.importing import Importer, Stated, UnfitLineError
from tellback.classroom.store.log import Kind
from tellback.classroom.web.bodies import Body, Candidates, Instruction, NewRound, Text
from tellback.classroom.web.problems import Problem
from tellback.errors import FieldError, TellbackError
from tellback.roles import Instruction as AnyInstruction

Propensity = Annotated[float, Field(gt=0, le=1)]
Number = Annotated[int, Field(ge=1, le=2**53)]
Real = Annotated[float, Field(ge=-1e100, le=1e100)]
"""Sums and squares of such numbers are finite."""


class PlayedRound(NewRound):
    """A line: a round that was played elsewhere."""

    response: int = Field(ge=0, description="Which of the candidates was chosen, from 0.")
    propensity: Propensity | None = Field(
        None, description="The probability with which it was; null if unknown."
    )
    description: Instruction | None = Field(None, description="Null if it was never described.")
    saw_request: bool = Field(False, description="Whether who described it knew what was asked.")


class _Loose(BaseModel):
    """Of a lesson that was taken out, what is not needed is not looked at."""

    model_config = ConfigDict(extra="ignore", strict=True)


class Heading(_Loose):
    """The first line of a lesson that was taken out."""

    format: Literal["tellback lesson"]
    version: Literal[1]
    events: int = Field(ge=0)


class AskedData(_Loose):
    """What was asked."""

    instruction: Instruction
    response: int = Field(ge=0)
    propensity: Propensity | None = None
    estimate: Real | None = None
    bonus: Real | None = None
    width: Annotated[Real, Field(ge=0)] | None = None
    highest: Real | None = None

    def stated(self) -> Stated:
        """What the agent said of its choice."""
        given = {name: getattr(self, name) for name in Stated._fields}
        return Stated(**{name: value for name, value in given.items() if value is not None})


class Shown(_Loose, Candidates):
    """What was shown."""

    model_config = ConfigDict(extra="ignore", strict=True)
    features: list[list[float]]
    context: Text | None = None


class Words(_Loose):
    """What was said."""

    description: Instruction
    saw_request: bool


class BackData(_Loose):
    """The event that everything went back to."""

    to: int = Field(ge=0)


class RedactedData(_Loose):
    """How many events became tombstones."""

    events: int = Field(0, ge=0)


class EndData(Body):
    """A note."""

    note: Text | None = None
    second: bool | None = None  # somebody was to describe it too, and did not


class WithdrawnData(Body):
    """Where a round stood."""

    was: Literal["described", "skipped", "cannot_tell", "flagged", "rolled_back"] | None = None


class CheckedData(_Loose):
    """What was picked; whether that was right is worked out again."""

    picked: int = Field(ge=0, le=2**53)


class Tombstone(Body):
    """What is left of an event."""

    redacted: Literal[True]


class _Event(_Loose):
    seq: Number


class AskedLine(_Event):
    """A line: a round was asked."""

    kind: Literal["asked"]
    round: Number
    data: AskedData
    shown: Shown
    wants_second: bool = False


class WordsLine(_Event):
    """A line: a response was described."""

    kind: Literal["described", "second"]
    round: Number
    data: Tombstone | Words


class EndLine(_Event):
    """A line: something else happened to a round."""

    kind: Literal["skipped", "cannot_tell", "flagged"]
    round: Number
    data: Tombstone | EndData


class WithdrawnLine(_Event):
    """A line: a description was taken back."""

    kind: Literal["withdrawn"]
    round: Number
    data: Tombstone | WithdrawnData


class CheckedLine(_Event):
    """A line: somebody picked the response that a description fits."""

    kind: Literal["checked"]
    round: Number
    data: Tombstone | CheckedData


class BackLine(_Event):
    """A line: the lesson went back."""

    kind: Literal["rolled_back"]
    data: BackData


class RedactedLine(_Event):
    """A line: somebody's words were deleted."""

    kind: Literal["redacted"]
    data: RedactedData


Line = Annotated[
    AskedLine | WordsLine | EndLine | WithdrawnLine | CheckedLine | BackLine | RedactedLine,
    Field(discriminator="kind"),
]
_LINE: TypeAdapter[Line] = TypeAdapter(Line)
_PLAYED: TypeAdapter[PlayedRound] = TypeAdapter(PlayedRound)
_HEADING: TypeAdapter[Heading] = TypeAdapter(Heading)


def take_in_lines(file: BinaryIO, taking: Importer, definition: Definition, longest: int) -> None:
    """Take in a log line by line; an error names the line and the field that is wrong."""
    lines = _numbered(file, longest)
    first = next(lines, None)
    if first is None:
        raise Problem(422, "unfit", "The body has no line.", "body")
    if b'"format"' in first[1][:200]:
        _copy(first, lines, taking, definition)
    else:
        _play(first, taking, definition)
        for line in lines:
            _play(line, taking, definition)
    try:
        taking.refuse_unfit()
    except UnfitLineError as error:
        raise _refused(error.line, error) from error


def _numbered(file: BinaryIO, longest: int) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := file.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise _wrong(number, "line", f"it may have at most {longest} bytes")
        if line.strip():
            yield number, line


def _play(line: tuple[int, bytes], taking: Importer, definition: Definition) -> None:
    played = _parsed(_PLAYED, line)
    try:
        _demand(definition, played.instruction, "instruction")
        responses, images = responses_from(definition, played.features, played.texts, played.images)
        content = Content(played.context, played.texts, images)
        number = taking.ask(
            played.instruction,
            responses,
            content,
            played.response,
            Stated(played.propensity),
            line[0],
        )
        if played.description is not None:
            _demand(definition, played.description, "description")
            taking.describe(number, played.description, played.saw_request)
    except TellbackError as error:
        raise _refused(line[0], error) from error


def _copy(
    first: tuple[int, bytes],
    lines: Iterator[tuple[int, bytes]],
    taking: Importer,
    definition: Definition,
) -> None:
    heading = _parsed(_HEADING, first)
    number, seq = first[0], 0
    for number, text in lines:
        event = _parsed(_LINE, (number, text))
        seq += 1
        if event.seq != seq:
            raise _wrong(number, "seq", f"it must be {seq}, the next event")
        try:
            _repeat(event, taking, definition, number)
        except TellbackError as error:
            raise _refused(number, error) from error
    if seq != heading.events:
        raise _wrong(
            number, "seq", f"the first line promises {heading.events} events, and this is the last"
        )


def _repeat(event: Any, taking: Importer, definition: Definition, line: int) -> None:
    if isinstance(event, AskedLine):
        _repeat_asked(event, taking, definition, line)
    elif isinstance(event, BackLine):
        taking.roll_back(event.data.to)
    elif isinstance(event, RedactedLine):
        taking.redacted(event.data.events)
    elif isinstance(event.data, Tombstone):
        taking.bury(Kind(event.kind), event.round)
    elif isinstance(event.data, Words):
        _demand(definition, event.data.description, "data.description")
        say = taking.describe if event.kind == "described" else taking.second
        say(event.round, event.data.description, event.data.saw_request)
    elif isinstance(event.data, CheckedData):
        taking.check(event.round, event.data.picked)
    else:
        taking.note(Kind(event.kind), event.data.model_dump(exclude_none=True), event.round)


def _repeat_asked(event: AskedLine, taking: Importer, definition: Definition, line: int) -> None:
    _demand(definition, event.data.instruction, "data.instruction")
    shown = event.shown
    for name, others in (("texts", shown.texts), ("images", shown.images)):
        if others is not None and len(others) != len(shown.features):
            raise FieldError(f"shown.{name}", f"{name} must have an entry for each response.")
    responses = listed_from(shown.features, definition.facts.dim)
    images = shown.images and [png_of(picture_from(image)) for image in shown.images]
    content = Content(shown.context, shown.texts, images)
    data = event.data
    number = taking.ask(
        data.instruction,
        responses,
        content,
        data.response,
        data.stated(),
        line,
        event.wants_second,
    )
    if number != event.round:
        raise FieldError("round", f"round must be {number}, the next one.")


def _demand(definition: Definition, instruction: AnyInstruction, field: str) -> None:
    facts = definition.facts
    if not facts.fits(instruction):
        raise FieldError(field, f"{field} must be {facts.allowed} in this lesson.")


def _parsed(adapter: TypeAdapter[Any], line: tuple[int, bytes]) -> Any:
    try:
        return adapter.validate_json(line[1])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"])[:200] or "line"
        raise _wrong(line[0], field, first["msg"]) from error


def _refused(number: int, error: TellbackError) -> Problem:
    number = error.line if isinstance(error, UnfitLineError) else number  # maybe an earlier one
    return _wrong(number, getattr(error, "field", None) or "line", str(error)[:500].rstrip("."))


def _wrong(number: int, field: str, says: str) -> Problem:
    problem = Problem(422, "unfit", f"Line {number}, {field}: {says}.", f"{number}.{field}")
    return problem
