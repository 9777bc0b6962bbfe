"""Mixtures, and lessons for them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tellback.models.mixture import MixtureModel
from tests.support.oracles import (
    Floats,
    random_simplex,
)

Lessons = tuple[list[int], Floats]


def taught(
    lessons: Lessons, instructions: int, refresh: int = 32, smoothing: float = 0.0
) -> MixtureModel:
    rows, features = lessons
    model = MixtureModel(instructions, features.shape[1], refresh, smoothing)
    for x, g in zip(rows, features, strict=True):
        model.learn(g, x)
    return model


def some_lessons(
    seed: int, number: int, instructions: int, dim: int, responses: int | None, spread: float = 1.0
) -> Lessons:
    rng = np.random.default_rng(seed)
    if responses is None:
        features = random_simplex(rng, number, dim, spread)
    else:
        features = random_simplex(rng, responses, dim, spread)[rng.integers(responses, size=number)]
    return rng.integers(instructions, size=number).tolist(), features


@st.composite
def lessons(draw: st.DrawFn, most: int = 40) -> tuple[Lessons, int]:
    """Any sequence of lessons: features may be one-hot, sparse, repeated or new."""
    dim = draw(st.integers(1, 4))
    instructions = draw(st.integers(1, 5))
    weights = st.lists(st.integers(0, 5), min_size=dim, max_size=dim).filter(any)
    responses = draw(st.lists(weights, min_size=1, max_size=6))
    matrix = np.array(responses, dtype=np.float64)
    matrix /= matrix.sum(axis=1, keepdims=True)
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, instructions - 1), st.integers(0, len(responses) - 1)),
            min_size=1,
            max_size=most,
        )
    )
    return ([x for x, _ in pairs], matrix[[y for _, y in pairs]]), instructions


CASES: dict[str, tuple[Lessons, int]] = {
    "few responses": (some_lessons(0, 30, 4, 3, 4), 4),
    "fresh features": (some_lessons(1, 25, 5, 3, None), 5),
    "many instructions": (some_lessons(2, 30, 12, 2, 5), 12),
    "nearly one-hot": (some_lessons(3, 40, 4, 4, 6, spread=0.1), 4),
    "nearly alike": (some_lessons(4, 40, 4, 3, 6, spread=50.0), 4),
    "one response": (some_lessons(5, 20, 4, 3, 1), 4),
}


# With smoothing

smoothings = st.sampled_from([1e-6, 0.01, 0.1, 1.0, 30.0])
