"""A gated recurrent network over sentences, with a handwritten gradient.

The equations and the first weights are those of ``torch.nn.GRU``. It is fast because of its
layout: the sentences of a batch are adjacent (*lanes*), sorted by length, so that those that have
ended drop out at the right. Every quantity is a row of consecutive numbers along the lanes of all
steps. Each step has room for whole vectors (``whole_vectors``): the lanes that no sentence uses
are computed with the others, and count for nothing.

A product with a weight matrix is done for all steps at once, unless it needs the step before.
Numbers are in single precision, as in PyTorch.
"""

from __future__ import annotations

import numpy as np

from tellback.arrays import Indices
from tellback.compiled import compiled
from tellback.models.gru_weights import Weights
from tellback.models.lanes import (
    F,
    Floats,
    add_product,
    affine,
    log_softmax_parts,
    logistic,
    outer,
    tanh,
    whole_vectors,
)
from tellback.models.vectors import LANES, load, spread, store
from tellback.models.words import BEGIN, END

RESET, UPDATE, CANDIDATE, RECURRENT, BEFORE, AFTER = range(6)
"""The activations of a layer that its gradient needs: two gates, the candidate state, the part of
it that the reset gate scales, and the state before and after."""

ACTIVATIONS = 6


@compiled
def _layer_forward(
    inputs: Floats,
    w: Floats,
    bias: Floats,
    state: Floats,
    begins: Indices,
    lanes: Indices,
    activations: Floats,
) -> None:
    """One layer through all steps, given the inputs of its gates from the layer below.

    ``state`` is the first one, and becomes the last one.
    """
    hidden = w.shape[1]
    recurrent = np.empty((3 * hidden, state.shape[1]), dtype=np.float32)
    for step in range(len(lanes)):
        n, at = whole_vectors(lanes[step]), begins[step]
        affine(w, state, 0, bias, recurrent, 0, n)
        for i in range(hidden):
            second, third = hidden + i, 2 * hidden + i
            for b in range(0, n, LANES):
                reset = logistic(load(inputs, i, at + b) + load(recurrent, i, b))
                gate = logistic(load(inputs, second, at + b) + load(recurrent, second, b))
                scaled, before = load(recurrent, third, b), load(state, i, b)
                candidate = tanh(load(inputs, third, at + b) + reset * scaled)
                after = candidate + gate * (before - candidate)
                store(activations, RESET * hidden + i, at + b, reset)
                store(activations, UPDATE * hidden + i, at + b, gate)
                store(activations, CANDIDATE * hidden + i, at + b, candidate)
                store(activations, RECURRENT * hidden + i, at + b, scaled)
                store(activations, BEFORE * hidden + i, at + b, before)
                store(activations, AFTER * hidden + i, at + b, after)
                store(state, i, b, after)


@compiled
def _layer_backward(
    dstate: Floats,
    w: Floats,
    activations: Floats,
    begins: Indices,
    lanes: Indices,
    dinputs: Floats,
    drecurrent: Floats,
    dstart: Floats,
) -> None:
    """Backpropagate through all steps of a layer, to its gates and its first state."""
    hidden = w.shape[1]
    one = spread(F(1.0))
    dstart[:] = F(0.0)
    for step in range(len(lanes) - 1, -1, -1):
        n, at = whole_vectors(lanes[step]), begins[step]
        for i in range(hidden):
            second, third = hidden + i, 2 * hidden + i
            for b in range(0, n, LANES):
                reset = load(activations, RESET * hidden + i, at + b)
                gate = load(activations, UPDATE * hidden + i, at + b)
                candidate = load(activations, CANDIDATE * hidden + i, at + b)
                scaled = load(activations, RECURRENT * hidden + i, at + b)
                before = load(activations, BEFORE * hidden + i, at + b)
                d = load(dstate, i, at + b) + load(dstart, i, b)
                dcandidate = d * (one - gate) * (one - candidate * candidate)
                dupdate = d * (before - candidate) * gate * (one - gate)
                dreset = dcandidate * scaled * reset * (one - reset)
                store(dinputs, i, at + b, dreset)
                store(dinputs, second, at + b, dupdate)
                store(dinputs, third, at + b, dcandidate)
                store(drecurrent, i, at + b, dreset)
                store(drecurrent, second, at + b, dupdate)
                store(drecurrent, third, at + b, dcandidate * reset)
                store(dstart, i, b, d * gate)
        add_product(w.T, drecurrent, at, dstart, 0, n)


@compiled
def _forward(
    weights: Weights, features: Floats, read: Indices, begins: Indices, lanes: Indices
) -> tuple[Floats, Floats, Floats]:
    """The words read, the activations of every layer, and the logits of the word after each.

    Activations are rows of the lanes of all steps.
    """
    layers, gates, hidden = weights.from_before.shape
    size, total, width = weights.embedding.shape[1], len(read), whole_vectors(lanes[0])
    start = np.empty((layers * hidden, width), dtype=np.float32)
    affine(weights.state, features, 0, weights.state_bias, start, 0, width)
    words = np.empty((size, total), dtype=np.float32)
    for b in range(total):
        for i in range(size):
            words[i, b] = weights.embedding[read[b], i]
    activations = np.empty((layers, ACTIVATIONS * hidden, total), dtype=np.float32)
    inputs = np.empty((gates, total), dtype=np.float32)
    for layer in range(layers):
        bias = weights.from_below_bias[layer]
        if layer == 0:
            affine(weights.from_word, words, 0, bias, inputs, 0, total)
        else:
            below = activations[layer - 1, AFTER * hidden :]
            affine(weights.from_below[layer - 1], below, 0, bias, inputs, 0, total)
        first = start[layer * hidden : (layer + 1) * hidden]
        w, b_ = weights.from_before[layer], weights.from_before_bias[layer]
        _layer_forward(inputs, w, b_, first, begins, lanes, activations[layer])
    logits = np.empty((len(weights.word), total), dtype=np.float32)
    top = activations[layers - 1, AFTER * hidden :]
    affine(weights.word, top, 0, weights.word_bias, logits, 0, total)
    return words, activations, logits


@compiled
def gradient(
    weights: Weights,
    out: Weights,
    features: Floats,
    read: Indices,
    targets: Indices,
    begins: Indices,
    lanes: Indices,
) -> float:
    """The mean over the batch of -log P(sentence | features), and its gradient.

    Parameters
    ----------
    weights, out : Weights
        The weights, and the output for the gradient.
    features : array of shape (features, lanes)
        g of each sentence of the batch. Sentences are sorted by length, the longest first.
    read, targets : array
        The previous word and the word to predict, step by step; the lanes of a step are
        adjacent.
    begins, lanes : array
        For every step, its start in ``read`` and the number of sentences that have not ended.
        Every step has room for whole vectors, and so have the features.
    """
    layers, gates, hidden = weights.from_before.shape
    total, width = len(read), features.shape[1]
    words, activations, logits = _forward(weights, features, read, begins, lanes)
    chosen = np.empty(total, dtype=np.float32)
    for b in range(total):
        chosen[b] = logits[targets[b], b]
    highest, sums = log_softmax_parts(logits)
    scale, loss = F(1.0) / F(lanes[0]), 0.0
    scales = np.zeros((1, total), dtype=np.float32)  # 0 where there is no sentence
    for step in range(len(lanes)):
        for b in range(begins[step], begins[step] + lanes[step]):
            loss += np.log(sums[b]) + highest[b] - chosen[b]
            scales[0, b] = scale / sums[b]
    for v in range(len(logits)):  # from here on, logits holds their gradient
        for b in range(0, total, LANES):
            store(logits, v, b, load(logits, v, b) * load(scales, 0, b))
    for step in range(len(lanes)):
        for b in range(begins[step], begins[step] + lanes[step]):
            logits[targets[b], b] -= scale
    outer(logits, activations[layers - 1, AFTER * hidden :], total, out.word, out.word_bias)
    dstate = np.zeros((hidden, total), dtype=np.float32)
    add_product(weights.word.T, logits, 0, dstate, 0, total)
    dinputs = np.empty((gates, total), dtype=np.float32)
    drecurrent = np.empty((gates, total), dtype=np.float32)
    dstart = np.empty((layers * hidden, width), dtype=np.float32)
    for layer in range(layers - 1, -1, -1):
        w, first = weights.from_before[layer], dstart[layer * hidden : (layer + 1) * hidden]
        _layer_backward(dstate, w, activations[layer], begins, lanes, dinputs, drecurrent, first)
        before = activations[layer, BEFORE * hidden : AFTER * hidden]
        outer(drecurrent, before, total, out.from_before[layer], out.from_before_bias[layer])
        if layer > 0:
            below, dw = activations[layer - 1, AFTER * hidden :], out.from_below[layer - 1]
            outer(dinputs, below, total, dw, out.from_below_bias[layer])
            dstate[:] = F(0.0)
            add_product(weights.from_below[layer - 1].T, dinputs, 0, dstate, 0, total)
    outer(dinputs, words, total, out.from_word, out.from_below_bias[0])
    words[:] = F(0.0)  # from here on, words holds their gradient
    add_product(weights.from_word.T, dinputs, 0, words, 0, total)
    out.embedding[:] = F(0.0)
    for b in range(total):
        for i in range(len(words)):
            out.embedding[read[b], i] += words[i, b]
    outer(dstart, features, width, out.state, out.state_bias)
    return float(loss / lanes[0])


@compiled
def log_probabilities(weights: Weights, features: Floats, sentence: Indices) -> Floats:
    """log P(sentence | g) for every column g of the features."""
    count, steps = features.shape[1], len(sentence) + 1
    width = whole_vectors(count)
    room = np.zeros((len(features), width), dtype=np.float32)
    room[:, :count] = features
    lanes, begins = np.full(steps, count), np.arange(steps) * width
    read = np.empty(steps * width, dtype=np.int64)
    for step in range(steps):
        read[step * width : (step + 1) * width] = sentence[step - 1] if step else BEGIN
    _, _, logits = _forward(weights, room, read, begins, lanes)
    chosen = np.empty(steps * width, dtype=np.float32)
    for step in range(steps):
        target = sentence[step] if step < len(sentence) else END
        begin, end = step * width, (step + 1) * width
        chosen[begin:end] = logits[target, begin:end]
    highest, sums = log_softmax_parts(logits)
    result = np.zeros(count, dtype=np.float32)
    for step in range(steps):
        for y in range(count):
            at = step * width + y
            result[y] += chosen[at] - highest[at] - np.log(sums[at])
    return result


@compiled
def next_word(weights: Weights, features: Floats, prefix: Indices) -> Floats:
    """The probabilities of the next word after the first words of a sentence."""
    steps = len(prefix) + 1
    room = np.zeros((len(features), LANES), dtype=np.float32)
    room[:, :1] = features
    read = np.full(steps * LANES, BEGIN)
    for step in range(1, steps):
        read[step * LANES : (step + 1) * LANES] = prefix[step - 1]
    begins, lanes = np.arange(steps) * LANES, np.ones(steps, dtype=np.int64)
    _, _, logits = _forward(weights, room, read, begins, lanes)
    last = logits[:, begins[-1] :].copy()
    _, sums = log_softmax_parts(last)
    probabilities: Floats = last[:, 0] / sums[0]
    return probabilities
