"""Ridge regression: f-hat in closed form, for any real features.

f-hat(x) = Sigma^-1 sum of e(x', x) g over the descriptions x' so far, with Sigma of Algorithm 1,
line 4. With one-hot labels, e is 1 where x' is x, and f-hat(x) . g(y, s) is the least-squares
estimate of P(x | y, s). With embeddings of sentences as labels, e is their inner product: a
description also teaches about similar wordings.

A description costs one rank-one update. Another one withdraws it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled
from tellback.encoders.text import TextEncoderSpec, demand_text_encoder
from tellback.errors import SettingError, one_of, whole
from tellback.models.ellipsoid import LAZY, Ellipsoid, Lambda, demand_short
from tellback.models.labels import EmbeddedLabels, LabelEncoder, SentenceLabels, TableLabels
from tellback.models.model import ModelSpec
from tellback.models.quadratic_forms import THREADS_FROM, quadratic_forms
from tellback.models.search.approximate import CAVEAT, Approximate, demand_faiss
from tellback.models.search.found import Found, best_of
from tellback.models.search.pruned import PRUNE_FROM, UNCHECKED, Pruned
from tellback.models.search.scan import scan
from tellback.models.states import saved_array
from tellback.responses import TILE, Listed
from tellback.roles import Facts, Instruction, State

SEARCHES = ("scan", "pruned", "approximate")
"""How the best of many fixed responses is found."""

_INDEXES: dict[str, tuple[float, type[Pruned | Approximate]]] = {
    "pruned": (PRUNE_FROM, Pruned),
    "approximate": (LAZY, Approximate),
}
"""What a search builds, from so many numbers of features on."""

Search = Annotated[str, partial(one_of, options=SEARCHES)]
"""A setting that is one of them."""


@dataclass(frozen=True)
class Ridge(ModelSpec):
    """The least-squares estimate of f, with a penalty of lambda on its length.

    Parameters
    ----------
    lam : float
        lambda. An explorer with the same lambda shares Sigma with the model.
    labels : TextEncoderSpec or None
        The encoder of sentences as labels. None is one-hot: no instructions share anything.
    search : "scan", "pruned" or "approximate"
        How an optimist finds its choice among fixed responses. ``scan`` looks at all of them each
        round. ``pruned`` keeps them in clusters, in a copy, and looks only at clusters that may
        hold the best: the same choices, and quicker where there are many responses in clusters.
        ``approximate`` (extra ``faiss``) may miss the best, and proves nothing.

    Examples
    --------
    >>> from tellback.encoders import NGrams
    >>> Ridge(lam=0.1, labels=NGrams()).lam
    0.1
    """

    lam: Lambda = 1.0
    labels: TextEncoderSpec | None = None
    search: Search = "scan"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labels is not None:
            demand_text_encoder("labels", self.labels)

    def build(self, facts: Facts, rng: np.random.Generator) -> RidgeModel:
        """An estimate of 0 everywhere."""
        if self.labels is not None and not facts.language:
            raise SettingError(
                f"labels encode sentences; this world has a table of {facts.instructions}."
            )
        if self.search == "approximate":
            demand_faiss()
        return RidgeModel(self, facts)


class RidgeModel:
    """A live ridge regression.

    Parameters
    ----------
    spec : Ridge
        Its settings.
    facts : Facts
        The size of the features, and the kind of instructions.
    """

    inexact: ClassVar[str] = "its fit is least squares and not maximum likelihood"

    def __init__(self, spec: Ridge, facts: Facts) -> None:
        self.ellipsoid = Ellipsoid(facts.dim, spec.lam)
        self._dim = facts.dim
        self._labels = _labels(spec, facts)
        self._sums = np.zeros((self._labels.size, facts.dim))
        self._counts = np.zeros(self._labels.size, dtype=np.int64)  # of descriptions, by row
        self._silent = 0  # rounds in Sigma that nobody described
        self._checked: Listed | None = None
        self._search = spec.search
        self._indexed: Listed | None = None  # the responses of the index
        self._index: Pruned | Approximate | None = None

    @property
    def described(self) -> int:
        """The number of descriptions learned."""
        return self.ellipsoid.count - self._silent

    @property
    def unproven(self) -> str:
        """Why a bound by what its search finds is not proven; '' if it can be."""
        if self._search == "approximate":
            return CAVEAT
        return "" if self._index is None else UNCHECKED

    def f(self, instruction: Instruction) -> Array:
        """f-hat(x)."""
        rows, weights = self._labels.look_up(instruction)
        f: Array = self.ellipsoid.inverse @ (weights @ self._sums[rows])
        return f

    def most_optimistic(
        self, instruction: Instruction, responses: Listed, k: float, keep: bool, random: bool
    ) -> Found:
        """The responses with the highest f-hat(x) . g(y, s) + k |g(y, s)| in Sigma^-1."""
        self._check(responses)
        rows, weights = self._labels.look_up(instruction)
        sigma = self.ellipsoid
        columns, inverse, sums = responses.columns, sigma.inverse, self._sums
        least, index = _INDEXES.get(self._search, (np.inf, None))
        if keep and index is not None and columns.size >= least:
            if self._index is None or self._indexed is not responses:
                self._indexed, self._index = responses, index(responses, sigma)
            return self._index.best(_f(inverse, sums, rows, weights), k, random)
        if keep and columns.size >= LAZY:
            return scan(sigma, _f(inverse, sums, rows, weights), k, responses, random)
        in_threads = self._dim**2 * len(responses) >= 2 * THREADS_FROM
        widths = sigma.squared_widths(responses, keep) if keep or in_threads else _NONE
        return Found(*_best(inverse, sums, rows, weights, columns, widths, k, random))

    def estimates(self, instruction: Instruction, responses: Listed) -> Array:
        """f-hat(x) . g(y, s) for every listed response y: a real number, near 0 to 1."""
        self._check(responses)
        rows, weights = self._labels.look_up(instruction)
        return _estimate(self.ellipsoid.inverse, self._sums, rows, weights, responses.columns)

    def _check(self, responses: Listed) -> None:
        if responses.dim != self._dim:
            raise SettingError(
                f"ridge was built for {self._dim} features; here are {responses.dim}."
            )
        if responses is not self._checked:  # refuse long features now, not when they are learned
            demand_short(responses, self.ellipsoid.lam)
            self._checked = responses

    def draws(
        self, instruction: Instruction, responses: Listed, count: int, rng: np.random.Generator
    ) -> Array:
        """Samples of the estimates, a row a sample: f(x) . g with f(x) drawn around f-hat(x).

        Normal, with covariance v Sigma^-1 and v = p (1 - p). p is the highest estimate, at most
        1/2, and at least 1 / (2 + n) after n descriptions, so that an instruction without
        descriptions is not taken for impossible.
        """
        estimates = self.estimates(instruction, responses)
        likely = min(max(float(estimates.max()), 1 / (2 + self.described)), 0.5)
        root = np.sqrt(likely * (1 - likely)) * np.linalg.cholesky(self.ellipsoid.inverse)
        drawn: Array = estimates + rng.standard_normal((count, self._dim)) @ (
            root.T @ responses.columns
        )
        return drawn

    def learn(self, features: Array, description: Instruction) -> None:
        """Add the description to the sums of its label, and its features to Sigma."""
        rows, weights = self._labels.look_up(description)  # an error must come before any change
        self.ellipsoid.add(features)
        if not len(rows):  # new words
            rows, weights = self._labels.learn(description)
            self._make_room()
        _add(self._sums, self._counts, rows, weights, features, 1)

    def learn_silence(self, features: Array) -> None:
        """Add the features to Sigma, and nothing to the sums: no instruction fits."""
        self.ellipsoid.add(features)
        self._silent += 1

    def withdraw(self, features: Array, description: Instruction) -> None:
        """Withdraw a description: sums and Sigma become as if it had never been learned.

        An error, and no change, where rounding prevents that.
        """
        rows, weights = self._labels.look_up(description)
        no_words = isinstance(self._labels, EmbeddedLabels) and not len(rows)
        if not no_words and (not len(rows) or not self._counts[rows].all()):
            raise SettingError(f"No description {description!r} is left to withdraw.")
        self.ellipsoid.remove(features)
        _add(self._sums, self._counts, rows, -weights, features, -1)

    def _make_room(self) -> None:
        if self._labels.size > len(self._sums):
            room = max(16, self._labels.size, 2 * len(self._sums)) - len(self._sums)
            self._sums = np.pad(self._sums, ((0, room), (0, 0)))
            self._counts = np.pad(self._counts, (0, room))

    def state(self) -> State:
        """Sigma's inverse, the sums, the counts, the labels, and the number of silent rounds."""
        taken = self._labels.size
        return {
            **self.ellipsoid.state(),
            **self._labels.state(),
            "sums": self._sums[:taken].copy(),
            "counts": self._counts[:taken].copy(),
            "silent": self._silent,
        }

    def restore(self, state: State) -> None:
        """Restore a state that ``state()`` gave."""
        labels = copy(self._labels)  # a copy: an error below must leave the model unchanged
        labels.restore(state)
        sums = saved_array(state, "sums", (labels.size, self._dim))
        counts = np.array(state["counts"])
        if counts.shape != (labels.size,) or counts.dtype.kind != "i" or (counts < 0).any():
            raise SettingError(f"The saved counts must be {labels.size} whole numbers.")
        silent = whole("silent", int(state.get("silent", 0)), at_least=0)  # older states have none
        self.ellipsoid.restore(state)
        self._labels, self._sums, self._counts = labels, sums, counts.astype(np.int64)
        self._silent = silent


def _labels(spec: Ridge, facts: Facts) -> LabelEncoder:
    if facts.instructions is not None:
        return TableLabels(facts.instructions)
    return SentenceLabels() if spec.labels is None else EmbeddedLabels(spec.labels)


_NONE = np.empty(0)


@compiled
def _f(inverse: Array, sums: Array, rows: Indices, weights: Array) -> Array:
    """Sigma^-1 (sum of weights times sums)."""
    dim = len(inverse)
    summed = np.zeros(dim)
    for k in range(len(rows)):
        for i in range(dim):
            summed[i] += weights[k] * sums[rows[k], i]
    f = np.zeros(dim)
    for j in range(dim):  # the inverse is symmetric: along its rows, all sums at once
        along, factor = inverse[j], summed[j]
        for i in range(dim):
            f[i] += along[i] * factor
    return f


@compiled
def _estimate(inverse: Array, sums: Array, rows: Indices, weights: Array, columns: Array) -> Array:
    """f . g for every column g, a tile at a time."""
    dim, responses = columns.shape
    f = _f(inverse, sums, rows, weights)
    estimates = np.zeros(responses)
    for first in range(0, responses, TILE):
        tile = estimates[first : first + TILE]
        for i in range(dim):
            row = columns[i, first : first + len(tile)]  # an index without a sum is vectorised
            factor = f[i]
            for y in range(len(tile)):
                tile[y] += factor * row[y]
    return estimates


@compiled
def _best(
    inverse: Array,
    sums: Array,
    rows: Indices,
    weights: Array,
    columns: Array,
    widths: Array,
    k: float,
    random: bool,
) -> tuple[Indices, Array, Array]:
    """``Found`` among responses with these squared widths, or none computed so far."""
    estimates = _estimate(inverse, sums, rows, weights, columns)
    if not len(widths):
        widths = quadratic_forms(inverse, columns)
    return best_of(estimates, widths, k, random)


@compiled
def _add(
    sums: Array, counts: Indices, rows: Indices, weights: Array, features: Array, sign: int
) -> None:
    for k in range(len(rows)):
        counts[rows[k]] += sign
        for i in range(len(features)):
            sums[rows[k], i] += weights[k] * features[i]
            if counts[rows[k]] == 0:  # rounding must not break a tie
                sums[rows[k], i] = 0.0
