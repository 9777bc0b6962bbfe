"""Barycentric spanners: a few responses that span all (Awerbuch and Kleinberg 2008)."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array, Indices
from tellback.compiled import compiled
from tellback.errors import real

DEPENDENT = 1e-9
"""A row that is a combination of others up to this, relatively, adds nothing to them."""


def barycentric_spanner(features: Array, C: float = 2.0) -> tuple[Indices, Array]:
    """Rows of which every row is a combination with coefficients between -C and C.

    Found by exchange, as Awerbuch and Kleinberg do: a coefficient is the factor by which the
    volume of the chosen rows would grow if the row took the place of a chosen one, so that
    exchanging while one is beyond C comes to an end. All coefficients are kept and changed
    with every exchange, which is a pivot step: one pass over the features.

    Parameters
    ----------
    features : Array of shape (responses, dimension)
        The rows.
    C : float
        At least 1; nearer to 1 takes more exchanges, and 1 may take very many.

    Returns
    -------
    members : Indices
        The chosen rows, as many as the features have rank.
    coefficients : Array of shape (members, responses)
        The combinations: ``coefficients.T @ features[members]`` is ``features``.
    """
    C = real("C", C, at_least=1)
    coefficients = np.array(np.asarray(features, dtype=np.float64).T, order="C")
    members = _basis(coefficients)
    coefficients, members = coefficients[members >= 0], members[members >= 0]
    exchange(coefficients, members, C)
    return members, coefficients


@compiled
def exchange(coefficients: Array, members: Indices, C: float) -> None:
    """Exchange members, in place, until no coefficient is beyond C."""
    while len(members):
        i, y = _largest(coefficients, members, False)
        # Rounding must not have it go round in circles where C is 1.
        if not abs(coefficients[i, y]) > C * (1 + DEPENDENT):
            break
        _pivot(coefficients, members, i, y)


@compiled
def _basis(coefficients: Array) -> Indices:
    """Independent rows; at first each unit vector is its own, of which -1 remain."""
    members = np.full(len(coefficients), -1)
    size = np.abs(coefficients).max()
    for _ in range(len(members)):
        i, y = _largest(coefficients, members, True)
        if not abs(coefficients[i, y]) > DEPENDENT * size:
            break
        _pivot(coefficients, members, i, y)
    return members


@compiled
def _largest(coefficients: Array, members: Indices, only_open: bool) -> tuple[int, int]:
    """Where the largest coefficient is, of all members or of those still open."""
    at, largest = (0, 0), -1.0
    for i in range(len(members)):
        if only_open and members[i] >= 0:
            continue
        for y in range(coefficients.shape[1]):
            if abs(coefficients[i, y]) > largest:
                at, largest = (i, y), abs(coefficients[i, y])
    return at


@compiled
def _pivot(coefficients: Array, members: Indices, i: int, y: int) -> None:
    """Have row y take the place of member i."""
    own = coefficients[i] / coefficients[i, y]
    for j in range(len(members)):
        if j != i:
            factor = coefficients[j, y]
            for other in range(len(own)):
                coefficients[j, other] -= factor * own[other]
            coefficients[j, y] = 0.0
    coefficients[i] = own
    members[i] = y
