"""Runs played by an engine, each result stored as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from tellback.errors import TellbackError
from tellback.lab.engines import Engine, Here, engine_named
from tellback.lab.listener import Listener, usual_listener
from tellback.lab.provenance import of_another_source
from tellback.lab.run_one import Failure, SourceChanged
from tellback.lab.run_spec import RunSpec
from tellback.lab.store import Store
from tellback.roles import AgentSpec, WorldSpec
from tellback.sources import LIVE
from tellback.streams import Streams


def run_missing(
    runs: Iterable[RunSpec],
    store: Store,
    *,
    on: Engine | str | None = None,
    listener: Listener | None = None,
    reuse: bool = False,
    stored: Callable[[RunSpec], object] = lambda run: None,
) -> list[Failure]:
    """Play the runs that the store does not have yet, or has from another source of tellback.

    A stored run counts as done if the rooms of tellback that it depends on have not changed
    since it was played. Your own specs need no such rule: another source is another run.

    Parameters
    ----------
    runs : iterable of RunSpec
        What to run; equal runs are played once.
    store : Store
        Where results are stored. Damaged files are named, and their runs played again.
    on : Engine or str, optional
        Where to play: an engine or its name, such as "inline" (``engine_named``). By default in
        processes, one for each core, and in this process for classes that were typed.
    listener : Listener, optional
        Told how far the work is. By default a notebook shows progress bars.
    reuse : bool
        Whether to use stored runs of another source of tellback, with a warning.
    stored : callable
        Told of every run that the store has, now or as soon as it is written.

    Returns
    -------
    list of Failure
        The runs that raised an error; the others are done.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, after the workers have stopped. Finished runs are stored.
    TellbackError
        If source files change while runs are played. Runs finished before are stored.
    """
    listener = listener or usual_listener()
    engine: Any = engine_named(on) if isinstance(on, str) else on or Here(listener.note)
    wanted = list({run.identity: run for run in runs}.values())
    for run in {run.own_classes: run for run in wanted if run.own_classes}.values():
        run.demand_unaltered()
    todo = _not_done(wanted, store, listener, reuse)
    missing = set(todo)
    for run in wanted:
        if run not in missing:
            stored(run)
    if not todo:
        return []
    if not getattr(engine, "isolated", False):  # isolated agents are never built in this process
        for world, agent in dict.fromkeys((run.world, run.agent) for run in todo):
            _demand_fit(world, agent)
    store.prepare()
    for run in {run.world: run for run in todo}.values():
        _prepare(run, listener)
    failures = []
    with closing(engine.run_all(todo, listener.played)) as outcomes:
        for outcome in outcomes:
            if isinstance(outcome, SourceChanged):
                raise TellbackError(outcome.traceback)
            if isinstance(outcome, Failure):
                store.discard(outcome.run)  # the result of another source, if any
                store.write_failure(outcome)
                failures.append(outcome)
            else:
                store.write(outcome)
                stored(outcome.run)
    return failures


def _not_done(
    wanted: Sequence[RunSpec], store: Store, listener: Listener, reuse: bool
) -> list[RunSpec]:
    stored = store.read(wanted)
    for run in stored.damaged:
        listener.note(f"{store.path(run)} is damaged and will be played again.")
    others = of_another_source(stored.curves, store)
    if others:
        listener.note(_said(others, len(stored.curves), reuse))
    done = stored.curves if reuse else stored.curves.keys() - others.keys()
    listener.found(len(done), len(wanted))
    listener.played(sum(run.rounds for run in done))
    return [run for run in wanted if run not in done]


def _said(others: Mapping[RunSpec, list[str]], stored: int, reuse: bool) -> str:
    rooms = ", ".join(sorted({room for found in others.values() for room in found}))
    begins = (
        f"{len(others):,} of {stored:,} stored runs were played by another source of tellback: "
        f"rooms that they depend on have changed ({rooms})"
    )
    if reuse:
        return f"Warning: {begins}. They are used nevertheless, as you asked."
    return f"{begins}. They are played again; to use them nevertheless: --reuse, or reuse=True."


def _prepare(run: RunSpec, listener: Listener) -> None:
    """Prepare a world once, here, instead of in every worker."""
    if type(run.world).prepare is not WorldSpec.prepare:
        run.demand_unedited()
    run.world.prepare(listener.preparing)


def _demand_fit(world: WorldSpec, agent: AgentSpec) -> None:
    """Refuse an agent that does not fit a world, before any run starts.

    The agents of tellback are built in less than 20 ms. A class of the user's own may do anything
    when it is built, and is built in its runs only.
    """
    if hasattr(type(agent), LIVE):
        return
    try:
        agent.build(world.facts, Streams(0).init("agent"))
    except TellbackError:
        raise
    except Exception:  # its runs will report this error, and the others go on
        return
