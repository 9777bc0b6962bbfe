"""When a certificate of regret is a proof, and when it is not.

A certificate is a proof if the widths that it sums hold the truth with a stated probability.
That follows from a radius of the theory and a model that keeps its premises, never from what
an agent says of itself: only the types that ``register_provable`` knows can have a proof, made by
tellback's own specs and unaltered. Then the run must have been what the theory is about. A
``Witness`` looks at what can be seen of that; what cannot be seen is a condition, and printed
with the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tellback.arrays import Array

ROUNDING = 1e-9
"""By how much a reward may differ from f(x) . g, and a truth from a member of its class."""

OWN_WORD = "nothing but the agent's own word supports its widths"

DRAWN = "every description is drawn from P(x | y, s), given context and response alone"

IN_TIME = "no description was late or lost for what it said"

SMALLEST_PERCENTAGE = 1e-5
"""A delta below this is stated itself: as a percentage, 1 - delta would be rounded to 100%."""


@dataclass(frozen=True)
class Proof:
    """Why a certificate is never below regret, with which probability, and on what condition.

    Made by a radius (``agents.RadiusSpec``) for a model that keeps its premises.

    Attributes
    ----------
    delta : float
        The probability with which it may fail, at any time.
    radius : str
        The kind of radius.
    truth : str
        What the truth must be.
    known : bool
        Whether it is known to be that: only a simulation in a world of tellback's can know.
    conditions : tuple of str
        What must be so besides, and cannot be seen from the run.
    failed : bool
        Whether bounds were seen to fail in the run: then a condition is not met, or it is one of
        the cases in which the proof may fail. Such a proof is false (``bool``).
    holds : callable, optional
        Whether F, a row an instruction, is such a truth.
    """

    delta: float
    radius: str
    truth: str
    known: bool = False
    conditions: tuple[str, ...] = ()
    failed: bool = False
    holds: Callable[[Array], bool] | None = field(default=None, repr=False, compare=False)

    @property
    def level(self) -> str:
        """1 - delta, as a percentage if that is not rounded to 100%."""
        if self.delta < SMALLEST_PERCENTAGE:
            return f"1 - {self.delta:.6g}"
        return f"{100 * (1 - self.delta):.6g}%"

    def __bool__(self) -> bool:
        """Whether it is one: not where bounds failed."""
        return not self.failed

    def __str__(self) -> str:
        said = f"proven with probability {self.level}"
        if self.failed:
            said = (
                "bounds failed in this run, so that a condition is not met or this is one of the "
                f"cases, of probability {self.delta:.6g}, in which they may: they had to hold with "
                f"probability {self.level}"
            )
        conditions = self.conditions
        if self.known:
            said += f", since {self.truth}"
        else:
            conditions = (self.truth, *conditions)
        return said + "".join(f", {'and ' if i else ''}if {c}" for i, c in enumerate(conditions))


class ProofStatus(NamedTuple):
    """Whether the widths that an agent states are proven.

    Attributes
    ----------
    proof : Proof or None
        The proof that they give, if the run is as it must be.
    caveat : str
        Why there is none; '' if there is one.
    learned : int
        How many descriptions the agent has taken in.
    """

    proof: Proof | None
    caveat: str
    learned: int = 0


_KNOWN: dict[type, Callable[[Any], ProofStatus]] = {}


def register_provable(kind: type, status: Callable[[Any], ProofStatus]) -> None:
    """Register how agents of exactly this type prove their widths; subclasses do not count."""
    _KNOWN[kind] = status


def proof_status_of(agent: object) -> ProofStatus:
    """Whether an agent's widths are proven now; they are not if its type is not registered."""
    known = _KNOWN.get(type(agent))
    return ProofStatus(None, OWN_WORD) if known is None else known(agent)


class Witness:
    """Checks whether a run meets the premises of its agent's proof.

    Parameters
    ----------
    agent : Agent
        Who plays, before the first round.
    truth : Truth or None
        What the referee holds. One with ``f``, a matrix with a row for each instruction, is
        held against the class that the proof is for.
    start : int
        How many rounds the agent is said to have played before, in this world and with this
        seed.
    drawn : bool
        Whether the world is tellback's, so that the teacher is known to draw descriptions from
        the truth, and the truth to be what it shows.
    late : bool
        Whether descriptions may come late, or be lost on their way.
    reactive : bool
        Whether the world reads descriptions, which it does as soon as they are made.
    """

    def __init__(
        self, agent: object, truth: object, start: int, drawn: bool, late: bool, reactive: bool
    ) -> None:
        self._agent = agent
        self._before = proof_status_of(agent)
        self._start = start
        self._drawn = drawn
        self._by_meaning = bool(getattr(truth, "by_meaning", False))
        self._late, self._out_of_turn = late, late and reactive
        f = getattr(truth, "f", None)
        self._f: Array | None = f if isinstance(f, np.ndarray) and f.ndim == 2 else None
        self._silent = self._played = 0
        self._linear: bool | None = None  # not known, as long as nothing is seen of F

    def observe(self, rounds: Iterator[Any]) -> Iterator[Any]:
        """The rounds, unchanged; they are inspected only if there is a proof."""
        return rounds if self._before.proof is None else self._observed(rounds)

    def _observed(self, rounds: Iterator[Any]) -> Iterator[Any]:
        f = self._f
        for one in rounds:
            self._played += 1
            self._silent += one.description is None
            g, x = one.choice.features, one.task.instruction
            if f is not None and f.shape[1:] == g.shape and x < len(f):
                near = abs(float(f[x] @ g) - one.reward) <= ROUNDING
                self._linear = near and self._linear is not False
            yield one

    def verdict(self, told: int) -> ProofStatus:
        """The proof with its conditions, or why there is none, after the last round.

        Parameters
        ----------
        told : int
            How many descriptions the agent was given in these rounds.
        """
        proof, after = self._before.proof, proof_status_of(self._agent)
        if proof is None:  # an altered state cannot be told from a learned one after the run
            return self._before._replace(learned=after.learned)
        if self._silent:  # before the signs of it in the agent
            return ProofStatus(None, self._silence(), after.learned)
        if after.proof is None:
            return after
        if void := self._void(proof, after.learned, told):
            return ProofStatus(None, void, after.learned)
        earlier = self._before.learned
        conditions = [*proof.conditions]
        if earlier:
            conditions.append(
                f"the {earlier:,} descriptions it had learned before are those of the first "
                f"{self._start:,} rounds of this world and seed, none left out for what it said, "
                "and its state is what it learned from them"
            )
        if not self._drawn:
            conditions.append(DRAWN)
        if self._late:
            conditions.append(IN_TIME)
        known = self._drawn and self._linear is True  # else seen of chosen responses alone
        told_of = replace(proof, known=known, conditions=tuple(conditions), holds=None)
        return ProofStatus(told_of, "", after.learned)

    def _silence(self) -> str:
        return (
            f"{self._silent:,} of {self._played:,} rounds were not described, and silence "
            "may depend on what would have been said"
        )

    def _void(self, proof: Proof, learned: int, told: int) -> str:
        """The premise that the run violates; '' if none."""
        before = self._before.learned
        if before and before != self._start:
            of_this = f", and {self._start:,} rounds of this run were before" * bool(self._start)
            return f"it had learned {before:,} descriptions before the first round{of_this}"
        if learned != before + told:
            return f"it was told {told:,} descriptions in the run, and learned {learned - before:,}"
        if self._out_of_turn:
            return (
                "descriptions came late in a world that reads them at once, so that what it asks "
                "for may depend on what the agent was not told yet"
            )
        if self._by_meaning:
            return "the bounds are on the probability of words, and regret here is by meaning"
        if self._linear is False:
            return "the truth's F is for other features than those that the agent is shown"
        if self._linear and proof.holds is not None and not proof.holds(np.asarray(self._f)):
            return f"it is not so that {proof.truth}"
        return ""
