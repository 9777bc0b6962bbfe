"""What a practitioner would do instead: models fitted in batch on the same descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tellback.arrays import Array, Indices
from tellback.encoders.text import TextEncoderSpec
from tellback.encoders.word_vectors import WordVectors
from tellback.extras import from_extra
from tellback.people.exam import Scorer
from tellback.roles import Task
from tellback.specs import Spec

EXTRA = "people"

AT_ONCE = 64
"""Tasks scored together, to bound memory."""


class Described(NamedTuple):
    """A description, and the responses among which the described one was shown."""

    shown: tuple[int, ...]  # their rows in the matrix of all features
    response: int
    description: str

    @property
    def row(self) -> int:
        """The row of the described response."""
        return self.shown[self.response]


@dataclass(frozen=True)
class BatchSpec(Spec):
    """The settings of a model that is fitted to all descriptions at once."""

    role: ClassVar[str] = "batch"

    def fit(self, told: Sequence[Described], matrix: Array) -> Scorer:
        """The model of these descriptions, given the features of all responses."""
        raise NotImplementedError


@dataclass(frozen=True)
class TfidfLogistic(BatchSpec):
    """TF-IDF with logistic regression: which of two responses is a sentence about.

    Each description makes pairs of the described response and another one: first those shown
    beside it, then described ones drawn at random. A pair is the outer product of the TF-IDF
    vector of the sentence with the difference of the two responses' features; logistic regression
    without intercept tells which of the two is described. So a response is scored by
    tfidf(x) W g(y).

    Parameters
    ----------
    C : float
        scikit-learn's: the inverse of the ridge.
    others : int
        Pairs of a description, at most.
    pairs : int
        Pairs in all, at most.
    """

    C: float = 1.0
    others: int = 16
    pairs: int = 64_000

    def fit(self, told: Sequence[Described], matrix: Array) -> Scorer:
        """Fit by liblinear's dual method."""
        from scipy.sparse import csr_array

        text = from_extra(EXTRA, "sklearn.feature_extraction.text", "TF-IDF")
        linear = from_extra(EXTRA, "sklearn.linear_model", "Logistic regression")
        tfidf: Any = text.TfidfVectorizer(sublinear_tf=True)
        which, own, other = self._pairs(told)
        try:
            sentences = tfidf.fit_transform([one.description for one in told])
        except ValueError:  # no sentence has a word
            return no_idea
        if not len(which):
            return no_idea
        features = csr_array(matrix)
        # Half of the pairs are turned round: logistic regression needs both classes.
        signs = np.where(np.arange(len(which)) % 2, -1.0, 1.0)
        differences = (features[own] - features[other]).multiply(signs[:, None])
        products, columns = outer_products(sentences[which], differences)
        fitted = linear.LogisticRegression(
            C=self.C, fit_intercept=False, solver="liblinear", dual=True, tol=0.1, random_state=0
        ).fit(products, signs)
        table = np.zeros((sentences.shape[1], matrix.shape[1]))
        table.ravel()[columns] = fitted.coef_[0]

        def score(tasks: Sequence[Task]) -> Iterator[Array]:
            if tasks:
                wanted = tfidf.transform([str(task.instruction) for task in tasks]) @ table
                for task, f in zip(tasks, wanted, strict=True):
                    yield task.responses.matrix @ f

        return score

    def _pairs(self, told: Sequence[Described]) -> tuple[Indices, Indices, Indices]:
        """For each pair, the number of its description, and the rows of its two responses."""
        rng = np.random.default_rng(0)
        rows = [one.row for one in told]
        count = max(1, min(self.others, self.pairs // len(told)))
        pairs = []
        for i, one in enumerate(told):
            beside = [row for row in one.shown if row != one.row][: (count + 1) // 2]
            drawn = rng.integers(len(told), size=count - len(beside)).tolist()
            others = [*beside, *(rows[j] for j in drawn)]
            pairs += [(i, one.row, other) for other in others if other != one.row]
        which, own, other = np.array(pairs, dtype=np.int64).reshape(-1, 3).T
        return which, own, other


def outer_products(left: Any, right: Any) -> tuple[Any, Indices]:
    """The outer product of each row of a sparse matrix with that of another, as a sparse row.

    Returns the products in the columns that occur, and which these are.
    """
    from scipy.sparse import csr_array

    a, b = csr_array(left), csr_array(right)
    in_a, in_b = np.diff(a.indptr), np.diff(b.indptr)
    sizes = in_a * in_b
    row = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    at_a, at_b = a.indptr[row] + within // in_b[row], b.indptr[row] + within % in_b[row]
    column = a.indices[at_a].astype(np.int64) * b.shape[1] + b.indices[at_b]
    columns, place = np.unique(column, return_inverse=True)
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)  # liblinear has no longer ones
    products = csr_array(
        (a.data[at_a] * b.data[at_b], place.astype(np.int32), ends),
        shape=(len(sizes), len(columns)),
    )
    return products, columns


@dataclass(frozen=True)
class SentenceCosine(BatchSpec):
    """Cosine of sentence vectors: the features that similar sentences were said of.

    The described responses are averaged, each weighted by exp(sharpness * cosine of its sentence
    with the instruction). A response is scored by the cosine of its features with that average.
    Sentence vectors and features have their means taken away first.

    Parameters
    ----------
    encoder : TextEncoderSpec
        Gives the sentence vectors.
    sharpness : float
        How much more the most similar sentences count.
    """

    encoder: TextEncoderSpec = field(default_factory=WordVectors)
    sharpness: float = 10.0

    def fit(self, told: Sequence[Described], matrix: Array) -> Scorer:
        """Nothing is fitted but the means."""
        encode = self.encoder.build()
        vectors = np.array([encode(one.description) for one in told])
        features = matrix[[one.row for one in told]]
        centre, middle = vectors.mean(axis=0), features.mean(axis=0)
        vectors, features = _units(vectors - centre), _units(features - middle)

        def averages(tasks: Sequence[Task]) -> Array:
            asked = np.array([encode(str(task.instruction)) for task in tasks])
            cosines = _units(asked - centre) @ vectors.T
            weights = np.exp(self.sharpness * (cosines - cosines.max(axis=1, keepdims=True)))
            average: Array = weights @ features
            return average

        def score(tasks: Sequence[Task]) -> Iterator[Array]:
            for some in (tasks[i : i + AT_ONCE] for i in range(0, len(tasks), AT_ONCE)):
                for task, average in zip(some, averages(some), strict=True):
                    yield _units(task.responses.matrix - middle) @ average

        return score


def _units(rows: Array) -> Array:
    """Rows at length 1; zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Array = rows / np.where(lengths > 0, lengths, 1.0)
    return unit


def no_idea(tasks: Sequence[Task]) -> Iterator[Array]:
    """Scores that are all equal, as before the first description."""
    for task in tasks:
        yield np.zeros(len(task.responses))
