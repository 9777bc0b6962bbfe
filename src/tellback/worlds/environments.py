"""Any Gymnasium environment as a world: trajectories are responses, and a function describes them.

A response is a tuple of actions, numbered from 0, which are played after ``reset(seed)``. The agent
is given the reset, a summary of what some actions would lead to (the features g(y, s)), and never
what is said of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tellback.arrays import Array
from tellback.errors import SettingError, whole
from tellback.recordings import RecordedResponse, Said
from tellback.responses import Grammar, Sampled
from tellback.roles import Exchange, Facts, Instruction, Task, hashable
from tellback.worlds.trajectories import Setup, Trajectory, simulator

MOVES = "moves"
"""The name of the grammar of single actions."""

TRIES, EPISODES = 100, 20
"""Random trajectories of an episode, and episodes, that are tried for one that is described."""

Summary = Callable[[Trajectory], ArrayLike]
StepFeatures = Callable[[Any], ArrayLike]


class Start(NamedTuple):
    """How an episode begins: what an agent sees of it.

    Attributes
    ----------
    observation : Any
        The first observation.
    seed : int
        The seed of the reset, from which actions are replayed. It says nothing of what is asked or
        said.
    """

    observation: Any
    seed: int


class Environment:
    """A Gymnasium environment, whose trajectories are described by a function.

    It is a world, its teacher and its truth in one. Every description is a function of the
    trajectory, so the truth is known: 1 for a trajectory that is described as was asked, else 0.

    Parameters
    ----------
    make : str or callable
        The id of an environment, or a function without arguments that makes one. After
        ``reset(seed)``, the same actions must lead to the same trajectory.
    describe : callable
        What is said of a ``Trajectory``: a sentence, or None for silence.
    summary : callable
        Numbers that describe the outcome of a trajectory to the agent, always as many: g(y, s).
    steps : int
        The most actions of a response.
    stops : bool
        Whether a response may have fewer, although the environment has not ended.
    requests : sequence of str, optional
        What is asked for, each as often. By default what is said of a random trajectory of the
        same episode, so that every request can be met.
    success : callable, optional
        Whether a trajectory does what a sentence asks for: ``success(sentence, trajectory)``. The
        truth is then by meaning.
    actions : sequence, optional
        The environment's actions to choose from, where its action space is not ``Discrete``.
    step_features : callable, optional
        Numbers for an observation, always as many, by which a learned proposal chooses the next
        action. By default 1 and the flattened observation.

    Notes
    -----
    The best reward is taken to be 1. That holds for requests that come from trajectories. Among
    requests of your own, some may be impossible in an episode, and regret is then too high.

    In an environment with chance the summary of some actions depends on the seed of the reset,
    beside the observation: the features are random, but known when the agent chooses.
    """

    memory = 0  # it does not read the past

    def __init__(
        self,
        make: str | Callable[[], Any],
        describe: Callable[[Trajectory], Instruction | None],
        summary: Summary,
        *,
        steps: int = 20,
        stops: bool = True,
        requests: Sequence[str] | None = None,
        success: Callable[[str, Trajectory], bool] | None = None,
        actions: Sequence[Any] | None = None,
        step_features: StepFeatures | None = None,
    ) -> None:
        chosen = None if actions is None else tuple(map(_plain, actions))
        self._setup = Setup(make, whole("steps", steps), bool(stops), chosen)
        self._describe, self._success = describe, success
        if requests is not None and (isinstance(requests, str) or not len(requests)):
            raise SettingError(f"requests must be a list of sentences, or None, not {requests!r}.")
        self._requests = None if requests is None else tuple(requests)
        self.by_meaning = success is not None
        look = _Look(summary, step_features, 0, 0)
        self._look = _measured(look, simulator(self._setup).rehearsed())
        self.facts = Facts(self._look.dim, instructions=None)

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        """A new episode, and a sentence that says what to do in it."""
        for _ in range(EPISODES):  # there may be an episode in which nothing can be asked for
            task = self._started(int(rng.integers(2**31)))
            request = self._request(task.responses, rng)
            if request is not None:
                return task._replace(instruction=request)
        raise SettingError(
            f"None of {TRIES * EPISODES:,} random trajectories was described, so there is nothing "
            "to ask for: give requests."
        )

    def _started(self, seed: int) -> Task:
        start = Start(simulator(self._setup).first(seed), seed)
        return Task(start, "", ActionSequences(self._setup, self._look, seed))

    def _request(self, responses: ActionSequences, rng: np.random.Generator) -> str | None:
        if self._requests is not None:
            return self._requests[int(rng.integers(len(self._requests)))]
        for _ in range(TRIES):
            [actions] = responses.draw(1, rng)
            said = self._said(responses.seed, actions)
            if said is not None:
                return str(said)
        return None

    def _said(self, seed: int, response: tuple[int, ...]) -> Instruction | None:
        return self._describe(simulator(self._setup).replay(seed, response))

    def describe(
        self, context: Start, response: Any, rng: np.random.Generator
    ) -> Instruction | None:
        """What the function says of the trajectory."""
        return self._said(context.seed, response)

    def reward(self, task: Task, response: Any) -> float:
        """1 if the trajectory is what was asked for, else 0."""
        seed = task.context.seed
        if self._success is None:
            return float(self._said(seed, response) == task.instruction)
        trajectory = simulator(self._setup).replay(seed, response)
        return float(bool(self._success(str(task.instruction), trajectory)))

    def best(self, task: Task) -> float:
        """1: the request can be met."""
        return 1.0

    def recorded(
        self, id: str, context: Start, response: tuple[int, ...], *said: str
    ) -> RecordedResponse:
        """A trajectory and what was said of it, as a line of a recording.

        The group is the seed of the reset, a step is the number of an action, and the features are
        the summary.
        """
        summary = self._look.summarised(simulator(self._setup).replay(context.seed, response))
        steps = tuple((str(action),) for action in response)
        descriptions = tuple(map(Said, said))
        features = tuple(summary.tolist())
        return RecordedResponse(id, str(context.seed), descriptions, features=features, steps=steps)

    def recall(self, recorded: RecordedResponse) -> tuple[Task, tuple[int, ...]]:
        """The task and the response that a line of a recording is of, as ``recorded`` wrote it."""
        numbers = [recorded.group, *(step[0] for step in recorded.steps)]
        if not all(number.isdecimal() for number in numbers):
            raise SettingError(
                f"Response {recorded.id!r} cannot be replayed: its group must be the seed of a "
                "reset, and each step the number of an action."
            )
        seed, *actions = map(int, numbers)
        task = self._started(seed)
        if tuple(actions) not in task.responses:
            raise SettingError(
                f"Response {recorded.id!r} cannot be replayed: {actions} are no actions of this "
                f"world after a reset with seed {seed}."
            )
        return task, tuple(actions)


def _plain(action: Any) -> Any:
    """An action that can be compared: tuples for arrays and lists."""
    return hashable(action.tolist() if isinstance(action, np.ndarray) else action)


@dataclass(frozen=True)
class _Look:
    """What an agent sees of trajectories: two functions, and how many numbers they give."""

    summary: Summary
    of_step: StepFeatures | None
    dim: int
    step_dim: int

    def summarised(self, trajectory: Trajectory) -> Array:
        return _numbers("summary", self.summary(trajectory), self.dim)

    def step(self, setup: Setup, observation: Any) -> Array:
        if self.of_step is None:
            return simulator(setup).flattened(observation)
        return _numbers("step_features", self.of_step(observation), self.step_dim)


def _measured(look: _Look, tried: tuple[Setup, Trajectory]) -> _Look:
    """The same, with the sizes that the functions give for a trajectory."""
    setup, trajectory = tried
    dim = np.size(look.summary(trajectory))
    given, first = look.of_step, trajectory.observations[0]
    step_dim = 0 if given is None else np.size(given(first))
    if given is None:
        step_dim = simulator(setup).flat_size
    return _Look(look.summary, given, dim, step_dim)


def _numbers(name: str, given: ArrayLike, dim: int) -> Array:
    numbers: Array = np.asarray(given, dtype=np.float64)
    if numbers.shape != (dim,):
        raise SettingError(f"{name} must always give {dim} numbers, not {given!r}.")
    return numbers


@dataclass(frozen=True, eq=False, repr=False)
class ActionSequences(Sampled):
    """The sequences of actions of one episode. They refer to nothing that describes them."""

    setup: Setup
    look: _Look
    seed: int

    @property
    def dim(self) -> int:  # type: ignore[override]
        """The size of the summary."""
        return self.look.dim

    def __contains__(self, response: object, /) -> bool:
        return simulator(self.setup).can_play(self.seed, response)

    def __repr__(self) -> str:
        return f"ActionSequences(up to {self.setup.steps} actions)"

    def matrix_of(self, responses: Sequence[Any]) -> Array:
        """The summaries of the trajectories, a row each."""
        played = simulator(self.setup)
        rows = [self.look.summarised(played.replay(self.seed, one)) for one in responses]
        return np.array(rows).reshape(-1, self.dim)

    def draw(self, count: int, rng: np.random.Generator) -> Sequence[Any]:
        """Random actions; where a response may stop early, every number of them is as likely."""
        return list(self._drawn(count, rng))

    def _drawn(self, count: int, rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
        played, steps = simulator(self.setup), self.setup.steps
        for _ in range(count):
            length = int(rng.integers(1, steps + 1)) if self.setup.stops else steps
            yield played.cut(self.seed, rng.integers(played.actions, size=length).tolist())

    def grammar(self, name: str) -> Grammar:
        """The grammar of single actions."""
        return Moves(self) if name == MOVES else super().grammar(name)


class Moves:
    """Trajectories made action by action.

    The features of a step are those of the observation, at the place of its action. Where a
    response may stop early, to stop is a step of its own. With weights of 0 every action is as
    likely, and every number of actions.

    Parameters
    ----------
    responses : ActionSequences
        The episode.
    """

    def __init__(self, responses: ActionSequences) -> None:
        setup = responses.setup
        self._of, self._setup = responses, setup
        self._simulator = simulator(setup)
        self._actions = self._simulator.actions
        self._shape = (self._actions + setup.stops, responses.look.step_dim)
        self.dim = self._shape[0] * self._shape[1]

    def draw(self, weights: Array, count: int, rng: np.random.Generator) -> Sequence[Any]:
        """So many trajectories, each drawn in the environment."""
        table = weights.reshape(self._shape)

        def next_step(observation: Any, done: int) -> int | None:
            chances = self._chances(table, self._seen(observation)[None, :], done)[0]
            step = int(np.searchsorted(np.cumsum(chances[:-1]), rng.random(), side="right"))
            return None if step == self._actions else step

        return [self._simulator.play(self._of.seed, next_step) for _ in range(count)]

    def score(self, response: Any, weights: Array) -> Array | None:
        """The sum over steps of their features, less the expected ones."""
        if response not in self._of:
            return None
        played = self._simulator.replay(self._of.seed, response)
        steps = list(response)
        if self._setup.stops and not played.ended and len(steps) < self._setup.steps:
            steps.append(self._actions)
        seen = np.array([self._seen(one) for one in played.observations[: len(steps)]])
        surprise = -self._chances(weights.reshape(self._shape), seen, 0)
        surprise[np.arange(len(steps)), steps] += 1.0
        slope: Array = (surprise.T @ seen).ravel()
        return slope

    def _seen(self, observation: Any) -> Array:
        return self._of.look.step(self._setup, observation)

    def _chances(self, table: Array, seen: Array, done: int) -> Array:
        """The probabilities of the next step, a row for each observation, after ``done`` steps."""
        logits = seen @ table.T
        if self._setup.stops:
            # A base rate of stopping by which, without weights, all lengths are equally likely.
            before = np.arange(done, done + len(seen))
            with np.errstate(divide="ignore"):
                rate = np.log(self._actions / np.maximum(self._setup.steps - before, 0))
            logits[:, -1] += np.where(before == 0, -np.inf, rate)
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        normed: Array = chances / chances.sum(axis=1, keepdims=True)
        return normed
