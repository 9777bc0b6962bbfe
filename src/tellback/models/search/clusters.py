"""Responses in clusters, by splitting them again and again."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Array, Indices

LARGEST = 1024
"""Responses in a cluster, at most."""

_BRANCHES = 16  # parts of a split
_SAMPLE = 64 * _BRANCHES  # responses from which the centres of a split are learned
_STEPS = 4  # of k-means, on the sample


def clustered(columns: Array) -> tuple[Indices, Indices]:
    """The responses in the order of their clusters, and where each cluster starts and ends.

    The clusters only decide how quick a search is, so that chance has a fixed seed.
    """
    rng = np.random.default_rng(0)
    waiting, clusters = [np.arange(columns.shape[1])], []
    while waiting:
        members = waiting.pop()
        if len(members) <= LARGEST:
            clusters.append(members)
        else:
            waiting += _split(columns, members, rng)
    sizes = [len(members) for members in clusters]
    return np.concatenate(clusters), np.concatenate([[0], np.cumsum(sizes)])


def _split(columns: Array, members: Indices, rng: np.random.Generator) -> list[Indices]:
    sample = columns[:, rng.choice(members, min(_SAMPLE, len(members)), replace=False)].T
    centres = sample[:_BRANCHES].astype(np.float64)
    for _ in range(_STEPS):
        nearest = _nearest(sample.T, centres)
        for branch in np.unique(nearest):
            centres[branch] = sample[nearest == branch].mean(axis=0)
    nearest = _nearest(columns[:, members], centres)
    parts = [members[nearest == branch] for branch in np.unique(nearest)]
    if len(parts) == 1:  # all alike
        return np.array_split(members, _BRANCHES)
    return parts


def _nearest(columns: Array, centres: Array) -> Indices:
    distances = (centres**2).sum(axis=1)[:, None] - 2 * (centres @ columns)
    nearest: Indices = distances.argmin(axis=0)
    return nearest
