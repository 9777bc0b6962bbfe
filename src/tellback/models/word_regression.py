"""Which words a response makes likely: a Bayesian regression of all words at once.

A description tells of every word whether it occurs: x in {0, 1}^M. Given the point z of a
response,

    x = W z + noise,   noise ~ N(0, S),   W | S ~ matrix normal(0, S, I / lambda).

The posterior is known in closed form, and one description changes it by rank one: the inverse of
Sigma = lambda I + sum of z z' (Algorithm 1, line 4), the coefficients W, and the *metric*, the
inverse of the sum of squares that the regression leaves over. Learning all descriptions at once
gives the same posterior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.compiled import compiled_freely
from tellback.errors import SettingError
from tellback.models.states import saved_array
from tellback.roles import State

NOISE_RATE = 0.01
"""The least noise of a word a description, in the long run."""

TINY = 1e-12


class Expected(NamedTuple):
    """What points make likely.

    Attributes
    ----------
    words : Array
        How likely each word is, beyond its usual share: a row a point.
    squares : Array
        The squared length of each row in the metric.
    """

    words: Array
    squares: Array

    def with_latest(self, latest: Expected) -> Expected:
        """The same without its first point, and with this one at the end.

        Words that are newer than the others were not expected of them.
        """
        words = np.zeros((len(self.words), latest.words.shape[1]))
        words[:-1, : self.words.shape[1]] = self.words[1:]
        words[-1] = latest.words[0]
        return Expected(words, np.append(self.squares[1:], latest.squares))


class WordRegression:
    """The posterior of the regression.

    Parameters
    ----------
    size : int
        The size of a point.
    lam : float
        The ridge.
    noise : float
        The least sum of squares of the noise of each word. Without it, the tiny variances of rare
        words would dominate.

    Attributes
    ----------
    inverse : Array
        Sigma^-1.
    coefficients : Array
        W, a row a word.
    metric : Array
        The inverse of the sum of squares left over, words by words.
    counts : Array
        In how many descriptions each word occurred.
    weight : float
        The number of descriptions. Doubtful ones count less than 1, here and in ``counts``.
    """

    def __init__(self, size: int, lam: float, noise: float) -> None:
        self._size, self._lam, self._noise = size, lam, noise
        self.inverse: Array = np.eye(size) / lam
        self.coefficients: Array = np.zeros((0, size))
        self.metric: Array = np.zeros((0, 0))
        self.counts: Array = np.zeros(0)
        self.weight = 0.0

    @property
    def words(self) -> int:
        """The number of words."""
        return len(self.counts)

    @property
    def usual(self) -> Array:
        """The share of descriptions in which each word occurs."""
        usual: Array = self.counts / max(self.weight, TINY)
        return usual

    def widen(self, words: int) -> None:
        """Make room for words that never occurred."""
        lacking = words - self.words
        if lacking > 0:
            self.coefficients = np.pad(self.coefficients, ((0, lacking), (0, 0)))
            self.metric = np.pad(self.metric, (0, lacking))
            new = np.arange(self.words, words)
            self.metric[new, new] = 1 / self._noise
            self.counts = np.pad(self.counts, (0, lacking))

    def learn(self, point: Array, told: Array, weight: float) -> None:
        """Learn which words occurred in a description of a point."""
        _learn(self.inverse, self.coefficients, self.metric, point, told, weight)
        self.counts += weight * told
        self.weight += weight

    def fit(self, points: Array, told: Array, weights: Array) -> None:
        """Learn descriptions, a row each, and nothing else."""
        weighted = points * weights[:, None]
        self.inverse = _inverse(weighted.T @ points + self._lam * np.eye(self._size))
        sums = told.T @ weighted
        self.coefficients = sums @ self.inverse
        squares = told.T @ (told * weights[:, None]) - self.coefficients @ sums.T
        squares[np.diag_indices(len(squares))] += max(self._noise, NOISE_RATE * len(points))
        self.metric = _inverse(squares)
        self.counts = weights @ told
        self.weight = float(weights.sum())

    def expected(self, points: Array) -> Expected:
        """What points make likely."""
        words = _products(points, self.coefficients) - self.usual
        return Expected(words, _squares(words, self.metric))

    def unknown(self, points: Array, expected: Expected) -> Array:
        """The share of what is expected of each point that nobody has described yet: 0 to 1.

        In the metric of the noise, z' Sigma^-1 z is the variance of a word of W z.
        """
        variances = _squares(points, self.inverse) / max(self.weight, TINY)
        share: Array = variances / (expected.squares + variances + TINY)
        return share

    def fits(self, told: Array, expected: Expected, known: float = 1.0) -> Array:
        """How well a sentence fits each point, in standard deviations of a sentence of any other.

        Parameters
        ----------
        told : Array
            Which words occur in it.
        expected : Expected
            What the points make likely. Words that are newer than this are left out.
        known : float
            The share of its words that are known. The others may stand for any that are absent,
            so absent words count by this share.
        """
        by_told = (self.metric @ (told - known * self.usual))[: expected.words.shape[1]]
        products = _products(expected.words, by_told[None, :])[:, 0]
        return _fits(products, expected.squares, self.weight)

    def word_fits(self, expected: Expected) -> Array:
        """How much each word adds to the fit of a sentence: a row a point."""
        return _fits(expected.words @ self.metric, expected.squares[:, None], self.weight)

    def draws(
        self, told: Array, points: Array, count: int, rng: np.random.Generator, known: float = 1.0
    ) -> Array:
        """Samples of the fits, a row a sample: W is drawn from its posterior.

        W z is normal around its mean, with covariance z' Sigma^-1 z times that of the noise. In
        the metric, the noise of every word is the same.
        """
        root = np.linalg.cholesky(self.metric)
        towards, mean = (told - known * self.usual) @ root, self.expected(points).words @ root
        spread = _root(points @ self.inverse @ points.T) / np.sqrt(max(self.weight, 1.0))
        samples = mean + spread @ rng.standard_normal((count, *mean.shape))
        return _fits(samples @ towards, (samples**2).sum(axis=2), self.weight)

    def state(self) -> State:
        """Everything, in arrays and numbers."""
        return {
            "inverse": self.inverse.copy(),
            "coefficients": self.coefficients.copy(),
            "metric": self.metric.copy(),
            "counts": self.counts.copy(),
            "weight": self.weight,
        }

    def restore(self, state: State, words: int) -> None:
        """Restore a state that ``state()`` gave, with this many words."""
        size = self._size
        inverse = saved_array(state, "inverse", (size, size))
        coefficients = saved_array(state, "coefficients", (words, size))
        metric = saved_array(state, "metric", (words, words))
        counts = saved_array(state, "counts", (words,), least=0)
        weight = float(state["weight"])
        if not 0 <= weight < np.inf:
            raise SettingError(f"The saved weight of all descriptions cannot be {weight}.")
        self.inverse, self.coefficients, self.metric = inverse, coefficients, metric
        self.counts, self.weight = counts, weight

    def left_out(self, points: Array, told: Array, weights: Array, chunk: int) -> Array:
        """The fit of each description, by the regression without it.

        By the formulas of Sherman and Morrison, all at once.

        Parameters
        ----------
        points, told, weights : Array
            All descriptions that were learned.
        chunk : int
            Each description is compared with the responses of so many in a row, its own among
            them. It must divide the number of descriptions.

        Returns
        -------
        Array
            A row a description: of its own response, then of each response of its chunk.
        """
        usual, metric = self.usual, self.metric
        grown = weights * np.einsum("ni,ni->n", points @ self.inverse, points)
        told = told - usual
        missed = told - (points @ self.coefficients.T - usual)
        c = weights / (1 - grown)
        expected = told - missed / (1 - grown)[:, None]
        by_missed, by_told = missed @ metric, told @ metric
        k = c / np.maximum(1 - c * np.einsum("nw,nw->n", missed, by_missed), 1e-3)
        missed_told = k * np.einsum("nw,nw->n", by_missed, told)
        squares = np.einsum("nw,nw->n", expected @ metric, expected)

        def by_chunk(rows: Array) -> Array:
            return rows.reshape(-1, chunk, rows.shape[-1])

        others = by_chunk(expected).transpose(0, 2, 1)
        crossed = (by_chunk(by_missed) @ others).reshape(-1, chunk)
        products = (by_chunk(by_told) @ others).reshape(-1, chunk) + missed_told[:, None] * crossed
        lengths = np.repeat(squares.reshape(-1, chunk), chunk, axis=0) + k[:, None] * crossed**2
        fits = _fits(products, lengths, self.weight)
        n = np.arange(len(points))
        return np.hstack([fits[n, n % chunk][:, None], fits])


def _fits(products: Array, squares: Array, weight: float) -> Array:
    """The fit, from the product of told and expected in the metric, and expected squared.

    A sentence tells some of what its response makes likely, and nobody knows how much. So the
    length of what is expected does not count, only its direction.
    """
    fits: Array = np.sqrt(weight / (squares + TINY)) * products
    return fits


def _root(covariance: Array) -> Array:
    """A square root of a covariance, singular or not."""
    values, vectors = np.linalg.eigh(covariance)
    root: Array = vectors * np.sqrt(np.maximum(values, 0.0))
    return root


def _inverse(matrix: Array) -> Array:
    """The inverse of a symmetric matrix, symmetric to the bit."""
    inverse = np.linalg.inv(matrix)
    symmetric: Array = np.float64(0.5) * (inverse + inverse.T)
    return symmetric


@compiled_freely
def _learn(
    inverse: Array,
    coefficients: Array,
    metric: Array,
    point: Array,
    told: Array,
    weight: float,
) -> None:
    """Sherman and Morrison, once over features and once over words."""
    size, words = len(point), len(told)
    u = np.zeros(size)
    for j in range(size):  # in memory order: the inverse is symmetric
        for i in range(size):
            u[i] += inverse[j, i] * point[j]
    grown = 1.0
    for i in range(size):
        grown += weight * point[i] * u[i]
    c = weight / grown
    missed = np.empty(words)
    for w in range(words):
        product = 0.0
        for i in range(size):
            product += coefficients[w, i] * point[i]
        missed[w] = told[w] - product
        step = c * missed[w]
        for i in range(size):
            coefficients[w, i] += step * u[i]
    v = np.zeros(words)
    for j in range(words):
        for i in range(words):
            v[i] += metric[j, i] * missed[j]
    grown = 1.0
    for i in range(words):
        grown += c * missed[i] * v[i]
    _subtract_square(inverse, u, np.sqrt(c))
    _subtract_square(metric, v, np.sqrt(c / grown))


@compiled_freely
def _subtract_square(matrix: Array, vector: Array, scale: float) -> None:
    """Subtract the outer product of the scaled vector with itself."""
    scaled = scale * vector
    for i in range(len(vector)):
        for j in range(len(vector)):
            matrix[i, j] -= scaled[i] * scaled[j]


@compiled_freely
def _products(rows: Array, columns: Array) -> Array:
    """Inner products, bit for bit the same for equal rows (a matrix product's may differ)."""
    products = np.empty((len(rows), len(columns)))
    for y in range(len(rows)):
        for w in range(len(columns)):
            product = 0.0
            for i in range(rows.shape[1]):
                product += rows[y, i] * columns[w, i]
            products[y, w] = product
    return products


@compiled_freely
def _squares(rows: Array, metric: Array) -> Array:
    """The quadratic form of each row, bit for bit the same for equal rows."""
    squares = np.zeros(len(rows))
    for y in range(len(rows)):
        for i in range(rows.shape[1]):
            product = 0.0
            for j in range(rows.shape[1]):
                product += metric[i, j] * rows[y, j]
            squares[y] += product * rows[y, i]
    return squares
