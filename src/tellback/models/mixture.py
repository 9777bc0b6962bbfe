"""Maximum likelihood for f in the softmax class (Algorithm 1, line 3), by incremental EM.

The class is that of the paper's first experiment: f(x) = (F[x, 1], ..., F[x, d]) with every
column of F a distribution over the instructions. With g(y, s) on the simplex, f(x) . g(y, s)
is a mixture: a component i is drawn from g, an instruction from column i of F. The
log-likelihood is concave in F, and EM climbs it without a step size.

What is kept is the history compressed to *entries*: the distinct pairs of description and
features with their counts, and for each entry the expected number of times that each
component produced it (its *share*). The sum of the shares over the entries of x, divided by
the sum over all entries, is F[x]. Each new description refreshes the shares of its own
instruction and of a fixed number of further entries in turn, so that a round costs the same
however many went before. Refreshing one entry at a time is the incremental EM of Neal and
Hinton (1998); one *sweep* over all entries is a classical EM step, under which the
likelihood never falls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled
from tellback.errors import SettingError, real, whole
from tellback.models.counts import (
    COUNT,
    CURSOR,
    FEATURES,
    FOLLOWING,
    INSTRUCTION,
    NONE,
    SIZE,
    Counts,
    count,
    refuse_features,
)
from tellback.models.model import (
    ModelSpec,
    checked_instruction,
    demand_distributions,
    demand_table,
)
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State

TOUCHED = 1e-300
"""A component with less than this has no data: its reciprocal would not be finite."""

OTHERS = 4
"""For how many entries of its own instruction one other entry is refreshed."""


@dataclass(frozen=True)
class Mixture(ModelSpec):
    """The maximum-likelihood estimate of F for a table of instructions.

    Parameters
    ----------
    refresh : int
        How many entries of its own instruction each new description brings up to date, the
        newest first; a quarter as many others are refreshed in turn. More is closer to the
        exact maximum (``MixtureModel.gap`` says how close) and costs proportionally more.
    smoothing : float
        A number of descriptions that every instruction is given beforehand in every
        component. 0 is the paper's maximum likelihood. Above that, F-hat is the most likely
        F under a Dirichlet prior, and no instruction is ruled out by a few that were not it.
    """

    refresh: int = 32
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        self._set_validated(
            refresh=whole("refresh", self.refresh),
            smoothing=real("smoothing", self.smoothing, at_least=0),
        )

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
        Entries refreshed a description.
    smoothing : float
        Descriptions that every instruction has beforehand in every component.
    """

    def __init__(
        self, instructions: int, dim: int, refresh: int = 32, smoothing: float = 0.0
    ) -> None:
        self._refresh = refresh
        self._smoothing = smoothing
        self._instructions = instructions
        self._entries = Counts(instructions, dim)
        self._expected = np.zeros((instructions, dim))
        self._totals = np.zeros(dim)
        self._accepted: Listed | None = None  # the responses last found to be usable

    @property
    def described(self) -> int:
        """How many descriptions were learned."""
        return int(self._entries.counts.sum())

    @property
    def f(self) -> Array:
        """F-hat: its columns are distributions over the instructions."""
        f: Array = _f_hat(self._expected, self._totals, self._smoothing)
        return f

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """f-hat(x) . g(y, s) for every listed response y."""
        if responses is not self._accepted:
            self._accept(responses)
        x = instruction
        if type(x) is not int or not 0 <= x < self._instructions:
            x = checked_instruction(x, self._instructions)
        estimates = np.empty(len(responses))
        _estimate(self._expected, self._totals, self._smoothing, x, responses.columns, estimates)
        return estimates

    def draws(
        self,
        instruction: Instruction,
        responses: Listed,
        count: int,
        rng: np.random.Generator,
        prior: float | None = None,
    ) -> Array:
        """Samples of f(x) . g(y, s) for every listed response, a row a sample.

        F[x, i] is drawn from Beta(a + E[x, i], a (|X| - 1) + E[., i] - E[x, i]), each
        component by itself: the posterior under a symmetric Dirichlet prior a, had the
        expected counts E been observed (the mean-field approximation). What is not known of
        which component spoke is left out, so that the samples spread less than they should.

        Parameters
        ----------
        instruction, responses
            x, and the responses.
        count : int
            How many samples.
        rng : numpy.random.Generator
            From which they are drawn.
        prior : float, optional
            a. By default the smoothing; without one 1 / |X|, so that all that is believed
            beforehand weighs as one description.
        """
        if responses is not self._accepted:
            self._accept(responses)
        x, others = checked_instruction(instruction, self._instructions), self._instructions - 1
        shape = (whole("count", count), len(self._totals))
        usual = self._smoothing or 1 / self._instructions
        a = usual if prior is None else real("prior", prior, above=0)
        f = np.ones(shape)  # the only instruction there is, is certain
        if others:
            rest = np.maximum(self._totals - self._expected[x], 0.0)  # rounding
            f = rng.beta(a + self._expected[x], a * others + rest, shape)
        draws = np.zeros((count, len(responses)))
        _mix(f, responses.columns, draws)
        return draws

    def _accept(self, responses: Listed) -> None:
        demand_distributions("mixture", responses, self._expected.shape[1])
        self._accepted = responses

    def learn(self, features: Array, description: Instruction) -> None:
        """Count the description and refresh its entries and some others."""
        x = description
        if type(x) is not int or not 0 <= x < self._instructions:
            x = checked_instruction(x, self._instructions)
        entries = self._entries
        entries.expect(features)
        entry = _learn(
            x,
            features,
            entries.first,
            entries.links,
            entries.numbers,
            entries.slots,
            entries.sizes,
            self._expected,
            self._totals,
            self._refresh,
            self._smoothing,
        )
        if entry == NONE:
            refuse_features(features)

    def log_likelihood(self) -> float:
        """The sum over descriptions of log f-hat(x') . g(y, s) (Algorithm 1, line 3)."""
        return self._entries.log_likelihood(self.f)

    def gap(self) -> float:
        """An upper bound on how much higher the log-likelihood could be (Frank-Wolfe gap).

        With D the gradient, no F exceeds the present log-likelihood by more than
        sum_i max_x D[x, i] - n, because it is concave over a product of simplices. What is
        climbed with smoothing is concave too: the log-likelihood plus smoothing * log F, summed
        over all of F; its n counts the descriptions given beforehand.
        """
        return self._gap(self._smoothing)

    def likelihood_gap(self) -> float:
        """The same of the likelihood alone, whatever the smoothing."""
        return self._gap(0.0)

    def _gap(self, smoothing: float) -> float:
        if not self._entries.size:
            return 0.0
        f = self.f
        count, gradient = float(self.described), self._gradient(f)
        if smoothing:
            count += smoothing * f.size
            gradient += smoothing / f
        return max(0.0, float(gradient.max(axis=0).sum() - count))

    def objective(self, f: Array | None = None) -> float:
        """What is climbed: the log-likelihood, and with smoothing the log-prior of F too."""
        f = self.f if f is None else f
        prior = self._smoothing * float(np.log(f).sum()) if self._smoothing else 0.0
        return self._entries.log_likelihood(f) + prior

    def sweep(self, times: int = 1) -> None:
        """Take full EM steps, all shares from the same F: the objective never falls."""
        for _ in range(times):
            self._expect(self.f)

    def fit(self, gap: float = 1e-6, sweeps: int = 100_000) -> float:
        """Climb until no F has a log-likelihood higher by more than ``gap``.

        EM steps, two at a time, extrapolated along their common direction where that
        raises the likelihood further (SQUAREM; Varadhan and Roland 2008).

        Parameters
        ----------
        gap : float
            The certified distance to stop at, in nats over all descriptions together.
        sweeps : int
            The number of EM steps after which to give up.

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
            self._leap(start, first, self.f)
            self.sweep()
            reached = self.gap()
        if reached <= gap:
            return reached
        raise SettingError(
            f"{sweeps} sweeps brought the likelihood to within {reached:.3g} of its maximum, "
            f"not to the gap of {gap:.3g}: allow more sweeps, or a larger gap."
        )

    def state(self) -> State:
        """The entries, their shares and the place of the next refresh."""
        return {
            **self._entries.state(),
            "expected": self._expected.copy(),
            "totals": self._totals.copy(),
            "cursor": int(self._entries.sizes[CURSOR]),
        }

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        expected = np.array(state["expected"], dtype=np.float64)
        totals = np.array(state["totals"], dtype=np.float64)
        if expected.shape != self._expected.shape or totals.shape != self._totals.shape:
            raise SettingError(
                f"The saved estimate is of shape {expected.shape}, and this model's is "
                f"{self._expected.shape}."
            )
        sums_fit = np.isfinite(expected).all() and np.allclose(expected.sum(axis=0), totals)
        if not sums_fit or (expected < 0).any() or (totals < 0).any():
            raise SettingError("The saved estimate has numbers that are not possible.")
        cursor = whole("cursor", int(state["cursor"]), at_least=0)
        self._entries.restore(state)
        self._expected, self._totals = expected, totals
        self._entries.sizes[CURSOR] = min(cursor, max(self._entries.size - 1, 0))

    def _gradient(self, f: Array) -> Array:
        """The derivative of the log-likelihood: D[x, i] = sum of n g_i / (f(x) . g)."""
        entries = self._entries
        weights = (entries.counts / entries.probabilities(f))[:, None] * entries.features
        gradient = np.zeros_like(f)
        np.add.at(gradient, entries.rows, weights)
        return gradient

    def _expect(self, f: Array) -> None:
        """Recompute every share and their sums from F (E-step; ``f`` then is the M-step)."""
        entries = self._entries
        if not entries.size:
            return
        shares = f[entries.rows] * entries.features
        shares *= (entries.counts / shares.sum(axis=1))[:, None]
        entries.shares[:] = shares
        self._expected[:] = 0
        np.add.at(self._expected, entries.rows, shares)
        self._totals[:] = self._expected.sum(axis=0)

    def _leap(self, start: Array, first: Array, second: Array) -> None:
        """Go further along the direction of two EM steps, if that is higher than the second."""
        step = first - start
        bend = (second - first) - step
        length = np.linalg.norm(bend)
        if length == 0:
            return
        alpha = -max(1.0, float(np.linalg.norm(step) / length))
        far = start - 2 * alpha * step + alpha**2 * bend
        # A component at exactly 0 could never come back: stay inside, near the edge.
        far = np.where(second > 0, np.maximum(far, 1e-3 * second), 0.0)
        mass = far.sum(axis=0)
        far = np.where(mass > 0, far / np.where(mass > 0, mass, 1), second)
        if self.objective(far) > self.objective(second):
            self._expect(far)


@compiled
def _estimate(
    expected: Array, totals: Array, smoothing: float, x: int, columns: Array, estimates: Array
) -> None:
    """f-hat(x) . g(y) for all y; an untouched component is uniform, as before any data."""
    estimates[:] = 0.0
    for i in range(len(totals)):
        f = _share(expected[x, i], totals[i], smoothing, expected.shape[0])
        if f > 0.0:
            for y in range(len(estimates)):
                estimates[y] += f * columns[i, y]


@compiled
def _mix(f: Array, columns: Array, mixed: Array) -> None:
    """Add f . g(y) for every row f and all y."""
    for row in range(len(f)):
        for i in range(len(columns)):
            for y in range(columns.shape[1]):
                mixed[row, y] += f[row, i] * columns[i, y]


@compiled
def _share(expected: float, total: float, smoothing: float, instructions: int) -> float:
    """An instruction's share of a component."""
    total += smoothing * instructions
    return (expected + smoothing) / total if total > TOUCHED else 1.0 / instructions


@compiled
def _f_hat(expected: Array, totals: Array, smoothing: float) -> Array:
    f = np.empty_like(expected)
    for x in range(expected.shape[0]):
        for i in range(expected.shape[1]):
            f[x, i] = _share(expected[x, i], totals[i], smoothing, expected.shape[0])
    return f


@compiled
def _refresh_entry(
    numbers: Array,
    expected: Array,
    totals: Array,
    inverse_totals: Array,
    smoothing: float,
    beforehand: float,
) -> None:
    """Recompute an entry's shares from the present F and move the sums by the difference.

    ``numbers`` are the entry's, ``expected`` those of its instruction. ``beforehand`` is what
    smoothing adds to the total of a component.
    """
    dim = len(totals)
    total = 0.0
    for i in range(dim):
        total += (expected[i] + smoothing) * inverse_totals[i] * numbers[FEATURES + i]
    if not total > 0.0:
        return
    scale = numbers[COUNT] / total
    for i in range(dim):
        share = (expected[i] + smoothing) * inverse_totals[i] * numbers[FEATURES + i] * scale
        change = share - numbers[FEATURES + dim + i]
        numbers[FEATURES + dim + i] = share
        # Sums of many small changes: rounding must not take them below zero.
        expected[i] = max(expected[i] + change, 0.0)
        totals[i] = max(totals[i] + change, 0.0)
        whole_total = totals[i] + beforehand
        inverse_totals[i] = 1.0 / whole_total if whole_total > TOUCHED else 0.0


@compiled
def _learn(
    x: int,
    features: Array,
    first: Indices,
    links: Indices,
    numbers: Array,
    slots: Indices,
    sizes: Indices,
    expected: Array,
    totals: Array,
    refresh: int,
    smoothing: float,
) -> int:
    """Count one description, then refresh its instruction's entries and others in turn."""
    entry = count(x, features, first, links, numbers, slots, sizes)
    if entry == NONE:
        return entry
    dim = len(totals)
    # The new description counts for each component as g says, before F has a say: a
    # component that had sunk to zero for this instruction comes back, and a first-seen
    # instruction starts from there.
    inverse_totals = np.zeros(dim)
    beforehand = smoothing * expected.shape[0]
    for i in range(dim):
        numbers[entry, FEATURES + dim + i] += features[i]
        expected[x, i] += features[i]
        totals[i] += features[i]
        if totals[i] + beforehand > TOUCHED:
            inverse_totals[i] = 1.0 / (totals[i] + beforehand)
    left = refresh
    own = first[x]
    while own != NONE and left > 0:
        _refresh_entry(numbers[own], expected[x], totals, inverse_totals, smoothing, beforehand)
        own = links[own, FOLLOWING]
        left -= 1
    position = sizes[CURSOR]
    for _ in range(min(refresh // OTHERS, sizes[SIZE])):
        position = position + 1 if position + 1 < sizes[SIZE] else 0
        x = links[position, INSTRUCTION]
        _refresh_entry(
            numbers[position], expected[x], totals, inverse_totals, smoothing, beforehand
        )
    sizes[CURSOR] = position
    return entry
