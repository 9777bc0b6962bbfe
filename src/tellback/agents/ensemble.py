"""Ensemble sampling: several models that saw the history differently, one followed a round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.agents.agent import ModelAgent, ModelAgentSpec, default_model, part
from tellback.agents.randomized import Randomized, votes
from tellback.arrays import Array, Indices
from tellback.errors import SettingError, one_of, whole
from tellback.models.model import Model
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State, Task

POISSON, DOUBLE = "poisson", "double-or-nothing"


@dataclass(frozen=True)
class EnsembleSampling(ModelAgentSpec):
    """Thompson sampling for any model: a bootstrap in place of a posterior.

    Every member sees each description a random number of times, one on average (the online
    bootstrap of Oza and Russell 2001); each round one member, drawn at random, chooses what
    it thinks best (ensemble sampling, Lu and Van Roy 2017). Members also differ by whatever
    the model draws at birth, such as the first weights of a network.

    A round costs as much as ``members`` rounds of the model.

    Parameters
    ----------
    members : int
        How many. Fewer explore less, and one is greedy.
    bootstrap : "poisson" or "double-or-nothing"
        How often a member sees a description: Poisson(1) times; or twice or never, by the
        toss of a coin. The very first description is seen by all.
    model, ties
        As in every agent with a model.
    """

    members: int = 10
    bootstrap: str = POISSON

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_validated(
            members=whole("members", self.members),
            bootstrap=one_of("bootstrap", self.bootstrap, (POISSON, DOUBLE)),
        )

    def build(self, facts: Facts, rng: np.random.Generator) -> ModelAgent:
        """Bring all members to life."""
        resolved = self.resolved(facts)
        model = resolved.model or default_model(facts)
        key = int(rng.integers(2**63))
        members = [model.build(facts, rng) for _ in range(self.members)]
        ensemble = EnsembleModel(members, key, self.bootstrap)
        return ModelAgent(ensemble, MemberSampling(self.ties), resolved, facts)


class EnsembleModel:
    """Live models, and how often each has seen what.

    As a model by itself it estimates the mean of its members.

    Parameters
    ----------
    members : sequence of Model
        The models.
    key : int
        From which it follows how often each of them sees the n-th description.
    bootstrap : "poisson" or "double-or-nothing"
        With which distribution.
    """

    inexact: ClassVar[str] = "its estimate is the mean of members that were taught at random"

    def __init__(self, members: Sequence[Model], key: int, bootstrap: str = POISSON) -> None:
        self.members = list(members)
        self._key = key
        self._bootstrap = bootstrap
        self._count = 0

    def opinions(self, instruction: Instruction, responses: Listed) -> Array:
        """The estimates of every member, a row each."""
        return np.array([member.estimates(instruction, responses) for member in self.members])

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """The mean of the members' estimates."""
        return mean(self.opinions(instruction, responses))

    def learn(self, features: Array, description: Instruction) -> None:
        """Have every member learn the description as often as it falls to it."""
        for member, times in zip(self.members, self.times(self._count), strict=True):
            for _ in range(times):
                member.learn(features, description)
        self._count += 1

    def times(self, n: int) -> Indices:
        """How often each member sees description ``n``, counted from 0."""
        # Learning has no random stream: the numbers are those at place n of one keyed at birth.
        rng = np.random.Generator(np.random.Philox(key=[self._key, n]))
        size = len(self.members)
        drawn = (
            rng.poisson(1.0, size) if self._bootstrap == POISSON else 2 * rng.integers(2, size=size)
        )
        times: Indices = np.maximum(drawn, 1) if n == 0 else drawn
        return times

    def state(self) -> State:
        """All members' states, and the place in the bootstrap."""
        return {
            "members": len(self.members),
            "key": self._key,
            "count": self._count,
            **{
                f"{which}.{name}": value
                for which, member in enumerate(self.members)
                for name, value in member.state().items()
            },
        }

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave; one that does not fit changes nothing."""
        if state["members"] != len(self.members):
            raise SettingError(
                f"The saved ensemble has {state['members']} members, and this has "
                f"{len(self.members)}."
            )
        key, count = (whole(name, state[name], at_least=0) for name in ("key", "count"))
        if max(key, count) >= 2**63:
            raise SettingError(f"The saved key {key} or count {count} is too large.")
        before = [member.state() for member in self.members]
        try:
            for which, member in enumerate(self.members):
                member.restore(part(state, f"{which}."))
        except Exception:
            for member, own in zip(self.members, before, strict=True):
                member.restore(own)
            raise
        self._key, self._count = key, count


class MemberSampling(Randomized):
    """One member of an ensemble at random, and what it thinks best."""

    propensities = "exact given the members"

    def chances(self, task: Task, model: Model, rng: np.random.Generator) -> tuple[Array, Array]:
        """The share of the members that think each response the best."""
        assert isinstance(model, EnsembleModel)
        opinions = model.opinions(task.instruction, task.responses)
        return mean(opinions), votes(opinions, self._random)


def mean(opinions: Array) -> Array:
    """What members think on average."""
    average: Array = opinions.mean(axis=0)
    return average
