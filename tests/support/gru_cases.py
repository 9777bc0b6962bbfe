"""Histories and arrays for the tests of the GRU."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

from tellback.models.gru_weights import Sizes, Weights
from tellback.models.lanes import Floats
from tellback.models.vectors import LANES
from tellback.models.words import BEGIN, END

torch = pytest.importorskip("torch")

from benchmarks.torch_sentence import TorchSentenceModel  # noqa: E402

Indices = NDArray[np.int64]
SINGLE = float(np.finfo(np.float32).eps)


# Networks to try, and the same ones in PyTorch.


class Batch(NamedTuple):
    """What ``gradient`` wants, laid out by hand."""

    features: Floats
    read: Indices
    said: Indices
    begins: Indices
    lanes: Indices


def laid_out(features: Floats, sentences: list[list[int]]) -> Batch:
    """Sentences side by side, the longest first: all their first words, then all second ones.

    Each step is filled up with zeros to whole vectors.
    """
    order = sorted(range(len(sentences)), key=lambda i: -len(sentences[i]))
    lines = [[BEGIN, *sentences[i], END] for i in order]
    steps = [[line for line in lines if t < len(line)] for t in range(1, len(lines[0]))]
    lanes = [len(step) for step in steps]
    rooms = [[0] * (-len(step) % LANES) for step in steps]
    return Batch(
        np.ascontiguousarray(np.pad(features[order], ((0, -len(order) % LANES), (0, 0))).T),
        np.array([w for t, step in enumerate(steps) for w in _at(step, t) + rooms[t]]),
        np.array([w for t, step in enumerate(steps) for w in _at(step, t + 1) + rooms[t]]),
        np.cumsum([0, *(len(step) + len(room) for step, room in zip(steps, rooms, strict=True))])[
            :-1
        ],
        np.array(lanes),
    )


def _at(step: list[list[int]], place: int) -> list[int]:
    return [line[place] for line in step]


def parameters(model: TorchSentenceModel, sizes: Sizes, of: str = "grad") -> Weights:
    """The gradients of the oracle's parameters (or these themselves), as the package has them."""
    gru, layers = model.gru, range(sizes.layers)

    def values(parameter: Any) -> Any:
        return getattr(parameter, of).numpy()

    def each(name: str, some: range) -> Any:
        parts = [values(getattr(gru, f"{name}_l{layer}")) for layer in some]
        return np.array(parts).reshape(len(some), 3 * sizes.hidden, *parts[0].shape[1:])

    below = layers[1:]
    gates = (3 * sizes.hidden, sizes.hidden)
    return Weights(
        embedding=values(model.embedding.weight),
        state=values(model.state_of.weight),
        state_bias=values(model.state_of.bias),
        from_word=values(gru.weight_ih_l0),
        from_below=each("weight_ih", below) if below else np.empty((0, *gates), dtype=np.float32),
        from_below_bias=each("bias_ih", layers),
        from_before=each("weight_hh", layers),
        from_before_bias=each("bias_hh", layers),
        word=values(model.word.weight),
        word_bias=values(model.word.bias),
    )


PAPER = Sizes(vocabulary=34, embedding=10, hidden=10, layers=2, features=16)


SIZES = st.builds(
    Sizes,
    vocabulary=st.integers(3, 40),
    embedding=st.integers(1, 11),
    hidden=st.integers(1, 13),
    layers=st.integers(1, 3),
    features=st.integers(1, 17),
)
