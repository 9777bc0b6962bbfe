"""Which words in which places deserve a column: those whose place the features explain.

"red" in the second clause is a candidate if "red" occurs there and elsewhere. What the plain words
of the sentence tell about it is taken away. If the features explain some of the rest, measured on
descriptions that were left out, its place tells something about the response.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tellback.arrays import Array
from tellback.models.word_columns import plain_and_placed

SELDOM, RARE = 3, 1 / 256
"""A place is tried if its word occurs there at least so often, and in at least this share of the
descriptions, and as often elsewhere: trying all of them would take long, and rare ones tell
little."""

TINY = 1e-6

RIDGE = 1.0
"""Of both regressions: on the plain words, and on the features."""


class Candidates(NamedTuple):
    """Words in places.

    Attributes
    ----------
    names : list of str
        Their names.
    placed : Array
        In which sentences each occurs: a row a sentence, of 0 and 1.
    """

    names: list[str]
    placed: Array


def candidates(sentences: Sequence[Sequence[str]]) -> Candidates:
    """The words in places that are tried. Of places of a word that always agree, the first is."""
    rows: dict[str, list[int]] = {}
    for n, sentence in enumerate(sentences):
        for name in dict.fromkeys(plain_and_placed(sentence)):
            rows.setdefault(name, []).append(n)
    names: dict[tuple[str, ...], str] = {}
    least = max(SELDOM, RARE * len(sentences))
    for name, where in rows.items():
        word, *place = name.split(" ", 1)
        if place and least <= len(where) <= len(rows[word]) - least:
            names.setdefault((word, *map(str, where)), name)
    placed = np.zeros((len(sentences), len(names)))
    for i, name in enumerate(names.values()):
        placed[rows[name], i] = 1.0
    return Candidates(list(names.values()), placed)


def telling(
    sentences: Sequence[Sequence[str]], plain: Array, points: Array, weights: Array, most: int
) -> list[str]:
    """The words in places that tell something about the response, the most telling first.

    Of m candidates without any relation to the features, the best would by chance explain about
    2 log m times the variance that is left over (Donoho and Johnstone 1994). Only what explains
    more is chosen. So nothing is in worlds where order does not matter.

    Parameters
    ----------
    sentences : sequence of sequences of str
        All descriptions.
    plain : Array
        Which plain words occur in each: a row a description.
    points : Array
        The features of the response of each.
    weights : Array
        How far each is believed.
    most : int
        The number chosen at most.
    """
    names, placed = candidates(sentences)
    if not names:
        return []
    told = np.hstack([plain, np.ones((len(plain), 1))])
    beyond = placed - _fitted(told, placed, weights)[0]
    fitted, leverage = _fitted(points, beyond, weights)
    left = weights @ ((beyond - fitted) / np.maximum(1 - leverage, TINY)[:, None]) ** 2
    gain = weights @ beyond**2 - left
    by_chance = 2 * np.log(len(names)) * left / len(sentences)
    best = np.argsort(by_chance - gain, kind="stable")[:most]
    return [names[i] for i in best if gain[i] > by_chance[i]]


def _fitted(inputs: Array, outputs: Array, weights: Array) -> tuple[Array, Array]:
    """The fit of a ridge regression to its own data, and the weight of each row in its own fit."""
    weighted = inputs * weights[:, None]
    inverse = np.linalg.inv(weighted.T @ inputs + RIDGE * np.eye(inputs.shape[1]))
    leverage = np.einsum("ni,ni->n", weighted @ inverse, inputs)
    return inputs @ (inverse @ (weighted.T @ outputs)), leverage
