"""Specs by the names and settings of the command line."""

from __future__ import annotations

from tellback.agents import Greedy, recommended
from tellback.lab.settings import specs_with_settings
from tellback.worlds import Synthetic

SMALL = ["instructions=6", "responses=5", "rank=3"]


def test_recommended_is_the_agent_recommended_for_the_world_as_it_is_set() -> None:
    world, agents = specs_with_settings("synthetic", ["recommended", "greedy"], SMALL)
    assert world == Synthetic(instructions=6, responses=5, rank=3)
    assert agents == [recommended(world), Greedy()]
    _, (in_one_hot,) = specs_with_settings(
        "one-hot-features", ["recommended"], ["synthetic.rank=3"]
    )
    assert in_one_hot.kind == "learned-loril"


def test_the_recommended_agent_takes_settings() -> None:
    _, (agent,) = specs_with_settings("synthetic", ["recommended"], [*SMALL, "k=0.7"])
    assert agent == recommended(Synthetic(6, 5, 3)).with_settings({"k": 0.7})


def test_without_names_agents_play_that_can_play_in_the_world() -> None:
    _, listed = specs_with_settings("synthetic", None, [])
    assert [agent.kind for agent in listed] == ["loril", "greedy"]
    _, drawing = specs_with_settings("house", None, [])
    assert [agent.kind for agent in drawing] == ["proposing", "uniform"]
