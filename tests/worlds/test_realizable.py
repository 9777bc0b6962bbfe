"""The truth is a member of a class that agents may know."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tellback.models import FiniteClass
from tellback.streams import Streams
from tellback.worlds import Realizable
from tests.support.oracles import hidden_f
from tests.support.theory_worlds import begun, listed, rewards_of

# The realizable world.


@pytest.mark.parametrize("class_seed", [0, 3])
def test_the_truth_is_a_member_of_the_class_that_agents_may_know(class_seed: int) -> None:
    spec = Realizable(5, 7, 3, temperature=0.5, size=10, class_seed=class_seed)
    members = FiniteClass(size=10, seed=class_seed, temperature=0.5).members(5, 3)
    which = []
    for seed in range(40):
        simulation = spec.build(Streams(seed).init("world"))
        f = hidden_f(simulation)
        same = [m for m in range(10) if np.array_equal(members[m], f)]
        assert len(same) == 1
        which += same
        table = listed(simulation).matrix @ members[same[0]].T
        np.testing.assert_allclose(rewards_of(simulation), table.T, rtol=1e-13)
    assert len(set(which)) > 5, "another seed is mostly another member"
    other = FiniteClass(size=10, seed=class_seed + 1, temperature=0.5).members(5, 3)
    assert not any(np.array_equal(f, member) for member in other)


def test_each_member_is_as_likely_to_be_the_truth() -> None:
    spec = Realizable(3, 2, 2, size=4)
    firsts = FiniteClass(size=4).members(3, 2)[:, 0, 0].tolist()
    drawn = [hidden_f(begun(spec, seed))[0, 0] for seed in range(400)]
    counts = [drawn.count(first) for first in firsts]
    assert sum(counts) == 400
    assert stats.chisquare(counts).pvalue > 1e-3


def test_other_seeds_have_other_features() -> None:
    one, other = (listed(begun(Realizable(), seed)).matrix for seed in (0, 1))
    assert one.shape == (50, 4)
    assert not np.isin(one, other).any()
    np.testing.assert_allclose(one.sum(axis=1), 1, rtol=1e-12)
