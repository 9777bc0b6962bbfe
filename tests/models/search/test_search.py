"""Both searches find what the plain formula finds."""

from __future__ import annotations

import numpy as np
import pytest

from tellback import play
from tellback.agents import LORIL
from tellback.agents.agent import ModelAgent
from tellback.models import Ridge, quadratic_forms, ridge, threads
from tellback.models import ellipsoid as ellipsoids
from tellback.models.search import clusters
from tellback.models.search.pruned import Pruned
from tellback.models.search.scan import scan
from tellback.responses import Listed
from tellback.roles import Choice, Facts, Task
from tellback.worlds import Synthetic

pytestmark = pytest.mark.first

DIM, INSTRUCTIONS = 6, 3
RNG = np.random.default_rng(3)
CENTRES = RNG.standard_normal((40, DIM))
FEATURES = (CENTRES[RNG.integers(40, size=12000)] + 0.1 * RNG.standard_normal((12000, DIM))) / 4
MANY = Listed(FEATURES)


@pytest.fixture(autouse=True)
def small_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small clusters, so that there are some to be skipped."""
    assert FEATURES.size >= ellipsoids.LAZY, "these are too few for a scan of tiles"
    monkeypatch.setattr(clusters, "LARGEST", 300)
    monkeypatch.setitem(ridge._INDEXES, "pruned", (0, Pruned))


def built(search: str, ties: str = "first") -> ModelAgent:
    facts = Facts(DIM, INSTRUCTIONS, fixed_responses=True)
    spec = LORIL(k=0.3, lam=0.5, model=Ridge(lam=0.5, search=search), ties=ties)
    return spec.build(facts, np.random.default_rng(0))


def taught(agent: ModelAgent, responses: Listed, rounds: int = 150) -> list[Choice]:
    rng, words = np.random.default_rng(1), np.random.default_rng(2)
    choices = []
    for x in words.integers(INSTRUCTIONS, size=rounds).tolist():
        task = Task(None, x, responses)
        choices.append(agent.respond(task, rng))
        agent.learn(task, choices[-1], int(words.integers(INSTRUCTIONS)))
    return choices


def test_many_responses_get_the_same_bits_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    late = taught(built("scan"), MANY)
    for module in ("tellback.models.ellipsoid", "tellback.models.ridge"):
        monkeypatch.setattr(f"{module}.LAZY", 10**9)
    at_once = taught(built("scan"), MANY)
    assert [c.response for c in late] == [c.response for c in at_once]
    assert [(c.estimate, c.bonus) for c in late] == [(c.estimate, c.bonus) for c in at_once]


@pytest.mark.parametrize("ties", ["first", "random"])
def test_pruned_search_makes_the_choices_of_the_scan(ties: str) -> None:
    scanned, pruned = (taught(built(search, ties), MANY, 400) for search in ("scan", "pruned"))
    assert [c.response for c in scanned] == [c.response for c in pruned]
    assert [c.propensity for c in scanned] == [c.propensity for c in pruned]
    for name in ("estimate", "bonus"):
        one, other = ([getattr(c, name) for c in side] for side in (scanned, pruned))
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_no_result_depends_on_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for count in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", count)
        monkeypatch.setattr("tellback.models.search.tiles.TILES_A_THREAD", 1)
        found.append([(c.response, c.estimate, c.bonus) for c in taught(built("pruned"), MANY)])
    assert threads.threads() == 3
    assert found[0] == found[1]


@pytest.mark.parametrize("search", ["scan", "pruned"])
def test_a_description_that_is_taken_back_leaves_the_search_exact(search: str) -> None:
    agent, rng = built(search), np.random.default_rng(5)
    taught(agent, MANY, 60)
    extra = [(y % INSTRUCTIONS, Task(None, 0, MANY)) for y in range(10)]
    told = [(x, task, agent.respond(task, rng)) for x, task in extra]
    for x, task, choice in told:
        agent.learn(task, choice, x)
    for x, task, choice in told:
        agent.respond(task, rng)
        assert agent.withdraw(task, choice, x)
    for x in range(INSTRUCTIONS):
        choice = agent.respond(Task(None, x, MANY), rng)
        upper = agent.model.estimates(x, MANY) + agent.explorer.bonuses(Listed(FEATURES))
        assert upper[choice.response] >= upper.max() - 1e-9


@pytest.mark.parametrize("search", ["scan", "pruned"])
def test_a_restored_agent_chooses_as_before(search: str) -> None:
    agent, other = built(search), built(search)
    taught(agent, MANY, 60)
    taught(other, MANY, 5)
    other.restore(agent.state())
    one, two = taught(agent, MANY, 40), taught(other, MANY, 40)
    assert [c.response for c in one] == [c.response for c in two]


def test_features_in_single_precision_stay_so_and_give_the_same_choices() -> None:
    single = FEATURES.astype(np.float32)
    narrow, wide = Listed(single), Listed(single.astype(np.float64))
    assert narrow.columns.dtype == np.float32
    assert narrow.features(3).dtype == np.float64
    for search in ("scan", "pruned"):
        one, other = taught(built(search), narrow), taught(built(search), wide)
        assert [(c.response, c.estimate) for c in one] == [(c.response, c.estimate) for c in other]


def test_equal_responses_can_be_put_into_clusters() -> None:
    order, starts = clusters.clustered(np.ones((2, 1000)))
    assert sorted(order.tolist()) == list(range(1000))
    assert np.diff(starts).max() <= 300


@pytest.mark.parametrize("dim", [1, 5, 40, 64, 66, 131])
def test_fresh_responses_get_the_widths_of_the_formula(dim: int) -> None:
    sigma = ellipsoids.Ellipsoid(dim, 0.5)
    rng = np.random.default_rng(0)
    for g in rng.standard_normal((60, dim)):
        sigma.add(g)
    for count in (3, 80, 96, 333):
        g = rng.standard_normal((count, dim))
        expected = np.einsum("yi,ij,yj->y", g, sigma.inverse, g)
        np.testing.assert_allclose(sigma.squared_widths(Listed(g), keep=False), expected, 1e-11)


def test_threads_give_widths_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    root, columns = rng.standard_normal((66, 66)), rng.standard_normal((66, 333))
    matrix = root @ root.T
    alone = quadratic_forms.quadratic_forms(matrix, columns)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setattr(quadratic_forms, "THREADS_FROM", 0)
    together = quadratic_forms.quadratic_forms_in_threads(matrix, columns)
    np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize("dim", [1, 15, 16, 17, 40])
def test_a_scan_that_is_several_updates_behind_finds_what_the_formula_finds(dim: int) -> None:
    rng = np.random.default_rng(dim)
    features = rng.standard_normal((2**16 // dim + 5, dim)) / dim**0.5
    responses, sigma = Listed(features), ellipsoids.Ellipsoid(dim, 0.5)
    f = rng.standard_normal(dim)
    for updates in (0, 1, 2, 3, 4, 8):
        for g in rng.standard_normal((updates, dim)):
            sigma.add(g)
        found = scan(sigma, f, 0.3, responses, random=False)
        widths = np.einsum("yi,ij,yj->y", features, sigma.inverse, features)
        upper = features @ f + 0.3 * np.sqrt(widths)
        assert upper[found.best[0]] >= upper.max() - 1e-9
        np.testing.assert_allclose(found.estimates[0], features[found.best[0]] @ f, rtol=1e-9)
        np.testing.assert_allclose(found.squared_widths[0], widths[found.best[0]], rtol=1e-9)


def test_few_features_are_scanned_even_if_pruning_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(ridge._INDEXES, "pruned", (FEATURES.size + 1, Pruned))
    scanned, pruned = (taught(built(search), MANY, 20) for search in ("scan", "pruned"))
    assert [(c.response, c.bonus) for c in scanned] == [(c.response, c.bonus) for c in pruned]


def test_a_world_is_played_with_either_search() -> None:
    world = Synthetic(instructions=4, responses=30, rank=3)
    runs = [play(world, LORIL(model=Ridge(search=way)), 200, seed=1) for way in ("scan", "pruned")]
    np.testing.assert_array_equal(runs[0].responses, runs[1].responses)
