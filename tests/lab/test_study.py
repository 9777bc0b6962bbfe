"""A run's identity is its whole configuration; a study that makes no sense is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tellback.lab.run_spec as run_spec_module
from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, Uniform
from tellback.encoders import Thumbnail
from tellback.errors import SettingError, TellbackError
from tellback.lab import RunSpec, Store, Study
from tellback.models import Mixture, Sentence
from tellback.specs import Spec
from tellback.worlds import Images, Synthetic
from tests.support.small_study import RUN, WORLD, a_study

WHOLE = st.integers(1, 10**6)
TIES = st.sampled_from(["random", "first"])
MODELS = st.none() | st.builds(Mixture, refresh=WHOLE)
REALS = st.floats(1e-3, 1e6)
ASKS = st.sampled_from(["uniform", "marginal"])
WORLDS = st.one_of(
    st.builds(
        Synthetic,
        instructions=WHOLE,
        responses=WHOLE,
        rank=WHOLE,
        temperature=REALS,
        contexts=st.just("fresh") | WHOLE,
        asks=ASKS,
        seed=st.none() | st.integers(0, 2**63),
    ),
    st.lists(st.integers(1, 99), min_size=1, max_size=9).map(
        lambda w: Synthetic(instructions=len(w), asks=tuple(n / sum(w) for n in w))
    ),
)
TABLE_AGENTS: st.SearchStrategy[AgentSpec] = st.one_of(
    st.builds(LORIL, k=REALS, lam=REALS, ties=TIES, model=MODELS),
    st.builds(EpsilonGreedy, epsilon=st.floats(0, 1), ties=TIES, model=MODELS),
    st.builds(Greedy, ties=TIES, model=MODELS),
    st.just(Uniform()),
)
PICTURE_RUNS = st.builds(
    RunSpec,
    st.builds(Images, encoder=st.builds(Thumbnail, cells=st.integers(1, 9))),
    st.builds(Greedy, model=st.none() | st.builds(Sentence, hidden=WHOLE, learning_rate=REALS)),
    WHOLE,
    WHOLE,
)
RUNS = st.builds(RunSpec, WORLDS, TABLE_AGENTS, WHOLE, st.integers(0, 2**63)) | PICTURE_RUNS


def resolved(run: RunSpec) -> RunSpec:
    """The run with everything named that its agent would choose by itself."""
    return replace(run, agent=run.agent.resolved(run.world.facts))


@settings(deadline=None)
@given(RUNS)
def test_a_run_comes_back_from_its_description(run: RunSpec) -> None:
    text = json.dumps(run.to_data())
    back = RunSpec.from_data(json.loads(text))
    assert back == resolved(run)
    assert back.identity == run.identity
    assert back.to_data() == run.to_data() == json.loads(text)


@settings(max_examples=300, deadline=None)
@given(RUNS, RUNS)
def test_two_runs_have_one_identity_only_if_they_are_the_same(one: RunSpec, other: RunSpec) -> None:
    assert (one.identity == other.identity) == (resolved(one) == resolved(other))


def parts_of(spec: Spec, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name in spec.settings():
        value = getattr(spec, name)
        if isinstance(value, Spec):
            yield from parts_of(value, (*path, name))
        yield (*path, name)


def changed(data: Any, path: tuple[str, ...], value: object) -> Any:
    return {**data, path[0]: changed(data[path[0]], path[1:], value)} if path else value


@settings(max_examples=300, deadline=None)
@given(RUNS, RUNS, st.data())
def test_any_one_setting_that_differs_is_another_run(
    run: RunSpec, donor: RunSpec, data: st.DataObject
) -> None:
    whole = resolved(run)
    paths: list[tuple[str, ...]] = [("rounds",), ("seed",)]
    paths += [("world", *path) for path in parts_of(whole.world)]
    paths += [("agent", *path) for path in parts_of(whole.agent)]
    path = data.draw(st.sampled_from(paths))
    value: Any = resolved(donor).to_data()
    before: Any = whole.to_data()
    for name in path:
        assume(isinstance(value, dict) and name in value)
        value, before = value[name], before[name]
    assume(value != before)
    described = changed(whole.to_data(), path, value)
    try:
        other = RunSpec.from_data(described)
    except TellbackError:  # such settings do not go together
        assume(False)
    assert other.identity != run.identity
    assert RunSpec.from_data(changed(described, path, before)).identity == run.identity


@pytest.mark.parametrize("part", ["FORMAT", "PROTOCOL_VERSION"])
def test_files_and_loops_of_another_version_are_other_runs(
    part: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    described, before = RUN.to_data(), RUN.identity
    monkeypatch.setattr(run_spec_module, part, getattr(run_spec_module, part) + 1)
    same = RunSpec(RUN.world, RUN.agent, RUN.rounds, RUN.seed)
    assert same.identity != before
    assert not store.has(same)
    with pytest.raises(TellbackError, match="version"):
        RunSpec.from_data(described)


@settings(deadline=None)
@given(
    RUNS,
    st.sampled_from([("format",), ("protocol",), ("world", "version"), ("agent", "version")]),
    st.integers(-3, 3).filter(bool),
)
def test_what_another_version_described_is_refused(
    run: RunSpec, where: tuple[str, ...], by: int
) -> None:
    described: Any = run.to_data()
    version = described[where[0]] if len(where) == 1 else described[where[0]][where[1]]
    with pytest.raises(TellbackError, match="version"):
        RunSpec.from_data(changed(described, where, version + by))


@pytest.mark.parametrize("live", [Uniform().build(WORLD.facts, np.random.default_rng(0)), Uniform])
def test_a_live_agent_is_refused_with_the_reason(live: Any) -> None:
    with pytest.raises(TellbackError, match="a live object has no identity"):
        a_study(agents={"mine": (live,)})


def test_a_live_world_is_refused_with_the_reason() -> None:
    with pytest.raises(TellbackError, match="a live object has no identity"):
        a_study(world=WORLD.build(np.random.default_rng(0)))


def test_every_setting_of_a_configuration_is_part_of_its_identity() -> None:
    run = RunSpec(WORLD, LORIL(), 50, 1)
    others = [
        RunSpec(Synthetic(instructions=21, responses=4, rank=3), LORIL(), 50, 1),
        RunSpec(WORLD, LORIL(k=0.2), 50, 1),
        RunSpec(WORLD, LORIL(ties="first"), 50, 1),
        RunSpec(WORLD, Greedy(), 50, 1),
        RunSpec(WORLD, LORIL(), 51, 1),
        RunSpec(WORLD, LORIL(), 50, 2),
    ]
    identities = {one.identity for one in [run, *others]}
    assert len(identities) == 1 + len(others)
    assert RunSpec(WORLD, LORIL(), 50, 1).identity == run.identity


def test_naming_the_default_model_is_the_same_run() -> None:
    named = RunSpec(WORLD, LORIL(model=Mixture()), 50, 1)
    assert named.identity == RunSpec(WORLD, LORIL(), 50, 1).identity
    assert RunSpec(WORLD, LORIL(model=Mixture(refresh=9)), 50, 1).identity != named.identity


@pytest.mark.parametrize("changed", [LORIL, Mixture, Synthetic])
def test_a_new_version_of_any_part_is_a_new_identity(
    changed: type[Spec], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = RunSpec(WORLD, LORIL(), 50, 1).identity
    monkeypatch.setattr(changed, "version", changed.version + 1)
    assert RunSpec(WORLD, LORIL(), 50, 1).identity != before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"world": "synthetic"}, "not the spec of a world"),
        ({"agents": {}}, "needs an agent"),
        ({"agents": {"a": ()}}, "a needs a sequence"),
        ({"agents": {"a": Uniform()}}, "a needs a sequence"),
        ({"agents": {"a": (object(),)}}, "no identity"),
        ({"rounds": 0}, "rounds must be at least 1"),
        ({"reported": ()}, "a reported seed"),
        ({"reported": (1, 1)}, "have duplicates"),
        ({"reported": (-1,)}, "at least 0, not -1"),
        ({"tuning": ("a",)}, "whole number, not 'a'"),
    ],
)
def test_a_study_that_makes_no_sense_is_refused(change: dict[str, Any], says: str) -> None:
    sound: dict[str, Any] = {
        "name": "s",
        "world": WORLD,
        "agents": {"random": (Uniform(),)},
        "rounds": 10,
        "tuning": (),
        "reported": (0,),
    }
    assert Study(**{**sound, "reported": np.arange(3)}).reported == (0, 1, 2)
    with pytest.raises(SettingError, match=says):
        Study(**{**sound, **change})


def test_a_study_that_reports_on_its_tuning_seeds_is_refused() -> None:
    with pytest.raises(SettingError, match=r"same seeds \[1\]"):
        Study("s", WORLD, {"random": (Uniform(),)}, 10, tuning=(1, 2), reported=(0, 1))


@dataclass(frozen=True)
class Alive(Uniform):
    """A spec with something in it that is no data."""

    does: Any = len


def test_a_live_object_within_a_spec_is_refused_with_the_reason() -> None:
    with pytest.raises(SettingError, match=r"no plain data.*no identity"):
        _ = RunSpec(WORLD, Alive(), 10, 0).identity
