"""A recording teaches agents, before any live round."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tellback import Ledger, play
from tellback.agents import LORIL, Greedy
from tellback.agents.radius import SelfNormalized
from tellback.errors import ProtocolError, SettingError
from tellback.models import Keywords, Ridge
from tellback.recordings import Columns, RecordedResponse, Recording, Said, teach
from tellback.recordings.teaching import import_parts, taught_rounds
from tellback.roles import Facts, Instruction
from tellback.streams import Stream
from tellback.worlds import Synthetic
from tellback.worlds.recorded import simulation_of
from tests.support.recordings import small_recording

WORDS = Greedy(model=Keywords(waves=0))
RECORDING = small_recording()
COLUMNS = Columns.of(RECORDING, fewest=1)
TABLE = Recording(
    tuple(
        RecordedResponse(f"{i}", "all", (Said(f"{i % 3}"),), features=(float(i), 1.0))
        for i in range(6)
    )
)


def built(agent: Any = WORDS, dim: int = COLUMNS.dim, instructions: int | None = None) -> Any:
    return agent.build(Facts(dim, instructions), np.random.default_rng(0))


def same(one: Any, other: Any) -> bool:
    first, second = one.state(), other.state()
    return all(np.array_equal(first[name], second[name]) for name in first | second)


def learned_by_hand(recording: Recording, columns: Columns) -> Any:
    """The oracle: each sentence with the features of its response, by the model's own method."""
    agent = built(dim=columns.dim)
    matrix, row_of = columns.rows(recording)
    for response, row in zip(recording, row_of, strict=True):
        for said in response.descriptions:
            agent.model.learn(matrix[row], said.text)
    return agent


def test_every_description_is_learned_in_order_with_the_features_of_its_response() -> None:
    agent = built()
    assert teach(agent, RECORDING, COLUMNS) == sum(len(one.descriptions) for one in RECORDING)
    assert same(agent, learned_by_hand(RECORDING, COLUMNS))


def test_the_task_of_a_description_offers_its_response_alone() -> None:
    first = next(taught_rounds(RECORDING, COLUMNS))
    assert len(first.task.responses) == 1
    assert first.choice.response == 0
    assert first.choice.propensity is None
    assert first.description == RECORDING.responses[0].descriptions[0].text


def test_an_agent_that_a_recording_has_taught_plays_on() -> None:
    world = simulation_of(RECORDING, candidates=3, columns=COLUMNS)
    taught, new = built(), built()
    teach(taught, RECORDING, COLUMNS)
    after, without = (play(world, agent, 60, seed=1) for agent in (taught, new))
    assert after.rewards.mean() > without.rewards.mean()
    assert after.rewards.mean() > 0.9


def test_the_certificate_of_a_taught_agent_is_no_proof() -> None:
    world = Synthetic(instructions=3, responses=4, rank=2)
    spec = LORIL(k=SelfNormalized(), lam=1.0, model=Ridge())
    agents = [built(spec, 2, 3) for _ in range(2)]
    assert teach(agents[1], TABLE) == 6
    new, taught = (play(world, agent, 5, seed=1) for agent in agents)
    assert new.proof is not None
    assert taught.proof is None
    assert "it had learned 6 descriptions before" in taught.caveat


def test_a_table_of_instructions_is_taught_by_their_numbers() -> None:
    agent = built(LORIL(model=Ridge()), 2, 3)
    assert teach(agent, TABLE) == 6
    expected = built(LORIL(model=Ridge()), 2, 3)
    for i in range(6):
        expected.model.learn(np.array([float(i), 1.0]), i % 3)
    assert same(agent, expected)
    with pytest.raises(SettingError, match=r"'2' of response '2' must be .* from 0 to 1"):
        teach(built(LORIL(model=Ridge()), 2, 2), TABLE)


def test_numbers_alone_are_the_features_if_they_fit_the_agent() -> None:
    both = Recording(
        (RecordedResponse("a", "g", (Said("it went"),), features=(1.0, 2.0), text="go"),)
    )
    assert teach(built(dim=2), both) == 1
    assert teach(built(dim=Columns.of(both).dim), both) == 1
    with pytest.raises(SettingError, match="columns must have 5 features"):
        teach(built(dim=5), both)


# --- the ledger ------------------------------------------------------------------------------


def test_a_ledger_is_taught_and_each_description_can_be_withdrawn() -> None:
    ledger = Ledger(built(), Stream(0, "agent"), remember=True)
    numbers = ledger.teach(RECORDING, COLUMNS)
    assert numbers == range(1, ledger.told + 1)
    assert same(ledger.agent, learned_by_hand(RECORDING, COLUMNS))
    first = next(taught_rounds(RECORDING, COLUMNS))
    with pytest.raises(ProtocolError, match="Round 1 is over"):
        ledger.ask(1, first.task)
    ledger.ask(numbers.stop, first.task)
    assert ledger.tell(numbers.stop, "went on")
    # Without the last description of the recording, as if it had never been there.
    assert ledger.withdraw(numbers.stop)
    assert ledger.withdraw(numbers[-1])
    shorter = RECORDING.responses[-1]
    kept = Recording(
        (
            *RECORDING.responses[:-1],
            RecordedResponse(
                shorter.id, shorter.group, shorter.descriptions[:-1], steps=shorter.steps
            ),
        )
    )
    assert same(ledger.agent, learned_by_hand(kept, COLUMNS))


# --- lines for a lesson ----------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "dim"), [("features", COLUMNS.dim), ("texts", 256)])
def test_a_line_of_an_import_has_a_description_and_its_response(kind: str, dim: int) -> None:
    parts = list(import_parts(RECORDING, COLUMNS, kind, Facts(dim, None)))
    lines = [json.loads(line) for part in parts for line in part.splitlines()]
    said: list[Instruction] = [s.text for one in RECORDING for s in one.descriptions]
    assert [line["description"] for line in lines] == said
    assert [line["instruction"] for line in lines] == said
    assert all(line["saw_request"] and line["response"] == 0 for line in lines)
    assert lines[0]["texts"] == ["\n".join(" ".join(s) for s in RECORDING.responses[0].steps)]
    given = [line.get("features") for line in lines]
    rounds = taught_rounds(RECORDING, COLUMNS)
    expected = [[one.choice.features.tolist()] for one in rounds]
    assert given == (expected if kind == "features" else [None] * len(said))


def test_long_recordings_go_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tellback.recordings.teaching.AT_ONCE", 4)
    parts = list(import_parts(TABLE, None, "features", Facts(2, 3)))
    assert [part.count(b"\n") for part in parts] == [4, 2]


def test_a_lesson_of_pictures_is_refused() -> None:
    with pytest.raises(SettingError, match="A lesson of images"):
        next(import_parts(RECORDING, None, "images", Facts(3, None)))
