"""The recommended agent, the bonus in deviations, and the league that they play in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import defaults
from tellback import Facts, Listed, Task, play
from tellback.agents import Deviations, Greedy, LearnedLORIL, Proposing, Uniform, recommended
from tellback.agents.deviations import DeviationBonus
from tellback.encoders import Autoencoder, Thumbnail
from tellback.errors import SettingError
from tellback.lab import Store, run_studies
from tellback.league.agents import PAPER, RECOMMENDED
from tellback.league.plan import league_worlds
from tellback.models import Keywords, Mixture, Network, Ridge
from tellback.paper.grids import KS, LAMBDAS
from tellback.streams import Streams
from tellback.worlds import House, Images, OneHotFeatures, Paraphrases, RawFeatures, Synthetic
from tests.support.studies import Inline

SMALL = Synthetic(instructions=6, responses=8, rank=3)


@pytest.mark.parametrize(
    ("world", "kind", "model"),
    [
        (SMALL, Deviations, None),
        (SMALL.with_settings({"contexts": "fresh"}), Deviations, None),
        (Images(encoder=Thumbnail(2)), Greedy, Keywords),
        (Paraphrases(encoder=Thumbnail(2)), Greedy, Keywords),
        (House(), Proposing, None),
        (OneHotFeatures(SMALL), LearnedLORIL, None),
        (RawFeatures(SMALL.with_settings({"contexts": "fresh"})), LearnedLORIL, Network),
    ],
    ids=["synthetic", "fresh", "images", "free wordings", "house", "withheld", "raw"],
)
def test_what_an_agent_sees_decides_what_is_recommended(world: Any, kind: type, model: Any) -> None:
    agent = recommended(world)
    assert type(agent) is kind
    if model is not None:
        assert isinstance(getattr(agent, "model", None), model)
    assert len(play(world, agent, 20, seed=1)) == 20


def test_a_task_and_a_live_world_will_do_as_well() -> None:
    live = SMALL.build(Streams(0).init("world")).world
    task = live.task(1, (), np.random.default_rng(0))
    assert recommended(task) == recommended(live) == recommended(SMALL) == Deviations()
    assert recommended(Task("here", "go left", Listed(np.eye(2)))) == Greedy(model=Keywords())


def test_no_encoder_is_trained_to_recommend_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    def trained(*args: Any) -> None:
        raise AssertionError("an encoder was trained")

    monkeypatch.setattr(Autoencoder, "build", trained)
    monkeypatch.setattr(Autoencoder, "prepare", trained)
    for world in (Images(), Images("jitter"), Paraphrases()):
        assert recommended(world) == Greedy(model=Keywords.for_features(world.facts.dim))


@pytest.mark.parametrize("thing", [None, 3, "synthetic", Synthetic])
def test_nothing_is_recommended_for_what_is_no_world(thing: Any) -> None:
    with pytest.raises(SettingError, match="a world or a task"):
        recommended(thing)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), instructions=st.integers(2, 50), k=st.floats(0.01, 5))
def test_the_bonus_is_k_deviations_of_least_squares(seed: int, instructions: int, k: float) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(4), size=7)
    facts = Facts(4, instructions, fixed_responses=True)
    agent = Deviations(k=k, spread=5.0, model=Ridge(lam=1.0)).build(facts, rng)
    task = Task(0, 0, Listed(matrix))
    sigma = instructions / 5.0 * np.eye(4)
    for _ in range(12):
        choice = agent.respond(task, rng)
        estimates = agent.model.estimates(0, task.responses)
        width = np.einsum("yi,ij,yj->y", matrix, np.linalg.inv(sigma), matrix)
        bonus = k * np.sqrt((np.maximum(estimates, 0) + 1 / instructions) * width)
        y = choice.response
        assert choice.bonus == pytest.approx(bonus[y], rel=1e-9)
        assert estimates[y] + bonus[y] == pytest.approx((estimates + bonus).max(), rel=1e-9)
        agent.learn(task, choice, int(rng.integers(instructions)))
        sigma += np.outer(matrix[y], matrix[y])


def test_where_responses_change_fewer_deviations_are_added() -> None:
    fixed = Deviations().resolved(Facts(3, 5, fixed_responses=True))
    changing = Deviations().resolved(Facts(3, 5, fixed_responses=False))
    assert fixed.k is not None
    assert changing.k is not None
    assert fixed.k > changing.k
    assert Deviations(k=3.0).resolved(Facts(3, 5)).k == 3.0


def test_deviations_use_a_smoothed_mixture_unless_a_model_is_named() -> None:
    resolved = Deviations().resolved(SMALL.facts)
    assert isinstance(resolved.model, Mixture)
    assert resolved.model.smoothing > 0
    assert Deviations(model=Mixture()).resolved(SMALL.facts).model == Mixture()


def test_deviations_need_a_table() -> None:
    with pytest.raises(SettingError, match="table of instructions"):
        Deviations(model=Keywords()).build(Facts(3, None), np.random.default_rng(0))


def test_without_an_instruction_no_bonus_is_known() -> None:
    explorer = DeviationBonus(Facts(3, 5), 5, 1.0, 10.0, "random")
    assert np.isnan(explorer.bonuses(Listed(np.eye(3)))).all()


def test_deviations_have_far_less_regret_than_chance() -> None:
    world = Synthetic(instructions=10, responses=50, rank=5)
    ours = [play(world, Deviations(), 400, seed=seed).regret[-1] for seed in range(4)]
    chance = [play(world, Uniform(), 400, seed=seed).regret[-1] for seed in range(4)]
    assert sum(ours) < sum(chance) / 3


# The league.


def test_no_seed_is_both_tuned_on_and_reported() -> None:
    for place in league_worlds():
        for study in place.studies(1.0):
            assert not set(study.tuning) & set(study.reported), study.name


def test_the_papers_loril_plays_its_own_grid_wherever_it_is_the_rival() -> None:
    rivals = [place for place in league_worlds() if place.rival == PAPER]
    assert len(rivals) >= 5
    for place in rivals:
        _, versus_rival = place.studies(1.0)
        grid: Any = versus_rival.agents[PAPER]
        assert {(one.k, one.lam) for one in grid} >= {(k, lam) for k in KS for lam in LAMBDAS}
        assert all(one.ties == "random" for one in grid)
        assert len(versus_rival.agents[RECOMMENDED]) == 1, "its settings were chosen elsewhere"


def test_enough_seeds_are_reported() -> None:
    for place in league_worlds():
        league, versus_rival = place.studies(1.0)
        fewest = 20 if isinstance(place.world, Images) else 100  # a run with a GRU takes seconds
        assert len(league.reported) >= fewest
        assert len(versus_rival.reported) >= fewest


# The search for defaults.


def test_the_search_for_defaults_tells_what_it_chose_beside_the_default(tmp_path: Path) -> None:
    engine = Inline()
    (search,) = (one for one in defaults.searches() if "stay" in one.name)
    lines = search.told(run_studies(search.studies(trial=True), Store(tmp_path), on=engine))
    assert {run.seed for run in engine.computed} == {1000, 1001}
    assert sum("(the default)" in line for line in lines) == 1
    assert lines[-1].startswith("Chosen: ")
    assert search.default in lines[-1]


def test_the_defaults_are_among_the_settings_that_are_searched() -> None:
    reported = {
        seed for g in league_worlds() for study in g.studies(1.0) for seed in study.reported
    }
    for search in defaults.searches():
        spec: Any = search.settings[search.default]
        plain = Greedy(model=Keywords()) if search.name == "Keywords" else Deviations()
        for study in search.studies(trial=False):
            assert spec.resolved(study.world.facts) == plain.resolved(study.world.facts)
            assert not set(study.reported) & reported
