"""A model of sentences that needs few of them: which words go with which features.

What is said of a response is how people put sentences together, whatever these are about,
tilted towards the words that go with its features:

    P(x | y, s) = P(x) * product over the words w of x of (P(w | y, s) / P(w)) ** r(w).

P(x) counts which words follow which (``Trigrams``). P(w | y, s), the probability that w occurs,
is a ridge regression on random Fourier features (``Fourier``), in closed form for all words at
once. r(w), from 0 to 1, is how much of what the features seem to say about w is more than
chance: close to 1 for "red", 0 for "there". Without it, the many words that say nothing drown
the few that do.

A description is learned at once, by one rank-one update; nothing is iterated.
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
from tellback.models.trigrams import Trigrams
from tellback.models.words import END, LONGEST, Vocabulary
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State

FLOOR = 0.02
"""How much rarer than usual a word may at most seem to be: one surprise rules nothing out."""

SMALL = -500.0
"""Logarithms below this are squeezed: the smallest number there is has one of about -745."""

MEASURED_AT = frozenset(2**i for i in range(11))
"""After how many descriptions the features are standardised by all so far, and all is learned
again in the new measure; after the last, mean and spread are known well enough."""


@dataclass(frozen=True)
class Keywords(ModelSpec):
    """A closed-form model, word by word, of sentences about any real features.

    Parameters
    ----------
    waves : int
        How many random Fourier features: more fit finer, and cost their square.
    length : float
        How far a description carries, in spreads of the features.
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
        """A model that has heard nothing."""
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
        self._said = DescriptionLog(dim)
        self._forget()

    def _forget(self) -> None:
        """Have no regression and no phrases; what was said is kept."""
        self._ellipsoid = Ellipsoid(self._fourier.size, self._lam)
        self._phrases = Trigrams()
        self._sums = np.zeros((0, self._fourier.size))
        self._coefficients = np.zeros((0, self._fourier.size))

    @property
    def described(self) -> int:
        """How many descriptions were learned."""
        return len(self._said)

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """P-hat(x | y, s) of the whole sentence for every listed response."""
        rows = self._looked_up(instruction, responses)
        return self._tilted(rows, self._frequencies(rows, responses))

    def draws(
        self, instruction: Instruction, responses: Listed, count: int, rng: np.random.Generator
    ) -> Array:
        """What the estimates might be, a row a draw: every word's frequency drawn for itself.

        Around what the regression says, normal, with covariance P(w) (1 - P(w)) Sigma^-1.
        """
        rows = self._looked_up(instruction, responses)
        frequencies = self._frequencies(rows, responses)
        points = self._fourier(responses.matrix)
        spread = _root(points @ self._ellipsoid.inverse @ points.T)
        usual = self._usual(self._told_of(rows))
        noise = rng.standard_normal((count, len(usual), len(responses))) @ spread.T
        drawn = frequencies + np.sqrt(usual * (1 - usual))[:, None] * noise
        return np.array([self._tilted(rows, one) for one in drawn])

    def learn(self, features: Array, description: Instruction) -> None:
        """Take in the description."""
        row, sentence = self._said.checked(features), checked_sentence(description)
        self._said.add(row, self._vocabulary.learn(sentence))
        if self.described in MEASURED_AT:
            self._start_over()
        else:
            self._take_in(self.described - 1)

    def _start_over(self) -> None:
        """Standardise by all features so far, and learn all again in the new measure."""
        said = self._said
        self._fourier.fit(said.features[said.described])
        self._forget()
        for which in range(len(said)):
            self._take_in(which)

    def _take_in(self, which: int) -> None:
        """Learn one of the descriptions."""
        said = self._said
        entry = int(said.described[which])
        sentence = said.sentence_of(entry)
        self._phrases.add(sentence)
        self._make_room()
        point = self._fourier(said.features[entry : entry + 1])[0]
        words = np.unique(sentence).astype(np.int64)
        _learn(self._ellipsoid.inverse, point, words, self._coefficients, self._sums)
        self._ellipsoid.add(point)

    def _make_room(self) -> None:
        lacking = len(self._vocabulary) - len(self._sums)
        if lacking > 0:
            room = ((0, max(lacking, len(self._sums), 64)), (0, 0))
            self._sums = np.pad(self._sums, room)
            self._coefficients = np.pad(self._coefficients, room)

    def _looked_up(self, instruction: Instruction, responses: Listed) -> list[int]:
        if responses.dim != self._dim:
            raise SettingError(
                f"keywords was made for {self._dim} features; here are {responses.dim}."
            )
        return self._vocabulary.look_up(checked_sentence(instruction))

    def _told_of(self, rows: list[int]) -> Indices:
        """The words among these that were ever said, each once."""
        known = len(self._vocabulary)
        return np.unique([row for row in rows if row < known]).astype(np.int64)

    def _usual(self, words: Indices) -> Array:
        """How often each word occurs, whatever is described."""
        usual: Array = self._sums[words, 0] / (BIAS * max(1, self.described))
        return usual

    def _frequencies(self, rows: list[int], responses: Listed) -> Array:
        """P-hat(w | y, s) by the regression: a row a word that was ever said."""
        coefficients = self._coefficients[self._told_of(rows)]
        return _products(coefficients, self._fourier(responses.matrix))

    def _tilted(self, rows: list[int], frequencies: Array) -> Array:
        """The probability of a sentence from the frequencies of its words."""
        words = self._told_of(rows)
        size = max(rows, default=0) + len(self._vocabulary)
        usual = self._phrases.log_probability(rows, size)
        logs = usual + self._log_lifts(words, frequencies).sum(axis=0)
        return _as_probabilities(logs)

    def _log_lifts(self, words: Indices, frequencies: Array) -> Array:
        """r(w) log(P(w | y, s) / P(w)), a row a word."""
        usual = self._usual(words)[:, None]
        lifts: Array = np.log(np.maximum(frequencies, 0.0) / usual + FLOOR)
        return self.relevance(words)[:, None] * lifts

    def relevance(self, words: Indices) -> Array:
        """r(w): the share of what the features explain of a word that is more than chance.

        With n descriptions and a fit that has p degrees of freedom, features that have nothing
        to do with a word explain p/n of its variance.
        """
        n = max(1, self.described)
        usual = self._usual(words)
        freedom = self._fourier.size - self._lam * float(np.trace(self._ellipsoid.inverse)) - 1
        explained = np.einsum("wi,wi->w", self._sums[words], self._coefficients[words]) / n
        variance = np.maximum(usual * (1 - usual), 1e-12)
        share = np.maximum((explained - usual**2) / variance, 1e-12)
        relevance: Array = np.clip(1 - freedom / n / share, 0.0, 1.0)
        return relevance

    def speak(self, features: Array, rng: np.random.Generator) -> str:
        """Describe a response in the model's own words, drawn one after the other."""
        point = self._fourier(self._said.checked(features)[None, :])
        known = np.arange(len(self._vocabulary))
        tilt = np.zeros(len(known))
        if self.described:
            said = known[self._sums[known, 0] > 0]
            tilt[said] = self._log_lifts(said, self._coefficients[said] @ point.T)[:, 0]
        rows: list[int] = []
        while len(rows) < LONGEST:
            chances = self._phrases.following(rows, len(known)) * np.exp(tilt)
            chances[0] = 0.0  # no sentence has a beginning in its midst
            word = int(rng.choice(len(known), p=chances / chances.sum()))
            if word == END:
                break
            rows.append(word)
        return self._vocabulary.spell(rows)

    def state(self) -> State:
        """The history, the words, the Fourier features and the regression over them."""
        taken = len(self._vocabulary)
        return {
            **self._said.state(),
            **self._fourier.state(),
            **self._ellipsoid.state(),
            "words": self._vocabulary.state(),
            "sums": self._sums[:taken].copy(),
            "coefficients": self._coefficients[:taken].copy(),
        }

    def restore(self, state: State) -> None:
        """Go back to a state that ``state()`` gave."""
        vocabulary = Vocabulary.restored(np.asarray(state["words"]))
        said = DescriptionLog.restored(state, self._dim, len(vocabulary))
        size = self._fourier.size
        sums, coefficients = (_saved(state, name, size) for name in ("sums", "coefficients"))
        taken = len(vocabulary) if len(said) else 0
        if not len(sums) == len(coefficients) == taken or (sums[END + 1 :, 0] <= 0).any():
            raise SettingError(
                f"The saved regression is of {len(sums)} and {len(coefficients)} words, some "
                f"never said perhaps, and must be of {taken} that were."
            )
        ellipsoid = Ellipsoid(size, self._lam)
        ellipsoid.restore(state)
        if ellipsoid.count != len(said):
            raise SettingError(
                f"The saved regression has learned {ellipsoid.count} of {len(said)} descriptions."
            )
        self._fourier.restore(state)
        self._vocabulary, self._said, self._ellipsoid = vocabulary, said, ellipsoid
        self._sums, self._coefficients = sums, coefficients
        self._phrases = Trigrams()
        for entry in said.described.tolist():
            self._phrases.add(said.sentence_of(entry))


def _as_probabilities(logs: Array) -> Array:
    """What has these logarithms, brought between 0 and 1 without making two of them alike.

    The tilt may take a probability beyond 1: above 1/2, p counts for 1 - 1/(4 p). And that of a
    very long sentence would be rounded to 0.
    """
    squeezed = SMALL - 100 * (1 - SMALL / np.minimum(logs, SMALL))
    p = np.exp(np.where(logs < SMALL, squeezed, np.minimum(logs, 30.0)))
    capped: Array = np.where(p > 0.5, 1 - 0.25 / np.maximum(p, 0.5), p)
    return capped


def _saved(state: State, name: str, size: int) -> Array:
    values = np.array(state[name], dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != size or not np.isfinite(values).all():
        raise SettingError(f"The saved {name} must be finite, with {size} columns.")
    return values


@compiled
def _learn(inverse: Array, point: Array, words: Indices, coefficients: Array, sums: Array) -> None:
    """Recursive least squares for all words at once, 1 for those that occurred and else 0."""
    size = len(point)
    u = np.zeros(size)
    for j in range(size):
        for i in range(size):  # along memory: the inverse is symmetric
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
    """Inner products; unlike a matrix product's, to the bit the same for equal points."""
    products = np.zeros((len(coefficients), len(points)))
    for w in range(len(coefficients)):
        for y in range(len(points)):
            for i in range(points.shape[1]):
                products[w, y] += coefficients[w, i] * points[y, i]
    return products


def _root(covariance: Array) -> Array:
    """A square root of a covariance that may have no inverse."""
    values, vectors = np.linalg.eigh(covariance)
    root: Array = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
