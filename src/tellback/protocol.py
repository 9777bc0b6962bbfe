"""Protocol 1 of the paper: Learning from Hindsight Instruction.

There is one loop, ``_protocol_1``, and one place where regret is computed, ``_judged``.
"""

from __future__ import annotations

import secrets
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np

from tellback.compiled import briefly
from tellback.errors import ProtocolError, SettingError, whole
from tellback.history import History
from tellback.isolation import IsolatedAgent, Packed
from tellback.ledger import Ledger
from tellback.matching import Same, demand_match
from tellback.proof import Witness
from tellback.responses import Shortlist
from tellback.roles import (
    Agent,
    AgentSpec,
    Choice,
    Exchange,
    Facts,
    Instruction,
    Round,
    Simulation,
    Task,
    Teacher,
    Truth,
    World,
    WorldSpec,
    demand,
    new_tuple,
)
from tellback.run import Recorder, Run, name_of, with_checked_proof
from tellback.specs import all_parts
from tellback.streams import Streams

__all__ = [
    "Agent",
    "Choice",
    "Delay",
    "Exchange",
    "Facts",
    "Instruction",
    "Ledger",
    "Round",
    "Run",
    "Simulation",
    "Task",
    "Teacher",
    "Truth",
    "World",
    "play",
    "rounds",
]

VERSION = 1
"""Of the loop and its random streams: goes up when the same specs give other runs."""

ROUNDING = 1e-9
"""By how much a reward may seem to exceed the best one, and the best one 1."""

NAN = float("nan")

SHORT = 1000
"""Rounds of a run for which kernels need not be compiled at once."""

SECRET_BITS = 128
"""Of a seed that is drawn so that no agent can find it by trying."""

Delay = Callable[[int, np.random.Generator], int | None]
"""How many rounds the description of round t takes to arrive; None if it never does."""


def rounds(
    world: WorldSpec | Simulation | Any,
    agent: AgentSpec | Agent,
    *,
    seed: int = 0,
    start: int = 0,
    delay: Delay | None = None,
    history: Iterable[Exchange] = (),
    isolated: bool = False,
) -> Iterator[Round]:
    """Play Protocol 1 without end, yielding each round as it happens.

    An agent never knows the horizon, so there is none here: stop when you have seen enough.

    Parameters
    ----------
    world : WorldSpec, Simulation, or an object with the methods of World, Teacher and Truth
        Where to play.
    agent : AgentSpec or Agent
        Who plays. A live agent goes on learning from where it stands.
    seed : int
        The run's seed: with the same world, agents meet the same tasks.
    start : int
        How many rounds the agent has played before (with this world and seed).
    delay : Delay, optional
        How long descriptions take. By default each arrives before the next round.
    history : iterable of Exchange
        The rounds played before, for worlds that read them (``Run.history`` has them).
    isolated : bool
        As in ``play``.

    Yields
    ------
    Round
        After the agent has learned from it, if its description has arrived.
    """
    sent = _sent(agent, world) if isolated else agent
    streams = Streams(seed)
    simulation, live = _build(world, sent, streams)
    remembered = _remembered(simulation.world, history, start, delay)
    ledger = Ledger(live, streams.stream("agent"))
    return _protocol_1(simulation, ledger, streams, start, delay, remembered)


def play(
    world: WorldSpec | Simulation | Any,
    agent: AgentSpec | Agent,
    rounds: int,
    *,
    seed: int | None = 0,
    start: int = 0,
    delay: Delay | None = None,
    history: Iterable[Exchange] = (),
    progress: Callable[[int], object] | None = None,
    isolated: bool = False,
) -> Run:
    """Play Protocol 1 for a number of rounds and return the record of it.

    Parameters
    ----------
    world : WorldSpec, Simulation, or an object with the methods of World, Teacher and Truth
        Where to play.
    agent : AgentSpec or Agent
        Who plays. A live agent goes on learning from where it stands.
    rounds : int
        How many rounds to play.
    seed : int or None
        The run's seed: with the same world, agents meet the same tasks. None draws one of
        128 bits that nobody can guess; ``Run.seed`` has it.
    start : int
        How many rounds the agent has played before (with this world and seed).
    delay : Delay, optional
        How long descriptions take. By default each arrives before the next round.
    history : iterable of Exchange
        The rounds played before, for worlds that read them (``Run.history`` has them).
    progress : callable, optional
        Called now and then with the number of rounds played since its last call.
    isolated : bool
        Whether the agent runs in a process of its own, where there is no world, no truth and
        no seed. The results are the same, bit for bit. A live agent is copied: ``Run.agent``
        is the one that has learned.

    Returns
    -------
    Run
        Regret and what else was observed, one entry a round.

    Examples
    --------
    >>> from tellback.agents import Uniform
    >>> from tellback.worlds import Synthetic
    >>> run = play(Synthetic(instructions=5, responses=3, rank=2), Uniform(), rounds=100, seed=1)
    >>> len(run.regret)
    100
    """
    rounds = whole("rounds", rounds)
    # Both run code of the agent's: now, while there is no seed, no world and no record.
    agent_name = name_of(agent)
    sent = _sent(agent, world) if isolated else agent
    seed = secrets.randbits(SECRET_BITS) if seed is None else seed
    streams = Streams(seed)
    with briefly(rounds <= SHORT):
        simulation, live = _build(world, sent, streams)
    remembered = _remembered(simulation.world, history, start, delay)
    match = demand_match(getattr(simulation.world, "match", Same()))
    recorder = Recorder(rounds)
    witness = Witness(
        live,
        simulation.truth,
        start=start,
        drawn=_is_our_world(world),
        late=delay is not None,
        reactive=remembered.memory != 0,
    )
    ledger = Ledger(live, streams.stream("agent"))
    loop = _protocol_1(simulation, ledger, streams, start, delay, remembered)
    with briefly(rounds <= SHORT):
        recorder.consume(witness.observe(islice(loop, rounds)), progress)
    if isinstance(live, IsolatedAgent):
        live.flush()
    status = witness.verdict(ledger.told)
    run = Run(
        **recorder.columns,
        agent=live,
        world_name=name_of(world),
        agent_name=agent_name,
        proof=status.proof,
        caveat=status.caveat,
        seed=seed,
        start=start,
        history=remembered,
        match=match,
        by_meaning=bool(getattr(simulation.truth, "by_meaning", False)),
    )
    return with_checked_proof(run)


def _protocol_1(
    simulation: Simulation,
    ledger: Ledger,
    streams: Streams,
    start: int,
    delay: Delay | None,
    history: History,
) -> Iterator[Round]:
    """The loop. Line numbers are those of Protocol 1."""
    world, teacher, truth = simulation.world, simulation.teacher, simulation.truth
    of_world, of_teacher = streams.stream("world"), streams.stream("teacher")
    facts, remembers, late = world.facts, history.memory != 0, delay is not None
    post = _Post(ledger, delay or _at_once, streams)
    for t in count(start + 1):  # line 1
        if late:
            post.deliver(t)
        task = _presented(world.task(t, history, of_world.at(t)), facts, t)  # line 2
        choice = ledger.ask(t, task)  # line 3
        response = choice.response
        said = teacher.describe(task.context, response, of_teacher.at(t))  # line 4
        description = _described(said, facts, t)
        reward, regret = _judged(truth, task, response, t)  # line 5
        if late:
            post.send(t, description)
        elif description is None:
            ledger.silence(t)
        else:
            ledger.tell(t, description)
        if remembers:
            history._add(Exchange(task, response, description))
        shortlist, attainable = choice[-1], NAN
        if shortlist is not None and truth is not None:
            attainable = _attainable(truth, task, shortlist, reward + regret, t)
        yield new_tuple(Round, (t, task, choice, description, reward, regret, attainable))


def _presented(task: Any, facts: Facts, t: int) -> Task:
    """The task that the world presented; an error if its facts do not allow it."""
    if type(task) is not Task:
        raise ProtocolError(f"In round {t} the world presented {task!r}, which is no Task.")
    if not facts.fits(task.instruction):
        raise ProtocolError(
            f"In round {t} the world asked for {task.instruction!r}, "
            f"which by its facts must be {facts.allowed}."
        )
    return task


def _described(said: Any, facts: Facts, t: int) -> Instruction | None:
    """The description; an error if it is neither an instruction nor None."""
    if said is not None and not facts.fits(said):
        raise ProtocolError(
            f"In round {t} the teacher said {said!r}, "
            f"which by the world's facts must be {facts.allowed}."
        )
    description: Instruction | None = said
    return description


def _judged(truth: Truth | None, task: Task, response: Any, t: int) -> tuple[float, float]:
    """The hidden reward of the round, and its regret: a term of equation 1."""
    if truth is None:
        return float("nan"), float("nan")
    reward = truth.reward(task, response)
    best = truth.best(task)
    regret = best - reward
    if not (reward >= 0.0 and regret >= -ROUNDING and best <= 1.0 + ROUNDING):
        raise ProtocolError(
            f"In round {t} the truth gave a reward of {reward} where the best is {best}; "
            "both must be probabilities, from 0 to 1, the best the largest."
        )
    return reward, regret


def _attainable(truth: Truth, task: Task, shortlist: Shortlist, best: float, t: int) -> float:
    """The highest reward of any response in a shortlist."""
    all_at_once = getattr(truth, "rewards", None)
    if all_at_once is not None:
        highest = float(np.max(all_at_once(task, shortlist.responses)))
    else:
        highest = max(float(truth.reward(task, one)) for one in shortlist.responses)
    if not 0.0 <= highest <= best + ROUNDING:
        raise ProtocolError(
            f"In round {t} the highest reward in the shortlist is {highest}, where the best of all "
            f"responses is {best}: one of the two is wrong, or the shortlist has something that is "
            "no response."
        )
    return highest


class _Post:
    """Delivers descriptions to the ledger late, or never; also that there is none."""

    def __init__(self, ledger: Ledger, delay: Delay, streams: Streams) -> None:
        self._ledger = ledger
        self._delay = delay
        self._stream = streams.stream("delay")
        self._due: defaultdict[int, list[tuple[int, Instruction | None]]] = defaultdict(list)

    def send(self, t: int, description: Instruction | None) -> None:
        wait = self._delay(t, self._stream.at(t))
        if wait is None:
            self._ledger.drop(t)
        elif wait == 0:
            self._pass_on(t, description)
        else:
            arrives = t + 1 + whole("the delay of a description", wait, at_least=0)
            self._due[arrives].append((t, description))

    def deliver(self, t: int) -> None:
        for asked, description in self._due.pop(t, ()):
            self._pass_on(asked, description)

    def _pass_on(self, t: int, description: Instruction | None) -> None:
        if description is None:
            self._ledger.silence(t)
        else:
            self._ledger.tell(t, description)


def _at_once(t: int, rng: np.random.Generator) -> int:
    return 0


def _sent(agent: AgentSpec | Agent, world: object) -> Packed | IsolatedAgent:
    """The agent, packed for its process; a warning if it could find the world nevertheless."""
    for part in all_parts(world) if isinstance(world, WorldSpec) else ():
        if isinstance(part, WorldSpec) and getattr(part, "seed", None) is not None:
            warnings.warn(
                f"The world {part.kind!r} has a seed of its own: an isolated agent that tries it "
                "finds the truth. Leave out the world's seed, and play with seed=None.",
                UserWarning,
                stacklevel=3,
            )
    return agent if isinstance(agent, IsolatedAgent) else Packed.of(agent)


def _build(
    world: WorldSpec | Simulation | Any,
    agent: AgentSpec | Agent | Packed,
    streams: Streams,
) -> tuple[Simulation, Agent]:
    """Bring specs to life; take live objects as they are."""
    if isinstance(world, WorldSpec):
        simulation = world.build(streams.init("world"))
    elif isinstance(world, Simulation):
        simulation = world
        demand(simulation.world, World)
        demand(simulation.teacher, Teacher)
        if simulation.truth is not None:
            demand(simulation.truth, Truth)
    else:
        demand(world, World, Teacher, Truth)
        simulation = Simulation(world, world, world)
    facts = simulation.world.facts
    if not isinstance(facts, Facts):
        raise ProtocolError(f"A world's facts must be Facts, not {facts!r}.")
    if isinstance(agent, Packed):
        return simulation, IsolatedAgent(agent, facts, streams.init_stream("agent"))
    if isinstance(agent, AgentSpec):
        return simulation, agent.build(facts, streams.init("agent"))
    demand(agent, Agent)
    return simulation, agent


def _is_our_world(world: object) -> bool:
    """Whether the teacher is known to draw descriptions from the truth: in worlds of ours."""
    ours = isinstance(world, WorldSpec) and type(world).__module__.startswith("tellback.")
    within = getattr(world, "world", None)
    return ours and (within is None or _is_our_world(within))


def _remembered(
    world: World, history: Iterable[Exchange], start: int, delay: Delay | None
) -> History:
    """The past rounds that a world wants to read; an error if a run cannot go on from here."""
    start = whole("start", start, at_least=0)
    memory = getattr(world, "memory", None)
    if memory is not None:
        memory = whole("a world's memory", memory, at_least=0)
    if delay is not None and not callable(delay):
        raise SettingError(f"delay must be a function of round and generator, not {delay!r}.")
    remembered = History(history, memory)
    wanted = start if memory is None else min(start, memory)
    if len(remembered) < wanted:
        raise SettingError(
            f"This world reads the last {wanted} rounds, and a run that starts after round "
            f"{start} was given {len(remembered)} of them: pass history=run.history."
        )
    if start and delay is not None:
        raise SettingError(
            "A run with delayed descriptions cannot be taken up from an agent's state, "
            "because the descriptions still on their way are not in it."
        )
    return remembered
