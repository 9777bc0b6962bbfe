"""Runs with exams: what they learn from, what they store, and under which name."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellback import Task, play
from tellback.agents import Greedy, Uniform, recommended
from tellback.arrays import Array
from tellback.encoders import NGrams
from tellback.errors import SettingError
from tellback.lab import Store, run_missing
from tellback.models import Keywords
from tellback.people import examined
from tellback.people.batch import SentenceCosine, TfidfLogistic
from tellback.people.exam import answers, questions, success
from tellback.people.examined import Examined, descriptions
from tellback.people.held_out import EXAMS, HeldOut
from tellback.worlds import Recorded, Synthetic
from tellback.worlds.recorded import simulation_in
from tests.support.recordings import small_recording, written
from tests.support.studies import Idle, Inline

AGENT = Greedy(model=Keywords(waves=0, lam=3.0))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    recording = small_recording(rooms=9, responses=12, people=12, each=4)
    return Recorded(str(written(tmp_path_factory.mktemp("people"), recording)), candidates=4)


def run_of(world: Recorded, **settings: object) -> Examined:
    usual = {"marks": (0, 10, 40), "candidates": (4,), "tasks": 30}
    return Examined(world, AGENT, 40, 3, **(usual | settings))  # type: ignore[arg-type]


def _estimates(agent: Any, tasks: Sequence[Task]) -> Iterator[Array]:
    return (agent.model.estimates(one.instruction, one.responses) for one in tasks)


def test_exams_are_those_of_an_agent_that_was_only_played(world: Recorded) -> None:
    run = run_of(world)
    found = run.perform()[0].reshape(run.shape)
    held_out = HeldOut.draw(world, (4,), (), 3)
    for m, mark in enumerate(run.marks):
        agent = AGENT.build(world.facts, np.random.default_rng(0))  # without waves nothing is drawn
        if mark:
            play(simulation_in(held_out.training(), world.rows.matrix), agent, mark, seed=3)
        for e, name in enumerate(EXAMS):
            asked = questions(held_out, name, 4, 30, 3)
            given = success(answers(asked, partial(_estimates, agent)))
            assert found[0, 0, e, m] == given
    assert found[0, 0, :, 0].tolist() == [0.25] * 3  # nothing is known yet
    assert (found[0, 0, :, 2] > 0.5).all()


def test_models_in_batch_are_fitted_to_what_the_agent_was_told(world: Recorded) -> None:
    batch = (TfidfLogistic(), SentenceCosine(NGrams()))
    run = run_of(world, batch=batch)
    found = run.perform()[0].reshape(run.shape)
    assert found.shape == (3, 1, 3, 3)
    np.testing.assert_array_equal(found[0], run_of(world).perform()[0].reshape(1, 3, 3))
    assert (found[:, 0, 0, 0] == 0.25).all()
    assert (found[:, 0, 0, 2] > 0.4).all()


def test_all_descriptions_are_taught_once_and_none_of_people_held_out(world: Recorded) -> None:
    count = descriptions(world, (4, 8), ("room 1",), 5)
    learned: list[tuple[str, bytes]] = []

    run = Examined(
        world,
        AGENT,
        count,
        5,
        marks=(count,),
        candidates=(4, 8),
        tuned_on=("room 1",),
        tasks=10,
        taught=True,
    )
    held_out = HeldOut.draw(world, (4, 8), ("room 1",), 5)

    class Pupil:
        def learn(self, task: object, choice: object, description: str) -> None:
            learned.append((description, choice.features.tobytes()))  # type: ignore[attr-defined]

    told = list(examined._taught(run, held_out, Pupil()))  # type: ignore[arg-type]
    wanted = Counter(
        (said.text, world.rows.matrix[row].tobytes())
        for one, row in zip(world.recording, world.rows.row_of, strict=True)
        if one.group not in held_out.rooms[4] | held_out.rooms[8]
        for said in one.descriptions
        if said.person not in held_out.people
    )
    assert Counter(learned) == wanted
    assert len(told) == count == wanted.total()
    assert [one.description for one in told] == [text for text, _ in learned]
    order = [text for text, _ in learned]
    assert order != [text for text, _ in wanted.elements()]
    shares, _ = run.perform()
    assert run.shape == (1, 2, 3, 1)
    assert (shares > 0.5).all()


def test_the_result_is_the_same_each_time_and_costs_are_beside_it(world: Recorded) -> None:
    first, about = run_of(world).perform()
    assert first.tolist() == run_of(world).perform()[0].tolist()
    assert 0 < about["cost"]["mean"] <= about["cost"]["largest"]
    assert {one["right"] for one in about["examples"]} <= {True, False}
    texts = {said.text for one in world.recording for said in one.descriptions}
    for one in about["examples"]:
        assert {one["asked"], one["chosen"], one["meant"]} <= texts
        assert one["right"] == (one["chosen"] == one["meant"])


def test_wrong_descriptions_make_it_worse_and_exams_stay_right(world: Recorded) -> None:
    careless = world.with_settings({"wrong": 1.0})
    run = run_of(careless)
    wrong = run.perform()[0].reshape(run.shape)[0, 0, 0]
    assert wrong[2] < 0.25  # told of another one, always
    assert wrong[0] == 0.25


def test_every_setting_of_the_exams_is_part_of_the_identity(
    world: Recorded, tmp_path: Path
) -> None:
    run = run_of(world)
    others = [
        run_of(world, tasks=31),
        run_of(world, marks=(0, 40)),
        run_of(world, candidates=(4, 8)),
        run_of(world, tuned_on=("room 1",)),
        run_of(world, batch=(TfidfLogistic(),)),
        run_of(world, batch=(TfidfLogistic(C=2.0),)),
        run_of(world, taught=True),
        run_of(world.with_settings({"wrong": 0.39})),
        replace(run, seed=4),
    ]
    assert len({one.identity for one in [run, *others]}) == 10
    edited = small_recording(rooms=9, responses=12, people=12, each=4, seed=1)
    elsewhere = written(tmp_path, edited)
    assert Recorded(str(elsewhere)).sha256 != world.sha256
    assert run_of(Recorded(str(elsewhere), candidates=4)).identity != run.identity
    assert pickle.loads(pickle.dumps(run)) == run
    assert pickle.loads(pickle.dumps(run)).identity == run.identity
    assert "people" in run.rooms().digests


def test_a_stored_run_is_not_played_again(world: Recorded, tmp_path: Path) -> None:
    run, store = run_of(world), Store(tmp_path)
    assert run_missing([run], store, on=Inline()) == []
    assert run_missing([run], store, on=Idle()) == []
    assert store.curve(run).tolist() == run.perform()[0].tolist()
    assert store.about(run)["exams"]["tasks"] == 30


def test_exams_are_of_recorded_worlds_only() -> None:
    with pytest.raises(SettingError, match="recorded world"):
        Examined(Synthetic(), Uniform(), 10, 0, marks=(10,), candidates=(4,))


def test_the_recommended_agent_here_is_key_words_without_waves(tmp_path: Path) -> None:
    things = tuple(f"thing{i}" for i in range(40))
    recording = small_recording(rooms=8, responses=40, things=things)
    many = Recorded(str(written(tmp_path, recording)))
    assert many.facts.dim >= 100
    agent = recommended(many)
    assert isinstance(agent, Greedy)
    assert isinstance(agent.model, Keywords)
    assert (agent.model.waves, agent.model.lam) == (0, 3.0)
