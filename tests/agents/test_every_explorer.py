"""What every explorer beside the elliptic bonus must do."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tellback import Facts, check, load, play
from tellback.agents import (
    LORIL,
    AgentSpec,
    Certified,
    EpsilonGreedy,
    Greedy,
    InverseGap,
    Thompson,
    Uniform,
)
from tellback.encoders import Thumbnail
from tellback.errors import ProtocolError, SettingError
from tellback.models import Sentence
from tellback.worlds import Images, Synthetic
from tests.support.explorers import (
    RESPONSES,
    WORLD,
    Fixed,
    a_task,
)

pytestmark = pytest.mark.first

PICTURES = Images(responses=4, colours=("red", "blue", "grey"), encoder=Thumbnail(cells=2))
TINY = Sentence(steps=1, batch=4)
NEW: list[AgentSpec] = [
    Thompson(draws=7),
    Thompson(draws=1),
    InverseGap(scale=3.0),
    InverseGap(scale=3.0, tried="spanner"),
]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (Greedy(), "exact"),
        (EpsilonGreedy(), "exact"),
        (Uniform(), "exact"),
        (LORIL(), "exact"),
        (InverseGap(), "exact"),
        (Thompson(draws=100), "exact given 100 draws"),
    ],
    ids=repr,
)
def test_every_agent_says_how_its_propensities_are_known(spec: AgentSpec, words: str) -> None:
    agent: Any = spec.build(WORLD.facts, np.random.default_rng(0))
    assert agent.propensities == words


@pytest.mark.parametrize("spec", NEW, ids=repr)
def test_the_promises_of_an_agent_are_kept(spec: AgentSpec) -> None:
    report = check(spec)
    assert report, str(report)


@pytest.mark.parametrize(
    "spec",
    [
        InverseGap(model=TINY),
        InverseGap(model=TINY, tried="spanner"),
    ],
    ids=repr,
)
def test_the_promises_are_kept_where_instructions_are_sentences(spec: AgentSpec) -> None:
    report = check(spec, world=PICTURES)
    assert report, str(report)


@pytest.mark.parametrize("spec", NEW, ids=repr)
def test_any_of_them_can_be_certified(spec: Any) -> None:
    plain: Any = play(WORLD, spec, 50, seed=2)
    certified: Any = play(WORLD, Certified(spec, k=1.0), 50, seed=2)
    np.testing.assert_array_equal(plain.responses, certified.responses)
    assert certified.agent.propensities == plain.agent.propensities


@pytest.mark.parametrize("spec", NEW, ids=repr)
def test_a_saved_agent_goes_on_as_if_nothing_had_happened(spec: AgentSpec, tmp_path: Path) -> None:
    whole = play(WORLD, spec, 60, seed=5)
    half: Any = play(WORLD, spec, 30, seed=5).agent
    half.save(tmp_path / "agent.npz")
    rest = play(WORLD, load(tmp_path / "agent.npz"), 30, seed=5, start=30)
    np.testing.assert_array_equal(whole.responses[30:], rest.responses)


@pytest.mark.parametrize("spec", NEW, ids=repr)
def test_estimates_that_are_no_numbers_are_refused(spec: AgentSpec) -> None:
    live: Any = spec.build(Facts(dim=3, instructions=5), np.random.default_rng(0))
    broken: Any = Fixed(*[np.nan] * RESPONSES)
    broken.draws = lambda instruction, responses, count, rng: np.full((count, 6), np.nan)
    with pytest.raises(ProtocolError, match="not all numbers"):
        live.explorer.choose(a_task(), broken, np.random.default_rng(0))


@pytest.mark.parametrize("wrong", [np.zeros(2), np.zeros(1), np.zeros((RESPONSES, 1)), None, ["?"]])
@pytest.mark.parametrize("spec", [*NEW, Greedy(), LORIL(), Certified(Greedy(), k=1.0)], ids=repr)
def test_an_estimate_for_each_response_is_demanded(spec: AgentSpec, wrong: object) -> None:
    live: Any = spec.build(Facts(dim=3, instructions=5), np.random.default_rng(0))
    live.model = SimpleNamespace(estimates=lambda instruction, responses: wrong)
    with pytest.raises(ProtocolError, match=f"an array of {RESPONSES} numbers, one for each"):
        live.respond(a_task(), np.random.default_rng(0))


def test_estimates_may_be_a_list() -> None:
    live: Any = Greedy(ties="first").build(Facts(dim=3, instructions=5), np.random.default_rng(0))
    live.model = SimpleNamespace(estimates=lambda instruction, responses: [0, 1, *[0] * 4])
    assert live.respond(a_task(), np.random.default_rng(0)).response == 1


@pytest.mark.parametrize("spec", NEW, ids=repr)
def test_every_new_agent_beats_chance(spec: AgentSpec) -> None:
    world = Synthetic(instructions=10, responses=20, rank=5, temperature=0.3, seed=0)
    regret, chance = (
        np.mean([play(world, one, 800, seed=s).regret[-1] for s in range(2)])
        for one in (spec, Uniform())
    )
    assert regret < 0.6 * chance


@pytest.mark.parametrize(
    ("spec", "values", "name"),
    [
        (Thompson, {"scale": -1}, "scale"),
        (Thompson, {"draws": 0}, "draws"),
        (InverseGap, {"scale": float("nan")}, "scale"),
        (InverseGap, {"tried": "al"}, "Did you mean 'all'"),
    ],
)
def test_nonsense_is_refused(spec: type[AgentSpec], values: dict[str, Any], name: str) -> None:
    with pytest.raises(SettingError, match=name):
        spec(**values)
