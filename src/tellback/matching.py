"""When a description counts as the instruction that was asked: the one place that decides.

Here is exact matching, for a table of instructions and for sentences of templates.
``tellback.similarity`` compares sentences in free words; such a match is wrong at times, and
states its error rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from tellback.arrays import Array
from tellback.errors import ProtocolError
from tellback.specs import Spec
from tellback.theory import Interval
from tellback.theory.shares import Share


@runtime_checkable
class Match(Protocol):
    """Decides whether a description matches the instruction that was asked.

    It may also have ``errors``, an ``ErrorRates``, if it is wrong at times.
    """

    @property
    def says(self) -> str:
        """The method and its error rates, in words."""
        ...

    def __call__(self, asked: Any, told: Any) -> bool:
        """Whether they match."""
        ...


class ErrorRates(NamedTuple):
    """How often a match is wrong, measured on pairs that it was not chosen on.

    Attributes
    ----------
    false_positives : Share
        The share of pairs with different meanings that match.
    false_negatives : Share
        The share of pairs with the same meaning that do not match.
    """

    false_positives: Share
    false_negatives: Share

    def __str__(self) -> str:
        return f"false positives {self.false_positives}; false negatives {self.false_negatives}"

    def reward(self, matched: Interval) -> Interval:
        """The share of true matches, given the share of observed matches.

        If r is the true share, r (1 - fn) + (1 - r) fp is observed. Solved for r, this is
        (observed - fp) / (1 - fn - fp) (Rogan and Gladen 1978). The bounds take both rates at
        the worse end of their intervals, so they fail at most as often as all three intervals
        together. They hold for sentences like those that the rates were measured on. An agent
        whose mistakes are mostly small, such as the right colour and the wrong type, gets more
        false positives than that.
        """
        fp, fn = self
        return Interval(
            _true_share(matched.mean, fp.share, fn.share),
            _true_share(matched.low, fp.high, fn.low, useless=0.0),
            _true_share(matched.high, fp.low, fn.high, useless=1.0),
        )


def _true_share(observed: Array, fp: float, fn: float, useless: float = float("nan")) -> Array:
    if fp + fn >= 1:  # no better than a coin toss
        return np.full(len(observed), useless)
    return np.clip((observed - fp) / (1 - fn - fp), 0, 1)


@dataclass(frozen=True)
class MatchSpec(Spec):
    """The base of matches that can be saved as data."""

    role: ClassVar[str] = "match"

    @property
    def says(self) -> str:
        """The method and its error rates, in words."""
        raise NotImplementedError

    @property
    def errors(self) -> ErrorRates | None:
        """The error rates; None if the match is exact, or was never measured."""
        return None

    def __call__(self, asked: Any, told: Any) -> bool:
        """Whether they match."""
        raise NotImplementedError


@dataclass(frozen=True)
class Same(MatchSpec):
    """Equality: never wrong for a table of instructions, or for sentences of templates.

    Examples
    --------
    >>> Same()("a red box", "a red box"), Same()("a red box", "A red box.")
    (True, False)
    """

    @property
    def says(self) -> str:
        """That it is exact."""
        return "equality, which is exact"

    def __call__(self, asked: Any, told: Any) -> bool:
        """Whether they are equal."""
        return bool(asked == told)


def demand_match(thing: Any) -> Match:
    """The thing, if it can be used as a match."""
    if isinstance(thing, type) or not isinstance(thing, Match):
        raise ProtocolError(
            f"{thing!r} cannot be used as a match: it must be a function of the instruction and "
            "the description, with an attribute says."
        )
    return thing
