"""A model of sentences that learns from few of them: which words go with which features.

A description is a sentence of a language model, tilted towards the words that go with the
features of the response:

    P(x | y, s) = P(x) exp(lift of x by y).

P(x) is a trigram model (``Trigrams``). The lift is proportional to the fit of x to y, by a Bayesian
regression of all words at once (``WordRegression``) on random Fourier features (``Fourier``): the
words of x are compared with those that the features make likely, in the metric of the noise. So
words that go with no features, and words that always go together, count as little as they tell.
To it is added which words tell this response from others (``Contrast``). A word that is a slip of
another is read as the other (``near_words``).

A description is learned by one rank-one update. At powers of two all descriptions are learned again
at once: features are standardised by all so far, columns go to the most frequent words and to words
in places that the features explain (``placed_words``), and each description is weighed by the
probability that it is of its response at all (``doubt``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.arrays import Array
from tellback.errors import SettingError, real, whole
from tellback.models import doubt
from tellback.models.contrast import Contrast
from tellback.models.description_log import DescriptionLog
from tellback.models.ellipsoid import LOWEST_RIDGE
from tellback.models.fourier import Fourier
from tellback.models.model import ModelSpec, checked_sentence, demand_sentences
from tellback.models.states import saved_array
from tellback.models.telling_places import telling
from tellback.models.trigrams import Trigrams
from tellback.models.word_columns import WordColumns
from tellback.models.word_regression import Expected, WordRegression
from tellback.models.words import BEGIN, END, LONGEST, Vocabulary, words
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State

TINY = -500.0
"""Logarithms below this are compressed: exp underflows at about -745."""

SLOPE = 0.7
"""The log-lift of a standard deviation of fit.

In the classroom's demonstration (seeds 1000 to 1007, 100 requests each, 20 descriptions), responses
whose estimate was at least twice that of any other were right in 95% of the cases; with a slope of
1 in 90%, and with 2 in 84%.
"""

UNHEARD = 3.0
"""The fit, in standard deviations, of words never heard to a response never described."""

SPEECH = 2.0
"""The same where the model speaks. With less, it would say too much that is not true."""

REFITTED_AT = tuple(2**i for i in range(13))
"""Numbers of descriptions at which all are learned again. Later, little would change."""

DOUBTED_FROM = 256
"""Below this number of descriptions, too little is known to doubt one."""

OTHERS = 64
"""The number of responses with which the response of a description is compared: the latest."""

MOST_WORDS = 384
"""The number of words in the regression at most, plain and in places."""

MOST_PLACED = 128
"""The number of words in places among them at most."""

MOST_CONTRASTED = 1024
"""The number of words in the contrast at most: a word costs nothing where it is not said."""

MANY_FEATURES = 100
"""From so many on, words are nearly linear in the features, and waves add only noise."""


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
    noise : float
        The least sum of squares of the noise of each word: more makes rare words count less.

    Examples
    --------
    >>> Keywords(waves=100).lam
    0.1
    """

    version: ClassVar[int] = 5

    waves: int = 200
    length: float = 1.0
    lam: float = 0.1
    noise: float = 1.0

    def __post_init__(self) -> None:
        self._set_validated(
            waves=whole("waves", self.waves, at_least=0),
            length=real("length", self.length, above=0),
            lam=real("lam", self.lam, at_least=LOWEST_RIDGE),
            noise=real("noise", self.noise, above=0),
        )

    @classmethod
    def for_features(cls, dim: int) -> Keywords:
        """The settings for so many features, chosen on pictures and on people's recordings."""
        if dim < MANY_FEATURES:
            return cls()
        return cls(waves=0, lam=3.0, noise=6.0)

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

    Attributes
    ----------
    wrong : float
        The estimated share of wrong descriptions.
    """

    inexact: ClassVar[str] = "its model is not linear in the features"

    def __init__(self, spec: Keywords, dim: int, rng: np.random.Generator) -> None:
        self._dim, self._spec = dim, spec
        self._fourier = Fourier(dim, spec.waves, spec.length, rng)
        self._vocabulary = Vocabulary()
        self._log = DescriptionLog(dim)
        self._trigrams = Trigrams()
        self._columns = WordColumns(MOST_WORDS, slips=True)
        self._contrasted = WordColumns(MOST_CONTRASTED)
        self._regression = self._empty_regression()
        self._weights: list[float] = []
        self._contrast = Contrast(self._fourier.size, 0)
        self._others: Expected | None = None
        self._latest_points: Array = np.zeros((0, self._fourier.size))
        self.wrong = doubt.LEAST_WRONG

    def _empty_regression(self) -> WordRegression:
        return WordRegression(self._fourier.size, self._spec.lam, self._spec.noise)

    @property
    def described(self) -> int:
        """The number of descriptions learned."""
        return len(self._log)

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """P-hat(x | y, s) of the whole sentence for every listed response."""
        sentence = self._checked(instruction, responses)
        told, known = self._told(sentence)
        points = self._fourier(responses.matrix)
        expected = self._regression.expected(points)
        fits = self._regression.fits(told, expected, known)
        return self._tilted(
            sentence, SLOPE * fits + self._beside(sentence, known, points, expected)
        )

    def draws(
        self, instruction: Instruction, responses: Listed, count: int, rng: np.random.Generator
    ) -> Array:
        """Samples of the estimates, a row a sample: the regression is drawn from its posterior."""
        sentence = self._checked(instruction, responses)
        told, known = self._told(sentence)
        points = self._fourier(responses.matrix)
        expected = self._regression.expected(points)
        fits = self._regression.draws(told, points, count, rng, known)
        return self._tilted(
            sentence, SLOPE * fits + self._beside(sentence, known, points, expected)
        )

    def learn(self, features: Array, description: Instruction) -> None:
        """Add the description to the log, the trigrams and the regression."""
        row, sentence = self._log.checked(features), checked_sentence(description)
        rows = self._vocabulary.learn(sentence)
        self._log.add(row, rows)
        self._trigrams.add(rows)
        said = words(sentence)
        self._columns.add(said)
        self._contrasted.add(said)
        self._weights.append(1.0)
        self._regression.widen(len(self._columns))
        if self.described in REFITTED_AT:
            self._refit()
        else:
            point = self._fourier(row[None, :])
            self._learn(point, self._columns.told(said), self._contrasted.told(said))

    def learn_silence(self, features: Array) -> None:
        """Learn that nobody had a word for a response: an empty sentence.

        Without this, a response that is wrongly estimated to be the best and that nobody
        describes would be chosen for ever, as nothing is learned from it.
        """
        self.learn(features, "")

    def _learn(self, point: Array, told: Array, contrasted: Array) -> None:
        """Learn the latest description, as far as it is believed."""
        regression = self._regression
        if self._others is not None:
            self._others = self._others.with_latest(regression.expected(point))
            fits = regression.fits(told, self._others)[None, :]
            fits = np.hstack([fits[:, -1:], fits])
            weights = doubt.believed(doubt.lifts(fits), self.wrong)
            self._latest_points = np.vstack([self._latest_points[1:], point])
            self._contrast.widen(len(contrasted))
            self._contrast.learn(
                point, contrasted[None, :], SLOPE * fits, weights, self._latest_points
            )
            self._weights[-1] = float(weights[0])
        regression.learn(point[0], told, self._weights[-1])

    def _refit(self) -> None:
        """Learn all descriptions again, each as far as it is believed by what the others say."""
        log, n = self._log, self.described
        features = log.features[log.described]
        sentences = [self._vocabulary.words_of(log.sentence_of(entry)) for entry in log.described]
        weights = np.array(self._weights)
        self._fourier.fit(features)
        points = self._fourier(features)
        self._columns.choose(sentences)
        told = np.array([self._columns.told(sentence) for sentence in sentences])
        if placed := telling(sentences, told, points, weights, MOST_PLACED):
            self._columns.choose(sentences, placed)
            told = np.array([self._columns.told(sentence) for sentence in sentences])
        self._regression.fit(points, told, weights)
        if n >= DOUBTED_FROM:
            fits = self._regression.left_out(points, told, weights, OTHERS)
            lift = doubt.lifts(fits)
            self.wrong = doubt.share_wrong(lift, self.wrong)
            weights = doubt.believed(lift, self.wrong)
            self._regression.fit(points, told, weights)
            self._others = self._regression.expected(points[-OTHERS:])
            self._latest_points = points[-OTHERS:]
            contrasted = np.array([self._contrasted.told(sentence) for sentence in sentences])
            self._contrast = Contrast(points.shape[1], len(self._contrasted))
            for i in range(0, n, OTHERS):
                few = slice(i, i + OTHERS)
                self._contrast.learn(
                    points[few], contrasted[few], SLOPE * fits[few], weights[few], points[few]
                )
        self._weights = weights.tolist()

    def _checked(self, instruction: Instruction, responses: Listed) -> str:
        if responses.dim != self._dim:
            raise SettingError(
                f"keywords was built for {self._dim} features; here are {responses.dim}."
            )
        return checked_sentence(instruction)

    def _told(self, sentence: str) -> tuple[Array, float]:
        """Which columns have a word in a sentence, and the share of its words that are known."""
        said = words(sentence)
        return self._columns.told(said), self._columns.known(said)

    def _beside(self, sentence: str, known: float, points: Array, expected: Expected) -> Array:
        """What is added to the log-lift: the contrast with others, and words never heard.

        The latter rather belong to a response of which little is known. Without this, an agent
        would choose again what it was told about, and never hear the others' words.
        """
        added = self._contrast.lifts(self._contrasted.told(words(sentence)), points)
        if self.described and known < 1.0:
            unknown = self._regression.unknown(points, expected)
            added += SLOPE * UNHEARD * (1 - known) * unknown
        return added

    def _tilted(self, sentence: str, lifts: Array) -> Array:
        """The probability of a sentence from its log-lifts."""
        rows = self._vocabulary.look_up(sentence)
        size = max(rows, default=0) + len(self._vocabulary)
        return _as_probabilities(self._trigrams.log_probability(rows, size) + lifts)

    def speak(self, features: Array, rng: np.random.Generator) -> str:
        """A description of a response, drawn word by word."""
        point = self._fourier(self._log.checked(features)[None, :])
        fits = self._regression.word_fits(self._regression.expected(point))[0]
        size = len(self._vocabulary)
        tilt = np.zeros(size)
        for row, word in enumerate(self._vocabulary.words_of(range(END + 1, size)), END + 1):
            column = self._columns.of(word)
            tilt[row] = 0.0 if column is None else SPEECH * fits[column]
        rows: list[int] = []
        while len(rows) < LONGEST:
            weights = self._trigrams.following(rows, size) * np.exp(tilt)
            weights[BEGIN] = 0.0  # the mark of a beginning is no word
            drawn = int(rng.choice(size, p=weights / weights.sum()))
            if drawn == END:
                break
            rows.append(drawn)
        return self._vocabulary.spell(rows)

    def state(self) -> State:
        """The log, the vocabulary, the Fourier features and the regression."""
        others = self._others or Expected(np.zeros((0, 0)), np.zeros(0))
        return {
            **self._log.state(),
            **self._fourier.state(),
            **self._regression.state(),
            **self._contrast.state(),
            "words": self._vocabulary.state(),
            "columns": self._columns.state(),
            "weights": np.array(self._weights),
            "wrong": self.wrong,
            "others": others.words.copy(),
            "others_squares": others.squares.copy(),
        }

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        vocabulary = Vocabulary.restored(np.asarray(state["words"]))
        log = DescriptionLog.restored(state, self._dim, len(vocabulary))
        weights = saved_array(state, "weights", (len(log),), least=0)
        wrong = real("The saved share of wrong descriptions", state["wrong"], above=0, at_most=1)
        trigrams = Trigrams()
        for entry in log.described.tolist():
            trigrams.add(log.sentence_of(entry))
        columns = WordColumns.restored(np.asarray(state["columns"]), MOST_WORDS, slips=True)
        contrasted = WordColumns(MOST_CONTRASTED)
        contrasted.add(vocabulary.words_of(range(END + 1, len(vocabulary))))
        doubted = len(log) >= DOUBTED_FROM
        at_fit = np.shape(state["others"])[-1]
        if at_fit > len(columns):
            raise SettingError(f"The saved others cannot have {at_fit} words.")
        count = OTHERS if doubted else 0
        others = Expected(
            saved_array(state, "others", (count, at_fit if count else 0)),
            saved_array(state, "others_squares", (count,), least=0),
        )
        regression = self._empty_regression()
        regression.restore(state, len(columns))
        size = self._fourier.size
        contrast = Contrast.restored(state, size, len(contrasted) if doubted else 0)
        self._fourier.restore(state)
        self._vocabulary, self._log, self._trigrams = vocabulary, log, trigrams
        self._columns, self._regression = columns, regression
        self._contrasted, self._contrast = contrasted, contrast
        self._weights, self.wrong = weights.tolist(), wrong
        self._others = others if doubted else None
        self._latest_points = self._fourier(log.features[log.described[-count:]][:count])


def _as_probabilities(logs: Array) -> Array:
    """Exponentials of the logarithms, mapped into (0, 1) without making two of them equal.

    The tilt can raise a probability above 1: above 1/2, p is replaced by 1 - 1/(4 p). The
    probability of a very long sentence would underflow to 0: its logarithm is compressed.
    """
    compressed = TINY - 100 * (1 - TINY / np.minimum(logs, TINY))
    p = np.exp(np.where(logs < TINY, compressed, np.minimum(logs, 30.0)))
    capped: Array = np.where(p > 0.5, 1 - 0.25 / np.maximum(p, 0.5), p)
    return capped
