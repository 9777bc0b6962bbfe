"""The network, its gradient and its training, against PyTorch and against brute force."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from tellback.models.gru import (
    Floats,
    Sizes,
    Weights,
    count,
    exponential,
    first_weights,
    gradient,
    log_probabilities,
    next_word,
    shapes,
    views,
)
from tellback.models.training import adam_step, draw_batch, packed
from tellback.models.words import BEGIN, END

torch = pytest.importorskip("torch")

from benchmarks.torch_sentence import TorchSentence, TorchSentenceModel  # noqa: E402

Indices = NDArray[np.int64]
SINGLE = float(np.finfo(np.float32).eps)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Tiny tensors: threads would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# The exponential.


def exp(values: Any) -> Floats:
    x = np.array(values, dtype=np.float32)
    exponential(x, np.empty_like(x), np.uint64(len(x)))
    return x


def assert_exponential(x: Floats) -> None:
    exact = np.exp(x.astype(np.float64))
    np.testing.assert_array_less(np.abs(exp(x) - exact), 3e-7 * exact)


def test_the_exponential_is_that_of_numpy_over_its_whole_range() -> None:
    assert_exponential(np.linspace(-87, 88, 400_001, dtype=np.float32))
    assert_exponential(np.linspace(-1e-3, 1e-3, 10_001, dtype=np.float32))
    # Where the power of two changes.
    halves = np.arange(-125, 127, dtype=np.float64) + 0.5
    near = (halves[:, None] * np.log(2) + np.linspace(-1e-5, 1e-5, 21)).ravel()
    assert_exponential(near.astype(np.float32))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-87, 88, width=32), min_size=1, max_size=9))
def test_the_exponential_of_any_numbers(values: list[float]) -> None:
    assert_exponential(np.array(values, dtype=np.float32))


def test_the_exponential_stays_at_its_ends_outside_its_range() -> None:
    low, high = exp([-87, 88])
    assert 0 < low < 2e-38
    assert 1e38 < high < np.inf
    beyond = [-87.5, -1e3, -3e38, -np.inf]
    np.testing.assert_array_equal(exp(beyond), np.full(4, low))
    np.testing.assert_array_equal(exp([-b + 1 for b in beyond]), np.full(4, high))


def test_the_exponential_of_what_is_no_number_is_none() -> None:
    np.testing.assert_array_equal(np.isnan(exp([0, np.nan, 1])), [False, True, False])


def test_the_exponential_is_taken_of_as_many_as_were_asked_for() -> None:
    x = np.zeros(7, dtype=np.float32)
    exponential(x, np.empty_like(x), np.uint64(3))
    np.testing.assert_array_equal(x, [1, 1, 1, 0, 0, 0, 0])


# Networks to try, and the same ones in PyTorch.


class Batch(NamedTuple):
    """What ``gradient`` wants, laid out by hand."""

    features: Floats
    read: Indices
    said: Indices
    begins: NDArray[np.uint64]
    lanes: NDArray[np.uint64]


def laid_out(features: Floats, sentences: list[list[int]]) -> Batch:
    """Sentences side by side, the longest first: all their first words, then all second ones."""
    order = sorted(range(len(sentences)), key=lambda i: -len(sentences[i]))
    lines = [[BEGIN, *sentences[i], END] for i in order]
    steps = [[line for line in lines if t < len(line)] for t in range(1, len(lines[0]))]
    lanes = [len(step) for step in steps]
    return Batch(
        np.ascontiguousarray(features[order].T),
        np.array([line[t] for t, step in enumerate(steps) for line in step], dtype=np.int64),
        np.array([line[t + 1] for t, step in enumerate(steps) for line in step], dtype=np.int64),
        np.cumsum([0, *lanes[:-1]]).astype(np.uint64),
        np.array(lanes, dtype=np.uint64),
    )


def oracle(weights: Weights, sizes: Sizes) -> TorchSentenceModel:
    """The network in PyTorch and double precision, with these weights."""
    spec = TorchSentence(
        hidden=sizes.hidden,
        embedding=sizes.embedding,
        layers=sizes.layers,
        vocabulary=sizes.vocabulary,
    )
    model: TorchSentenceModel = TorchSentenceModel(spec, sizes.features).double()
    model.take(weights)
    return model


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


class Case(NamedTuple):
    """A network and a batch."""

    sizes: Sizes
    flat: Floats
    features: Floats
    sentences: list[list[int]]

    @property
    def weights(self) -> Weights:
        return views(self.flat, self.sizes)


def case(seed: int, sizes: Sizes, lengths: list[int], scale: float = 1.0) -> Case:
    rng = np.random.default_rng(seed)
    words = [row for row in range(sizes.vocabulary) if row not in (BEGIN, END)]
    return Case(
        sizes,
        first_weights(sizes, rng) * np.float32(scale),
        rng.standard_normal((len(lengths), sizes.features)).astype(np.float32),
        [rng.choice(words, length).tolist() if words else [] for length in lengths],
    )


SIZES = st.builds(
    Sizes,
    vocabulary=st.integers(3, 40),
    embedding=st.integers(1, 11),
    hidden=st.integers(1, 13),
    layers=st.integers(1, 3),
    features=st.integers(1, 17),
)
LENGTHS = st.one_of(
    st.lists(st.integers(0, 12), min_size=1, max_size=40),
    st.builds(lambda length, width: [length] * width, st.integers(0, 12), st.integers(1, 40)),
)
CASES = st.builds(case, st.integers(0, 2**32), SIZES, LENGTHS, st.sampled_from([0.3, 1.0, 2.5]))

PAPER = Sizes(vocabulary=34, embedding=10, hidden=10, layers=2, features=16)
SMALLEST = Sizes(vocabulary=3, embedding=1, hidden=1, layers=1, features=1)


@settings(max_examples=120, deadline=None)
@given(CASES)
@example(case(0, PAPER, [8] * 32))
@example(case(1, PAPER, list(range(13)) * 3))
@example(case(2, SMALLEST, [0]))
@example(case(3, Sizes(3, 1, 1, 3, 1), [12, 0]))
def test_loss_and_gradient_are_those_of_autograd(one: Case) -> None:
    flat = np.full_like(one.flat, np.nan)  # every entry must be written
    loss = gradient(one.weights, views(flat, one.sizes), *laid_out(one.features, one.sentences))
    model = oracle(one.weights, one.sizes)
    features = torch.tensor(one.features, dtype=torch.float64)
    expected = -model.log_likelihoods(features, one.sentences).mean()
    expected.backward()
    assert loss == pytest.approx(float(expected.detach()), rel=1e-5, abs=1e-6)
    exact = parameters(model, one.sizes)
    largest = max(float(np.abs(part).max(initial=0)) for part in exact)
    for name, part, right in zip(exact._fields, views(flat, one.sizes), exact, strict=True):
        assert part.shape == right.shape, name
        np.testing.assert_allclose(part, right, rtol=0, atol=1e-5 * largest, err_msg=name)


@settings(max_examples=40, deadline=None)
@given(CASES, st.randoms(use_true_random=False))
def test_the_order_of_a_batch_does_not_matter(one: Case, random: Any) -> None:
    order = list(range(len(one.sentences)))
    random.shuffle(order)
    found = []
    for batch in (order, sorted(order)):
        flat = np.empty_like(one.flat)
        said = [one.sentences[i] for i in batch]
        loss = gradient(one.weights, views(flat, one.sizes), *laid_out(one.features[batch], said))
        found.append((loss, flat))
    (loss, flat), (other_loss, other_flat) = found
    assert loss == pytest.approx(other_loss, rel=1e-5)
    np.testing.assert_allclose(flat, other_flat, rtol=0, atol=1e-5 * np.abs(flat).max())


def test_the_gradient_changes_neither_weights_nor_batch() -> None:
    one = case(5, PAPER, [3, 7, 0, 7])
    batch = laid_out(one.features, one.sentences)
    before = [one.flat.copy(), *(part.copy() for part in batch)]
    gradient(one.weights, views(np.empty_like(one.flat), one.sizes), *batch)
    for part, old in zip([one.flat, *batch], before, strict=True):
        np.testing.assert_array_equal(part, old)


# Probabilities.


@settings(max_examples=80, deadline=None)
@given(CASES)
@example(case(0, PAPER, [9] * 1000))
def test_log_probabilities_are_those_of_pytorch_for_every_candidate(one: Case) -> None:
    sentence = one.sentences[0]
    found = log_probabilities(
        one.weights, np.ascontiguousarray(one.features.T), np.array(sentence, dtype=np.int64)
    )
    with torch.no_grad():
        exact = oracle(one.weights, one.sizes).log_likelihoods(
            torch.tensor(one.features, dtype=torch.float64), [sentence] * len(one.features)
        )
    assert found.shape == (len(one.features),)
    np.testing.assert_allclose(found, exact.numpy(), rtol=2e-6, atol=2e-6)


def chances(one: Case, begun: list[int]) -> Floats:
    column = np.ascontiguousarray(one.features[:1].T)
    return next_word(one.weights, column, np.array(begun, dtype=np.int64))


@settings(max_examples=60, deadline=None)
@given(CASES)
def test_a_sentence_is_as_probable_as_its_words_one_after_the_other(one: Case) -> None:
    sentence = one.sentences[0]
    total = 0.0
    for place, word in enumerate([*sentence, END]):
        after = chances(one, sentence[:place])
        assert after.shape == (one.sizes.vocabulary,)
        assert (after >= 0).all()
        assert float(after.sum(dtype=np.float64)) == pytest.approx(1, abs=1e-6)
        total += float(np.log(after[word]))
    column = np.ascontiguousarray(one.features[:1].T)
    (whole,) = log_probabilities(one.weights, column, np.array(sentence, dtype=np.int64))
    assert whole == pytest.approx(total, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_all_sentences_and_not_having_ended_have_probability_one(layers: int, scale: float) -> None:
    sizes = Sizes(vocabulary=4, embedding=3, hidden=5, layers=layers, features=2)
    one = case(7, sizes, [0, 0, 0], scale)
    columns = np.ascontiguousarray(one.features.T)
    going_on = [row for row in range(sizes.vocabulary) if row != END]
    longest = 4

    def probability(rows: tuple[int, ...]) -> NDArray[np.float64]:
        found = log_probabilities(one.weights, columns, np.array(rows, dtype=np.int64))
        return np.exp(found.astype(np.float64))

    ended = sum(
        probability(rows)
        for length in range(longest + 1)
        for rows in product(going_on, repeat=length)
    )
    # log P(rows) ends the sentence; without that last factor it is P(it begins so).
    not_ended = np.zeros(3)
    for y in range(3):
        alone = one._replace(features=one.features[y : y + 1])
        for rows in product(going_on, repeat=longest + 1):
            ending = float(chances(alone, list(rows))[END])
            not_ended[y] += probability(rows)[y] / ending
    assert (not_ended > 0.01).all()
    np.testing.assert_allclose(ended + not_ended, 1, atol=2e-6)


# First weights.


@settings(max_examples=60, deadline=None)
@given(SIZES)
def test_the_parts_of_a_vector_of_weights_fill_it_without_overlap(sizes: Sizes) -> None:
    flat = np.arange(count(sizes), dtype=np.float32)
    parts = views(flat, sizes)
    assert [part.shape for part in parts] == shapes(sizes)
    np.testing.assert_array_equal(np.concatenate([part.ravel() for part in parts]), flat)
    assert all(np.shares_memory(part, flat) for part in parts if part.size)


def test_first_weights_have_pytorchs_bounds() -> None:
    sizes = Sizes(vocabulary=400, embedding=20, hidden=25, layers=3, features=9)
    drawn = views(first_weights(sizes, np.random.default_rng(0)), sizes)
    for name, part in drawn._asdict().items():
        if name != "embedding":
            bound = 1 / 3 if name.startswith("state") else 1 / 5
            assert np.abs(part).max() <= bound * (1 + SINGLE), name
            assert np.abs(part).max() > 0.9 * bound, name


@pytest.mark.parametrize("part", Weights._fields)
def test_first_weights_are_spread_as_pytorch_spreads_them(part: str) -> None:
    sizes = Sizes(vocabulary=300, embedding=12, hidden=40, layers=3, features=5)
    torch.manual_seed(3)
    spec = TorchSentence(hidden=40, embedding=12, layers=3, vocabulary=300)
    theirs = getattr(parameters(TorchSentenceModel(spec, 5), sizes, of="data"), part)
    ours = getattr(views(first_weights(sizes, np.random.default_rng(1)), sizes), part)
    assert ours.shape == theirs.shape
    assert stats.ks_2samp(ours.ravel(), theirs.ravel()).pvalue > 1e-4


def test_first_weights_follow_from_the_generator() -> None:
    one, same, other = (first_weights(PAPER, np.random.default_rng(s)) for s in (1, 1, 2))
    assert one.dtype == np.float32
    np.testing.assert_array_equal(one, same)
    assert not np.isclose(one, other).any()


# Batches.

KEYS = st.integers(0, 2**63 - 1)


def places(key: int, step: int, batch: int, number: int) -> Indices:
    return draw_batch(key, step, batch, np.arange(number, dtype=np.int64))


@pytest.mark.parametrize("number", [2, 7, 10, 64, 1000])
@pytest.mark.parametrize("key", [0, 1, 123456789, 2**63 - 1])
def test_batches_are_drawn_uniformly(number: int, key: int) -> None:
    drawn = np.concatenate([places(key, step, 32, number) for step in range(1250)])
    often = np.bincount(drawn, minlength=number)
    assert len(often) == number
    assert stats.chisquare(often).pvalue > 1e-4


@pytest.mark.parametrize("apart", [1, 2, 32])
def test_draws_that_follow_each_other_are_independent(apart: int) -> None:
    # Within a batch, and (32 apart) at the same place of one batch and the next.
    drawn = np.concatenate([places(5, step, 32, 6) for step in range(1500)])
    pairs = np.bincount(6 * drawn[:-apart] + drawn[apart:], minlength=36)
    assert stats.chisquare(pairs).pvalue > 1e-4


def test_the_draws_of_one_key_say_nothing_about_those_of_the_next() -> None:
    one, other = (
        np.concatenate([places(key, step, 32, 6) for step in range(1500)]) for key in (41, 42)
    )
    assert stats.chisquare(np.bincount(6 * one + other, minlength=36)).pvalue > 1e-4


@settings(max_examples=100, deadline=None)
@given(KEYS, st.integers(0, 10**7), st.integers(1, 50), st.lists(st.integers(0, 99), min_size=1))
def test_a_batch_depends_on_key_and_step_only(
    key: int, step: int, batch: int, described: list[int]
) -> None:
    history = np.array(described, dtype=np.int64)
    drawn = draw_batch(key, step, batch, history)
    draw_batch(key ^ 1, step + 1, batch, history)  # whatever is drawn in between
    np.testing.assert_array_equal(draw_batch(key, step, batch, history), drawn)
    # What is drawn are places in the history, whatever it says there.
    np.testing.assert_array_equal(drawn, history[places(key, step, batch, len(history))])


class History(NamedTuple):
    """Counts as ``DescriptionLog`` keeps them: features and sentences, these padded with 0."""

    features: Floats
    of: Indices
    sentences: Indices
    lengths: Indices

    def sentence(self, entry: int) -> list[int]:
        which = self.of[entry]
        return [int(row) for row in self.sentences[which, : self.lengths[which]]]


@st.composite
def histories(draw: st.DrawFn) -> History:
    said = draw(st.lists(st.lists(st.integers(2, 30), max_size=12), min_size=1, max_size=6))
    width = max(1, *map(len, said)) + draw(st.integers(0, 2))
    entries = draw(st.lists(st.integers(0, len(said) - 1), min_size=1, max_size=10))
    dim = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return History(
        rng.standard_normal((len(entries), dim)).astype(np.float32),
        np.array(entries, dtype=np.int64),
        np.array([rows + [0] * (width - len(rows)) for rows in said], dtype=np.int64),
        np.array([len(rows) for rows in said], dtype=np.int64),
    )


def unpacked(batch: Batch) -> list[tuple[bytes, tuple[int, ...]]]:
    """The sentences of a batch with their features, read lane by lane."""
    found = []
    for lane in range(batch.features.shape[1]):
        steps = [step for step, number in enumerate(batch.lanes) if lane < number]
        assert steps == list(range(len(steps))), "a sentence that has ended does not go on"
        at = [int(batch.begins[step]) + lane for step in steps]
        read, said = batch.read[at].tolist(), batch.said[at].tolist()
        assert read[0] == BEGIN
        assert said[-1] == END
        assert read[1:] == said[:-1]
        found.append((batch.features[:, lane].tobytes(), tuple(said[:-1])))
    return found


@settings(max_examples=200, deadline=None)
@given(histories(), st.data())
def test_every_sentence_of_a_batch_is_in_a_lane_of_its_own(history: History, data: Any) -> None:
    entries = st.integers(0, len(history.of) - 1)
    drawn = data.draw(st.lists(entries, min_size=1, max_size=40))
    batch = Batch(*packed(np.array(drawn, dtype=np.int64), *history))
    expected = [
        (history.features[entry].tobytes(), tuple(history.sentence(entry))) for entry in drawn
    ]
    found = unpacked(batch)
    assert sorted(found) == sorted(expected)
    lengths = [len(said) for _, said in found]
    assert lengths == sorted(lengths, reverse=True)
    # Nothing but these sentences: every place belongs to a lane of a step.
    assert len(batch.read) == len(batch.said) == sum(length + 1 for length in lengths)
    assert int(batch.lanes.sum()) == len(batch.read)
    # The very arrays that the gradient was tried with above.
    by_hand = laid_out(history.features[drawn], [history.sentence(entry) for entry in drawn])
    for name, right in by_hand._asdict().items():
        part = getattr(batch, name)
        assert part.dtype == right.dtype, name
        np.testing.assert_array_equal(part, right, err_msg=name)


# Adam.


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 30),
    st.integers(1, 12),
    st.sampled_from([1e-4, 1e-3, 0.03]),
    st.integers(0, 2**32),
)
def test_adam_is_that_of_pytorch(number: int, steps: int, rate: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    begin = rng.standard_normal(number)
    # From tiny to large, and some that are exactly zero.
    gradients = rng.standard_normal((steps, number)) * 10.0 ** rng.integers(-6, 3, number)
    gradients[:, rng.random(number) < 0.2] = 0
    gradients = gradients.astype(np.float32).astype(np.float64)

    parameter = torch.nn.Parameter(torch.tensor(begin))
    optimizer = torch.optim.Adam([parameter], lr=rate)
    flat = begin.astype(np.float32)
    moments = np.zeros_like(flat), np.zeros_like(flat)
    for step in range(steps):
        parameter.grad = torch.tensor(gradients[step])
        optimizer.step()
        adam_step(flat, gradients[step].astype(np.float32), *moments, step + 1, rate)
    # As far as a step goes, and as far as single precision can tell weights apart.
    moved = steps * (1e-5 * rate + SINGLE * np.abs(begin).max())
    np.testing.assert_allclose(flat, parameter.detach().numpy(), rtol=0, atol=moved)
    state = optimizer.state[parameter]
    for ours, theirs in zip(moments, ("exp_avg", "exp_avg_sq"), strict=True):
        largest = np.abs(gradients).max(axis=0) ** (2 if theirs == "exp_avg_sq" else 1)
        exact = state[theirs].numpy()
        np.testing.assert_array_less(np.abs(ours - exact), 3e-6 * largest + 1e-44)


def test_adam_late_in_training_goes_by_its_moments_alone() -> None:
    """After very many steps nothing is left of the corrections for a beginning."""
    flat, ones = np.zeros(3, dtype=np.float32), np.ones(3, dtype=np.float32)
    first, second = (np.array(m, dtype=np.float32) for m in ([1, -2, 0], [4, 4, 1]))
    adam_step(flat, ones, first.copy(), second.copy(), 10**6, 0.1)
    m, v = 0.9 * first + 0.1, 0.999 * second + 0.001
    np.testing.assert_allclose(flat, -0.1 * m / (np.sqrt(v) + 1e-8), rtol=1e-6)
