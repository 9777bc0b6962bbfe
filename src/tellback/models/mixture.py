"""Maximum likelihood for f in the softmax class (Algorithm 1, line 3), by incremental EM.

The class is that of the paper's first experiment: f(x) = (F[x, 1], ..., F[x, d]), each column of F
a distribution over the instructions. With g(y, s) on the simplex, f(x) . g(y, s) is a mixture: a
component i is drawn from g, an instruction from column i of F. The log-likelihood is concave in F,
and EM increases it without a step size.

The history is compressed to counts of distinct pairs of description and features. Each has its
responsibilities: the expected number of times that each component produced it. Their sum over
the entries of x, divided by their sum over all entries, is F[x]. A new description refreshes the
entries of its own instruction and a fixed number of others in turn, so the cost of a round does
not grow with the history. Refreshing one entry at a time is the incremental EM of Neal and Hinton
(1998). One *sweep* over all entries is a classical EM step, which never lowers the likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, real, whole
from tellback.models import likelihood, mixture_kernels
from tellback.models.counts import CURSOR, NONE, Counts, refuse_features
from tellback.models.model import ModelSpec, checked_instruction, demand_distributions, demand_table
from tellback.models.states import saved_array
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State
from tellback.specs import Count, NonNegative


@dataclass(frozen=True)
class Mixture(ModelSpec):
    """The maximum-likelihood estimate of F for a table of instructions.

    Parameters
    ----------
    refresh : int
        The number of entries of its own instruction that a new description refreshes, the
        newest first. A quarter as many others are refreshed in turn. Higher numbers are closer
        to the exact maximum (``MixtureModel.gap`` says how close) and cost proportionally more.
    smoothing : float
        Pseudo-counts: descriptions of every instruction by every component, added to the data.
        0 is the paper's maximum likelihood. Above 0, F-hat is the most likely F under a
        Dirichlet prior, and a few descriptions rule no instruction out.
    """

    refresh: Count = 32
    smoothing: NonNegative = 0.0

    def build(self, facts: Facts, rng: np.random.Generator) -> MixtureModel:
        """An estimate without data: every column of F uniform."""
        return MixtureModel(demand_table(self.kind, facts), facts.dim, self.refresh, self.smoothing)


class MixtureModel:
    """A live mixture.

    Parameters
    ----------
    instructions, dim : int
        |X| and d, the shape of F.
    refresh : int
        Entries refreshed per description.
    smoothing : float
        Pseudo-counts of every instruction in every component.
    """

    def __init__(
        self, instructions: int, dim: int, refresh: int = 32, smoothing: float = 0.0
    ) -> None:
        self._refresh = refresh
        self._smoothing = smoothing
        self._instructions = instructions
        self._counts = Counts(instructions, dim)
        self._expected = np.zeros((instructions, dim))
        self._totals = np.zeros(dim)
        self._accepted: Listed | None = None  # the last responses that passed the check

    @property
    def described(self) -> int:
        """The number of descriptions learned."""
        return int(self._counts.counts.sum())

    @property
    def f(self) -> Array:
        """F-hat: its columns are distributions over the instructions."""
        f: Array = mixture_kernels.f_hat(self._expected, self._totals, self._smoothing)
        return f

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """f-hat(x) . g(y, s) for every listed response y."""
        if responses is not self._accepted:
            self.accept(responses)
        x = instruction
        if type(x) is not int or not 0 <= x < self._instructions:
            x = checked_instruction(x, self._instructions)
        estimates = np.empty(len(responses))
        mixture_kernels.estimate(
            self._expected, self._totals, self._smoothing, x, responses.columns, estimates
        )
        return estimates

    def draws(
        self, instruction: Instruction, responses: Listed, count: int, rng: np.random.Generator
    ) -> Array:
        """Samples of f(x) . g(y, s) for every listed response, a row a sample.

        F[x, i] is drawn from Beta(a + E[x, i], a (|X| - 1) + E[., i] - E[x, i]), each
        component by itself: the posterior under a symmetric Dirichlet prior a if the expected
        counts E were observed (the mean-field approximation). The uncertainty about the
        component of each description is ignored, so the samples spread too little. a is the
        smoothing, or 1 / |X| without smoothing: then the prior weighs as much as one description.
        """
        if responses is not self._accepted:
            self.accept(responses)
        x, others = checked_instruction(instruction, self._instructions), self._instructions - 1
        shape = (whole("count", count), len(self._totals))
        a = self._smoothing or 1 / self._instructions
        f = np.ones(shape)  # a single instruction is certain
        if others:
            rest = np.maximum(self._totals - self._expected[x], 0.0)  # rounding
            f = rng.beta(a + self._expected[x], a * others + rest, shape)
        draws = np.zeros((count, len(responses)))
        mixture_kernels.mix(f, responses.columns, draws)
        return draws

    def accept(self, responses: Listed) -> None:
        """Refuse responses whose features are no distributions."""
        demand_distributions("mixture", responses, self._expected.shape[1])
        self._accepted = responses

    def learn(self, features: Array, description: Instruction) -> None:
        """Count the description; refresh the entries of its instruction and some others."""
        x = description
        if type(x) is not int or not 0 <= x < self._instructions:
            x = checked_instruction(x, self._instructions)
        counts = self._counts
        counts.expect(features)
        entry = mixture_kernels.learn(
            x,
            features,
            counts.first,
            counts.links,
            counts.numbers,
            counts.slots,
            counts.sizes,
            self._expected,
            self._totals,
            self._refresh,
            self._smoothing,
        )
        if entry == NONE:
            refuse_features(features)

    def for_kernels(self) -> tuple[Any, ...]:
        """What ``mixture_kernels.learn`` needs, with room for one more entry."""
        counts = self._counts
        counts.make_room()
        tables = (counts.first, counts.links, counts.numbers, counts.slots, counts.sizes)
        return *tables, self._expected, self._totals, self._refresh, self._smoothing

    def log_likelihood(self) -> float:
        """The sum over descriptions of log f-hat(x') . g(y, s) (Algorithm 1, line 3)."""
        return self._counts.log_likelihood(self.f)

    def gap(self) -> float:
        """An upper bound on how much higher the log-likelihood could be (Frank-Wolfe gap).

        With smoothing, of the objective that includes the log-prior.
        """
        return likelihood.certified_gap(self._counts, self.f, self._smoothing)

    def likelihood_gap(self) -> float:
        """The same for the likelihood alone, without the log-prior."""
        return likelihood.certified_gap(self._counts, self.f, 0.0)

    def objective(self, f: Array | None = None) -> float:
        """The maximised function: the log-likelihood, plus the log-prior if there is smoothing."""
        return likelihood.objective(self._counts, self.f if f is None else f, self._smoothing)

    def sweep(self, times: int = 1) -> None:
        """Take full EM steps on all entries: the objective never falls."""
        for _ in range(times):
            self._expect(self.f)

    def fit(self, gap: float = 1e-6, sweeps: int = 100_000) -> float:
        """Take EM steps until no F has an objective higher by more than ``gap``.

        Two steps at a time are extrapolated where that raises the objective further (SQUAREM;
        Varadhan and Roland 2008).

        Parameters
        ----------
        gap : float
            Stop at this certified distance to the maximum, in nats over all descriptions.
        sweeps : int
            The most EM steps.

        Returns
        -------
        float
            The gap reached.
        """
        real("gap", gap, above=0)
        reached = self.gap()
        for _ in range(0, whole("sweeps", sweeps), 3):
            if reached <= gap:
                break
            start = self.f
            self.sweep()
            first = self.f
            self.sweep()
            second = self.f
            far = likelihood.extrapolated(start, first, second)
            if far is not None and self.objective(far) > self.objective(second):
                self._expect(far)
            self.sweep()
            reached = self.gap()
        if reached <= gap:
            return reached
        raise SettingError(
            f"{sweeps} sweeps brought the likelihood to within {reached:.3g} of its maximum, "
            f"not to the gap of {gap:.3g}: allow more sweeps, or a larger gap."
        )

    def state(self) -> State:
        """The counts, the responsibilities and the position of the next refresh."""
        return {
            **self._counts.state(),
            "expected": self._expected.copy(),
            "totals": self._totals.copy(),
            "cursor": int(self._counts.sizes[CURSOR]),
        }

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        expected = saved_array(state, "expected", self._expected.shape, least=0)
        totals = saved_array(state, "totals", self._totals.shape, least=0)
        if not np.allclose(expected.sum(axis=0), totals):
            raise SettingError("The saved totals are not the sums of the saved expected counts.")
        cursor = whole("cursor", int(state["cursor"]), at_least=0)
        self._counts.restore(state)
        self._expected, self._totals = expected, totals
        self._counts.sizes[CURSOR] = min(cursor, max(self._counts.size - 1, 0))

    def _expect(self, f: Array) -> None:
        """E-step: responsibilities and their sums from F. Then ``f`` is the M-step."""
        counts = self._counts
        if not counts.size:
            return
        counts.responsibilities[:] = likelihood.responsibilities(counts, f)
        self._expected[:] = 0
        np.add.at(self._expected, counts.rows, counts.responsibilities)
        self._totals[:] = self._expected.sum(axis=0)
