"""A gated recurrent network over sentences, with a handwritten gradient.

The equations and the first weights are those of ``torch.nn.GRU``. It is fast because of its
layout: the sentences of a batch are adjacent (*lanes*), sorted by length, so that those that have
ended drop out at the right. Every quantity is a row of consecutive numbers along the lanes of all
steps.

A product with a weight matrix is done for all steps at once, unless it needs the step before.
Numbers are in single precision, as in PyTorch.
"""

from __future__ import annotations

import numpy as np

from tellback.arrays import Indices
from tellback.compiled import compiled, compiled_freely
from tellback.models.gru_weights import Weights
from tellback.models.lanes import (
    F,
    Floats,
    Positions,
    U,
    add_transposed,
    affine,
    log_softmax_parts,
    logistic_of_negative,
    outer,
)
from tellback.models.words import BEGIN, END

RESET, UPDATE, CANDIDATE, RECURRENT, BEFORE, AFTER = range(6)
"""The activations of a layer that its gradient needs: two gates, the candidate state, the part of
it that the reset gate scales, and the state before and after."""

ACTIVATIONS = 6


@compiled_freely
def _layer_forward(
    inputs: Floats,
    w: Floats,
    bias: Floats,
    start: Floats,
    begins: Positions,
    lanes: Positions,
    activations: Floats,
) -> None:
    """One layer through all steps, given the inputs of its gates from the layer below."""
    hidden, width = w.shape[1], lanes[0]
    recurrent = np.empty((3 * hidden, width), dtype=np.float32)
    gates = np.ones((2 * hidden, width), dtype=np.float32)
    flat, scratch = gates.reshape(-1), np.empty(2 * hidden * width, dtype=np.float32)
    state = start.copy()
    for step in range(len(lanes)):
        n, at = lanes[step], begins[step]
        affine(w, state, U(0), bias, recurrent, U(0), n)
        for i in range(2 * hidden):
            for b in range(n):
                gates[i, b] = -(inputs[i, at + b] + recurrent[i, b])
        logistic_of_negative(flat, scratch, U(2 * hidden) * width)
        for i in range(hidden):
            for b in range(n):
                activations[BEFORE, i, at + b] = state[i, b]
            for b in range(n):
                activations[RESET, i, at + b] = gates[i, b]
            for b in range(n):
                activations[UPDATE, i, at + b] = gates[hidden + i, b]
            for b in range(n):
                activations[RECURRENT, i, at + b] = recurrent[2 * hidden + i, b]
            for b in range(n):  # tanh(x) = 2 / (1 + exp(-2 x)) - 1
                gates[i, b] = F(-2.0) * (
                    inputs[2 * hidden + i, at + b] + gates[i, b] * recurrent[2 * hidden + i, b]
                )
        logistic_of_negative(flat, scratch, U(hidden) * width)
        for i in range(hidden):
            for b in range(n):
                candidate = F(2.0) * gates[i, b] - F(1.0)
                gates[i, b] = candidate
                state[i, b] = candidate + gates[hidden + i, b] * (state[i, b] - candidate)
            for b in range(n):
                activations[CANDIDATE, i, at + b] = gates[i, b]
            for b in range(n):
                activations[AFTER, i, at + b] = state[i, b]


@compiled_freely
def _layer_backward(
    dstate: Floats,
    w: Floats,
    activations: Floats,
    begins: Positions,
    lanes: Positions,
    dinputs: Floats,
    drecurrent: Floats,
    dstart: Floats,
) -> None:
    """Backpropagate through all steps of a layer, to its gates and its first state."""
    hidden = w.shape[1]
    dstart[:] = F(0.0)
    for step in range(len(lanes) - 1, -1, -1):
        n, at = lanes[step], begins[step]
        for i in range(hidden):
            for b in range(n):
                gate, candidate = activations[UPDATE, i, at + b], activations[CANDIDATE, i, at + b]
                reset = activations[RESET, i, at + b]
                d = dstate[i, at + b] + dstart[i, b]
                dcandidate = d * (F(1.0) - gate) * (F(1.0) - candidate * candidate)
                dupdate = d * (activations[BEFORE, i, at + b] - candidate) * gate * (F(1.0) - gate)
                dreset = dcandidate * activations[RECURRENT, i, at + b] * reset * (F(1.0) - reset)
                dinputs[i, at + b] = dreset
                dinputs[hidden + i, at + b] = dupdate
                dinputs[2 * hidden + i, at + b] = dcandidate
                drecurrent[i, at + b] = dreset
                drecurrent[hidden + i, at + b] = dupdate
                drecurrent[2 * hidden + i, at + b] = dcandidate * reset
                dstart[i, b] = d * gate
        add_transposed(w, drecurrent, at, dstart, n)


@compiled_freely
def _forward(
    weights: Weights, features: Floats, read: Indices, begins: Positions, lanes: Positions
) -> tuple[Floats, Floats]:
    """The activations of every layer, and the logits of the next word after every word read."""
    layers, gates, hidden = weights.from_before.shape
    vocabulary, total = weights.embedding.shape[0], U(len(read))
    start = np.empty((layers * hidden, lanes[0]), dtype=np.float32)
    affine(weights.state, features, U(0), weights.state_bias, start, U(0), lanes[0])
    activations = np.empty((layers, ACTIVATIONS, hidden, total), dtype=np.float32)
    inputs = np.empty((gates, total), dtype=np.float32)
    # The inputs of the first layer's gates are computed once for each word of the vocabulary.
    of_word = np.empty((gates, vocabulary), dtype=np.float32)
    words = weights.embedding.T.copy()
    bias = weights.from_below_bias
    affine(weights.from_word, words, U(0), bias[0], of_word, U(0), U(vocabulary))
    for i in range(gates):
        for b in range(total):
            inputs[i, b] = of_word[i, read[b]]
    for layer in range(layers):
        if layer > 0:
            below = activations[layer - 1, AFTER]
            affine(weights.from_below[layer - 1], below, U(0), bias[layer], inputs, U(0), total)
        first = start[layer * hidden : (layer + 1) * hidden]
        w, b_ = weights.from_before[layer], weights.from_before_bias[layer]
        _layer_forward(inputs, w, b_, first, begins, lanes, activations[layer])
    logits = np.empty((vocabulary, total), dtype=np.float32)
    top = activations[layers - 1, AFTER]
    affine(weights.word, top, U(0), weights.word_bias, logits, U(0), total)
    return activations, logits


@compiled_freely
def gradient(
    weights: Weights,
    out: Weights,
    features: Floats,
    read: Indices,
    targets: Indices,
    begins: Positions,
    lanes: Positions,
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
    """
    layers, gates, hidden = weights.from_before.shape
    vocabulary, total, width = weights.embedding.shape[0], U(len(read)), lanes[0]
    scale = F(1.0) / F(width)
    activations, logits = _forward(weights, features, read, begins, lanes)
    chosen = np.empty(total, dtype=np.float32)
    for b in range(total):
        chosen[b] = logits[targets[b], b]
    highest, sums = log_softmax_parts(logits)
    loss = 0.0
    for b in range(total):
        loss += np.log(sums[b]) + highest[b] - chosen[b]
    for v in range(vocabulary):  # from here on, logits holds their gradient
        for b in range(total):
            logits[v, b] *= scale / sums[b]
    for b in range(total):
        logits[targets[b], b] -= scale
    outer(logits, activations[layers - 1, AFTER], total, out.word, out.word_bias)
    dstate = np.zeros((hidden, total), dtype=np.float32)
    add_transposed(weights.word, logits, U(0), dstate, total)
    dinputs = np.empty((gates, total), dtype=np.float32)
    drecurrent = np.empty((gates, total), dtype=np.float32)
    dstart = np.empty((layers * hidden, width), dtype=np.float32)
    for layer in range(layers - 1, -1, -1):
        w, first = weights.from_before[layer], dstart[layer * hidden : (layer + 1) * hidden]
        _layer_backward(dstate, w, activations[layer], begins, lanes, dinputs, drecurrent, first)
        dw, dbias = out.from_before[layer], out.from_before_bias[layer]
        outer(drecurrent, activations[layer, BEFORE], total, dw, dbias)
        if layer > 0:
            dw, dbias = out.from_below[layer - 1], out.from_below_bias[layer]
            outer(dinputs, activations[layer - 1, AFTER], total, dw, dbias)
            dstate[:] = F(0.0)
            add_transposed(weights.from_below[layer - 1], dinputs, U(0), dstate, total)
    of_word = np.zeros((gates, vocabulary), dtype=np.float32)
    for i in range(gates):
        for b in range(total):
            of_word[i, read[b]] += dinputs[i, b]
    words = weights.embedding.T.copy()
    outer(of_word, words, U(vocabulary), out.from_word, out.from_below_bias[0])
    dwords = np.zeros(words.shape, dtype=np.float32)
    add_transposed(weights.from_word, of_word, U(0), dwords, U(vocabulary))
    out.embedding[:] = dwords.T
    outer(dstart, features, width, out.state, out.state_bias)
    return float(loss / width)


@compiled
def log_probabilities(weights: Weights, features: Floats, sentence: Indices) -> Floats:
    """log P(sentence | g) for every column g of the features."""
    width, steps = features.shape[1], len(sentence) + 1
    lanes, begins = np.full(steps, width, dtype=np.uint64), np.empty(steps, dtype=np.uint64)
    read = np.empty(steps * width, dtype=np.int64)
    for step in range(steps):
        begins[step] = step * width
        read[step * width : (step + 1) * width] = sentence[step - 1] if step else BEGIN
    _, logits = _forward(weights, features, read, begins, lanes)
    chosen = np.empty(steps * width, dtype=np.float32)
    for step in range(steps):
        target = sentence[step] if step < len(sentence) else END
        begin, end = step * width, (step + 1) * width
        chosen[begin:end] = logits[target, begin:end]
    highest, sums = log_softmax_parts(logits)
    result = np.zeros(width, dtype=np.float32)
    for step in range(steps):
        for y in range(width):
            at = step * width + y
            result[y] += chosen[at] - highest[at] - np.log(sums[at])
    return result


@compiled
def next_word(weights: Weights, features: Floats, prefix: Indices) -> Floats:
    """The probabilities of the next word after the first words of a sentence."""
    steps = len(prefix) + 1
    read = np.full(steps, BEGIN, dtype=np.int64)
    read[1:] = prefix
    begins, lanes = np.arange(steps).astype(np.uint64), np.ones(steps, dtype=np.uint64)
    _, logits = _forward(weights, features, read, begins, lanes)
    last = logits[:, -1:].copy()
    _, sums = log_softmax_parts(last)
    probabilities: Floats = last[:, 0] / sums[0]
    return probabilities
