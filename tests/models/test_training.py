"""Batches are drawn uniformly, and Adam is that of PyTorch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tellback.models.lanes import Floats
from tellback.models.training import adam_step, draw_batch, packed
from tellback.models.vectors import LANES
from tellback.models.words import BEGIN, END
from tests.support.gru_cases import SINGLE, Batch, Indices, laid_out

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("one_thread")

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
    for lane in range(batch.lanes[0]):
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
    # Nothing but these sentences, and zeros up to whole vectors.
    assert int(batch.lanes.sum()) == sum(length + 1 for length in lengths)
    assert len(batch.read) == len(batch.said) == sum(-(-batch.lanes // LANES) * LANES)
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
