"""A model of sentences that learns from few of them: which words go with which features.

A description is a sentence of a language model, tilted towards the words that go with the
features of the response:

    P(x | y, s) = P(x) * product over the words w of x of (P(w | y, s) / P(w)) ** r(w).

P(x) is a trigram model (``Trigrams``). P(w | y, s), the probability that w occurs, is a ridge
regression on random Fourier features (``Fourier``), in closed form for all words at once. The
relevance r(w), from 0 to 1, is the part of the explained variance of w that is more than chance:
close to 1 for "red", 0 for "there". Without it, the many irrelevant words outweigh the few
relevant ones.

A description is learned by one rank-one update, without iterations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled
from tellback.errors import SettingError, real, whole
from tellback.models.description_log import DescriptionLog
from tellback.models.ellipsoid import LOWEST_RIDGE, Ellipsoid
from tellback.models.fourier import BIAS, Fourier
from tellback.models.model import ModelSpec, checked_sentence, demand_sentences
from tellback.models.states import saved_array
from tellback.models.trigrams import Trigrams
from tellback.models.words import BEGIN, END, LONGEST, Vocabulary
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State

FLOOR = 0.02
"""The least P(w | y, s) / P(w): a single unexpected word must not rule a response out."""

TINY = -500.0
"""Logarithms below this are compressed: exp underflows at about -745."""

RESTANDARDISED_AT = frozenset(2**i for i in range(11))
"""Numbers of descriptions at which the features are standardised again by all features so far, and
all descriptions are learned again. After the last, mean and spread hardly change."""


@dataclass(frozen=True)
class Keywords(ModelSpec):
    """A closed-form model, word by word, of sentences about any real features.

    Parameters
    ----------
    waves : int
        The number of random Fourier features. More fit finer; the cost grows with the square.
    length : float
        The length scale of the regression, in spreads of the features.
    lam : float
        The ridge.

    Examples
    --------
    >>> Keywords(waves=100).lam
    0.1
    """

    waves: int = 200
    length: float = 1.0
    lam: float = 0.1

    def __post_init__(self) -> None:
        self._set_validated(
            waves=whole("waves", self.waves, at_least=0),
            length=real("length", self.length, above=0),
            lam=real("lam", self.lam, at_least=LOWEST_RIDGE),
        )

    def build(self, facts: Facts, rng: np.random.Generator) -> KeywordsModel:
        """A model without data."""
        demand_sentences(self.kind, facts)
        return KeywordsModel(self, facts.dim, rng)


class KeywordsModel:
    """A live model of words.

    Parameters
    ----------
    spec : Keywords
        Its settings.
    dim : int
        The size of the features.
    rng : numpy.random.Generator
        For the Fourier features.
    """

    inexact: ClassVar[str] = "its model is not linear in the features"

    def __init__(self, spec: Keywords, dim: int, rng: np.random.Generator) -> None:
        self._dim = dim
        self._lam = spec.lam
        self._fourier = Fourier(dim, spec.waves, spec.length, rng)
        self._vocabulary = Vocabulary()
        self._log = DescriptionLog(dim)
        self._reset()

    def _reset(self) -> None:
        """Reset the regression and the trigrams, but not the log."""
        self._ellipsoid = Ellipsoid(self._fourier.size, self._lam)
        self._trigrams = Trigrams()
        self._sums = np.zeros((0, self._fourier.size))
        self._coefficients = np.zeros((0, self._fourier.size))

    @property
    def described(self) -> int:
        """The number of descriptions learned."""
        return len(self._log)

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """P-hat(x | y, s) of the whole sentence for every listed response."""
        rows = self._checked_rows(instruction, responses)
        return self._tilted(rows, self._frequencies(rows, responses))

    def draws(
        self, instruction: Instruction, responses: Listed, count: int, rng: np.random.Generator
    ) -> Array:
        """Samples of the estimates, a row a sample: the frequency of every word is drawn.

        Normal around the regression, with covariance P(w) (1 - P(w)) Sigma^-1.
        """
        rows = self._checked_rows(instruction, responses)
        frequencies = self._frequencies(rows, responses)
        points = self._fourier(responses.matrix)
        spread = _root(points @ self._ellipsoid.inverse @ points.T)
        base = self._base_rates(self._known_words(rows))
        noise = rng.standard_normal((count, len(base), len(responses))) @ spread.T
        drawn = frequencies + np.sqrt(base * (1 - base))[:, None] * noise
        return np.array([self._tilted(rows, one) for one in drawn])

    def learn(self, features: Array, description: Instruction) -> None:
        """Add the description to the log, the regression and the trigrams."""
        row, sentence = self._log.checked(features), checked_sentence(description)
        self._log.add(row, self._vocabulary.learn(sentence))
        if self.described in RESTANDARDISED_AT:
            self._relearn()
        else:
            self._learn(self.described - 1)

    def _relearn(self) -> None:
        """Standardise by all features so far, and learn all descriptions again."""
        log = self._log
        self._fourier.fit(log.features[log.described])
        self._reset()
        for which in range(len(log)):
            self._learn(which)

    def _learn(self, which: int) -> None:
        """Learn one description of the log."""
        log = self._log
        entry = int(log.described[which])
        sentence = log.sentence_of(entry)
        self._trigrams.add(sentence)
        self._make_room()
        point = self._fourier(log.features[entry : entry + 1])[0]
        words = np.unique(sentence).astype(np.int64)
        _update(self._ellipsoid.inverse, point, words, self._coefficients, self._sums)
        self._ellipsoid.add(point)

    def _make_room(self) -> None:
        lacking = len(self._vocabulary) - len(self._sums)
        if lacking > 0:
            room = ((0, max(lacking, len(self._sums), 64)), (0, 0))
            self._sums = np.pad(self._sums, room)
            self._coefficients = np.pad(self._coefficients, room)

    def _checked_rows(self, instruction: Instruction, responses: Listed) -> list[int]:
        if responses.dim != self._dim:
            raise SettingError(
                f"keywords was built for {self._dim} features; here are {responses.dim}."
            )
        return self._vocabulary.look_up(checked_sentence(instruction))

    def _known_words(self, rows: list[int]) -> Indices:
        """The words among these that are in the vocabulary, each once."""
        size = len(self._vocabulary)
        return np.unique([row for row in rows if row < size]).astype(np.int64)

    def _base_rates(self, words: Indices) -> Array:
        """P(w): the share of descriptions in which each word occurs."""
        rates: Array = self._sums[words, 0] / (BIAS * max(1, self.described))
        return rates

    def _frequencies(self, rows: list[int], responses: Listed) -> Array:
        """P-hat(w | y, s) by the regression: a row for each word in the vocabulary."""
        coefficients = self._coefficients[self._known_words(rows)]
        return _products(coefficients, self._fourier(responses.matrix))

    def _tilted(self, rows: list[int], frequencies: Array) -> Array:
        """The probability of a sentence from the frequencies of its words."""
        words = self._known_words(rows)
        size = max(rows, default=0) + len(self._vocabulary)
        base = self._trigrams.log_probability(rows, size)
        logs = base + self._log_lifts(words, frequencies).sum(axis=0)
        return _as_probabilities(logs)

    def _log_lifts(self, words: Indices, frequencies: Array) -> Array:
        """r(w) log(P(w | y, s) / P(w)), a row a word."""
        base = self._base_rates(words)[:, None]
        lifts: Array = np.log(np.maximum(frequencies, 0.0) / base + FLOOR)
        return self.relevance(words)[:, None] * lifts

    def relevance(self, words: Indices) -> Array:
        """r(w): the share of the explained variance of a word that is more than chance.

        With n descriptions and a fit with p degrees of freedom, unrelated features explain p/n
        of the variance of a word.
        """
        n = max(1, self.described)
        base = self._base_rates(words)
        freedom = self._fourier.size - self._lam * float(np.trace(self._ellipsoid.inverse)) - 1
        explained = np.einsum("wi,wi->w", self._sums[words], self._coefficients[words]) / n
        variance = np.maximum(base * (1 - base), 1e-12)
        share = np.maximum((explained - base**2) / variance, 1e-12)
        relevance: Array = np.clip(1 - freedom / n / share, 0.0, 1.0)
        return relevance

    def speak(self, features: Array, rng: np.random.Generator) -> str:
        """A description of a response, drawn word by word."""
        point = self._fourier(self._log.checked(features)[None, :])
        size = len(self._vocabulary)
        tilt = np.zeros(size)
        if self.described:
            words = np.flatnonzero(self._sums[:size, 0] > 0)
            tilt[words] = self._log_lifts(words, self._coefficients[words] @ point.T)[:, 0]
        rows: list[int] = []
        while len(rows) < LONGEST:
            weights = self._trigrams.following(rows, size) * np.exp(tilt)
            weights[BEGIN] = 0.0  # the mark of a beginning is no word
            word = int(rng.choice(size, p=weights / weights.sum()))
            if word == END:
                break
            rows.append(word)
        return self._vocabulary.spell(rows)

    def state(self) -> State:
        """The log, the vocabulary, the Fourier features and the regression."""
        taken = len(self._vocabulary)
        return {
            **self._log.state(),
            **self._fourier.state(),
            **self._ellipsoid.state(),
            "words": self._vocabulary.state(),
            "sums": self._sums[:taken].copy(),
            "coefficients": self._coefficients[:taken].copy(),
        }

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        vocabulary = Vocabulary.restored(np.asarray(state["words"]))
        log = DescriptionLog.restored(state, self._dim, len(vocabulary))
        size = self._fourier.size
        shape = (len(vocabulary) if len(log) else 0, size)
        sums, coefficients = (saved_array(state, name, shape) for name in ("sums", "coefficients"))
        if (sums[END + 1 :, 0] <= 0).any():
            raise SettingError("The saved sums have a word that never occurred.")
        ellipsoid = Ellipsoid(size, self._lam)
        ellipsoid.restore(state)
        if ellipsoid.count != len(log):
            raise SettingError(
                f"The saved regression has learned {ellipsoid.count} of {len(log)} descriptions."
            )
        self._fourier.restore(state)
        self._vocabulary, self._log, self._ellipsoid = vocabulary, log, ellipsoid
        self._sums, self._coefficients = sums, coefficients
        self._trigrams = Trigrams()
        for entry in log.described.tolist():
            self._trigrams.add(log.sentence_of(entry))


def _as_probabilities(logs: Array) -> Array:
    """Exponentials of the logarithms, mapped into (0, 1) without making two of them equal.

    The tilt can raise a probability above 1: above 1/2, p is replaced by 1 - 1/(4 p). The
    probability of a very long sentence would underflow to 0: its logarithm is compressed.
    """
    compressed = TINY - 100 * (1 - TINY / np.minimum(logs, TINY))
    p = np.exp(np.where(logs < TINY, compressed, np.minimum(logs, 30.0)))
    capped: Array = np.where(p > 0.5, 1 - 0.25 / np.maximum(p, 0.5), p)
    return capped


@compiled
def _update(inverse: Array, point: Array, words: Indices, coefficients: Array, sums: Array) -> None:
    """Recursive least squares for all words at once: 1 if a word occurred, else 0."""
    size = len(point)
    u = np.zeros(size)
    for j in range(size):
        for i in range(size):  # in memory order; the inverse is symmetric
            u[i] += inverse[j, i] * point[j]
    grown = 1.0
    for i in range(size):
        grown += point[i] * u[i]
    occurred = np.zeros(len(sums))
    for w in words:
        occurred[w] = 1.0
    for w in range(len(sums)):
        missed = occurred[w]
        for i in range(size):
            missed -= coefficients[w, i] * point[i]
        step = missed / grown
        for i in range(size):
            coefficients[w, i] += step * u[i]
        if occurred[w] > 0.0:
            for i in range(size):
                sums[w, i] += point[i]


@compiled
def _products(coefficients: Array, points: Array) -> Array:
    """Inner products, bit for bit the same for equal points (a matrix product's may differ)."""
    products = np.zeros((len(coefficients), len(points)))
    for w in range(len(coefficients)):
        for y in range(len(points)):
            for i in range(points.shape[1]):
                products[w, y] += coefficients[w, i] * points[y, i]
    return products


def _root(covariance: Array) -> Array:
    """A square root of a covariance, singular or not."""
    values, vectors = np.linalg.eigh(covariance)
    root: Array = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
