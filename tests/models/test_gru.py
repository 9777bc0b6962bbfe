"""The network, its gradient and its training, against PyTorch and against brute force."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tellback.models.gru import gradient, log_probabilities, next_word
from tellback.models.gru_weights import Sizes, Weights, first_weights, views
from tellback.models.lanes import Floats
from tellback.models.words import BEGIN, END
from tests.support.gru_cases import PAPER, SIZES, laid_out, parameters

torch = pytest.importorskip("torch")

from benchmarks.torch_sentence import TorchSentence, TorchSentenceModel  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")


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


LENGTHS = st.one_of(
    st.lists(st.integers(0, 12), min_size=1, max_size=40),
    st.builds(lambda length, width: [length] * width, st.integers(0, 12), st.integers(1, 40)),
)


CASES = st.builds(case, st.integers(0, 2**32), SIZES, LENGTHS, st.sampled_from([0.3, 1.0, 2.5]))
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
