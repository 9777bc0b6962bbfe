"""A gated recurrent network over sentences, with its gradient written out by hand.

The equations are those of ``torch.nn.GRU``, and so are the first weights. What makes it fast
is the layout: sentences of a batch lie side by side (*lanes*), sorted by length so that those
that have ended drop out at the right, and every quantity is a row of consecutive numbers along
the lanes of all steps. All loops over lanes then run on the processor's vector units.

Every product with a weight matrix that does not wait for the step before is done for all steps
at once. Numbers are in single precision, as in PyTorch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tellback.arrays import Indices
from tellback.compiled import compiled, compiled_freely
from tellback.models.words import BEGIN, END

Floats = NDArray[np.float32]
Places = NDArray[np.uint64]  # unsigned: an index that cannot be negative needs no check
Place = int | np.uint64
F, U = np.float32, np.uint64

RESET, UPDATE, CANDIDATE, RECALLED, BEFORE, AFTER = range(6)
"""What is kept of a layer's pass: two gates, the candidate state, the part of it that the
reset gate scales, and the state before and after."""

KEPT = 6


class Sizes(NamedTuple):
    """The sizes of a network."""

    vocabulary: int
    embedding: int
    hidden: int
    layers: int
    features: int


class Weights(NamedTuple):
    """Views of one vector of weights, or of one of gradients."""

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
    """The shape of each of the weights; gates in the order reset, update, candidate."""
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
    """How many weights there are."""
    return sum(int(np.prod(shape)) for shape in shapes(sizes))


def views(flat: Floats, sizes: Sizes) -> Weights:
    """The weights in a flat vector, each in its shape."""
    parts, begin = [], 0
    for shape in shapes(sizes):
        end = begin + int(np.prod(shape))
        parts.append(flat[begin:end].reshape(shape))
        begin = end
    return Weights(*parts)


def first_weights(sizes: Sizes, rng: np.random.Generator) -> Floats:
    """Weights as PyTorch would draw them: normal embeddings, everything else uniform."""
    flat = np.empty(count(sizes), dtype=np.float32)
    drawn = views(flat, sizes)
    for name, part in drawn._asdict().items():
        if name == "embedding":
            part[:] = rng.standard_normal(part.shape)
        else:
            bound = 1 / np.sqrt(sizes.features if name.startswith("state") else sizes.hidden)
            part[:] = rng.uniform(-bound, bound, part.shape)
    return flat


@compiled
def exponential(x: Floats, scratch: Floats, n: Place) -> None:
    """x[:n] becomes exp(x[:n]), to single precision: a power of two times a short series."""
    bits = scratch.view(np.int32)
    for b in range(n):
        value = min(max(x[b], F(-87.0)), F(88.0))
        # Adding 1.5 * 2^23 rounds to a whole number, which then is in the lowest bits.
        whole = value * F(1.4426950408889634) + F(12582912.0)
        scratch[b] = whole
        whole = whole - F(12582912.0)
        r = value - whole * F(0.693359375) + whole * F(2.12194440e-4)  # ln 2, in two parts
        series = F(1 / 120) + r * (F(1 / 720) + r * F(1 / 5040))
        series = F(1 / 2) + r * (F(1 / 6) + r * (F(1 / 24) + r * series))
        x[b] = F(1.0) + r * (F(1.0) + r * series)
    for b in range(n):
        bits[b] = (bits[b] + 127) << 23
    for b in range(n):
        x[b] *= scratch[b]


@compiled_freely
def _logistic_of_negative(x: Floats, scratch: Floats, n: Place) -> None:
    """x[:n] becomes 1 / (1 + exp(x[:n]))."""
    exponential(x, scratch, n)
    for b in range(n):
        x[b] = F(1.0) / (F(1.0) + x[b])


@compiled_freely
def _affine(
    w: Floats, x: Floats, at: Place, bias: Floats, out: Floats, out_at: Place, n: Place
) -> None:
    """out = w x + bias along n lanes, which begin at ``at`` in x and at ``out_at`` in out."""
    rows, columns = w.shape
    for i in range(rows):
        for b in range(n):
            out[i, out_at + b] = bias[i]
        for j in range(0, columns - 3, 4):
            w0, w1, w2, w3 = w[i, j], w[i, j + 1], w[i, j + 2], w[i, j + 3]
            for b in range(n):
                out[i, out_at + b] += (
                    w0 * x[j, at + b]
                    + w1 * x[j + 1, at + b]
                    + w2 * x[j + 2, at + b]
                    + w3 * x[j + 3, at + b]
                )
        for j in range(columns - columns % 4, columns):
            w0 = w[i, j]
            for b in range(n):
                out[i, out_at + b] += w0 * x[j, at + b]


@compiled_freely
def _add_transposed(w: Floats, y: Floats, at: Place, out: Floats, n: Place) -> None:
    """out += w' y along n lanes, which begin at ``at`` in y."""
    rows, columns = w.shape
    for j in range(columns):
        for i in range(0, rows - 3, 4):
            w0, w1, w2, w3 = w[i, j], w[i + 1, j], w[i + 2, j], w[i + 3, j]
            for b in range(n):
                out[j, b] += (
                    w0 * y[i, at + b]
                    + w1 * y[i + 1, at + b]
                    + w2 * y[i + 2, at + b]
                    + w3 * y[i + 3, at + b]
                )
        for i in range(rows - rows % 4, rows):
            w0 = w[i, j]
            for b in range(n):
                out[j, b] += w0 * y[i, at + b]


@compiled_freely
def _outer(y: Floats, x: Floats, n: Place, dw: Floats, dbias: Floats) -> None:
    """The gradient of an affine map's weights: y x' and the sum of y, over n lanes."""
    columns = x.shape[0]
    for i in range(y.shape[0]):
        sum0 = F(0.0)
        for b in range(n):
            sum0 += y[i, b]
        dbias[i] = sum0
        for j in range(0, columns - 1, 2):
            sum0, sum1 = F(0.0), F(0.0)
            for b in range(n):
                sum0 += y[i, b] * x[j, b]
                sum1 += y[i, b] * x[j + 1, b]
            dw[i, j], dw[i, j + 1] = sum0, sum1
        if columns % 2:
            sum0 = F(0.0)
            for b in range(n):
                sum0 += y[i, b] * x[columns - 1, b]
            dw[i, columns - 1] = sum0


@compiled_freely
def _layer_forward(
    given: Floats,
    w: Floats,
    bias: Floats,
    start: Floats,
    begins: Places,
    lanes: Places,
    kept: Floats,
) -> None:
    """One layer through all steps, from what is given to its gates from below."""
    hidden, width = w.shape[1], lanes[0]
    recurrent = np.empty((3 * hidden, width), dtype=np.float32)
    gates = np.ones((2 * hidden, width), dtype=np.float32)
    flat, scratch = gates.reshape(-1), np.empty(2 * hidden * width, dtype=np.float32)
    state = start.copy()
    for step in range(len(lanes)):
        n, at = lanes[step], begins[step]
        _affine(w, state, U(0), bias, recurrent, U(0), n)
        for i in range(2 * hidden):
            for b in range(n):
                gates[i, b] = -(given[i, at + b] + recurrent[i, b])
        _logistic_of_negative(flat, scratch, U(2 * hidden) * width)
        for i in range(hidden):
            for b in range(n):
                kept[BEFORE, i, at + b] = state[i, b]
            for b in range(n):
                kept[RESET, i, at + b] = gates[i, b]
            for b in range(n):
                kept[UPDATE, i, at + b] = gates[hidden + i, b]
            for b in range(n):
                kept[RECALLED, i, at + b] = recurrent[2 * hidden + i, b]
            for b in range(n):  # tanh(x) = 2 / (1 + exp(-2 x)) - 1
                gates[i, b] = F(-2.0) * (
                    given[2 * hidden + i, at + b] + gates[i, b] * recurrent[2 * hidden + i, b]
                )
        _logistic_of_negative(flat, scratch, U(hidden) * width)
        for i in range(hidden):
            for b in range(n):
                candidate = F(2.0) * gates[i, b] - F(1.0)
                gates[i, b] = candidate
                state[i, b] = candidate + gates[hidden + i, b] * (state[i, b] - candidate)
            for b in range(n):
                kept[CANDIDATE, i, at + b] = gates[i, b]
            for b in range(n):
                kept[AFTER, i, at + b] = state[i, b]


@compiled_freely
def _layer_backward(
    dstate: Floats,
    w: Floats,
    kept: Floats,
    begins: Places,
    lanes: Places,
    dgiven: Floats,
    drecurrent: Floats,
    dstart: Floats,
) -> None:
    """Back through all steps of a layer: gradients at its gates and at its first state."""
    hidden = w.shape[1]
    dstart[:] = F(0.0)
    for step in range(len(lanes) - 1, -1, -1):
        n, at = lanes[step], begins[step]
        for i in range(hidden):
            for b in range(n):
                gate, candidate = kept[UPDATE, i, at + b], kept[CANDIDATE, i, at + b]
                reset = kept[RESET, i, at + b]
                d = dstate[i, at + b] + dstart[i, b]
                dcandidate = d * (F(1.0) - gate) * (F(1.0) - candidate * candidate)
                dupdate = d * (kept[BEFORE, i, at + b] - candidate) * gate * (F(1.0) - gate)
                dreset = dcandidate * kept[RECALLED, i, at + b] * reset * (F(1.0) - reset)
                dgiven[i, at + b] = dreset
                dgiven[hidden + i, at + b] = dupdate
                dgiven[2 * hidden + i, at + b] = dcandidate
                drecurrent[i, at + b] = dreset
                drecurrent[hidden + i, at + b] = dupdate
                drecurrent[2 * hidden + i, at + b] = dcandidate * reset
                dstart[i, b] = d * gate
        _add_transposed(w, drecurrent, at, dstart, n)


@compiled_freely
def _forward(
    weights: Weights, features: Floats, read: Indices, begins: Places, lanes: Places
) -> tuple[Floats, Floats]:
    """What is kept of every layer, and the logits of the next word after every word read."""
    layers, gates, hidden = weights.from_before.shape
    vocabulary, total = weights.embedding.shape[0], U(len(read))
    start = np.empty((layers * hidden, lanes[0]), dtype=np.float32)
    _affine(weights.state, features, U(0), weights.state_bias, start, U(0), lanes[0])
    kept = np.empty((layers, KEPT, hidden, total), dtype=np.float32)
    given = np.empty((gates, total), dtype=np.float32)
    # What a word gives to the first layer's gates is worked out once for each word.
    of_word = np.empty((gates, vocabulary), dtype=np.float32)
    words = weights.embedding.T.copy()
    bias = weights.from_below_bias
    _affine(weights.from_word, words, U(0), bias[0], of_word, U(0), U(vocabulary))
    for i in range(gates):
        for b in range(total):
            given[i, b] = of_word[i, read[b]]
    for layer in range(layers):
        if layer > 0:
            below = kept[layer - 1, AFTER]
            _affine(weights.from_below[layer - 1], below, U(0), bias[layer], given, U(0), total)
        first = start[layer * hidden : (layer + 1) * hidden]
        w, b_ = weights.from_before[layer], weights.from_before_bias[layer]
        _layer_forward(given, w, b_, first, begins, lanes, kept[layer])
    logits = np.empty((vocabulary, total), dtype=np.float32)
    top = kept[layers - 1, AFTER]
    _affine(weights.word, top, U(0), weights.word_bias, logits, U(0), total)
    return kept, logits


@compiled_freely
def _log_softmax_parts(logits: Floats) -> tuple[Floats, Floats]:
    """Exponentiate the logits less their highest, in place; returns the latter and the sums."""
    vocabulary, total = logits.shape
    highest, scratch = logits[0].copy(), np.empty(total, dtype=np.float32)
    sums = np.zeros(total, dtype=np.float32)
    for v in range(1, vocabulary):
        for b in range(total):
            highest[b] = max(highest[b], logits[v, b])
    for v in range(vocabulary):
        row = logits[v]
        for b in range(total):
            row[b] -= highest[b]
        exponential(row, scratch, total)
        for b in range(total):
            sums[b] += row[b]
    return highest, sums


@compiled_freely
def gradient(
    weights: Weights,
    out: Weights,
    features: Floats,
    read: Indices,
    said: Indices,
    begins: Places,
    lanes: Places,
) -> float:
    """The mean over the batch of -log P(sentence | features), and its gradient.

    Parameters
    ----------
    weights, out : Weights
        Where the network stands; where the gradient is written.
    features : array of shape (features, lanes)
        g of each sentence of the batch, which are sorted by length, the longest first.
    read, said : array
        The word before each place and the word at it, step by step, the lanes of a step
        side by side.
    begins, lanes : array
        For every step, where it begins in ``read`` and how many sentences still go on.
    """
    layers, gates, hidden = weights.from_before.shape
    vocabulary, total, width = weights.embedding.shape[0], U(len(read)), lanes[0]
    share = F(1.0) / F(width)
    kept, logits = _forward(weights, features, read, begins, lanes)
    chosen = np.empty(total, dtype=np.float32)
    for b in range(total):
        chosen[b] = logits[said[b], b]
    highest, sums = _log_softmax_parts(logits)
    loss = 0.0
    for b in range(total):
        loss += np.log(sums[b]) + highest[b] - chosen[b]
    for v in range(vocabulary):  # from here on, the gradient at the logits
        for b in range(total):
            logits[v, b] *= share / sums[b]
    for b in range(total):
        logits[said[b], b] -= share
    _outer(logits, kept[layers - 1, AFTER], total, out.word, out.word_bias)
    dstate = np.zeros((hidden, total), dtype=np.float32)
    _add_transposed(weights.word, logits, U(0), dstate, total)
    dgiven = np.empty((gates, total), dtype=np.float32)
    drecurrent = np.empty((gates, total), dtype=np.float32)
    dstart = np.empty((layers * hidden, width), dtype=np.float32)
    for layer in range(layers - 1, -1, -1):
        w, first = weights.from_before[layer], dstart[layer * hidden : (layer + 1) * hidden]
        _layer_backward(dstate, w, kept[layer], begins, lanes, dgiven, drecurrent, first)
        dw, dbias = out.from_before[layer], out.from_before_bias[layer]
        _outer(drecurrent, kept[layer, BEFORE], total, dw, dbias)
        if layer > 0:
            dw, dbias = out.from_below[layer - 1], out.from_below_bias[layer]
            _outer(dgiven, kept[layer - 1, AFTER], total, dw, dbias)
            dstate[:] = F(0.0)
            _add_transposed(weights.from_below[layer - 1], dgiven, U(0), dstate, total)
    of_word = np.zeros((gates, vocabulary), dtype=np.float32)
    for i in range(gates):
        for b in range(total):
            of_word[i, read[b]] += dgiven[i, b]
    words = weights.embedding.T.copy()
    _outer(of_word, words, U(vocabulary), out.from_word, out.from_below_bias[0])
    dwords = np.zeros(words.shape, dtype=np.float32)
    _add_transposed(weights.from_word, of_word, U(0), dwords, U(vocabulary))
    out.embedding[:] = dwords.T
    _outer(dstart, features, width, out.state, out.state_bias)
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
        said = sentence[step] if step < len(sentence) else END
        begin, end = step * width, (step + 1) * width
        chosen[begin:end] = logits[said, begin:end]
    highest, sums = _log_softmax_parts(logits)
    result = np.zeros(width, dtype=np.float32)
    for step in range(steps):
        for y in range(width):
            place = step * width + y
            result[y] += chosen[place] - highest[place] - np.log(sums[place])
    return result


@compiled
def next_word(weights: Weights, features: Floats, begun: Indices) -> Floats:
    """The probabilities of the next word after those of a sentence that was begun."""
    steps = len(begun) + 1
    read = np.full(steps, BEGIN, dtype=np.int64)
    read[1:] = begun
    begins, lanes = np.arange(steps).astype(np.uint64), np.ones(steps, dtype=np.uint64)
    _, logits = _forward(weights, features, read, begins, lanes)
    last = logits[:, -1:].copy()
    _, sums = _log_softmax_parts(last)
    chances: Floats = last[:, 0] / sums[0]
    return chances
