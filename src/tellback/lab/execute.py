"""Runs computed by an engine, each result kept as soon as it is there."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from typing import Any

from tellback.errors import TellbackError
from tellback.lab.compute import Failure
from tellback.lab.engines import Engine, Processes
from tellback.lab.store import Store
from tellback.lab.study import RunSpec
from tellback.lab.watch import Watcher
from tellback.roles import AgentSpec, WorldSpec
from tellback.streams import Streams


def execute(
    runs: Iterable[RunSpec],
    store: Store,
    *,
    on: Engine | None = None,
    watch: Watcher | None = None,
) -> list[Failure]:
    """Compute the runs that the store does not have yet.

    Parameters
    ----------
    runs : iterable of RunSpec
        What to run; equal runs are computed once.
    store : Store
        Where results are looked for and kept. Damaged files are named, and computed again.
    on : Engine, optional
        Where to compute; by default processes, one for each core.
    watch : Watcher, optional
        Told how far the work is.

    Returns
    -------
    list of Failure
        The runs that raised an error; the others are done.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, after the workers have stopped. What is finished is kept.
    """
    watch = watch or Watcher()
    todo = _not_done(runs, store, watch)
    if not todo:
        return []
    if not getattr(on, "isolated", False):  # what is to be isolated is not begun here
        for world, agent in dict.fromkeys((run.world, run.agent) for run in todo):
            _demand_fit(world, agent)
    store.prepare()
    for world in dict.fromkeys(run.world for run in todo):
        world.prepare(watch.preparing)  # once, here, and not in every worker
    failures = []
    engine: Any = on or Processes()
    with closing(engine.outcomes(todo, watch.played)) as outcomes:
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                store.write_failure(outcome)
                failures.append(outcome)
            else:
                store.write(outcome)
    return failures


def _not_done(runs: Iterable[RunSpec], store: Store, watch: Watcher) -> list[RunSpec]:
    wanted = list({run.identity: run for run in runs}.values())
    shelf = store.shelf(wanted)
    for run in shelf.damaged:
        watch.note(f"{store.path(run)} is damaged and will be computed again.")
    watch.found(len(shelf.curves), len(wanted))
    watch.played(sum(run.rounds for run in shelf.curves))
    return [run for run in wanted if run not in shelf.curves]


def _demand_fit(world: WorldSpec, agent: AgentSpec) -> None:
    """Refuse an agent that is not made for a world before any work starts."""
    try:
        agent.begin(world.facts, Streams(0).birth("agent"))
    except TellbackError:
        raise
    except Exception:  # its runs will report this, and the others go on
        return
