"""How well each description fits each response of its group, by models that did not hear it.

The words of a description are regressed on the features of its response (a ridge for all words at
once). The responses are dealt into folds, and a description is judged by the regression of the
other folds. Two scores compare the words said with those expected of a response:

- the cosine in the metric of the noise: words that go with no features, and words that always go
  together, count as little as they tell;
- the log-likelihood of independent words: a word that is hardly ever said of such a response
  counts much.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.arrays import Array, Indices
from tellback.audit.sentences import Floats, Sentences

FOLDS = 5

RIDGE = 4.0
"""Of features with a total variance of 1."""

NOISE, FEW_NOISE = 0.01, 30.0
"""The least variance of a word; and the same times the number of descriptions, if they are few."""

LEAST = 0.2
"""An expected word counts as no rarer than this share of its usual frequency."""

RAREST, SUREST = 5e-4, 0.97
"""Limits of the probability of a word."""


class Fits(NamedTuple):
    """Two scores of pairs of a description and a response: the last axis.

    Attributes
    ----------
    own : Floats
        Of each description and its own response.
    twins : Floats
        Of each pair of ``Sentences.twins``.
    others : list of Floats
        For each group: a row a description, a column a response compared.
    expected : Floats
        How likely each word is for each response, by the regression of other responses.
    usual : Floats
        The share of descriptions with each word.
    """

    own: Floats
    twins: Floats
    others: list[Floats]
    expected: Floats
    usual: Floats


def folds_of(responses: int) -> Indices:
    """The fold of each response, the same every time."""
    dealt: Indices = np.random.default_rng(0).permutation(responses) % FOLDS
    return dealt


def fits(sentences: Sentences, weights: Array) -> Fits:
    """The scores, with each description counted by its weight in the regressions."""
    fold = folds_of(len(sentences.row_of))
    usual = (weights @ sentences.told / max(weights.sum(), 1e-9)).astype(np.float32)
    models = _regressions(sentences, weights, fold)
    expected = np.empty((len(fold), len(usual)), dtype=np.float32)
    for f, coefficients in enumerate(models):
        mine = fold == f
        expected[mine] = _with_one(sentences.features[sentences.row_of[mine]]) @ coefficients
    metrics = _metrics(sentences, weights, expected, fold)
    found = Fits(
        own=np.empty((len(sentences), 2), dtype=np.float32),
        twins=np.empty((len(sentences.twins), 2), dtype=np.float32),
        others=[
            np.empty((len(group.sentences), len(group.compared), 2), dtype=np.float32)
            for group in sentences.groups
        ],
        expected=expected,
        usual=usual,
    )
    for f, (coefficients, metric) in enumerate(zip(models, metrics, strict=True)):
        words = _Words(_with_one(sentences.features) @ coefficients, usual, metric)
        _score_fold(sentences, fold[sentences.response] == f, words, found)
    return found


class _Words:
    """The words expected of each row of features, ready to be compared with words said."""

    def __init__(self, expected: Floats, usual: Floats, metric: Floats) -> None:
        beyond = expected - usual
        by = beyond @ metric
        self._by = by / np.sqrt(np.einsum("ij,ij->i", by, beyond) + 1e-6)[:, None]
        self._base = self._by @ usual
        probability = np.clip(expected, np.maximum(LEAST * usual, RAREST), SUREST)
        absent = np.log1p(-probability)
        self._odds = np.log(probability) - absent
        self._silent = absent.sum(axis=1)

    def all(self, told: Floats, rows: Indices) -> Floats:
        """Every description with every row."""
        cosine = told @ self._by[rows].T - self._base[rows]
        independent = told @ self._odds[rows].T + self._silent[rows]
        both: Floats = np.stack([cosine, independent], axis=-1)
        return both

    def pairs(self, told: Floats, rows: Indices) -> Floats:
        """Each description with one row."""
        cosine = np.einsum("ij,ij->i", told, self._by[rows]) - self._base[rows]
        independent = np.einsum("ij,ij->i", told, self._odds[rows]) + self._silent[rows]
        both: Floats = np.stack([cosine, independent], axis=-1)
        return both


def _score_fold(
    sentences: Sentences, mine: np.ndarray[tuple[int], np.dtype[np.bool_]], words: _Words, to: Fits
) -> None:
    row_of, told = sentences.row_of, sentences.told
    to.own[mine] = words.pairs(told[mine], row_of[sentences.response[mine]])
    said, at = sentences.twins.T
    to.twins[mine[said]] = words.pairs(told[said[mine[said]]], row_of[at[mine[said]]])
    for group, others in zip(sentences.groups, to.others, strict=True):
        few = mine[group.sentences]
        others[few] = words.all(told[group.sentences[few]], row_of[group.compared])


def _regressions(sentences: Sentences, weights: Array, fold: Indices) -> list[Floats]:
    """For each fold, the coefficients by all other folds."""
    from scipy.linalg import solve

    row = sentences.row_of[sentences.response]
    grams, products = [], []
    for f in range(FOLDS):
        weight = np.where(fold[sentences.response] == f, weights, 0.0)
        total = np.bincount(row, weight, len(sentences.features))
        sums = np.zeros((len(total), sentences.told.shape[1]))
        here = np.flatnonzero(weight)
        np.add.at(sums, row[here], sentences.told[here] * weight[here, None])
        points = _with_one(sentences.features[total > 0]).astype(np.float64)
        grams.append((points * total[total > 0, None]).T @ points)
        products.append(points.T @ sums[total > 0])
    ridge = np.full(len(grams[0]), RIDGE)
    ridge[0] = 1e-3  # how usual a word is must not be held back
    everything, every_product = sum(grams), sum(products)
    return [
        solve(
            everything - grams[f] + np.diag(ridge), every_product - products[f], assume_a="pos"
        ).astype(np.float32)
        for f in range(FOLDS)
    ]


def _metrics(sentences: Sentences, weights: Array, expected: Floats, fold: Indices) -> list[Floats]:
    """For each fold, the inverse covariance of what the regressions leave over in all others."""
    missed = sentences.told - expected[sentences.response]
    weighted = missed * weights[:, None].astype(np.float32)
    mine = [fold[sentences.response] == f for f in range(FOLDS)]
    products = [(weighted[here].T @ missed[here]).astype(np.float64) for here in mine]
    everything = sum(products)
    found = []
    for here, product in zip(mine, products, strict=True):
        left = max(float(weights[~here].sum()), 1e-9)
        covariance = (everything - product) / left
        covariance[np.diag_indices(len(covariance))] += max(NOISE, FEW_NOISE / left)
        found.append(np.linalg.inv(covariance).astype(np.float32))
    return found


def _with_one(features: Floats) -> Floats:
    return np.concatenate([np.ones((len(features), 1), dtype=np.float32), features], axis=1)
