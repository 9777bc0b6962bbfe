"""One request after more and more descriptions: a film strip, and a film that loops."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tellback.files import atomic_write
from tellback.roles import Task, meets
from tellback.streams import Streams
from tellback.trajectories.findings import PathFindings
from tellback.trajectories.held_out import SHOWN, held_out_tasks
from tellback.trajectories.plan import Condition
from tellback.worlds.house_drawing import Frame, draw_film, draw_strip
from tellback.worlds.house_words import COLOUR_NAMES, ROOM_NAMES, TYPE_NAMES

SHOWN_AT = (0, 100, 1_000, 10_000)
"""The numbers of descriptions that a film shows, as far as there were so many."""


class Film(NamedTuple):
    """A task of an exam, and what an agent did at some marks."""

    task: Task
    frames: tuple[Frame, ...]

    @property
    def title(self) -> str:
        """What was asked."""
        return f'"{self.task.instruction}"'


def film_of(found: PathFindings, condition: Condition) -> Film | None:
    """The first seed's film of the longest request, among the first of its exam.

    The request is chosen without a look at the answers. Its names must be those of the drawing,
    and no synonyms. None if no answers were noted.
    """
    seed = found.benchmark.seeds[0]
    answers = found.answers.get(condition)
    if not answers:
        return None
    simulation = condition.world.build(Streams(seed).init("world"))
    count = min(SHOWN, found.benchmark.tasks)
    tasks, truth = held_out_tasks(condition.world, simulation, count, seed)
    lengths = [_words_to_show(str(task.instruction)) for task in tasks]
    which = lengths.index(max(lengths))
    frames = []
    for mark, given in zip(found.benchmark.marks(condition), answers, strict=True):
        if mark in SHOWN_AT:
            done = "as asked" if meets(truth, tasks[which], given[which]) else "not as asked"
            frames.append(Frame(f"after {mark:,} descriptions: {done}", given[which]))
    return Film(tasks[which], tuple(frames))


def _words_to_show(request: str) -> int:
    """The number of words of a request; 0 if it names something otherwise than a drawing does."""
    said = request.split()
    known = (
        name.split()[-1]
        for names in (*TYPE_NAMES, *COLOUR_NAMES, *ROOM_NAMES)
        for name in names[1:]
    )
    return 0 if set(said) & set(known) else len(said)


def write_film(film: Film, folder: Path) -> list[Path]:
    """Write the strip and the film as SVG."""
    plan = film.task.context
    written = []
    for name, draw in (("strip", draw_strip), ("film", draw_film)):
        path = folder / f"{name}.svg"
        with atomic_write(path) as temporary:
            temporary.write_text(draw(plan, film.frames, film.title), encoding="utf-8")
        written.append(path)
    return written
