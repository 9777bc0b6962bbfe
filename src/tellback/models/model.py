"""The interface of models: an estimate of the teacher, P(x | y, s), from descriptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from tellback.arrays import Array
from tellback.errors import ProtocolError, SettingError
from tellback.models.ellipsoid import Ellipsoid
from tellback.models.search.found import Found
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State, Task
from tellback.specs import Spec


@runtime_checkable
class Model(Protocol):
    """f-hat of the paper, in any form."""

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """The estimate of P(x | y, s) for every listed response y: ``len(responses)`` numbers.

        Changes nothing.
        """

    def learn(self, features: Array, description: Instruction) -> None:
        """Learn the description of a response with these features."""

    def state(self) -> State:
        """Everything learned, in arrays and numbers."""

    def restore(self, state: State) -> None:
        """Restore such a state."""


@runtime_checkable
class Withdrawing(Protocol):
    """A model that can unlearn a description exactly."""

    def withdraw(self, features: Array, description: Instruction) -> None:
        """Become as if this description of these features had never been learned."""


@runtime_checkable
class Likely(Protocol):
    """A model that bounds the distance of its estimate to maximum likelihood."""

    def likelihood_gap(self) -> float:
        """An upper bound on how much higher the log-likelihood of any f in its class is."""


@runtime_checkable
class Speaking(Protocol):
    """A model that can describe a response in words."""

    def speak(self, features: Array, rng: np.random.Generator) -> str:
        """A sentence drawn from P-hat(. | y, s)."""


@runtime_checkable
class SharesSigma(Protocol):
    """A model with Sigma, which an explorer can share."""

    ellipsoid: Ellipsoid


@runtime_checkable
class Searching(SharesSigma, Protocol):
    """A model that searches for the response an optimist chooses, without listing all estimates."""

    def most_optimistic(
        self, instruction: Instruction, responses: Listed, k: float, keep: bool, random: bool
    ) -> Found:
        """The responses with the highest estimate plus k times the width in its Sigma.

        ``keep`` says whether the same responses come again, ``random`` whether all that tie are
        wanted, or the first alone.
        """

    @property
    def unproven(self) -> str:
        """Why a bound on regret by what it finds is not proven; '' if it can be."""


@runtime_checkable
class LearnsSilence(Protocol):
    """A model that learns from a response that nobody described."""

    def learn_silence(self, features: Array) -> None:
        """Take in that no instruction fits these features."""


@runtime_checkable
class Posterior(Protocol):
    """A model that can sample its estimates from a posterior."""

    def draws(
        self, instruction: Instruction, responses: Listed, count: int, rng: np.random.Generator
    ) -> Array:
        """Samples of P(x | y, s) for every listed response: a row a sample. Changes nothing."""


@runtime_checkable
class Representing(Model, Protocol):
    """A model that also learns g: its own features of a response, from the given ones."""

    def represent(self, features: Array) -> Array:
        """g-hat of every row of features, a row each. Changes nothing."""

    def representation(self, responses: Listed) -> Array:
        """g-hat of every listed response, a row each. Changes nothing."""


@dataclass(frozen=True)
class ModelSpec(Spec):
    """The settings of a model."""

    role: ClassVar[str] = "model"

    def known_class(self, facts: Facts) -> tuple[float, float] | None:
        """log |F| and B of a finite class (Assumptions 1 and 2); None for other models."""
        return None

    def build(self, facts: Facts, rng: np.random.Generator) -> Model:
        """Build the live model."""
        raise NotImplementedError


_DOUBLE = np.dtype(np.float64)


def estimates_of(model: Model, task: Task) -> Array:
    """The model's estimates, of which there must be one for each response.

    Else those that are missing would never be chosen, and nobody would notice.
    """
    estimates = model.estimates(task.instruction, task.responses)
    count = len(task.responses)
    if type(estimates) is np.ndarray and estimates.dtype is _DOUBLE and estimates.shape == (count,):
        return estimates  # nearly always
    try:
        array: Array = np.asarray(estimates, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _no_estimates(model, count, repr(estimates)) from error
    if array.shape != (count,):
        raise _no_estimates(model, count, f"an array of shape {array.shape}")
    return array


def _no_estimates(model: object, count: int, instead: str) -> ProtocolError:
    return ProtocolError(
        f"The estimates of {type(model).__name__} must be an array of {count} numbers, one for "
        f"each response, not {instead}."
    )


def demand_table(model: str, facts: Facts) -> int:
    """The number of instructions; an error if they are sentences."""
    if facts.instructions is None:
        raise SettingError(f"{model} needs a table of instructions; this world uses sentences.")
    return facts.instructions


def demand_sentences(model: str, facts: Facts) -> None:
    """Refuse a world whose instructions are numbers."""
    if not facts.language:
        raise SettingError(
            f"{model} needs instructions in words; this world has a table of {facts.instructions}."
        )


def checked_sentence(instruction: Instruction) -> str:
    """The instruction, if it is a sentence; else an error."""
    if not isinstance(instruction, str):
        raise SettingError(f"An instruction must be a sentence, not {instruction!r}.")
    return instruction


def demand_distributions(model: str, responses: Listed, dim: int) -> None:
    """Refuse features that are not distributions over ``dim`` components."""
    if responses.dim != dim:
        raise SettingError(f"{model} has {dim} components; here are {responses.dim} features.")
    if responses.off_simplex:
        raise SettingError(
            f"{model} needs features that are non-negative and sum to 1 for every response "
            f"(only then is f(x) . g(y, s) a probability); here {responses.off_simplex}."
        )


def checked_instruction(instruction: Instruction, instructions: int) -> int:
    """The instruction as a row of the table; an error if there is no such row."""
    if type(instruction) is int and 0 <= instruction < instructions:  # nearly always
        return instruction
    if (
        isinstance(instruction, bool)
        or not isinstance(instruction, int | np.integer)
        or not 0 <= instruction < instructions
    ):
        raise SettingError(
            f"An instruction must be a whole number from 0 to {instructions - 1}, "
            f"not {instruction!r}."
        )
    return int(instruction)
