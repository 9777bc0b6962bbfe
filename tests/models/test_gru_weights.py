"""Weights of a GRU fill one vector, and start as in PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from tellback.models.gru_weights import Sizes, Weights, count, first_weights, shapes, views
from tests.support.gru_cases import PAPER, SINGLE, SIZES, parameters

torch = pytest.importorskip("torch")

from benchmarks.torch_sentence import TorchSentence, TorchSentenceModel  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")


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


@settings(max_examples=60, deadline=None)
@given(SIZES)
def test_the_parts_of_a_vector_of_weights_fill_it_without_overlap(sizes: Sizes) -> None:
    flat = np.arange(count(sizes), dtype=np.float32)
    parts = views(flat, sizes)
    assert [part.shape for part in parts] == shapes(sizes)
    np.testing.assert_array_equal(np.concatenate([part.ravel() for part in parts]), flat)
    assert all(np.shares_memory(part, flat) for part in parts if part.size)
