"""Studies that add seeds until they have decided: how far they go, and that they can be stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tellback import play
from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, Uniform
from tellback.errors import TellbackError
from tellback.lab import Decide, Results, RunSpec, Store, Study, run_studies
from tellback.lab.run_one import Outcome
from tellback.lab.sequential import MIN_PAIRS, evidence
from tellback.lab.status import finished, status_of
from tellback.worlds import Synthetic
from tests.support.studies import Counting, Idle, Inline

WORLD = Synthetic(instructions=20, responses=5, rank=3)
ALIKE: dict[str, tuple[AgentSpec, ...]] = {
    "one": (EpsilonGreedy(0.10),),
    "other": (EpsilonGreedy(0.11),),
}
APART: dict[str, tuple[AgentSpec, ...]] = {
    "one": (LORIL(k=0.1), LORIL(k=0.2)),
    "other": (Uniform(),),
    "third": (Greedy(),),
}


class Telling(Counting):
    """Notes what is announced, and the rounds since then."""

    def __init__(self) -> None:
        super().__init__()
        self.announced: list[tuple[int, int]] = []
        self.played_since: list[int] = []

    def begin(self, runs: int, rounds: int) -> None:
        self.announced.append((runs, rounds))
        self.played_since.append(0)

    def played(self, rounds: int) -> None:
        self.played_since[-1] += rounds


def a_study(**changes: Any) -> Study:
    parts: dict[str, Any] = {
        "name": "s",
        "world": WORLD,
        "agents": APART,
        "rounds": 30,
        "tuning": (4, 12, 13),
        "reported": (0, 1, 2),
        "everywhere": False,
        "decide": Decide(("one", "other"), at_most=40, batch=4),
    }
    return Study(**{**parts, **changes})


def looks(study: Study) -> list[int]:
    """At how many reported seeds the study is looked at, if it never decides."""
    assert study.decide is not None
    first, last = len(study.reported), study.decide.at_most
    return [*range(first, last, study.decide.batch), last]


def seeds(study: Study, number: int) -> list[int]:
    """The reported seeds, counting on from the largest and leaving out those of tuning."""
    found = list(study.reported)
    following = max(found) + 1
    while len(found) < number:
        if following not in study.tuning:
            found.append(following)
        following += 1
    return found


def is_decided(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether the evidence that the mean difference is not zero is twenty to one."""
    if len(ours) < MIN_PAIRS or not theirs.mean() > 0:
        return False
    return evidence(float(stats.ttest_rel(ours, theirs).statistic), len(ours)) > 20


def final(agent: AgentSpec, seed: int, rounds: int) -> float:
    return float(play(WORLD, agent, rounds, seed=seed).regrets.sum())


def best(study: Study, name: str) -> AgentSpec:
    def mean(agent: AgentSpec) -> float:
        return float(np.mean([final(agent, seed, study.rounds) for seed in study.tuning]))

    return min(study.agents[name], key=mean)


def expected(study: Study) -> list[int]:
    """The reported seeds at the first look that decides, or at the last; from bare play."""
    assert study.decide is not None
    ours, theirs = (best(study, name) for name in study.decide.between)
    for number in looks(study):
        reported = seeds(study, number)
        regrets = [
            np.array([final(agent, seed, study.rounds) for seed in reported])
            for agent in (ours, theirs)
        ]
        if is_decided(regrets[0], regrets[1]):
            return reported
    return reported


CASES = [
    a_study(),
    a_study(decide=Decide(("other", "one"), at_most=40, batch=4)),
    a_study(decide=Decide(("one", "other"), at_most=40, batch=1)),
    a_study(decide=Decide(("one", "third"), at_most=17, batch=5)),
    a_study(everywhere=True, decide=Decide(("one", "other"), at_most=40, batch=3)),
    a_study(agents=ALIKE, decide=Decide(("one", "other"), at_most=17, batch=5)),
    a_study(agents=ALIKE, reported=(0,), decide=Decide(("one", "other"), at_most=10, batch=20)),
    a_study(reported=tuple(range(20, 36)), tuning=(36, 38), decide=Decide(("one", "other"), 40)),
    a_study(reported=tuple(range(20, 36)), rounds=100),
]


@pytest.mark.parametrize("study", CASES)
def test_seeds_are_added_until_it_is_decided_or_the_budget_is_spent(
    study: Study, tmp_path: Path
) -> None:
    store, watcher, engine = Store(tmp_path), Telling(), Inline()
    (results,) = run_studies([study], store, on=engine, listener=watcher)
    reported = results.study.reported
    assert list(reported) == expected(study)
    assert not set(reported) & set(study.tuning)
    assert results.is_decided
    # Nothing was computed twice, and nothing beyond the last look.
    assert len(engine.computed) == len(set(engine.computed)) == len(results.study)
    assert {run.seed for run in engine.computed} == {*reported, *study.tuning}
    # Every look is announced in full, and as many rounds are then told of.
    numbers = [n for n in looks(study) if n <= len(reported)]
    steps = [a_study_of(study, n) for n in numbers]
    assert watcher.announced == [(len(step), len(step) * study.rounds) for step in steps]
    assert watcher.played_since == [rounds for _, rounds in watcher.announced]
    # Asked afterwards, all agree how far it went.
    assert finished(study, store).study == results.study
    found = status_of(study, store)
    assert (len(found.done), len(found.planned)) == (len(results.study), len(results.study))
    assert set(found.done) == set(engine.computed)
    assert found.rounds_done == found.rounds_planned == len(results.study) * study.rounds
    (again,) = run_studies([study], store, on=Idle())
    assert again.study == results.study
    assert again.table().equals(results.table())


def a_study_of(study: Study, number: int) -> Study:
    parts = {name: getattr(study, name) for name in study.__dataclass_fields__}
    return Study(**{**parts, "reported": tuple(seeds(study, number))})


def test_the_cases_are_of_all_kinds() -> None:
    """Some decide at once, some after seeds were added, some never."""
    ends = [(len(expected(study)), looks(study)) for study in CASES]
    assert any(end == at[0] for end, at in ends)
    assert any(at[0] < end < at[-1] for end, at in ends)
    assert any(end == at[-1] for end, at in ends)


class Stopping(Inline):
    """Is interrupted after some runs."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left = after

    def run_all(
        self, runs: Sequence[RunSpec], played: Callable[[int], object]
    ) -> Iterator[Outcome]:
        for outcome in super().run_all(runs, played):
            if not self._left:
                raise KeyboardInterrupt
            self._left -= 1
            yield outcome


@pytest.mark.parametrize("everywhere", [True, False])
def test_a_stop_after_any_run_changes_nothing_of_what_follows(
    everywhere: bool, tmp_path: Path
) -> None:
    study = a_study(
        agents={name: APART[name] for name in ("one", "other")},
        everywhere=everywhere,
        rounds=20,
        tuning=(4, 5),
        decide=Decide(("one", "other"), at_most=11, batch=3),
    )
    (whole,) = run_studies([study], Store(tmp_path / "whole"), on=Inline())
    assert len(whole.study.reported) == 11
    stopped = Store(tmp_path / "stopped")
    for done in range(1, len(whole.study)):
        with pytest.raises(KeyboardInterrupt):
            run_studies([study], stopped, on=Stopping(after=1))
        found = status_of(study, stopped)
        assert len(found.done) == done if everywhere else len(found.done) <= done
        with pytest.raises(TellbackError, match="not finished"):
            finished(study, stopped)
    engine = Inline()
    (after,) = run_studies([study], stopped, on=engine)
    assert len(engine.computed) == 1
    assert after.study == whole.study
    assert after.table().equals(whole.table())
    files = [
        {path.name: path.read_bytes() for path in (tmp_path / name).rglob("*.parquet")}
        for name in ("whole", "stopped")
    ]
    assert files[0] == files[1]


def test_studies_that_decide_at_different_times_are_run_together(tmp_path: Path) -> None:
    studies = [
        a_study(name="late", agents=ALIKE, decide=Decide(("one", "other"), at_most=25, batch=5)),
        a_study(name="fixed", decide=None),
        a_study(name="early"),
    ]
    engine = Inline()
    found = run_studies(studies, Store(tmp_path), on=engine)
    assert [one.study.name for one in found] == ["late", "fixed", "early"]
    assert [list(one.study.reported) for one in found] == [
        expected(studies[0]),
        [0, 1, 2],
        expected(studies[2]),
    ]
    assert len({len(one.study.reported) for one in found}) == 3
    assert len(engine.computed) == len(set(engine.computed))


def test_a_run_that_is_lost_is_missed_where_the_study_went(tmp_path: Path) -> None:
    study, store = a_study(everywhere=True), Store(tmp_path)
    assert (len(status_of(study, store).planned), status_of(study, store).done) == (len(study), ())
    (results,) = run_studies([study], store, on=Inline())
    store.path(results.study.run(Uniform(), results.study.reported[-1])).unlink()
    found = status_of(study, store)
    assert (len(found.done), len(found.planned)) == (len(results.study) - 1, len(results.study))
    with pytest.raises(TellbackError, match=f"{len(results.study) - 1} of {len(results.study)}"):
        finished(study, store)


@settings(max_examples=200, deadline=None)
@given(
    st.sets(st.integers(0, 60), min_size=1, max_size=8),
    st.sets(st.integers(0, 60), max_size=20),
    st.integers(1, 9),
    st.integers(10, 40),
)
def test_added_seeds_count_on_and_leave_out_those_of_tuning(
    reported: set[int], tuning: set[int], batch: int, more: int
) -> None:
    first = tuple(sorted(reported - tuning)) or (61,)
    at_most = len(first) + more
    study = a_study(
        agents=ALIKE,
        tuning=tuple(tuning),
        reported=first,
        decide=Decide(("one", "other"), at_most, batch),
    )
    added = study
    for _ in range(-(-more // batch)):
        added = added.with_more_seeds()
        assert list(added.reported) == seeds(study, len(added.reported))
        assert len(added.reported) <= at_most
    assert len(added.reported) == at_most
    assert added.with_more_seeds() == added


def test_a_verdict_needs_seeds_on_which_there_is_regret(tmp_path: Path) -> None:
    still = Synthetic(instructions=20, responses=1, rank=3)
    study = a_study(world=still, decide=Decide(("one", "other"), at_most=12, batch=4))
    (results,) = run_studies([study], Store(tmp_path), on=Inline())
    assert len(results.study.reported) == 12
    assert isinstance(finished(study, Store(tmp_path)), Results)


def test_runs_that_two_studies_share_are_told_of_once(tmp_path: Path) -> None:
    watcher = Telling()
    studies = [a_study(), a_study(name="again", everywhere=False)]
    run_studies(studies, Store(tmp_path), on=Inline(), listener=watcher)
    assert watcher.played_since[-1] == watcher.announced[-1][1]


def test_chosen_runs_count_as_done_while_others_are_missing(tmp_path: Path) -> None:
    agents = {"one": (LORIL(k=0.1), LORIL(k=0.2)), "other": (Uniform(),)}
    study = a_study(everywhere=False, agents=agents, decide=Decide(("one", "other"), 30, 4))
    store = Store(tmp_path)
    (results,) = run_studies([study], store, on=Inline())
    store.path(results.study.run(Uniform(), results.study.reported[-1])).unlink()
    assert len(status_of(study, store).done) == len(results.study) - 1
