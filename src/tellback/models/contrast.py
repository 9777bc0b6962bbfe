"""Which response a sentence is of, rather than another: what the regression of words leaves over.

The regression says how likely each word is of a response. To tell responses apart, some words
should count more than that, and some less: "the stand beside the bed" is hardly ever said of the
bed. So x' B z / sqrt(number of words of x) is added to the log-lift of a sentence x by a response
with the point z. B is learned from the descriptions: each makes one step up the gradient of

    log P(the described response | x, this one and some others),

a softmax of their log-lifts. The steps of a word get shorter with its sum of squared gradients
(Adagrad, Duchi, Hazan and Singer 2011, with one rate a word).
"""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array
from tellback.compiled import compiled_freely
from tellback.models.states import saved_array
from tellback.roles import State

RATE = 1.0
"""The length of the first step of a word."""


class Contrast:
    """The matrix B, learned one description at a time.

    Parameters
    ----------
    size : int
        The size of a point.
    words : int
        The number of words.

    Attributes
    ----------
    coefficients : Array
        B, a row a word.
    squares : Array
        The sum of squared gradients of each word.
    """

    def __init__(self, size: int, words: int) -> None:
        self.coefficients: Array = np.zeros((words, size))
        self.squares: Array = np.zeros(words)

    def widen(self, words: int) -> None:
        """Make room for words that never occurred."""
        lacking = words - len(self.squares)
        if lacking > 0:
            self.coefficients = np.pad(self.coefficients, ((0, lacking), (0, 0)))
            self.squares = np.pad(self.squares, (0, lacking))

    def learn(
        self, points: Array, told: Array, lifts: Array, weights: Array, others: Array
    ) -> None:
        """Learn descriptions in their order.

        Parameters
        ----------
        points : Array
            The point of each described response, a row each.
        told : Array
            Which words occur in each description, a row each.
        lifts : Array
            The log-lift of each description by its response, then by each of the others: by a
            regression that has not learned this description.
        weights : Array
            How far each is believed.
        others : Array
            The points of the others, a row each. One that equals the described response is not
            counted.
        """
        _learn(self.coefficients, self.squares, points, told, lifts, weights, others)

    def lifts(self, told: Array, points: Array) -> Array:
        """What is added to the log-lift of a sentence by each point."""
        return _lifts(self.coefficients, told[: len(self.squares)], points)

    def state(self) -> State:
        """Everything, in arrays."""
        return {"contrast": self.coefficients.copy(), "contrast_squares": self.squares.copy()}

    @classmethod
    def restored(cls, state: State, size: int, words: int) -> Contrast:
        """The contrast of a ``state()``, with this many words."""
        contrast = cls(size, words)
        contrast.coefficients = saved_array(state, "contrast", (words, size))
        contrast.squares = saved_array(state, "contrast_squares", (words,), least=0)
        return contrast


@compiled_freely
def _learn(
    coefficients: Array,
    squares: Array,
    points: Array,
    told: Array,
    lifts: Array,
    weights: Array,
    others: Array,
) -> None:
    size, count = points.shape[1], len(others)
    shares = np.empty(count)
    for n in range(len(points)):
        said = np.flatnonzero(told[n])
        if not len(said):
            continue
        scale = 1 / np.sqrt(len(said))
        wanted = np.zeros(size)
        for w in said:
            for i in range(size):
                wanted[i] += scale * coefficients[w, i]
        # The odds of each other response against the described one.
        total = 1.0
        for k in range(count):
            apart, product = False, lifts[n, 1 + k] - lifts[n, 0]
            for i in range(size):
                difference = others[k, i] - points[n, i]
                apart |= difference != 0
                product += wanted[i] * difference
            shares[k] = np.exp(min(product, 50.0)) if apart else 0.0
            total += shares[k]
        gradient = np.zeros(size)
        for k in range(count):
            share = shares[k] / total
            for i in range(size):
                gradient[i] += share * (points[n, i] - others[k, i])
        square = 0.0
        for i in range(size):
            gradient[i] *= weights[n] * scale
            square += gradient[i] ** 2
        if square > 0:
            for w in said:
                squares[w] += square
                step = RATE / np.sqrt(squares[w])
                for i in range(size):
                    coefficients[w, i] += step * gradient[i]


@compiled_freely
def _lifts(coefficients: Array, told: Array, points: Array) -> Array:
    """Bit for bit the same for equal rows (a matrix product's may differ)."""
    said = np.flatnonzero(told)
    lifts = np.zeros(len(points))
    if len(said):
        wanted = np.zeros(points.shape[1])
        for w in said:
            wanted += coefficients[w]
        wanted /= np.sqrt(len(said))
        for y in range(len(points)):
            for i in range(points.shape[1]):
                lifts[y] += wanted[i] * points[y, i]
    return lifts
