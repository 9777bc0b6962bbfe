"""Runs of the paper's first experiment, compiled as a whole.

``protocol.py`` has the one loop, for any world and any agent. Most of the paper's rounds are of
one kind: a synthetic world with one context, and an agent with a mixture model. There, calls
between kernels cost more than the kernels. Here the same kernels are called in the same order
from one compiled loop. The results are the same, bit for bit. Any other run is left to ``play``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tellback.agents.agent import ModelAgent
from tellback.agents.explorers import (
    Dithering,
    Optimism,
    most_optimistic,
    not_finite,
)
from tellback.agents.uniform import UniformAgent
from tellback.arrays import AnyArray, Array, Indices
from tellback.compiled import compiled
from tellback.match_check import MatchCheck, match_check
from tellback.models import mixture_kernels
from tellback.models.counts import SIZE
from tellback.models.ellipsoid import Ellipsoid, rank_one
from tellback.models.mixture import MixtureModel
from tellback.roles import AgentSpec, WorldSpec
from tellback.run import PROGRESS_EVERY
from tellback.sources import is_own
from tellback.streams import Streams
from tellback.ties import maxima
from tellback.worlds.synthetic import Synthetic, draw_description

OPTIMISM, DITHERING, UNIFORM = range(3)
WORLD, AGENT, TEACHER = range(3)


class CompiledRun(NamedTuple):
    """What was played: one entry a round, and the agent as the run left it."""

    instructions: Indices
    responses: Indices
    descriptions: Indices
    rewards: Array
    regrets: Array
    agent: ModelAgent

    @property
    def regret(self) -> Array:
        """Cumulative regret, Reg(t) of equation 1, one entry a round."""
        return np.cumsum(self.regrets)

    @property
    def match_check(self) -> MatchCheck | None:
        """Matches held against the hidden rewards."""
        matches = (self.instructions == self.descriptions).astype(np.float64)
        return match_check(matches, self.rewards)


def is_compiled_in(world: WorldSpec) -> bool:
    """Whether runs of some agents in a world are compiled as a whole."""
    return type(world) is Synthetic and world.contexts == 1 and world.asks == "uniform"


def play_compiled(
    world: WorldSpec,
    agent: AgentSpec,
    rounds: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> CompiledRun | None:
    """The run that ``play`` would play; None if it is not of the kind that is compiled."""
    if not is_compiled_in(world) or is_own(type(agent)):  # the user's own is built once, by play
        return None
    assert isinstance(world, Synthetic)
    streams = Streams(seed)
    live: Any = agent.build(world.facts, streams.init("agent"))
    explores = _explores(live)
    if explores is None:
        return None
    model = live.model
    simulation: Any = world.build(streams.init("world"))
    if simulation.truth.table is None:
        return None
    listed = simulation.world.only
    if explores[0] == UNIFORM:
        model = MixtureModel(1, world.rank)  # is neither asked nor taught
    model.accept(listed)
    sigma = (np.eye(0), np.empty(0), 0.0)
    if explores[0] == OPTIMISM:
        sigma = live.explorer.ellipsoid.for_kernels(listed)
    keys = [streams.stream(role).key for role in ("world", "agent", "teacher")]
    x, y, told = np.empty((3, rounds), dtype=np.int64)
    rewards, regrets = np.empty((2, rounds))
    table, bests = simulation.truth.table
    done = 0
    while done < rounds:
        last = min(rounds, done + PROGRESS_EVERY)
        now = _play(
            done,
            last,
            np.array(keys, dtype=np.uint64),
            listed.columns,
            simulation.teacher.cumulative,
            table,
            bests,
            explores,
            sigma,
            model.for_kernels(),
            (x, y, told, rewards, regrets),
        )
        if progress is not None and now > done:
            progress(now - done)
        if now == done:
            raise not_finite(model)
        done = now
    if explores[0] == OPTIMISM:
        live.explorer.ellipsoid.count += rounds
    return CompiledRun(x, y, told, rewards, regrets, live)


def _explores(agent: Any) -> tuple[int, float, bool] | None:
    """How an agent explores, its k or epsilon, and whether ties are broken at random.

    None for every agent that is not exactly of a kind whose loop is compiled.
    """
    if type(agent) is UniformAgent:
        return UNIFORM, 0.0, False
    if type(agent) is not ModelAgent or type(agent.model) is not MixtureModel:
        return None
    explorer: Any = agent.explorer
    if type(explorer) is Dithering:
        return DITHERING, float(explorer.epsilon), explorer.random
    if type(explorer) is not Optimism or type(explorer.ellipsoid) is not Ellipsoid:
        return None
    k = explorer.constant
    return None if k is None else (OPTIMISM, float(k), explorer.random)


@compiled
def _play(
    start: int,
    last: int,
    keys: AnyArray,
    columns: Array,
    cumulative: Array,
    table: Array,
    bests: Array,
    explores: tuple[int, float, bool],
    sigma: tuple[Array, Array, float],
    learned: Any,
    played: tuple[Indices, Indices, Indices, Array, Array],
) -> int:
    """Play some rounds; returns how many are done in all.

    It stops early if there is no room for another entry of the model, or an estimate is not
    finite.
    """
    instructions, responses, descriptions, rewards, regrets = played
    kind, weight, random = explores
    inverse, widths, longest = sigma
    first, links, numbers, slots, sizes, expected, totals, refresh, smoothing = learned
    dim, count = columns.shape
    estimates, g = np.empty(count), np.empty(dim)
    for done in range(start, last):
        t = np.uint64(done + 1)
        if sizes[SIZE] == len(links):
            return done
        x = int(_uniforms(keys[WORLD], t)[0] * len(bests))
        u = _uniforms(keys[AGENT], t)
        if kind == UNIFORM:
            y = int(u[0] * count)
        else:
            mixture_kernels.estimate(expected, totals, smoothing, x, columns, estimates)
            if kind == OPTIMISM:
                best = most_optimistic(estimates, widths, weight, random)
            else:
                best = maxima(estimates, random)
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
        if kind != UNIFORM:
            mixture_kernels.learn(
                told, g, first, links, numbers, slots, sizes, expected, totals, refresh, smoothing
            )
        if kind == OPTIMISM:
            rank_one(inverse, g, 1.0, 0.0, longest, columns, widths)
        instructions[done], responses[done], descriptions[done] = x, y, told
        rewards[done] = table[x, y]
        regrets[done] = bests[x] - table[x, y]
    return last


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
