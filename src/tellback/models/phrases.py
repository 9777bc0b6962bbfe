"""A model that reads a sentence phrase by phrase.

"walk past the lamp to the red chair" has a phrase that begins with "past" and one that begins with
"to" (``placed_words``). A sentence is taken for a draw of phrases, and of words in each of them:

    P(x | y, s) = product of P(phrase), over the phrases of x,
                  of 1 - P(phrase), over the phrases that x does not have,
                  of P(word | phrase), over the words of x,
                  of 1 - P(word | phrase), over the other words heard in the phrases of x.

Each probability is a ridge estimate, linear in the features: f . g(y, s) with f = Sigma^-1 times
the sum of g over the descriptions that have the word in that phrase (Sigma: Algorithm 1, line 4).
This is the right form if a teacher names one of several things at random and the features are
their shares.

The estimate of a word is shrunk to its mean as far as the features do not explain the word (James
and Stein 1961). Otherwise the noise of the many words that tell nothing would decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellback.arrays import AnyArray, Array, Indices
from tellback.compiled import compiled_freely
from tellback.errors import SettingError
from tellback.models.ellipsoid import Ellipsoid, Lambda
from tellback.models.model import ModelSpec, checked_sentence, demand_sentences
from tellback.models.placed_words import JOINING, LINKING, placed
from tellback.models.states import demand_size, saved_array
from tellback.models.words import Vocabulary, words
from tellback.responses import Listed
from tellback.roles import Facts, Instruction, State

FLOOR = 0.05
"""The least estimate of a word, as a share of its mean: none is impossible.

In the house (seeds 1000 and 1001), 0.02, 0.05 and 0.2 were equally good.
"""

SURE = 0.99
"""The highest estimate of a phrase or word that a sentence does not have."""

LEAST = 1e-4
"""The least estimate of a word given its phrase."""


@dataclass(frozen=True)
class Phrases(ModelSpec):
    """A closed-form model of sentences, phrase by phrase.

    Parameters
    ----------
    lam : float
        The ridge.

    Examples
    --------
    >>> Phrases().lam
    1.0
    """

    lam: Lambda = 1.0

    def build(self, facts: Facts, rng: np.random.Generator) -> PhrasesModel:
        """A model without data."""
        demand_sentences(self.kind, facts)
        return PhrasesModel(self, facts.dim)


class PhrasesModel:
    """A live model of phrases.

    A row of ``_sums`` belongs to a phrase or to a word in a phrase: the sum of the features of the
    descriptions that have it, and their number.
    """

    inexact: ClassVar[str] = "its fit is least squares and not maximum likelihood"

    def __init__(self, spec: Phrases, dim: int) -> None:
        self._dim = dim
        self._sigma = Ellipsoid(dim + 1, spec.lam)  # of the features and a constant
        self._vocabulary = Vocabulary()
        self._sums = np.zeros((0, dim + 1))
        self._of: dict[str, list[int]] = {}  # the rows of a phrase: its own, then its words'

    @property
    def described(self) -> int:
        """The number of descriptions learned."""
        return self._sigma.count

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """P-hat(x | y, s) of the phrases and words of a sentence, for every listed response."""
        if responses.dim != self._dim:
            raise SettingError(
                f"phrases was built for {self._dim} features; here are {responses.dim}."
            )
        told = set(self._vocabulary.look_up(_names(checked_sentence(instruction))))
        rows: list[int] = []
        phrase: list[int] = []  # the place of a word's phrase in the list of rows; a phrase has -1
        for own, *its_words in self._of.values():
            if own in told:
                phrase += [-1, *[len(rows)] * len(its_words)]
                rows += [own, *its_words]
            else:
                phrase.append(-1)
                rows.append(own)
        said = np.array([row in told for row in rows], dtype=np.bool_)
        sums = self._sums[rows].reshape(-1, self._dim + 1)
        logs = _log_likelihood(
            np.hstack([responses.matrix, np.ones((len(responses), 1))]),
            sums,
            sums @ self._sigma.inverse,
            np.array(phrase, dtype=np.int64),
            said,
            max(self.described, 1),
        )
        likely: Array = np.exp(logs)
        return likely

    def learn(self, features: Array, description: Instruction) -> None:
        """Add the features to Sigma, and to the sums of the phrases and words."""
        sentence = checked_sentence(description)
        demand_size(features, self._dim)
        point = np.append(features, 1.0)
        self._sigma.add(point)
        rows = self._vocabulary.learn(_names(sentence))
        self._index(rows)
        lacking = len(self._vocabulary) - len(self._sums)
        if lacking > 0:
            self._sums = np.pad(self._sums, ((0, max(64, lacking, len(self._sums))), (0, 0)))
        self._sums[sorted(set(rows))] += point

    def learn_silence(self, features: Array) -> None:
        """Learn that nobody had a word for a response: an empty sentence."""
        self.learn(features, "")

    def _index(self, rows: list[int]) -> None:
        """Find the phrase of new rows. A phrase comes before its words."""
        for row, name in zip(rows, self._vocabulary.words_of(rows), strict=True):
            word, _, place = name.rpartition("_")
            known = self._of.setdefault(place, [row])
            if word and row not in known:
                known.append(row)

    def state(self) -> State:
        """Sigma, the names of the rows, and the sums."""
        return {
            **self._sigma.state(),
            "phrases": self._vocabulary.state(),
            "sums": self._sums[: len(self._vocabulary)].copy(),
        }

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        vocabulary = Vocabulary.restored(np.asarray(state["phrases"]))
        taken = len(vocabulary) if np.size(state["sums"]) else 0
        sums = saved_array(state, "sums", (taken, self._dim + 1))
        self._sigma.restore(state)
        self._vocabulary, self._sums, self._of = vocabulary, sums, {}
        self._index(list(range(len(Vocabulary()), len(vocabulary))))


def _names(sentence: str) -> str:
    """The phrases of a sentence, each before its words in it; joined by spaces.

    Linking and joining words make phrases, and are not counted again as words.

    Examples
    --------
    >>> _names("go past the bed")
    '_0 go_0 _0past the_0past bed_0past'
    """
    said = words(sentence)
    names: dict[str, None] = {}
    for word, name in zip(said, placed(said), strict=True):
        if word not in LINKING and word not in JOINING and word.isalnum():
            names["_" + name.rpartition("_")[2]] = None
            names[name] = None
    return " ".join(names)


@compiled_freely
def _log_likelihood(
    points: Array, sums: Array, f: Array, phrase: Indices, said: AnyArray, count: float
) -> Array:
    """The logarithms of the probabilities, bit for bit the same for equal points."""
    rows, dim = sums.shape
    logs = np.zeros(len(points))
    chances = np.empty((rows, len(points)))
    for i in range(rows):
        if phrase[i] >= 0 and _same(sums, phrase[i] + 1, i, said):
            continue
        usual = sums[i, dim - 1] / count
        explained = -count * usual**2
        for j in range(dim):
            explained += f[i, j] * sums[i, j]
        by_chance = (dim - 1) * usual * (1 - usual)
        share = 1 - by_chance / explained if explained > by_chance else 0.0
        for y in range(len(points)):
            estimate = 0.0
            for j in range(dim):
                estimate += f[i, j] * points[y, j]
            chance = usual + share * (estimate - usual)
            chances[i, y] = min(max(chance, FLOOR * usual), 1.0)
            if phrase[i] >= 0:
                given = min(chances[i, y] / chances[phrase[i], y], SURE)
                logs[y] += np.log(max(given, LEAST)) if said[i] else np.log1p(-given)
            elif said[i]:
                logs[y] += np.log(chances[i, y])
            else:
                logs[y] += np.log1p(-min(chances[i, y], SURE))
    return logs


@compiled_freely
def _same(sums: Array, first: int, i: int, said: AnyArray) -> bool:
    """Whether a word before this one, in the same phrase, has always occurred with it.

    Such words count once: "living" and "room" say one thing.
    """
    for k in range(first, i):  # noqa: SIM110 (numba compiles no generators here)
        if said[k] == said[i] and (sums[k] == sums[i]).all():
            return True
    return False
