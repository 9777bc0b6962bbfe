"""Lessons made of a recording: its descriptions teach, then people describe its responses."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import numpy as np

from tellback.classroom.learning.definition import FEATURES, Definition
from tellback.classroom.learning.importing import Importer, Stated
from tellback.classroom.learning.pictures import picture_from, png_of
from tellback.classroom.store.log import LessonLog
from tellback.classroom.store.tasks import Content
from tellback.recordings import Recording
from tellback.recordings.examples import in_words
from tellback.recordings.teaching import taught_rounds
from tellback.worlds.recorded import Recorded, Shown
from tellback.worlds.recorded_pool import Split

ACCOUNT = "recording"
"""The author of its descriptions, where teachers are counted."""


def recorded_definition(path: str | Path, candidates: int = 5, held_out: float = 0.0) -> Definition:
    """A lesson that shows responses of a recording.

    Parameters
    ----------
    path : str or Path
        The recording. It must stay where it is.
    candidates : int
        How many responses of one group are shown in a round.
    held_out : float
        The share of the groups for the exam of the lesson: they neither teach nor are shown. With 0
        there is no exam, because the agent was taught all sentences.
    """
    path = Path(path).resolve()
    world = Recorded(
        str(path),
        candidates,
        hold_out="groups" if held_out else "",
        share=held_out or Recorded.share,
    )
    # A recording with too few responses is refused here.
    match = world.build(np.random.default_rng(0)).world.match  # type: ignore[attr-defined]
    return Definition(candidates=FEATURES, world=world, match=match)


def lesson_id(definition: Definition, path: str | Path) -> str:
    """The id of the lesson of a recording: the same for the same content and settings."""
    words = re.sub("[^a-z0-9]+", "-", Path(path).name.split(".")[0].lower()).strip("-")
    content = json.dumps(definition.to_data(), sort_keys=True)
    return f"{words[:24] or 'recording'}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def import_recording(log: LessonLog, definition: Definition) -> int:
    """Import every description of a lesson's recording as a round; returns how many.

    A round offers the described response alone. Its request is what was said, so it is no match.
    """
    world = definition.world
    assert isinstance(world, Recorded)
    groups = Split(world.hold_out, world.share, world.split).groups(world.recording)
    recording = world.recording.only(groups)
    contents = _contents(recording)
    importer = Importer(definition, ACCOUNT)
    rounds = taught_rounds(recording, world.columns, definition.facts)
    for line, ((task, choice, said), content) in enumerate(
        zip(rounds, contents, strict=True), start=1
    ):
        number = importer.ask(said, task.responses, content, choice.response, Stated(), line)
        importer.describe(number, said, saw_request=True)
    importer.refuse_unfit()
    importer.write(log)
    importer.close()
    return importer.descriptions


def _contents(recording: Recording) -> list[Content]:
    """What is kept of the response of each description, without pictures."""
    return [
        Content(context=one.group, texts=[in_words(one)])
        for one in recording
        for _ in one.descriptions
    ]


def shown_content(world: Recorded, shown: Shown) -> Content:
    """The responses of a round as people see them: pictures, or words, or both."""
    recording = world.recording
    responses = [recording.by_id[id] for id in shown.ids]
    images = None
    if responses[0].image:
        images = [_small_picture(recording.picture_path(one)) for one in responses]
    words = [in_words(one) for one in responses]
    texts = None if images is not None and not any(one.text for one in responses) else words
    return Content(context=shown.group, texts=texts if any(words) else None, images=images)


def _small_picture(path: Path) -> bytes:
    return png_of(picture_from(base64.b64encode(path.read_bytes()).decode()))
