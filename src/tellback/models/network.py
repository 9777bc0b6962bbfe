"""g learned by a network from raw features, together with F: the paper's open case.

Raw features of a response, any real vector, go through one hidden tanh layer to a softmax over
d components, which is g-hat(y, s). Every column of F-hat is a softmax over the instructions.
Their product is a distribution over the instructions. Adam maximises its likelihood on batches
drawn from all descriptions so far. The network is small and its gradient is handwritten: a step
takes a fraction of PyTorch's overhead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.arrays import Array, Indices
from tellback.errors import SettingError, whole
from tellback.models.model import ModelSpec, checked_instruction, demand_table
from tellback.models.states import saved_array
from tellback.models.training import EPSILON, FIRST_DECAY, SECOND_DECAY, draw_batch
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State
from tellback.specs import Count, Natural, NonNegative, Positive
from tellback.theory import softmax

MOMENTS = ("first_moment", "second_moment")


@dataclass(frozen=True)
class Network(ModelSpec):
    """A low-rank estimate with features learned by a network of one hidden layer.

    Parameters
    ----------
    rank : int
        d, the number of components. Too many cost less than too few.
    hidden : int
        The number of hidden units.
    learning_rate : float
        Adam's.
    steps : int
        Steps per description. With 0 nothing is learned.
    batch : int
        The number of past descriptions per step.
    decay : float
        Weight decay, which acts as a prior.
    """

    rank: Count = 10
    hidden: Count = 32
    learning_rate: Positive = 0.01
    steps: Natural = 2
    batch: Count = 64
    decay: NonNegative = 0.003

    def build(self, facts: Facts, rng: np.random.Generator) -> NetworkModel:
        """Small random weights, so that every estimate is almost 1 / |X|."""
        return NetworkModel(self, demand_table(self.kind, facts), facts.dim, rng)


class NetworkModel:
    """A live network.

    Parameters
    ----------
    spec : Network
        The settings.
    instructions, dim : int
        |X|, and the size of raw features.
    rng : numpy.random.Generator
        For the first weights.
    """

    inexact: ClassVar[str] = "its fit is not the exact maximum of the likelihood"

    def __init__(
        self, spec: Network, instructions: int, dim: int, rng: np.random.Generator
    ) -> None:
        self._spec = spec
        self._instructions = instructions
        self._weights: dict[str, Array] = {
            "inward": rng.standard_normal((dim, spec.hidden)) / np.sqrt(dim),
            "bias": np.zeros(spec.hidden),
            "outward": rng.standard_normal((spec.hidden, spec.rank)) / np.sqrt(spec.hidden),
            "theta": 0.1 * rng.standard_normal((instructions, spec.rank)),
        }
        self._moments = {
            name: (np.zeros_like(weight), np.zeros_like(weight))
            for name, weight in self._weights.items()
        }
        self._f = softmax(self._weights["theta"], 1.0, axis=0)
        self._key = int(rng.integers(2**62))
        self._steps = 0
        self._size = 0
        self._features: Array = np.empty((64, dim))
        self._descriptions: Indices = np.zeros(64, dtype=np.int64)
        self._places: Indices = np.arange(64)

    @property
    def f(self) -> Array:
        """F-hat: its columns are distributions over the instructions."""
        return self._f.copy()

    def represent(self, features: Array) -> Array:
        """g-hat of every row of raw features: a distribution over the components each."""
        inner = np.tanh(features @ self._weights["inward"] + self._weights["bias"])
        logits: Array = inner @ self._weights["outward"]
        return softmax(logits, 1.0, axis=1)

    def representation(self, responses: Listed) -> Array:
        """g-hat of every listed response."""
        if responses.dim != self._features.shape[1]:
            raise SettingError(
                f"network takes {self._features.shape[1]} features; here are {responses.dim}."
            )
        return self.represent(responses.matrix)

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """f-hat(x) . g-hat(y, s) for every listed response y."""
        x = checked_instruction(instruction, self._instructions)
        estimates: Array = self.representation(responses) @ self._f[x]
        return estimates

    def learn(self, features: Array, description: Instruction) -> None:
        """Store the description, and take steps on batches of all descriptions."""
        x = checked_instruction(description, self._instructions)
        features = np.asarray(features, dtype=np.float64)
        if features.shape != self._features.shape[1:] or not np.isfinite(features).all():
            raise SettingError(
                f"features must be {self._features.shape[1]} finite numbers, not {features}."
            )
        if self._size == len(self._descriptions):
            self._grow()
        self._features[self._size], self._descriptions[self._size] = features, x
        self._size += 1
        for _ in range(self._spec.steps):
            self._step()
        self._f = softmax(self._weights["theta"], 1.0, axis=0)

    def _grow(self) -> None:
        self._features = np.concatenate([self._features, np.empty_like(self._features)])
        self._descriptions = np.concatenate([self._descriptions, self._descriptions])
        self._places = np.arange(len(self._descriptions))

    def _step(self) -> None:
        """One step of Adam; its batch depends only on the key and the number of the step."""
        drawn = draw_batch(self._key, self._steps, self._spec.batch, self._places[: self._size])
        gradient = self.gradient(self._features[drawn], self._descriptions[drawn])
        self._steps += 1
        rate = self._spec.learning_rate / (1 - FIRST_DECAY**self._steps)
        scale = np.sqrt(1 - SECOND_DECAY**self._steps)
        for name, weight in self._weights.items():
            slope = gradient[name]
            first, second = self._moments[name]
            first += (1 - FIRST_DECAY) * (slope - first)
            second += (1 - SECOND_DECAY) * (slope * slope - second)
            weight -= rate * first / (np.sqrt(second) / scale + EPSILON)

    def gradient(self, features: Array, descriptions: Indices) -> dict[str, Array]:
        """The gradient of the loss, by every weight.

        The loss is minus the mean log-likelihood of these descriptions, plus ``decay`` times
        half the sum of the squared weights.
        """
        weights = self._weights
        inner = np.tanh(features @ weights["inward"] + weights["bias"])
        g = softmax(inner @ weights["outward"], 1.0, axis=1)
        f = softmax(weights["theta"], 1.0, axis=0)
        posterior = f[descriptions] * g  # over the components, for each description
        posterior /= posterior.sum(axis=1, keepdims=True)
        of_logits = (g - posterior) / len(g)
        of_theta = f * (posterior.sum(axis=0) / len(g))
        np.subtract.at(of_theta, descriptions, posterior / len(g))
        of_inner = (of_logits @ weights["outward"].T) * (1 - inner * inner)
        slopes = {
            "inward": features.T @ of_inner,
            "bias": of_inner.sum(axis=0),
            "outward": inner.T @ of_logits,
            "theta": of_theta,
        }
        return {name: slope + self._spec.decay * weights[name] for name, slope in slopes.items()}

    def log_likelihood(self) -> float:
        """The sum over descriptions of log f-hat(x') . g-hat(y, s)."""
        g = self.represent(self._features[: self._size])
        f = self._f[self._descriptions[: self._size]]
        return float(np.log((f * g).sum(axis=1)).sum())

    def state(self) -> State:
        """The history, the weights, and Adam's moments."""
        return {
            "features": self._features[: self._size].copy(),
            "descriptions": self._descriptions[: self._size].copy(),
            "key": self._key,
            "steps": self._steps,
            **{name: array.copy() for name, array in self._trained().items()},
        }

    def _trained(self) -> dict[str, Array]:
        """The weights and Adam's moments, by their names in a state."""
        trained = dict(self._weights)
        for name, moments in self._moments.items():
            trained |= {f"{name}.{which}": m for which, m in zip(MOMENTS, moments, strict=True)}
        return trained

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        trained = self._trained()
        saved = {name: saved_array(state, name, array.shape) for name, array in trained.items()}
        descriptions = np.array(state["descriptions"], dtype=np.int64)
        if not ((descriptions >= 0) & (descriptions < self._instructions)).all():
            raise SettingError("The saved descriptions have numbers that are not possible.")
        shape = (len(descriptions), self._features.shape[1])
        features = saved_array(state, "features", shape)
        key = whole("key", int(state["key"]), at_least=0)
        steps = whole("steps", int(state["steps"]), at_least=0)
        self._key, self._steps, self._size = key, steps, len(descriptions)
        while len(self._descriptions) < self._size:
            self._grow()
        self._features[: self._size], self._descriptions[: self._size] = features, descriptions
        for name, array in trained.items():
            array[:] = saved[name]
        self._f = softmax(self._weights["theta"], 1.0, axis=0)
