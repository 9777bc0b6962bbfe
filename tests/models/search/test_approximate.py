"""The approximate search is near the best, says that it proves nothing, and needs its extra."""

from __future__ import annotations

import numpy as np
import pytest

from tellback import play
from tellback.agents import LORIL, Certified, SelfNormalized
from tellback.errors import TellbackError
from tellback.models import Ridge, ridge
from tellback.models import ellipsoid as ellipsoids
from tellback.models.ellipsoid import LAZY
from tellback.models.search.pruned import Pruned
from tellback.responses import Listed
from tellback.roles import Facts, Task
from tellback.worlds import Synthetic
from tests.models.search.test_search import FEATURES, INSTRUCTIONS, MANY, built, taught

SMALL = Synthetic(instructions=4, responses=6, rank=3)


def test_it_misses_little() -> None:
    agent, rng = built("approximate"), np.random.default_rng(1)
    words, same, lost = np.random.default_rng(2), 0, []
    for x in words.integers(INSTRUCTIONS, size=150).tolist():
        task = Task(None, x, MANY)
        choice = agent.respond(task, rng)
        upper = agent.model.estimates(x, MANY) + agent.explorer.bonuses(MANY)
        assert choice.estimate + choice.bonus == pytest.approx(upper[choice.response], rel=1e-9)
        lost.append(upper.max() - upper[choice.response])
        same += lost[-1] < 1e-9
        agent.learn(task, choice, int(words.integers(INSTRUCTIONS)))
    assert same >= 120
    assert max(lost) < 0.1


def test_a_restored_agent_chooses_as_before() -> None:
    agent, other = built("approximate"), built("approximate")
    taught(agent, MANY, 60)
    taught(other, MANY, 5)
    other.restore(agent.state())
    one, two = taught(agent, MANY, 40), taught(other, MANY, 40)
    assert [c.response for c in one] == [c.response for c in two]


def test_few_responses_are_searched_exactly() -> None:
    few = Listed(FEATURES[:200])
    assert few.columns.size < ellipsoids.LAZY
    scanned, other = (taught(built(search), few) for search in ("scan", "approximate"))
    assert [c.response for c in scanned] == [c.response for c in other]


def test_its_bounds_on_regret_are_not_called_proven() -> None:
    proven, not_proven = (
        play(SMALL, LORIL(k=SelfNormalized(), model=Ridge(search=search)), 20, seed=1)
        for search in ("scan", "approximate")
    )
    assert proven.proof is not None
    assert not_proven.proof is None
    assert "search is approximate" in not_proven.caveat


LARGE = Synthetic(instructions=4, responses=LAZY // 3 + 1, rank=3)


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pruned search has clusters in the large world."""
    monkeypatch.setitem(ridge._INDEXES, "pruned", (LAZY, Pruned))


@pytest.mark.usefixtures("clusters")
@pytest.mark.parametrize("search", ["pruned", "approximate"])
@pytest.mark.parametrize("world", [SMALL, LARGE], ids=["small", "large"])
def test_widths_of_all_responses_beside_it_are_proven_still(world: Synthetic, search: str) -> None:
    """The index of many responses is built in the run, and only chooses."""
    inner = LORIL(model=Ridge(search=search))
    run = play(world, Certified(inner, k=SelfNormalized(), lam=1.0), 20, seed=1)
    assert (run.agent.model._index is None) == (world is SMALL)  # type: ignore[attr-defined]
    assert run.proof is not None


@pytest.mark.usefixtures("clusters")
def test_what_the_pruned_search_keeps_is_why_its_own_bounds_are_not_called_proven() -> None:
    run = play(LARGE, LORIL(k=SelfNormalized(), model=Ridge(search="pruned")), 20, seed=1)
    assert run.proof is None
    assert "its search is pruned, and what that keeps of the clusters" in run.caveat


def test_without_faiss_the_command_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tellback.extras.find_spec", lambda name: None)
    with pytest.raises(TellbackError, match=r"needs faiss.*pip install .*\[faiss\]"):
        Ridge(search="approximate").build(Facts(3, 2), np.random.default_rng(0))
