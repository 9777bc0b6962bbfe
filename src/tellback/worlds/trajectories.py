"""Trajectories of a Gymnasium environment, replayed from the seed of its reset."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.extras import from_extra

EPISODES = 8
"""The number of latest episodes whose trajectories are cached."""


class Setup(NamedTuple):
    """An environment, and which actions can be played in it: all that a replay needs.

    Attributes
    ----------
    make : str or callable
        The id of the environment, or a function that makes it.
    steps : int
        The most actions.
    stops : bool
        Whether there may be fewer.
    actions : tuple or None
        The environment's actions by their numbers, where its action space is not ``Discrete``.
    """

    make: str | Callable[[], Any]
    steps: int
    stops: bool
    actions: tuple[Any, ...] | None


class Trajectory(NamedTuple):
    """What happened in an episode.

    Attributes
    ----------
    observations : tuple
        The observations: that of the reset, and one after each action. Arrays are read-only.
    actions : tuple of int
        The numbers of the actions.
    rewards : tuple of float
        The environment's own reward of each action.
    terminated, truncated : bool
        Whether the environment ended, and whether it ran out of time.
    info : mapping
        What the environment said besides, after the last action.
    """

    observations: tuple[Any, ...]
    actions: tuple[int, ...]
    rewards: tuple[float, ...]
    terminated: bool
    truncated: bool
    info: Mapping[str, Any]

    @property
    def last(self) -> Any:
        """The last observation."""
        return self.observations[-1]

    @property
    def ended(self) -> bool:
        """Whether no further action could have been played."""
        return self.terminated or self.truncated


class Simulator:
    """Plays actions in an environment. Trajectories of the latest episodes are cached.

    Agents and the truth share it, so it is no attribute of the responses (``simulator`` finds it).
    """

    def __init__(self, setup: Setup) -> None:
        gymnasium = from_extra("gymnasium", "gymnasium", "An environment")
        self._setup = setup
        self._flatten = gymnasium.spaces.utils
        make = setup.make
        self._env = (
            gymnasium.make(make, disable_env_checker=True) if isinstance(make, str) else make()
        )
        self._actions = _actions(self._env.action_space, setup.actions, gymnasium.spaces.Discrete)
        self._cached: OrderedDict[int, dict[tuple[int, ...], Trajectory]] = OrderedDict()
        self._lock = RLock()  # one environment for all threads

    @property
    def actions(self) -> int:
        """The number of actions to choose from."""
        return len(self._actions)

    @property
    def flat_size(self) -> int:
        """The size of a flattened observation, and 1."""
        try:
            return 1 + int(self._flatten.flatdim(self._env.observation_space))
        except (NotImplementedError, ValueError) as error:
            raise SettingError(
                f"Observations of {self._env.observation_space} cannot be flattened to a fixed "
                "size: give step_features."
            ) from error

    def flattened(self, observation: Any) -> Array:
        """1 and the numbers of an observation."""
        flat = self._flatten.flatten(self._env.observation_space, observation)
        return np.concatenate([[1.0], np.asarray(flat, dtype=np.float64)])

    def first(self, seed: int) -> Any:
        """The observation after a reset."""
        with self._lock:
            return _kept(self._env.reset(seed=seed)[0])

    def rehearsed(self) -> tuple[Setup, Trajectory]:
        """A random trajectory; an error if it cannot be replayed."""
        rng = np.random.default_rng(0)
        actions = rng.integers(self.actions, size=self._setup.steps).tolist()
        first = self._rollout(0, _following(actions))
        again = self._rollout(0, _following(actions))
        if not _same(first[:5], again[:5]):
            raise SettingError(
                "The environment cannot be replayed: after reset(seed=0), the same actions led to "
                "another trajectory. It must draw from its np_random alone."
            )
        return self._setup, first

    def play(self, seed: int, next_step: Callable[[Any, int], int | None]) -> tuple[int, ...]:
        """The actions of an episode played by a policy.

        It is asked for the next action with the observation and the number of actions so far, and
        says None to stop.
        """
        with self._lock:
            trajectory = self._rollout(seed, next_step)
            self._episode(seed)[trajectory.actions] = trajectory
        return trajectory.actions

    def cut(self, seed: int, actions: Sequence[int]) -> tuple[int, ...]:
        """Actions without those after the end of the episode."""
        return self.play(seed, _following(actions))

    def replay(self, seed: int, response: tuple[int, ...]) -> Trajectory:
        """The trajectory of some actions, cut where the episode ends."""
        with self._lock:
            found = self._episode(seed).get(response)
            if found is None:
                found = self._rollout(seed, _following(response))
                self._episode(seed)[response] = found
        return found

    def can_play(self, seed: int, response: object) -> bool:
        """Whether something is a tuple of actions that ends with the episode, or may stop."""
        setup = self._setup
        if type(response) is not tuple or not 1 <= len(response) <= setup.steps:
            return False
        if not all(type(action) is int and 0 <= action < self.actions for action in response):
            return False
        played = self.replay(seed, response)
        whole = played.ended or len(response) == setup.steps
        return len(played.actions) == len(response) and (whole or setup.stops)

    def _rollout(self, seed: int, next_step: Callable[[Any, int], int | None]) -> Trajectory:
        env, most = self._env, self._setup.steps
        observation, info = env.reset(seed=seed)
        observations: list[Any] = [_kept(observation)]
        actions: list[int] = []
        rewards: list[float] = []
        terminated = truncated = False
        while len(actions) < most and not (terminated or truncated):
            action = next_step(observations[-1], len(actions))
            if action is None:
                break
            observation, reward, terminated, truncated, info = env.step(self._actions[action])
            actions.append(action)
            observations.append(_kept(observation))
            rewards.append(float(reward))
        ended = bool(terminated), bool(truncated)
        told = deepcopy(dict(info))
        return Trajectory(tuple(observations), tuple(actions), tuple(rewards), *ended, told)

    def _episode(self, seed: int) -> dict[tuple[int, ...], Trajectory]:
        """The cached trajectories of an episode, which is now the latest."""
        found = self._cached.setdefault(seed, {})
        self._cached.move_to_end(seed)
        while len(self._cached) > EPISODES:
            self._cached.popitem(last=False)
        return found


@lru_cache(maxsize=16)
def simulator(setup: Setup) -> Simulator:
    """The simulator of an environment: one in a process."""
    return Simulator(setup)


def _actions(space: Any, given: tuple[Any, ...] | None, discrete: type) -> Sequence[Any]:
    if given:  # a tuple stands for an array
        return [np.array(one, space.dtype) if isinstance(one, tuple) else one for one in given]
    if not isinstance(space, discrete):
        raise SettingError(
            f"The action space {space} is not Discrete: give the actions to choose from."
        )
    first = int(space.start)  # type: ignore[attr-defined]
    return range(first, first + int(space.n))  # type: ignore[attr-defined]


def _following(actions: Sequence[int]) -> Callable[[Any, int], int | None]:
    return lambda observation, done: actions[done] if done < len(actions) else None


def _kept(observation: Any) -> Any:
    """An observation that neither the environment nor anybody else changes later."""
    if isinstance(observation, np.ndarray):
        copied = observation.copy()
        copied.flags.writeable = False
        return copied
    if isinstance(observation, np.generic):
        return observation.item()
    return observation if isinstance(observation, int | float | str) else deepcopy(observation)


def _same(one: Any, other: Any) -> bool:
    """Whether two nested observations are equal."""
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other))
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
