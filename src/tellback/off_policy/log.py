"""The log of an agent that played: what off-policy estimates are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellback.arrays import AnyArray, Array, Indices
from tellback.errors import SettingError
from tellback.matching import Same
from tellback.off_policy.kinds import UNKNOWN, checked_kind
from tellback.off_policy.log_file import PLAIN, LogEntry, read_entries, write_entries
from tellback.protocol import rounds as played_rounds
from tellback.recordings.examples import Example, numbered
from tellback.responses import Listed
from tellback.roles import AgentSpec, Instruction, Round, Task, WorldSpec
from tellback.streams import Streams

Matching = Callable[[Instruction, Instruction], bool]
"""Whether what was told (second) is what was asked for (first)."""

Words = Callable[[Task, int], str]
"""What a response to a task is, in words."""

SAME = Same()


@dataclass(frozen=True, eq=False)
class Log:
    """Rounds as they were played, one entry a round in every sequence.

    Attributes
    ----------
    tasks : sequence of Task
        s_t and x_t, with the responses that were possible. They must be listed. Where there are
        too many, the shortlist of the agent stands for them: it is part of the context, and
        estimates are of policies that choose among the same candidates.
    responses : Indices
        y_t.
    propensities : Array
        The probability with which y_t was chosen; NaN where the agent stated none.
    descriptions : sequence of Instruction or None
        x'_t; None where the round was never described.
    matches : Array
        1 if the description matches the instruction, 0 if not, NaN if there is no description or
        nobody knows whether it matches.
        Missing matches are not imputed.
    teacher_saw_request : array of bool
        Rounds whose teacher had seen what was asked for. What such a teacher says is no
        sample of the reward, so no estimate uses these rounds.
    kind : str
        How the propensities are known, as ``agent.propensities`` says it: 'exact', or given
        what; 'unknown' if nobody said. Where they are shares of some draws, as Thompson's, a
        propensity of 1 does not say that nothing else could have happened.

    Examples
    --------
    >>> from tellback.agents import EpsilonGreedy
    >>> from tellback.worlds import Synthetic
    >>> world = Synthetic(instructions=5, responses=3, rank=2, seed=0)
    >>> log = Log.played(world, EpsilonGreedy(epsilon=0.3), rounds=500)
    >>> log
    Log(500 rounds, 500 of them usable, propensities: exact)
    """

    tasks: tuple[Task, ...]
    responses: Indices
    propensities: Array
    descriptions: tuple[Instruction | None, ...]
    matches: Array
    teacher_saw_request: NDArray[np.bool_]
    kind: str = UNKNOWN

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "kind", checked_kind(self.kind))
        set_field(self, "tasks", tuple(self.tasks))
        set_field(self, "descriptions", tuple(self.descriptions))
        for name, kind in _COLUMNS.items():
            column: AnyArray = np.array(getattr(self, name), dtype=kind)
            column.setflags(write=False)
            set_field(self, name, column)
        self._check()

    @classmethod
    def of(
        cls,
        rounds: Iterable[Round],
        *,
        match: Matching = SAME,
        teacher_saw_request: bool | Iterable[bool] = False,
        propensities: str = UNKNOWN,
    ) -> Log:
        """The log of rounds that were played.

        Parameters
        ----------
        rounds : iterable of Round
            As ``tellback.rounds`` yields them: take as many as the log shall have.
        match : callable
            Whether a description (second) is what was asked for (first). The reward is the
            probability of a match. Sentences are hardly ever equal: give a match for them.
        teacher_saw_request : bool or iterable of bool
            Whether the teacher had seen the request, one for all rounds or one for each.
        propensities : str
            How the agent's propensities are known: give ``agent.propensities``. ``played`` asks
            the agent by itself.
        """
        all_alike = isinstance(teacher_saw_request, bool | np.bool_)
        seen = repeat(bool(teacher_saw_request)) if all_alike else teacher_saw_request
        entries = [
            LogEntry(
                task=_listed_task(played),
                response=played.choice.place,
                propensity=_propensity(played.choice.propensity),
                description=played.description,
                match=_match(match, played.task.instruction, played.description),
                teacher_saw_request=bool(saw),
            )
            for played, saw in zip(rounds, seen, strict=not all_alike)  # type: ignore[arg-type]
        ]
        return cls.from_entries(entries, propensities)

    @classmethod
    def played(
        cls,
        world: WorldSpec,
        agent: AgentSpec,
        rounds: int,
        *,
        seed: int = 0,
        match: Matching = SAME,
    ) -> Log:
        """Play in a simulation, and log it with what the agent says of its propensities.

        Parameters
        ----------
        world, agent : WorldSpec, AgentSpec
            Who plays, and where.
        rounds : int
            How many rounds.
        seed : int
            Of all random streams; the rounds are those of ``tellback.rounds`` with this seed.
        match : callable
            As in ``of``.
        """
        streams = Streams(seed)
        simulation = world.build(streams.init("world"))
        live = agent.build(simulation.world.facts, streams.init("agent"))
        kind = getattr(live, "propensities", UNKNOWN)
        first = islice(played_rounds(simulation, live, seed=seed), rounds)
        return cls.of(first, match=match, propensities=kind)

    @classmethod
    def load(cls, path: str | Path) -> Log:
        """A log that ``save`` wrote; an error names the line and the field that is wrong."""
        kind, entries = read_entries(Path(path))
        return cls.from_entries(list(entries), kind)

    def save(self, path: str | Path) -> None:
        """Write the log as lines of JSON: the file is whole or absent.

        Only contexts that are numbers, words or None are stored; others come back as None.
        Features and instructions are stored exactly: models need nothing else.
        """
        write_entries(Path(path), self._entries(), self.kind)

    def examples(self, words: Words | None = None) -> Iterator[Example]:
        """The described rounds as training data; see ``tellback.recordings.export_examples``.

        Parameters
        ----------
        words : callable, optional
            Says in words what a response (second) to a task (first) is. By default responses have
            numbers only.
        """
        for t, (task, response, said) in enumerate(
            zip(self.tasks, self.responses.tolist(), self.descriptions, strict=True), start=1
        ):
            if said is not None:
                possible = range(len(task.responses))
                context = task.context if isinstance(task.context, PLAIN) else ""
                yield Example(
                    f"round {t}",
                    str(said),
                    response="" if words is None else words(task, response),
                    index=response,
                    context=str(context),
                    candidates=tuple(words(task, y) if words else numbered(y) for y in possible),
                    features=tuple(task.responses.features(response).tolist()),
                )

    def __len__(self) -> int:
        return len(self.tasks)

    def __getitem__(self, part: slice | AnyArray) -> Log:
        """The log of some of the rounds: a slice, or an array that says which."""
        if not isinstance(part, slice | np.ndarray):
            raise SettingError(f"A part of a log is a slice or an array, not {part!r}.")
        which = np.arange(len(self))[part]
        return Log(
            tuple(self.tasks[i] for i in which),
            self.responses[which],
            self.propensities[which],
            tuple(self.descriptions[i] for i in which),
            self.matches[which],
            self.teacher_saw_request[which],
            self.kind,
        )

    def __repr__(self) -> str:
        usable = self._is_usable.sum()
        return f"Log({len(self)} rounds, {usable} of them usable, propensities: {self.kind})"

    @property
    def usable(self) -> Log:
        """The rounds that say something of the reward: described by one who saw no request.

        To leave out the others is right if, given the task and the past, neither whether a
        round was described nor whether the request was seen depends on the response or on
        what its description would be. If teachers skip what is hard to describe, estimates
        are of what they do not skip.
        """
        usable = self._is_usable
        return self if usable.all() else self[usable]

    @property
    def _is_usable(self) -> NDArray[np.bool_]:
        usable: NDArray[np.bool_] = ~np.isnan(self.matches) & ~self.teacher_saw_request
        return usable

    def _entries(self) -> Iterable[LogEntry]:
        return map(
            LogEntry,
            self.tasks,
            self.responses.tolist(),
            self.propensities.tolist(),
            self.descriptions,
            self.matches.tolist(),
            self.teacher_saw_request.tolist(),
        )

    @classmethod
    def from_entries(cls, entries: list[LogEntry], kind: str) -> Log:
        """The log of some rounds; ``kind`` says how their propensities are known."""
        for t, entry in enumerate(entries, start=1):
            if entry.response not in entry.task.responses:
                raise SettingError(
                    f"Round {t} of the log has the response {entry.response!r}, which is not "
                    f"among the possible ones: {entry.task.responses!r}."
                )
        columns: Any = tuple(zip(*entries, strict=True)) or ((),) * len(LogEntry._fields)
        tasks, responses, propensities, descriptions, matches, seen = columns
        return cls(tasks, responses, propensities, descriptions, matches, seen, kind)

    def _check(self) -> None:
        names = [name for name in self.__annotations__ if name != "kind"]
        columns: dict[str, Any] = {name: getattr(self, name) for name in names}
        for name, column in columns.items():
            if len(column) != len(self):
                raise SettingError(f"{name} has {len(column)} entries, and tasks has {len(self)}.")
        missing = np.isnan(self.matches).tolist()
        for t, (task, response) in enumerate(zip(self.tasks, self.responses.tolist(), strict=True)):
            if not isinstance(task.responses, Listed):
                raise _not_listed(t + 1, task)
            if not 0 <= response < len(task.responses):
                raise SettingError(
                    f"responses[{t}] must be from 0 to {len(task.responses) - 1}, not {response}."
                )
            if self.descriptions[t] is None and not missing[t]:
                raise SettingError(
                    f"matches[{t}] is {self.matches[t]}, and descriptions[{t}] is None: without a "
                    "description there is no match."
                )
        given = self.propensities[~np.isnan(self.propensities)]
        if not ((given > 0) & (given <= 1)).all():
            wrong = given[~((given > 0) & (given <= 1))][0]
            raise SettingError(f"propensities must be above 0 and at most 1, not {wrong}.")
        if not np.isin(self.matches[~np.isnan(self.matches)], (0.0, 1.0)).all():
            raise SettingError("matches must be 0, 1 or NaN.")


_COLUMNS = {
    "responses": np.int64,
    "propensities": np.float64,
    "matches": np.float64,
    "teacher_saw_request": np.bool_,
}


def _listed_task(played: Round) -> Task:
    """The task as a log has it: a shortlist is part of the context, and stands for all."""
    task, shortlist = played.task, played.choice.shortlist
    if shortlist is not None:
        return task._replace(responses=shortlist)
    if not isinstance(task.responses, Listed):
        raise _not_listed(played.t, task)
    return task


def _not_listed(t: int, task: Task) -> SettingError:
    return SettingError(
        f"Round {t} of the log offers {task.responses!r}: off-policy estimates need responses "
        "that can be listed, or an agent that states its shortlist."
    )


def _propensity(stated: float | None) -> float:
    return float("nan") if stated is None else float(stated)


def _match(match: Matching, asked: Instruction, told: Instruction | None) -> float:
    return float("nan") if told is None else float(bool(match(asked, told)))
