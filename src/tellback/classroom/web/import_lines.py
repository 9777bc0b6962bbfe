"""Reading the lines of an import into a lesson."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from pydantic import TypeAdapter, ValidationError

from tellback.classroom.learning.content import listed_from, responses_from
from tellback.classroom.learning.definition import Definition
from tellback.classroom.learning.importing import Importer, Stated, UnfitLineError
from tellback.classroom.learning.pictures import read_pictures
from tellback.classroom.side_process import FOR_IMPORTS
from tellback.classroom.store.descriptions import AskedAgain
from tellback.classroom.store.log import Kind
from tellback.classroom.store.rounds import Drawn, Known
from tellback.classroom.store.tasks import Content
from tellback.classroom.turns import paced
from tellback.classroom.web.problems import Problem, invalid
from tellback.classroom.web.schemas.log_lines import (
    AnsweredData,
    AskedLine,
    CheckedData,
    DescribedData,
    EventLine,
    Heading,
    PlayedRound,
    RedactedLine,
    RolledBackLine,
    SuggestedData,
    Tombstone,
)
from tellback.classroom.web.strict_json import LARGE, long_line
from tellback.errors import FieldError, TellbackError

_EVENT: TypeAdapter[EventLine] = TypeAdapter(EventLine)
_PLAYED: TypeAdapter[PlayedRound] = TypeAdapter(PlayedRound)
_HEADING: TypeAdapter[Heading] = TypeAdapter(Heading)

Line = tuple[int, bytes]
"""The number of a line, from 1, and its text."""


def import_lines(file: BinaryIO, importer: Importer, definition: Definition, longest: int) -> None:
    """Import a file line by line; an error names the line and the field that is wrong."""
    lines = paced(numbered_lines(file, longest))
    first = next(lines, None)
    if first is None:
        raise invalid("body", "The body has no line.")
    if b'"format"' in first[1][:200]:
        _import_events(first, lines, importer, definition)
    else:
        _import_round(first, importer, definition)
        for line in lines:
            _import_round(line, importer, definition)
    with _on_line(0):  # an unfit task says its own line
        importer.refuse_unfit()


MOST_BLANK = 1_000
"""Blank lines in an import: a body of nothing else would take long to read."""


def numbered_lines(file: BinaryIO, longest: int) -> Iterator[Line]:
    """The lines of a file that are not blank, of limited length."""
    number = blank = 0
    while line := file.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise wrong_line(number, "line", f"it may have at most {longest} bytes")
        if line.strip():
            yield number, line
        else:
            blank += 1
            if blank > MOST_BLANK:
                raise wrong_line(number, "line", f"there may be at most {MOST_BLANK} blank lines")


def _import_round(line: Line, importer: Importer, definition: Definition) -> None:
    played = _parsed(_PLAYED, line)
    with _on_line(line[0]):
        definition.demand_instruction(played.instruction, "instruction")
        responses, images = responses_from(
            definition, played.features, played.texts, played.images, read=FOR_IMPORTS
        )
        content = Content(played.context, played.texts, images)
        number = importer.ask(
            played.instruction,
            responses,
            content,
            played.response,
            Stated(played.propensity),
            line[0],
        )
        if played.description is not None:
            definition.demand_description(played.description)
            importer.describe(number, played.description, played.saw_request)


def _import_events(
    first: Line, lines: Iterator[Line], importer: Importer, definition: Definition
) -> None:
    heading = _parsed(_HEADING, first)
    number, seq = first[0], 0
    for number, text in lines:
        event = _parsed(_EVENT, (number, text))
        seq += 1
        if event.seq != seq:
            raise wrong_line(number, "seq", f"it must be {seq}, the next event")
        with _on_line(number):
            _import_event(event, importer, definition, number)
    if seq != heading.events:
        raise wrong_line(
            number, "seq", f"the first line promises {heading.events} events, and this is the last"
        )


def _import_event(event: Any, importer: Importer, definition: Definition, line: int) -> None:
    if isinstance(event, AskedLine):
        _import_asked(event, importer, definition, line)
    elif isinstance(event, RolledBackLine):
        importer.roll_back(event.data.to)
    elif isinstance(event, RedactedLine):
        importer.redacted(event.data.events)
    elif isinstance(event.data, Tombstone):
        importer.bury(Kind(event.kind), event.round)
    elif isinstance(event.data, DescribedData):
        definition.demand_description(event.data.description, "data.description")
        said = event.round, event.data.description, event.data.saw_request
        if event.kind == "second":
            importer.second(*said)
        else:
            used = event.data.suggested
            again = AskedAgain(event.data.first) if event.data.sure else None
            importer.describe(*said, None if used is None else used.model_dump(), again)
    elif isinstance(event.data, AnsweredData) and event.data.description is not None:
        definition.demand_description(event.data.description, "data.description")
        importer.note(Kind.ANSWERED, {"description": event.data.description}, event.round)
    elif isinstance(event.data, AnsweredData) and event.data.outcome == Kind.WITHDRAWN.value:
        importer.note(Kind.ANSWERED, {"outcome": event.data.outcome}, event.round)
    elif isinstance(event.data, SuggestedData):
        definition.demand_description(event.data.description, "data.description")
        importer.note(Kind.SUGGESTED, event.data.model_dump(), event.round)
    elif isinstance(event.data, CheckedData):
        importer.check(event.round, event.data.picked)
    else:
        importer.note(Kind(event.kind), event.data.model_dump(exclude_none=True), event.round)


def _import_asked(event: AskedLine, importer: Importer, definition: Definition, line: int) -> None:
    definition.demand_instruction(event.data.instruction, "data.instruction")
    shown = event.shown
    for name, others in (("texts", shown.texts), ("images", shown.images)):
        if others is not None and len(others) != len(shown.features):
            raise FieldError(f"shown.{name}", f"{name} must have an entry for each response.")
    responses = listed_from(shown.features, definition.facts.dim)
    images = None
    if shown.images is not None:
        images = FOR_IMPORTS(read_pictures, shown.images, True)[1]
    content = Content(shown.context, shown.texts, images)
    data = event.data
    number = importer.ask(
        data.instruction,
        responses,
        content,
        data.response,
        data.stated(),
        line,
        event.wants_second,
        None if data.drawn is None else Drawn(data.drawn.task, data.drawn.response),
        None if data.advice is None else data.advice.model_dump(),
        data.part,
        None if data.known is None else Known.from_data(data.known.model_dump()),
    )
    if number != event.round:
        raise FieldError("round", f"round must be {number}, the next one.")


def _parsed(adapter: TypeAdapter[Any], line: Line) -> Any:
    number, text = line
    try:
        if len(text) <= LARGE:
            return adapter.validate_json(text)
        return adapter.validate_python(long_value(long_line, number, text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"])[:200] or "line"
        raise wrong_line(number, field, first["msg"]) from error


def long_value(read: Callable[[bytes], Any], number: int, line: bytes) -> Any:
    """The value of a long line, read while other requests go on."""
    try:
        return FOR_IMPORTS(read, line)
    except json.JSONDecodeError as error:
        raise wrong_line(number, "line", "it is not JSON") from error
    except FieldError as error:
        says = str(error).removeprefix(f"{error.field}: ").rstrip(".")
        raise wrong_line(number, error.field, says) from error


@contextmanager
def _on_line(number: int) -> Iterator[None]:
    """Errors name this line, or that of an unfit task: it may be an earlier one."""
    try:
        yield
    except TellbackError as error:
        number = error.line if isinstance(error, UnfitLineError) else number
        field = getattr(error, "field", None) or "line"
        raise wrong_line(number, field, str(error)[:500].rstrip(".")) from error


def wrong_line(number: int, field: str, says: str) -> Problem:
    """A problem with a line."""
    return invalid(f"{number}.{field}", f"Line {number}, {field}: {says}.")
