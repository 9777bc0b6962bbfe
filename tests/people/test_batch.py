"""Models in batch, against plain loops and dense matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from tellback import Listed, Task
from tellback.arrays import Array
from tellback.encoders import NGrams
from tellback.people.batch import (
    BatchSpec,
    Described,
    SentenceCosine,
    TfidfLogistic,
    no_idea,
    outer_products,
)

THINGS = ("mug", "plate", "book", "lamp")
PLACES = ("shelf", "sink", "desk")
MATRIX = np.array(
    [[float(t == i) for i in range(4)] + [float(p == j) for j in range(3)]
     for t in range(4) for p in range(3)]
)  # fmt: skip
"""A row for each thing at each place."""


def told(count: int, seed: int = 0) -> list[Described]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        shown = tuple(rng.choice(12, 4, replace=False).tolist())
        y = int(rng.integers(4))
        thing, place = divmod(shown[y], 3)
        found.append(Described(shown, y, f"the {THINGS[thing]} is now by the {PLACES[place]}"))
    return found


def task(sentence: str, rows: Sequence[int] = range(12)) -> Task:
    return Task(None, sentence, Listed(MATRIX[list(rows)]))


@given(rows=st.integers(1, 5), left=st.integers(1, 4), right=st.integers(1, 4), seed=st.integers())
@settings(max_examples=30)
def test_products_are_those_of_dense_rows(rows: int, left: int, right: int, seed: int) -> None:
    rng = np.random.default_rng(abs(seed))
    a, b = (rng.integers(-1, 2, (rows, n)).astype(float) for n in (left, right))
    products, columns = outer_products(a, b)
    dense = np.zeros((rows, left * right))
    dense[:, columns] = products.toarray()
    np.testing.assert_array_equal(dense, np.einsum("ni,nj->nij", a, b).reshape(rows, -1))


def test_logistic_regression_is_that_of_the_dense_pairs() -> None:
    some, spec = told(40), TfidfLogistic(others=3)
    tfidf = TfidfVectorizer(sublinear_tf=True)
    sentences = tfidf.fit_transform([one.description for one in some]).toarray()
    which, own, other = spec._pairs(some)
    signs = np.where(np.arange(len(which)) % 2, -1.0, 1.0)
    pairs = [
        sign * np.outer(sentences[i], MATRIX[a] - MATRIX[b]).ravel()
        for sign, i, a, b in zip(signs, which, own, other, strict=True)
    ]
    settings = {"fit_intercept": False, "solver": "liblinear", "dual": True, "random_state": 0}
    fitted = LogisticRegression(C=1.0, tol=0.1, **settings).fit(np.array(pairs), signs)
    wanted = task("is the lamp by the sink")
    f = tfidf.transform([wanted.instruction]).toarray()[0] @ fitted.coef_.reshape(-1, 7)
    [scores] = spec.fit(some, MATRIX)([wanted])
    np.testing.assert_allclose(scores, MATRIX @ f, rtol=1e-6)


def test_pairs_are_with_those_shown_and_then_with_others() -> None:
    some = told(10)
    which, own, other = TfidfLogistic(others=4)._pairs(some)
    for i, one in enumerate(some):
        others = other[which == i].tolist()
        assert set(own[which == i]) == {one.row}
        assert others[:2] == [row for row in one.shown if row != one.row][:2]
        assert one.row not in others
        assert len(others) <= 4
    assert len(TfidfLogistic(pairs=20)._pairs(some)[0]) <= 20


def test_cosine_is_the_average_of_what_similar_sentences_were_said_of() -> None:
    some, encode = told(15), NGrams().build()
    vectors = [encode(one.description) for one in some]
    centre, middle = np.mean(vectors, axis=0), np.mean([MATRIX[one.row] for one in some], axis=0)

    def unit(vector: Array) -> Array:
        found: Array = vector / np.linalg.norm(vector)
        return found

    asked = unit(encode("the book is by the desk") - centre)
    average = sum(
        np.exp(10 * asked @ unit(vector - centre)) * unit(MATRIX[one.row] - middle)
        for one, vector in zip(some, vectors, strict=True)
    )
    wanted = np.array([unit(row - middle) @ average for row in MATRIX])
    fitted = SentenceCosine(NGrams()).fit(some, MATRIX)
    [scores] = fitted([task("the book is by the desk")])
    np.testing.assert_allclose(scores / scores.max(), wanted / wanted.max(), rtol=1e-9)


@pytest.mark.parametrize("spec", [TfidfLogistic(), SentenceCosine(NGrams())])
def test_it_learns_what_words_mean(spec: BatchSpec) -> None:
    score = spec.fit(told(200), MATRIX)
    tasks = [task(f"by the {p}: a {t}") for t in THINGS for p in PLACES]
    right = [int(np.argmax(found)) == i for i, found in enumerate(score(tasks))]
    assert np.mean(right) > 0.8
    assert list(score([])) == []


@pytest.mark.parametrize("spec", [TfidfLogistic(), SentenceCosine(NGrams())])
def test_one_description_and_sentences_without_words_are_no_error(spec: BatchSpec) -> None:
    for some in (told(1), [Described((0, 0), 0, "mug")], [Described((0, 1), 1, "!")] * 3):
        [scores] = spec.fit(some, MATRIX)([task("?")])
        assert np.isfinite(scores).all()


def test_before_the_first_description_all_are_equal() -> None:
    [scores] = no_idea([task("a mug")])
    assert scores.tolist() == [0.0] * 12
