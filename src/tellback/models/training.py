"""Adam on batches of all descriptions so far, compiled as a whole."""

from __future__ import annotations

import numpy as np

from tellback.arrays import Indices
from tellback.compiled import compiled
from tellback.models.gru import gradient
from tellback.models.gru_weights import Weights
from tellback.models.lanes import F, Floats, whole_vectors
from tellback.models.words import BEGIN, END

FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8
"""Adam's constants, as in its paper and in PyTorch."""


@compiled
def train(
    weights: Weights,
    gradients: Weights,
    flat: Floats,
    flat_gradient: Floats,
    first_moment: Floats,
    second_moment: Floats,
    learning_rate: float,
    steps_done: int,
    steps: int,
    batch: int,
    key: int,
    described: Indices,
    entry_features: Floats,
    entry_sentences: Indices,
    sentences: Indices,
    lengths: Indices,
) -> float:
    """Take steps of Adam, each on a batch drawn from the history; returns the last loss.

    The batch of a step depends only on the key, the number of steps done and the history, so a run
    can be resumed at any round.
    """
    loss = 0.0
    for step in range(steps_done, steps_done + steps):
        drawn = draw_batch(key, step, batch, described)
        features, read, targets, begins, lanes = packed(
            drawn, entry_features, entry_sentences, sentences, lengths
        )
        loss = gradient(weights, gradients, features, read, targets, begins, lanes)
        adam_step(flat, flat_gradient, first_moment, second_moment, step + 1, learning_rate)
    return loss


@compiled
def draw_batch(key: int, step: int, batch: int, described: Indices) -> Indices:
    """The entries of a batch: descriptions drawn uniformly, with replacement."""
    drawn = np.empty(batch, dtype=np.int64)
    count = np.uint64(len(described))
    for b in range(batch):
        # splitmix64 (Steele, Lea and Flood, 2014), with another counter for every draw.
        bits = np.uint64(key) + np.uint64(step * batch + b) * np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits = (bits ^ (bits >> np.uint64(31))) >> np.uint64(32)
        drawn[b] = described[np.int64((bits * count) >> np.uint64(32))]
    return drawn


@compiled
def packed(
    drawn: Indices,
    entry_features: Floats,
    entry_sentences: Indices,
    sentences: Indices,
    lengths: Indices,
) -> tuple[Floats, Indices, Indices, Indices, Indices]:
    """A batch in the layout of ``gradient``: sorted by length, the lanes of a step adjacent.

    Each step has room for whole vectors. Where there is no sentence, the marks are 0.
    """
    width, dim = len(drawn), entry_features.shape[1]
    longest = 0
    for entry in drawn:
        longest = max(longest, lengths[entry_sentences[entry]])
    lanes = np.zeros(longest + 1, dtype=np.int64)  # the end mark is a step too
    for entry in drawn:
        for step in range(lengths[entry_sentences[entry]] + 1):
            lanes[step] += 1
    begins = np.zeros(longest + 1, dtype=np.int64)
    for step in range(longest):
        begins[step + 1] = begins[step] + whole_vectors(lanes[step])
    total = begins[longest] + whole_vectors(lanes[longest])
    features = np.zeros((dim, whole_vectors(width)), dtype=np.float32)
    read, targets = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=np.int64)
    lane = 0
    for length in range(longest, -1, -1):
        for entry in drawn:
            sentence = entry_sentences[entry]
            if lengths[sentence] != length:
                continue
            for i in range(dim):
                features[i, lane] = entry_features[entry, i]
            for step in range(length + 1):
                at = begins[step] + lane
                read[at] = sentences[sentence, step - 1] if step > 0 else BEGIN
                targets[at] = sentences[sentence, step] if step < length else END
            lane += 1
    return features, read, targets, begins, lanes


@compiled
def adam_step(
    flat: Floats,
    gradient: Floats,
    first_moment: Floats,
    second_moment: Floats,
    step: int,
    learning_rate: float,
) -> None:
    """One step of Adam, the ``step``-th."""
    b1, b2, epsilon = F(FIRST_DECAY), F(SECOND_DECAY), F(EPSILON)
    rest1, rest2 = F(1 - FIRST_DECAY), F(1 - SECOND_DECAY)
    rate = F(learning_rate / (1 - FIRST_DECAY**step))
    scale = F(1 / np.sqrt(1 - SECOND_DECAY**step))
    for i in range(len(flat)):
        g = gradient[i]
        first_moment[i] = b1 * first_moment[i] + rest1 * g
        second_moment[i] = b2 * second_moment[i] + rest2 * g * g
        flat[i] -= rate * first_moment[i] / (np.sqrt(second_moment[i]) * scale + epsilon)
