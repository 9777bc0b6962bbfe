"""Runs computed by an engine, each result kept as soon as it is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

from tellback.errors import TellbackError
from tellback.lab.engines import Engine, Here, engine_named
from tellback.lab.listener import Listener, usual_listener
from tellback.lab.provenance import of_another_source
from tellback.lab.run_one import Changed, Failure
from tellback.lab.store import Store
from tellback.lab.study import RunSpec
from tellback.roles import AgentSpec, WorldSpec
from tellback.sources import LIVE
from tellback.streams import Streams


def run_missing(
    runs: Iterable[RunSpec],
    store: Store,
    *,
    on: Engine | str | None = None,
    watch: Listener | None = None,
    reuse: bool = False,
) -> list[Failure]:
    """Compute the runs that the store does not have yet, or has from another source of tellback.

    A run that is kept counts as done if the part of tellback that it depends on is as it was
    when it was computed. Specs of one's own need no such rule: another source is another run.

    Parameters
    ----------
    runs : iterable of RunSpec
        What to run; equal runs are computed once.
    store : Store
        Where results are looked for and kept. Damaged files are named, and computed again.
    on : Engine or str, optional
        Where to compute: an engine or its name, such as "inline" (``engine_named``). By default
        processes, one for each core, and this process for classes that were typed.
    watch : Listener, optional
        Told how far the work is. By default a notebook shows progress bars.
    reuse : bool
        Whether to keep runs that another source of tellback has computed, with a warning.

    Returns
    -------
    list of Failure
        The runs that raised an error; the others are done.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, after the workers have stopped. What is finished is kept.
    TellbackError
        If source changed while the runs were played. What was finished before is kept.
    """
    watch = watch or usual_listener()
    engine: Any = engine_named(on) if isinstance(on, str) else on or Here(watch.note)
    todo = _not_done(runs, store, watch, reuse)
    if not todo:
        return []
    if not getattr(engine, "isolated", False):  # what is to be isolated is not begun here
        for world, agent in dict.fromkeys((run.world, run.agent) for run in todo):
            _demand_fit(world, agent)
    store.prepare()
    for run in {run.world: run for run in todo}.values():
        _prepare(run, watch)
    failures = []
    with closing(engine.outcomes(todo, watch.played)) as outcomes:
        for outcome in outcomes:
            if isinstance(outcome, Changed):
                raise TellbackError(outcome.traceback)
            if isinstance(outcome, Failure):
                store.discard(outcome.run)  # a result of another source, if any
                store.write_failure(outcome)
                failures.append(outcome)
            else:
                store.write(outcome)
    return failures


def _not_done(runs: Iterable[RunSpec], store: Store, watch: Listener, reuse: bool) -> list[RunSpec]:
    wanted = list({run.identity: run for run in runs}.values())
    shelf = store.shelf(wanted)
    for run in shelf.damaged:
        watch.note(f"{store.path(run)} is damaged and will be computed again.")
    others = of_another_source(shelf.curves, store)
    if others:
        watch.note(_said(others, len(shelf.curves), reuse))
    done = shelf.curves if reuse else shelf.curves.keys() - others.keys()
    watch.found(len(done), len(wanted))
    watch.played(sum(run.rounds for run in done))
    return [run for run in wanted if run not in done]


def _said(others: Mapping[RunSpec, list[str]], kept: int, reuse: bool) -> str:
    rooms = ", ".join(sorted({room for found in others.values() for room in found}))
    begins = (
        f"{len(others):,} of {kept:,} runs that are kept were computed by another source of "
        f"tellback than this one, in what they depend on ({rooms})"
    )
    if reuse:
        return f"Warning: {begins}. They are used all the same, as you asked for."
    return f"{begins}, and are computed again. To use them all the same: --reuse, or reuse=True."


def _prepare(run: RunSpec, watch: Listener) -> None:
    """Do what all runs in a world share once, here, and not in every worker."""
    if type(run.world).prepare is not WorldSpec.prepare:
        run.demand_unedited()
    run.world.prepare(watch.preparing)


def _demand_fit(world: WorldSpec, agent: AgentSpec) -> None:
    """Refuse an agent that is not made for a world before any work starts.

    The agents of tellback are built in less than 20 ms. A class of the user's own may do anything
    when it is built, and is built in its runs only.
    """
    if hasattr(type(agent), LIVE):
        return
    try:
        agent.build(world.facts, Streams(0).init("agent"))
    except TellbackError:
        raise
    except Exception:  # its runs will report this, and the others go on
        return
