"""Runs of the paper's kind, compiled as a whole.

``protocol.py`` has the one loop, for any world and any agent. Most of the paper's rounds are of
one kind: a synthetic or hard world with some contexts, perhaps with an adversary, and an agent with
a mixture model or with counts. There, calls between kernels cost more than the kernels. Here the
same kernels are called in the same order from one compiled loop. The results are the same, bit for
bit. Any other run is left to ``play``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tellback.agents.agent import ModelAgent
from tellback.agents.explorers import (
    Dithering,
    Optimism,
    most_optimistic,
    not_finite,
)
from tellback.agents.one_hot import OneHotAgent, shares_and_widths
from tellback.agents.uniform import UniformAgent
from tellback.arrays import AnyArray, Array, Indices
from tellback.compiled import compiled
from tellback.match_check import MatchCheck, MatchTally, match_check
from tellback.models import mixture_kernels
from tellback.models.counts import SIZE
from tellback.models.ellipsoid import Ellipsoid, rank_one
from tellback.models.mixture import MixtureModel
from tellback.models.quadratic_forms import quadratic_forms
from tellback.responses import Listed
from tellback.roles import AgentSpec, WorldSpec
from tellback.run import PROGRESS_EVERY
from tellback.sources import is_own
from tellback.streams import Streams
from tellback.ties import maxima
from tellback.worlds.adversarial import BOTH, Adversarial
from tellback.worlds.hard import Hard
from tellback.worlds.synthetic import Synthetic, draw_description, stacked_columns

OPTIMISM, DITHERING, UNIFORM, ONE_HOT = range(4)
DRAWN, PICKED, BOTH_PICKED = range(3)
WORLD, AGENT, TEACHER = range(3)

BLOCK = 250_000
"""Rounds of a study's run that are in memory at a time, 40 bytes each."""


class CompiledRun(NamedTuple):
    """What was played: one entry a round, and the agent as these rounds left it."""

    instructions: Indices
    responses: Indices
    descriptions: Indices
    rewards: Array
    regrets: Array
    agent: ModelAgent | OneHotAgent

    @property
    def regret(self) -> Array:
        """Cumulative regret, Reg(t) of equation 1, one entry a round."""
        return np.cumsum(self.regrets)

    @property
    def matches(self) -> Array:
        """1 where the description was the instruction."""
        matches: Array = (self.instructions == self.descriptions).astype(np.float64)
        return matches

    @property
    def match_check(self) -> MatchCheck | None:
        """Matches held against the hidden rewards."""
        return match_check(self.matches, self.rewards)


class ThinnedRun(NamedTuple):
    """A run of which only some points of the regret curve are kept, so that it may be long."""

    curve: Array
    match_check: MatchCheck | None
    agent: ModelAgent | OneHotAgent


def is_compiled_in(world: WorldSpec) -> bool:
    """Whether runs of some agents in a world are compiled as a whole."""
    inner = world.world if type(world) is Adversarial else world
    if type(inner) is Synthetic:
        return inner.asks == "uniform" and not isinstance(inner.contexts, str)
    return type(inner) is Hard


def play_compiled(
    world: WorldSpec,
    agent: AgentSpec,
    rounds: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> CompiledRun | None:
    """The run that ``play`` would play; None if it is not of the kind that is compiled."""
    return next(played_blocks(world, agent, rounds, seed, progress, rounds), None)


def play_thinned(
    world: WorldSpec,
    agent: AgentSpec,
    rounds: int,
    seed: int,
    points: Indices,
    progress: Callable[[int], object] | None = None,
) -> ThinnedRun | None:
    """The same, of which only the regret after some rounds is kept, and whether matches fit.

    Memory does not grow with the rounds. ``points`` are in ascending order.
    """
    curve, tally, regret, done, live = np.empty(len(points)), MatchTally(), 0.0, 0, None
    for block in played_blocks(world, agent, rounds, seed, progress, BLOCK):
        sums = np.cumsum(np.concatenate([[regret], block.regrets]))  # as if it were one sum
        here = slice(*np.searchsorted(points, [done, done + len(block.regrets)], side="right"))
        curve[here] = sums[points[here] - done]
        tally.add(block.matches, block.rewards)
        regret, done, live = float(sums[-1]), done + len(block.regrets), block.agent
    return None if live is None else ThinnedRun(curve, tally.check(), live)


def played_blocks(
    world: WorldSpec,
    agent: AgentSpec,
    rounds: int,
    seed: int,
    progress: Callable[[int], object] | None,
    most: int,
) -> Iterator[CompiledRun]:
    """The same in blocks of ``most`` rounds at most; none if it is not of the compiled kind.

    A block overwrites the one before it, and all have one live agent.
    """
    if not is_compiled_in(world) or is_own(type(agent)):  # the user's own is built once, by play
        return
    streams = Streams(seed)
    live: Any = agent.build(world.facts, streams.init("agent"))
    explores = _explores(live)
    if explores is None:
        return
    listed, drawn_from = _drawn(world, seed)
    if drawn_from is None:
        return
    picks = DRAWN
    if isinstance(world, Adversarial):
        picks = BOTH_PICKED if world.picks == BOTH else PICKED
    kind, dim = explores[0], world.facts.dim
    contexts, instructions, responses = drawn_from[2].shape
    sigma = (np.eye(0), np.empty(0), 0.0)
    if kind == OPTIMISM:
        sigma = live.explorer.ellipsoid.for_kernels(listed[0] if contexts == 1 else None)
    model = live.model if kind in (OPTIMISM, DITHERING) else MixtureModel(1, dim)
    for one in listed:
        model.accept(one)
    counted = np.empty((0, 0, 0)), np.empty((0, 0))
    if kind == ONE_HOT:
        counted = live.for_kernels(contexts, responses)
    keys = [streams.stream(role).key for role in ("world", "agent", "teacher")]
    room = min(most, rounds)
    x, y, told = np.empty((3, room), dtype=np.int64)
    rewards, regrets = np.empty((2, room))
    met, latest = np.full(contexts, -1), np.full((contexts, instructions), np.inf)
    done = first = 0
    while done < rounds:
        last = min(rounds, first + room, done + PROGRESS_EVERY)
        now = _play(
            done,
            last,
            first,
            np.array(keys, dtype=np.uint64),
            drawn_from,
            (picks, met, latest),
            explores,
            sigma,
            model.for_kernels(),
            counted,
            (x, y, told, rewards, regrets),
        )
        if progress is not None and now > done:
            progress(now - done)
        if now == done:
            raise not_finite(model)
        done = now
        if done in (rounds, first + room):
            if kind == OPTIMISM:
                live.explorer.ellipsoid.count += done - first
            elif kind == ONE_HOT:
                live.take(*counted)
            n = done - first
            yield CompiledRun(x[:n], y[:n], told[:n], rewards[:n], regrets[:n], live)
            first = done


@lru_cache(1)  # the runs of one seed follow each other
def _drawn(
    world: WorldSpec, seed: int
) -> tuple[Sequence[Listed], tuple[Array, Array, Array, Array] | None]:
    """The responses of every context, and what a kernel draws and rewards from; None without it.

    Features, cumulative probabilities of instructions, rewards, and the best of them.
    """
    simulation: Any = world.build(Streams(seed).init("world"))
    inner = simulation.world.inner if isinstance(world, Adversarial) else simulation.world
    tables = simulation.truth.tables
    if tables is None:
        return inner.listed, None
    return inner.listed, (stacked_columns(inner.listed), simulation.teacher.cumulative, *tables)


def _explores(agent: Any) -> tuple[int, float, float, bool] | None:
    """How an agent explores, its k or epsilon, lambda, and whether ties are broken at random.

    None for every agent that is not exactly of a kind whose loop is compiled.
    """
    if type(agent) is UniformAgent:
        return UNIFORM, 0.0, 0.0, False
    if type(agent) is OneHotAgent:
        spec = agent.spec
        return ONE_HOT, float(spec.k), float(spec.lam), spec.ties == "random"
    if type(agent) is not ModelAgent or type(agent.model) is not MixtureModel:
        return None
    explorer: Any = agent.explorer
    if type(explorer) is Dithering:
        return DITHERING, float(explorer.epsilon), 0.0, explorer.random
    if type(explorer) is not Optimism or type(explorer.ellipsoid) is not Ellipsoid:
        return None
    k = explorer.constant
    return None if k is None else (OPTIMISM, float(k), 0.0, explorer.random)


@compiled
def _play(
    start: int,
    last: int,
    offset: int,
    keys: AnyArray,
    world: tuple[Array, Array, Array, Array],
    adversary: tuple[int, Indices, Array],
    explores: tuple[int, float, float, bool],
    sigma: tuple[Array, Array, float],
    learned: Any,
    counted: tuple[Array, Array],
    played: tuple[Indices, Indices, Indices, Array, Array],
) -> int:
    """Play some rounds; returns how many are done in all.

    The first ``offset`` rounds are not in the arrays of what was played. It stops early if there
    is no room for another entry of the model, or an estimate is not finite.
    """
    instructions, responses, descriptions, rewards, regrets = played
    listed, cumulative, tables, bests = world
    picks, met, latest = adversary
    kind, weight, lam, random = explores
    inverse, widths, longest = sigma
    first, links, numbers, slots, sizes, expected, totals, refresh, smoothing = learned
    counts, tried = counted
    contexts, dim, count = listed.shape
    estimates, g = np.empty(count), np.empty(dim)
    no_widths, no_log = np.empty(0), np.empty((0, 0))
    for done in range(start, last):
        t = np.uint64(done + 1)
        if sizes[SIZE] == len(links):
            return done
        u = _uniforms(keys[WORLD], t)
        s, drawn = (int(u[0] * contexts), 1) if contexts > 1 else (0, 0)
        x = int(u[drawn] * bests.shape[1])
        if picks != DRAWN:
            s, x = _worst(picks, s, met, latest, u[drawn + 1])
        columns = listed[s]
        u = _uniforms(keys[AGENT], t)
        if kind == UNIFORM:
            y = int(u[0] * count)
        else:
            if kind == ONE_HOT:
                shares, squares = shares_and_widths(counts[s, x], tried[s], counts.shape[1], lam)
                best = most_optimistic(shares, squares, weight, random)
            else:
                mixture_kernels.estimate(expected, totals, smoothing, x, columns, estimates)
                if kind == DITHERING:
                    best = maxima(estimates, random)
                elif contexts == 1:
                    best = most_optimistic(estimates, widths, weight, random)
                else:
                    squares = quadratic_forms(inverse, columns)
                    best = most_optimistic(estimates, squares, weight, random)
            if not len(best):
                return done
            drawn = 1 if kind == DITHERING and weight > 0.0 else 0
            if drawn and u[0] < weight:
                y = int(u[1] * count)
            else:
                y = best[int(u[drawn] * len(best)) if len(best) > 1 else 0]
        for i in range(dim):
            g[i] = columns[i, y]
        told = draw_description(columns, y, cumulative, _uniforms(keys[TEACHER], t)[0])
        if kind == ONE_HOT:
            counts[s, told, y] += 1
            tried[s, y] += 1
        elif kind != UNIFORM:
            mixture_kernels.learn(
                told, g, first, links, numbers, slots, sizes, expected, totals, refresh, smoothing
            )
        if kind == OPTIMISM:
            kept = widths if contexts == 1 else no_widths
            rank_one(inverse, g, 1.0, 0.0, longest, columns, kept, no_log, 0)
        n = done - offset
        instructions[n], responses[n], descriptions[n] = x, y, told
        rewards[n] = tables[s, x, y]
        regrets[n] = bests[s, x] - tables[s, x, y]
        latest[s if picks == BOTH_PICKED else 0, x] = regrets[n]
    return last


@compiled
def _worst(picks: int, s: int, met: Indices, latest: Array, u: float) -> tuple[int, int]:
    """The context and instruction with the highest latest regret, at random under ties.

    Contexts come in the order in which they were first picked, and the drawn one last if it is
    new. Where only instructions are picked, the regrets of all contexts are in the first row.
    """
    among, known, new = np.zeros(1, dtype=np.int64), 0, False
    if picks == BOTH_PICKED:
        new = True
        while known < len(met) and met[known] >= 0:
            new = new and met[known] != s
            known += 1
        if new:
            met[known] = s
        among = met[: known + 1] if new else met[:known]
    highest, ties = -np.inf, 0
    for c in among:
        for x in range(latest.shape[1]):
            if latest[c, x] > highest:
                highest, ties = latest[c, x], 0
            ties += latest[c, x] == highest
    left, context, instruction = int(u * ties), s, 0
    for c in among:
        for x in range(latest.shape[1]):
            if latest[c, x] == highest:
                if left == 0 and picks == BOTH_PICKED:
                    context = int(c)
                if left == 0:
                    instruction = x
                left -= 1
    if new and context != s:
        met[known] = -1
    return context, instruction


@compiled
def _uniforms(key: AnyArray, t: Any) -> Array:
    """The first numbers of a ``Stream`` at round ``t``: Philox with a counter of (1, 0, t, 0).

    Salmon et al. 2011: ten rounds of two products of 64 bits each.
    """
    zero: Any = np.uint64(0)
    a, b, c, d = np.uint64(1) + zero, zero, t, zero
    k, q = key[0], key[1]
    for _ in range(10):
        high, low = _product(np.uint64(0xD2E7470EE14C6C93), a)
        upper, lower = _product(np.uint64(0xCA5A826395121157), c)
        a, b, c, d = upper ^ b ^ k, lower, high ^ d ^ q, low
        k += np.uint64(0x9E3779B97F4A7C15)
        q += np.uint64(0xBB67AE8584CAA73B)
    uniforms = np.empty(4)
    for i, word in enumerate((a, b, c, d)):
        uniforms[i] = (word >> np.uint64(11)) * (1.0 / 9007199254740992.0)
    return uniforms


@compiled
def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """The high and the low word of a product of two words of 64 bits."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    ah, al, bh, bl = a >> half, a & mask, b >> half, b & mask
    low = al * bl
    middle = ah * bl + (low >> half)
    other = al * bh + (middle & mask)
    return ah * bh + (middle >> half) + (other >> half), a * b
