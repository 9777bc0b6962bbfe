"""The weights of a GRU: their sizes, their layout in one vector, and their first values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellback.models.lanes import Floats


class Sizes(NamedTuple):
    """The sizes of a network."""

    vocabulary: int
    embedding: int
    hidden: int
    layers: int
    features: int


class Weights(NamedTuple):
    """Views of one vector of weights, or of gradients."""

    embedding: Floats
    state: Floats
    state_bias: Floats
    from_word: Floats
    from_below: Floats
    from_below_bias: Floats
    from_before: Floats
    from_before_bias: Floats
    word: Floats
    word_bias: Floats


def shapes(sizes: Sizes) -> list[tuple[int, ...]]:
    """The shape of each array of weights; gates in the order reset, update, candidate."""
    vocabulary, embedding, hidden, layers, features = sizes
    gates = 3 * hidden
    return [
        (vocabulary, embedding),
        (layers * hidden, features),
        (layers * hidden,),
        (gates, embedding),
        (layers - 1, gates, hidden),
        (layers, gates),
        (layers, gates, hidden),
        (layers, gates),
        (vocabulary, hidden),
        (vocabulary,),
    ]


def count(sizes: Sizes) -> int:
    """The number of weights."""
    return sum(int(np.prod(shape)) for shape in shapes(sizes))


def views(flat: Floats, sizes: Sizes) -> Weights:
    """Views of a flat vector, one for each array of weights."""
    parts, begin = [], 0
    for shape in shapes(sizes):
        end = begin + int(np.prod(shape))
        parts.append(flat[begin:end].reshape(shape))
        begin = end
    return Weights(*parts)


def first_weights(sizes: Sizes, rng: np.random.Generator) -> Floats:
    """First weights as in PyTorch: normal embeddings, the rest uniform."""
    flat = np.empty(count(sizes), dtype=np.float32)
    drawn = views(flat, sizes)
    for name, part in drawn._asdict().items():
        if name == "embedding":
            part[:] = rng.standard_normal(part.shape)
        else:
            bound = 1 / np.sqrt(sizes.features if name.startswith("state") else sizes.hidden)
            part[:] = rng.uniform(-bound, bound, part.shape)
    return flat
