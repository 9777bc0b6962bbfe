"""Specs compare, hash, turn into data and back, and refuse nonsense by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellback.agents import (
    LORIL,
    AgentSpec,
    Certified,
    EpsilonGreedy,
    Greedy,
    RadiusSpec,
    Uniform,
)
from tellback.encoders import EncoderSpec
from tellback.errors import SettingError, TellbackError, UnknownNameError
from tellback.models import Mixture, MixtureByAdam, ModelSpec, Ridge
from tellback.specs import (
    PartType,
    Spec,
    all_parts,
    known_kinds,
    part_from_data,
    part_types,
    spec_from_data,
)
from tellback.worlds import Synthetic, WorldSpec

positive = st.floats(min_value=1e-6, max_value=1e300)
models: st.SearchStrategy[ModelSpec | None] = st.one_of(
    st.none(),
    st.builds(Mixture, refresh=st.integers(1, 10**6)),
    st.builds(MixtureByAdam, learning_rate=positive, steps=st.integers(1, 10**6)),
)
ties = st.sampled_from(["first", "random"])
agents: st.SearchStrategy[AgentSpec] = st.one_of(
    st.builds(LORIL, k=st.floats(0, 1e300), lam=positive, model=models, ties=ties),
    st.builds(EpsilonGreedy, epsilon=st.floats(0, 1), model=models, ties=ties),
    st.builds(Greedy, model=models, ties=ties),
    st.builds(Uniform),
)


@st.composite
def worlds(draw: st.DrawFn) -> Synthetic:
    instructions = draw(st.integers(1, 6))
    weights = draw(st.lists(st.integers(1, 9), min_size=instructions, max_size=instructions))
    asks = draw(
        st.one_of(
            st.sampled_from(["uniform", "marginal"]),
            st.just(tuple(w / sum(weights) for w in weights)),
        )
    )
    return Synthetic(
        instructions=instructions,
        responses=draw(st.integers(1, 10**6)),
        rank=draw(st.integers(1, 10**6)),
        temperature=draw(positive),
        contexts=draw(st.one_of(st.just("fresh"), st.integers(1, 100))),
        asks=asks,
        seed=draw(st.one_of(st.none(), st.integers(0, 2**70))),
    )


@given(agents)
def test_an_agent_survives_json(spec: AgentSpec) -> None:
    again = spec_from_data(AgentSpec, json.loads(json.dumps(spec.to_data())))
    assert again == spec
    assert hash(again) == hash(spec)
    assert type(again) is type(spec)


@given(worlds())
def test_a_world_survives_json(spec: Synthetic) -> None:
    again = spec_from_data(WorldSpec, json.loads(json.dumps(spec.to_data())))
    assert again == spec
    assert hash(again) == hash(spec)


@given(agents, agents)
def test_specs_are_equal_exactly_when_their_data_are(one: AgentSpec, other: AgentSpec) -> None:
    assert (one == other) == (one.to_data() == other.to_data())


def test_a_whole_number_and_its_float_are_the_same_setting() -> None:
    assert LORIL(k=1) == LORIL(k=1.0)
    assert hash(LORIL(k=1)) == hash(LORIL(k=1.0))
    assert json.dumps(LORIL(k=1).to_data()) == json.dumps(LORIL(k=1.0).to_data())
    assert Synthetic(rank=np.int64(3)) == Synthetic(rank=3)  # type: ignore[arg-type]


def test_specs_of_other_kinds_are_never_equal() -> None:
    specs: list[Spec] = [Greedy(), EpsilonGreedy(epsilon=0), LORIL(k=0), Uniform(), Synthetic()]
    assert len(set(specs)) == len(specs)


def test_probabilities_may_come_as_any_sequence() -> None:
    as_tuple = Synthetic(instructions=2, asks=(0.25, 0.75))
    for asks in ([0.25, 0.75], np.array([0.25, 0.75])):
        assert Synthetic(instructions=2, asks=asks) == as_tuple  # type: ignore[arg-type]


def test_a_spec_is_frozen() -> None:
    with pytest.raises(AttributeError):
        LORIL().k = 2.0  # type: ignore[misc]


def test_some_settings_can_be_changed_in_a_copy() -> None:
    spec = LORIL(k=0.3, ties="first")
    assert spec.with_settings({"lam": 0.05}) == LORIL(k=0.3, lam=0.05, ties="first")
    with pytest.raises(SettingError, match="lam"):
        spec.with_settings({"lam": 0})


def test_an_unknown_setting_gets_the_nearest_known_name() -> None:
    with pytest.raises(UnknownNameError, match=r"'epsilom'.*Did you mean 'epsilon'\?"):
        spec_from_data(AgentSpec, {"kind": "epsilon-greedy", "epsilom": 0.1})
    with pytest.raises(UnknownNameError, match=r"Did you mean 'temperature'\?"):
        Synthetic().with_settings({"temprature": 1.0})


def test_an_unknown_kind_gets_the_nearest_known_name() -> None:
    with pytest.raises(UnknownNameError, match=r"agent 'lorel'.*Did you mean 'loril'\?"):
        spec_from_data(AgentSpec, {"kind": "lorel"})
    with pytest.raises(UnknownNameError, match=r"Did you mean 'synthetic'\?"):
        spec_from_data(WorldSpec, {"kind": "Sinthetic"})
    with pytest.raises(UnknownNameError, match=r"Did you mean 'mixture'\?"):
        spec_from_data(AgentSpec, {"kind": "loril", "model": {"kind": "mixtur"}})


def test_a_name_unlike_any_other_lists_what_there_is() -> None:
    with pytest.raises(UnknownNameError, match=r"Known: .*greedy.*loril.*uniform"):
        spec_from_data(AgentSpec, {"kind": "zzzzzz"})


def test_an_agent_is_not_a_world() -> None:
    with pytest.raises(UnknownNameError, match="world 'loril'"):
        spec_from_data(WorldSpec, LORIL().to_data())


@pytest.mark.parametrize("data", [None, "loril", 3, {}, {"kind": 3}, {"k": 1.0}])
def test_data_without_a_kind_are_refused(data: object) -> None:
    with pytest.raises(SettingError, match="kind"):
        spec_from_data(AgentSpec, data)


def test_a_spec_of_another_version_is_refused() -> None:
    with pytest.raises(SettingError, match="version 99"):
        spec_from_data(AgentSpec, {**LORIL().to_data(), "version": 99})


def test_kinds_are_known_by_their_role() -> None:
    assert {"loril", "greedy", "epsilon-greedy", "uniform"} <= set(known_kinds(AgentSpec))
    assert {"mixture", "mixture-by-adam"} <= set(known_kinds(ModelSpec))
    assert "synthetic" in known_kinds(WorldSpec)
    assert not set(known_kinds(AgentSpec)) & set(known_kinds(WorldSpec))


NONSENSE: list[tuple[Callable[..., Spec], str, list[object]]] = [
    (Synthetic, "instructions", [0, -1, 2.5, "2", True, None]),
    (Synthetic, "responses", [0, -1, 2.5, True]),
    (Synthetic, "rank", [0, -1, 2.0, True]),
    (Synthetic, "temperature", [0, -1, float("inf"), float("nan"), True, "hot", None, 1j]),
    (Synthetic, "contexts", [0, -1, 1.5, "frsh", True, None]),
    (Synthetic, "seed", [-1, 0.5, True, "0"]),
    (Synthetic, "asks", ["unifrm", 3, None, [0.5, 0.5], [-0.5, 1.5, 0.0], [0.5, 0.25, 0.125]]),
    (Synthetic, "asks", [[float("nan"), 0.5, 0.5], [True, 0.0, 0.0], ["1", 0, 0], np.eye(3)]),
    (LORIL, "k", [-1, float("inf"), float("nan"), True, "1", None, 10**400]),
    (LORIL, "lam", [0, -0.5, float("inf"), float("nan"), True]),
    (LORIL, "ties", ["last", "", None, 0]),
    (LORIL, "model", ["mixture", 3, Mixture, Greedy()]),
    (EpsilonGreedy, "epsilon", [2, -0.1, float("nan"), float("inf"), True, "0.1"]),
    (Greedy, "ties", ["last", True]),
    (Mixture, "refresh", [0, -3, 1.5, True, None]),
    (MixtureByAdam, "learning_rate", [0, -1, float("inf"), float("nan"), True]),
    (MixtureByAdam, "steps", [0, 1.5, True]),
]


@pytest.mark.parametrize(
    ("make", "setting", "value"),
    [(make, setting, value) for make, setting, values in NONSENSE for value in values],
    ids=lambda part: getattr(part, "__name__", None) or repr(part)[:30],
)
def test_nonsense_is_refused_by_the_name_of_its_setting(
    make: Callable[..., Spec], setting: str, value: object
) -> None:
    others = {"instructions": 3} if setting == "asks" else {}
    with pytest.raises(SettingError, match=rf"\b{setting}\b"):
        make(**others, **{setting: value})


@pytest.mark.parametrize(("value", "hint"), [("frsh", "fresh"), ("Fresh", "fresh")])
def test_a_misspelt_option_gets_the_nearest_one(value: str, hint: str) -> None:
    with pytest.raises(SettingError, match=rf"{value}.*Did you mean '{hint}'\?"):
        Synthetic(contexts=value)


def test_every_refusal_is_a_tellback_error_and_a_value_error() -> None:
    with pytest.raises(TellbackError):
        LORIL(k=-1)
    with pytest.raises(ValueError, match="k must be"):
        LORIL(k=-1)


# Settings that are specs


@dataclass(frozen=True)
class Outer(Spec):
    role: ClassVar[str] = "outer thing"

    part: ModelSpec | None = None
    number: float | RadiusSpec = 1.0
    live: EncoderSpec | Any = None
    plain: tuple[str, ...] = ()


def test_parts_are_found_in_the_annotations() -> None:
    found = part_types(Outer)
    assert found == {
        "part": PartType((ModelSpec,), or_value=False),
        "number": PartType((RadiusSpec,), or_value=True),
        "live": PartType((EncoderSpec,), or_value=False),
    }
    assert part_types(Certified)["agent"].bases == (AgentSpec,)  # not only those with a model


def test_an_annotation_that_cannot_be_evaluated_allows_a_spec_of_any_role() -> None:
    class Local: ...

    @dataclass(frozen=True)
    class Own(AgentSpec):
        abstract: ClassVar[bool] = True
        thing: Local | ModelSpec | None = None

    assert part_types(Own) == {"thing": PartType((Spec,), or_value=True)}
    assert part_from_data(Own, "thing", {"kind": "ridge", "lam": 2.0}) == Ridge(lam=2.0)


def test_a_table_for_a_setting_that_is_a_value_is_refused() -> None:
    with pytest.raises(SettingError, match="lam is a value, not a table"):
        spec_from_data(AgentSpec, {"kind": "loril", "lam": {"kind": "ridge"}})


def test_every_spec_of_a_spec_is_a_part() -> None:
    spec = Certified(Greedy(model=Ridge()))
    assert list(spec.parts()) == ["agent", "k"]
    assert [part.kind for part in all_parts(spec)] == ["certified", "greedy", "ridge", "repaired"]
