"""Worlds of recordings: who asks, who tells, what is shown, and what is held out."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from tellback import Simulation, Task, check, play, rounds
from tellback.agents import Uniform, recommended
from tellback.encoders import Thumbnail
from tellback.errors import SettingError, UnknownNameError
from tellback.recordings import Columns, FeatureRows, RecordedResponse, Recording, Said
from tellback.roles import WorldSpec
from tellback.specs import spec_from_data
from tellback.streams import Stream
from tellback.worlds import Recorded, Split, simulation_of
from tellback.worlds.recorded_pool import Entry, Pool, most_different
from tests.support.recordings import small_recording, written
from tests.test_truth_is_hidden import Spy, modules_of_others, reachable

ROUNDS = 300
RNG = np.random.default_rng(0)
"""Which nothing is drawn from."""


def live(recording: Recording, candidates: int = 4, **settings: object) -> Simulation:
    columns = Columns.of(recording, fewest=1)
    return simulation_of(recording, candidates, columns=columns, **settings)  # type: ignore[arg-type]


def tasks(simulation: Simulation, count: int = ROUNDS) -> list[Task]:
    stream = Stream(5, "world")
    return [simulation.world.task(t, (), stream.at(t)) for t in range(1, count + 1)]


def target_of(simulation: Simulation, task: Task) -> int:
    """The response that the instruction was written about."""
    assert simulation.truth is not None
    rewards = [simulation.truth.reward(task, y) for y in range(len(task.responses))]
    assert sum(rewards) == simulation.truth.best(task) == 1
    return rewards.index(1)


def sayers(recording: Recording) -> dict[tuple[str, str], str]:
    """Who said what of which response."""
    return {(one.id, said.text): said.person for one in recording for said in one.descriptions}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path)


# --- the protocol ------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["whole", "steps"])
def test_it_keeps_to_the_protocol(file: Path, level: str) -> None:
    world = Recorded(str(file), candidates=3, level=level, fewest=1)
    assert check(world), str(check(world))


def test_it_survives_as_plain_data_and_has_an_identity(file: Path) -> None:
    world = Recorded(str(file), candidates=3, fewest=1, hold_out="people", share=0.5)
    data = json.loads(json.dumps(world.to_data()))
    assert spec_from_data(WorldSpec, data) == world
    assert hash(spec_from_data(WorldSpec, data)) == hash(world)
    assert data["sha256"] == world.recording.digest
    assert world.sha256 not in world.brief()


def test_an_edited_file_is_not_taken_for_the_old_one(file: Path) -> None:
    before = Recorded(str(file), fewest=1)
    assert before.facts.dim
    text = file.read_text().replace("carry", "bring")
    file.write_text(text)
    after = Recorded(str(file), fewest=1)
    assert after != before
    with pytest.raises(SettingError, match=f"not '{before.sha256}': the recording has changed"):
        Recorded(str(file), fewest=1, sha256=before.sha256)
    # What was read before the edit is still what the digest says.
    assert all("bring" not in str(task.instruction) for task in tasks(before.build(RNG)))
    assert any("bring" in str(task.instruction) for task in tasks(after.build(RNG)))


def test_an_edited_picture_makes_another_recording(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    responses = []
    for i in range(4):
        picture = rng.integers(0, 256, (8, 8, 3)).astype(np.uint8)
        image.fromarray(picture).save(tmp_path / f"{i}.png")
        said = (Said(f"{i} by Ann", "Ann"), Said(f"{i} by Bo", "Bo"))
        responses.append(RecordedResponse(str(i), "room", said, image=f"{i}.png"))
    path = str(written(tmp_path, Recording(tuple(responses), tmp_path)))
    before = Recorded(path, candidates=3, encoder=Thumbnail(cells=2))
    assert check(before), str(check(before))
    image.fromarray(picture[::-1].copy()).save(tmp_path / "0.png")
    after = Recorded(path, candidates=3, encoder=Thumbnail(cells=2))
    assert after.sha256 != before.sha256
    with pytest.raises(SettingError, match="a live object"):
        Recorded(path, encoder=lambda shown: shown[:, 0, 0]).to_data()


def test_settings_are_refused_by_name(file: Path) -> None:
    for wrong in (
        {"candidates": 1},
        {"level": "stp"},
        {"hold_out": "rooms"},
        {"part": "test"},
        {"share": 0},
        {"split": -1},
        {"wrong": 1.5},
        {"fewest": 0},
        {"text": "ngrams"},
        {"order": "yes"},
        {"sha256": "0"},
    ):
        with pytest.raises(SettingError, match=next(iter(wrong))):
            Recorded(str(file), **wrong)
    with pytest.raises(SettingError, match="hold_out"):
        Recorded(str(file), part="exam")
    with pytest.raises(SettingError, match="path"):
        _ = Recorded().facts
    with pytest.raises(SettingError, match="99 responses"):
        Recorded(str(file), candidates=99, fewest=1).build(np.random.default_rng(0))
    with pytest.raises(SettingError, match="no pictures"):
        _ = Recorded(str(file), encoder=Thumbnail()).facts


def test_nothing_that_an_agent_gets_leads_to_who_said_what() -> None:
    simulation, spy = live(small_recording()), Spy()
    list(islice(rounds(simulation, spy), 20))
    found = reachable(spy.given, [spy, *modules_of_others()])
    people = (simulation.world, simulation.teacher, simulation.truth)
    assert not [one for one in people if id(one) in found]


# --- who asks and who tells --------------------------------------------------------------------


@given(st.integers(0, 10**6))
def test_nobody_plays_both_parts_of_a_round(seed: int) -> None:
    rng = np.random.default_rng(seed)
    each = int(rng.integers(2, 5))
    recording = small_recording(people=int(rng.integers(each, 7)), each=each, seed=seed)
    simulation, said = live(recording), sayers(recording)
    for t, task in enumerate(tasks(simulation, 20), start=1):
        asker = said[task.context.ids[target_of(simulation, task)], str(task.instruction)]
        for y, name in enumerate(task.context.ids):
            told = simulation.teacher.describe(task.context, y, Stream(seed, "teacher").at(t))
            assert said[name, str(told)] != asker


def test_a_response_that_one_person_alone_described_is_never_shown() -> None:
    recording = small_recording(rooms=1)
    lonely = replace(recording.responses[0], descriptions=(Said("one", "Ann"), Said("two", "Ann")))
    unnamed = replace(recording.responses[1], descriptions=(Said("one"), Said("two")))
    simulation = live(Recording((lonely, unnamed, *recording.responses[2:])))
    shown = {name for task in tasks(simulation) for name in task.context.ids}
    assert lonely.id not in shown
    assert unnamed.id in shown  # two people who are not named are two people


def test_candidates_are_of_one_group_and_differ_in_goal_and_features() -> None:
    recording = small_recording(responses=12)
    twins = [
        replace(one, id=f"{one.id} again", goal=f"{one.goal} again") for one in recording.responses
    ]
    cousins = [
        replace(one, id=f"{one.id} too", tokens=("something",)) for one in recording.responses
    ]
    everyone = Recording((*recording.responses, *twins, *cousins))
    for task in tasks(live(everyone)):
        shown = [everyone.by_id[name] for name in task.context.ids]
        assert {one.group for one in shown} == {task.context.group}
        assert len({one.goal for one in shown}) == len(shown) == 4
        assert len(np.unique(task.responses.matrix, axis=0)) == 4


def test_a_sentence_that_was_said_of_two_candidates_is_not_asked() -> None:
    recording = small_recording(rooms=1)
    same = Said("do the thing", "person x")
    both = [replace(one, descriptions=(*one.descriptions, same)) for one in recording.responses[:5]]
    simulation = live(Recording((*both, *recording.responses[5:])))
    for task in tasks(simulation):
        target_of(simulation, task)  # is one alone
    alike = Recording(
        tuple(replace(one, descriptions=(same, Said("it did", "y"))) for one in recording)
    )
    task = tasks(live(alike), 1)[0]  # nothing else can be asked: it does not search for ever
    assert live(alike).truth.best(task) == 1  # type: ignore[union-attr]


def test_targets_are_uniform_over_places_and_groups_by_their_size() -> None:
    recording = small_recording(rooms=1, responses=6)
    second = small_recording(rooms=2, responses=18).only(["room 1"])
    simulation = live(Recording((*recording.responses, *second.responses)))
    many = tasks(simulation, 4000)
    places = Counter(target_of(simulation, task) for task in many)
    assert chisquare([places[y] for y in range(4)]).pvalue > 1e-3
    groups = Counter(task.context.group for task in many)
    observed = [groups["room 0"], groups["room 1"]]
    assert chisquare(observed, [1000, 3000]).pvalue > 1e-3


def test_the_context_does_not_tell_the_target() -> None:
    """Who knows the whole recording, and sees a context, can still only guess."""
    responses = tuple(
        RecordedResponse(
            f"r{i}",
            "room",
            tuple(Said(f"sentence {i} {j}", f"person {i} {j}") for j in range(2)),
            tokens=(f"thing {i}",),
        )
        for i in range(3)
    )
    simulation = live(Recording(responses), candidates=3)
    counts: dict[object, Counter[int]] = {}
    for task in tasks(simulation, 9000):
        ids, told = task.context.ids, task.context.told
        counts.setdefault((ids, told), Counter())[target_of(simulation, task)] += 1
    assert len(counts) == 6 * 8  # every order, with every choice of the other sentence
    observed = [count[y] for count in counts.values() for y in range(3)]
    assert chisquare(observed).pvalue > 1e-3


def test_the_same_round_is_the_same_for_every_agent() -> None:
    simulation = live(small_recording())
    one, other = ([task[:2] for task in tasks(simulation, 30)] for _ in range(2))
    assert one == other


# --- careless teachers, matches ----------------------------------------------------------------


def test_a_share_of_the_descriptions_is_of_another_candidate() -> None:
    recording = small_recording()
    simulation, said = live(recording, wrong=0.39), sayers(recording)
    wrong, stream = 0, Stream(1, "teacher")
    for t, task in enumerate(tasks(simulation, 2000), start=1):
        told = simulation.teacher.describe(task.context, 2, stream.at(t))
        right = (task.context.ids[2], told) in said
        others = [name for name in task.context.ids if (name, told) in said]
        assert right or others
        wrong += not right
    assert wrong / 2000 == pytest.approx(0.39, abs=4 * np.sqrt(0.39 * 0.61 / 2000))


def test_a_summary_states_how_often_words_alone_are_wrong() -> None:
    run = play(live(small_recording()), Uniform(), rounds=200)
    errors = run.match.errors  # type: ignore[attr-defined]
    assert run.by_meaning
    assert errors is not None
    low, high = (float(part[-1]) for part in run.reward_estimate()[1:])
    assert low <= run.rewards.mean() <= high
    assert run.match_check is not None
    assert not run.match_check.differs
    assert "similarity" in run.summary()["descriptions that matched"]


def test_a_careless_teacher_is_not_called_suspicious() -> None:
    simulation = live(small_recording(), wrong=0.39)
    run = play(simulation, Uniform(), rounds=300)
    assert run.match_check is not None
    assert not run.match_check.differs


def test_agents_learn_from_peoples_sentences_here() -> None:
    run = play(
        live(small_recording(rooms=4, responses=20)), recommended(live(small_recording())), 300
    )
    assert run.rewards[-100:].mean() > 0.8


# --- what is held out --------------------------------------------------------------------------


@pytest.mark.parametrize("hold_out", ["groups", "people", "both"])
@pytest.mark.parametrize("seed", [0, 1])
def test_parts_do_not_overlap(hold_out: str, seed: int) -> None:
    recording = small_recording(rooms=6, people=12, each=5)
    said = sayers(recording)
    rooms: dict[str, set[str]] = {}
    askers: dict[str, set[str]] = {}
    tellers: dict[str, set[str]] = {}
    for part in ("train", "exam"):
        split = Split(hold_out, 0.4, seed, part)
        simulation = live(recording, candidates=3, split=split)
        many = tasks(simulation)
        rooms[part] = {task.context.group for task in many}
        askers[part] = {
            said[task.context.ids[target_of(simulation, task)], str(task.instruction)]
            for task in many
        }
        tellers[part] = {
            said[task.context.ids[y], str(told)]
            for task in many
            for y in range(3)
            for told in [simulation.teacher.describe(task.context, y, Stream(0, "t").at(1))]
        }
    if hold_out == "people":
        assert rooms["train"] == rooms["exam"] == set(recording.groups)
    else:
        assert not rooms["train"] & rooms["exam"]
        assert rooms["train"] | rooms["exam"] == set(recording.groups)
        assert len(rooms["exam"]) == 2
    if hold_out != "groups":
        assert not (askers["train"] | tellers["train"]) & askers["exam"]
        assert len(askers["exam"]) == 5


@pytest.mark.parametrize("hold_out", ["groups", "people", "both"])
def test_groups_that_settings_were_chosen_on_are_in_no_exam(hold_out: str) -> None:
    recording = small_recording(rooms=8)
    tuned = ("room 1", "room 4", "room 5")
    for seed in range(5):
        train, exam = (
            Split(hold_out, 0.4, seed, part, tuned).groups(recording) for part in ("train", "exam")
        )
        assert not exam & set(tuned)
        assert set(tuned) <= train
        assert train | exam == set(recording.groups)
        assert hold_out == "people" or len(exam) == 2  # of the five others
    every = Split("groups", 1.0, 0, "exam", tuned).groups(recording)
    assert every == set(recording.groups) - set(tuned)


def test_a_group_to_leave_out_must_exist(file: Path) -> None:
    with pytest.raises(UnknownNameError, match="no group in tuned_on named 'room 9'"):
        Split("groups", 0.5, 0, "exam", ("room 9",)).groups(small_recording())
    world = Recorded(str(file), hold_out="groups", part="exam", share=1.0, tuned_on=("room 0",))
    assert set(world.pool.groups) == {"room 1", "room 2"}
    assert spec_from_data(WorldSpec, json.loads(json.dumps(world.to_data()))) == world
    assert "tuned_on=<1 values>" in world.brief()


def test_the_seed_of_the_split_decides_which() -> None:
    recording = small_recording(rooms=8)
    splits = [Split("groups", 0.5, seed, "exam").groups(recording) for seed in range(5)]
    assert len(set(splits)) > 1
    assert splits[0] == Split("groups", 0.5, 0, "exam").groups(recording)


def test_sentences_of_unknown_people_are_in_neither_part_if_people_are_held_out() -> None:
    recording = small_recording(people=8, each=5)
    unknown = Recording(
        tuple(
            replace(one, descriptions=(*one.descriptions, Said(f"somebody: {one.id}")))
            for one in recording
        )
    )
    for part in ("train", "exam"):
        pool = Pool(
            unknown,
            Columns.of(unknown, fewest=1).rows(unknown),
            Split("people", 0.5, 0, part),
            3,
        )
        assert not [text for entry in pool.entries for text in entry.texts if "somebody" in text]


def test_a_share_that_leaves_nothing_is_refused() -> None:
    recording = small_recording(rooms=3)
    with pytest.raises(SettingError, match="holds out 0 of 3 groups"):
        Split("groups", 0.1).groups(recording)
    with pytest.raises(SettingError, match="holds out 3 of 3 groups"):
        Split("groups", 1.0).groups(recording)


def test_an_exam_in_another_file_has_the_columns_of_the_first(tmp_path: Path) -> None:
    first = written(tmp_path, small_recording(), "first.jsonl")
    other = written(
        tmp_path, small_recording(rooms=1, seed=9, things=("mug", "fork")), "other.jsonl"
    )
    taught = Recorded(str(first), candidates=3, fewest=1)
    exam = Recorded(str(other), candidates=3, fewest=1, like=str(first))
    assert exam.columns == taught.columns
    assert exam.sha256 != Recorded(str(other), fewest=1).sha256
    run = play(taught, Uniform(), rounds=5)
    play(exam, run.agent, rounds=5)


# --- the search for candidates -----------------------------------------------------------------


def entry(name: str, goal: object, row: int) -> Entry:
    return Entry(name, "room", goal, row, ("x", "y"), ("p", "q"), (0, 1))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=7))
def test_the_most_that_differ_are_as_many_as_trying_all_finds(pairs: list[tuple[int, int]]) -> None:
    entries = [entry(str(i), goal, row) for i, (goal, row) in enumerate(pairs)]

    def differ(some: tuple[Entry, ...]) -> bool:
        goals, rows = ({getattr(one, name) for one in some} for name in ("goal", "row"))
        return len(goals) == len(rows) == len(some)

    most = max(
        size
        for size in range(1, len(pairs) + 1)
        if any(map(differ, itertools.combinations(entries, size)))
    )
    assert most_different(entries) == most


def test_candidates_are_found_where_a_random_order_hardly_ever_finds_them() -> None:
    """Two groups of responses that block each other: only one way shows twelve together."""
    size = 12
    free = [(i, i) for i in range(size)]
    blocking = [(i, j) for i in range(size) for j in range(i)]
    responses = tuple(
        RecordedResponse(
            f"{goal}-{row}", "room", (Said(f"{goal}-{row}", "p"), Said("x", "q")), goal=str(goal)
        )
        for goal, row in free + blocking
    )
    rows = FeatureRows(np.zeros((size, 1)), tuple(row for _, row in free + blocking))
    pool = Pool(Recording(responses), rows, Split(), size)
    found = pool.draw(np.random.default_rng(0))
    assert {one.id for one in found} == {f"{i}-{i}" for i in range(size)}
