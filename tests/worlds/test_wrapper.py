"""Worlds around other worlds, and the promises of all of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest

from tellback import Simulation, check, play, rounds
from tellback.agents import LORIL, Greedy, Uniform
from tellback.errors import SettingError
from tellback.roles import DemonstratedContext, WorldSpec
from tellback.specs import spec_from_data
from tellback.worlds import Adversarial, Demonstrations, Hard, Realizable, Synthetic
from tests.support.theory_worlds import PICTURES, SMALL, begun
from tests.test_truth_is_hidden import leaks, modules_of_others, played, reachable

pytestmark = pytest.mark.first

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "too few responses": (lambda: Hard(responses=21), "responses must be at least 8e, which is 22"),
    "too few rounds": (
        lambda: Hard(responses=22, horizon=433),
        r"horizon must be at least 256 log\(2e\), which is 434",
    ),
    "a printed gap above 1/2": (
        lambda: Hard(responses=200, horizon=799, gap="printed"),
        "4 times the 200 responses, 800",
    ),
    "a repaired gap above 1/4": (lambda: Hard(responses=600, horizon=599), "the 600 responses"),
    "a response that there is not": (lambda: Hard(better=32), "better must be below 32"),
    "a response before the first": (lambda: Hard(better=-1), "better"),
    "no such choice": (lambda: Hard(better="any"), "better must be 'drawn' or 'none'"),
    "no such gap": (lambda: Hard(gap="repared"), "gap must .*Did you mean 'repaired'"),
    "no members": (lambda: Realizable(size=0), "size"),
    "a seed below 0": (lambda: Realizable(class_seed=-1), "class_seed"),
    "no rank": (lambda: Realizable(rank=0), "rank"),
    "no world to be against": (lambda: Adversarial(Greedy()), "world"),  # type: ignore[arg-type]
    "no world to show": (lambda: Demonstrations("hard"), "world"),  # type: ignore[arg-type]
    "an adversary of sentences": (lambda: Adversarial(PICTURES), "images uses sentences"),
    "the same within": (lambda: Adversarial(Demonstrations(PICTURES)), "uses sentences"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_theory_does_not_speak_of_is_refused(what: str) -> None:
    make, said = REFUSED[what]
    with pytest.raises(SettingError, match=said):
        make()


NESTED: list[WorldSpec] = [
    Adversarial(SMALL),
    Adversarial(SMALL.with_settings({"contexts": "fresh"})),
    Demonstrations(SMALL),
    Demonstrations(SMALL.with_settings({"contexts": 3})),
    Adversarial(Demonstrations(SMALL.with_settings({"contexts": 3}))),
    Demonstrations(Adversarial(SMALL.with_settings({"contexts": "fresh"}))),
    Adversarial(Adversarial(SMALL)),
    Demonstrations(Demonstrations(SMALL)),
    Adversarial(Hard()),
    Adversarial(SMALL.with_settings({"contexts": 3}), picks="both"),
    Demonstrations(Hard(better=2, gap="printed")),
    Demonstrations(Realizable(4, 5, 3, size=3)),
]


IDS = [str(n) for n in range(len(NESTED))]


@pytest.mark.parametrize("spec", NESTED, ids=IDS)
def test_a_run_taken_up_again_is_the_same_run(spec: WorldSpec) -> None:
    whole = play(spec, LORIL(), 60, seed=7)
    first = play(spec, LORIL(), 33, seed=7)
    second = play(spec, first.agent, 27, seed=7, start=33, history=first.history)
    for name in ("instructions", "responses", "descriptions", "regrets", "estimates"):
        np.testing.assert_array_equal(
            np.concatenate([getattr(first, name), getattr(second, name)]),
            getattr(whole, name),
            err_msg=name,
        )


@pytest.mark.parametrize("spec", NESTED[:4], ids=IDS[:4])
def test_without_its_past_a_run_is_not_taken_up(spec: WorldSpec) -> None:
    with pytest.raises(SettingError, match="history"):
        play(spec, LORIL(), 5, start=20)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_no_chain_leads_to_what_the_adversary_knows_or_to_who_knows_the_best_response() -> None:
    adversary = begun(Adversarial(SMALL))
    showing = begun(Demonstrations(SMALL.with_settings({"contexts": "fresh"})))
    given = played(None, adversary) + played(None, showing)
    found = reachable(given, apart_from=modules_of_others())
    assert len(found) > 10_000
    assert leaks(found, adversary) == []
    assert any(isinstance(thing, DemonstratedContext) for thing in found.values())
    outer: Any = showing.truth
    assert id(outer) not in found
    assert leaks(found, Simulation(showing.world, outer._teacher, outer._truth)) == []


def test_who_needs_a_truth_says_so() -> None:
    class Blind(Synthetic):
        abstract = True

        def build(self, rng: np.random.Generator) -> Simulation:
            inner = super().build(rng)
            return Simulation(inner.world, inner.teacher, None)

    blind = Blind(instructions=5, responses=4, rank=3)
    with pytest.raises(SettingError, match="adversarial needs a truth"):
        begun(Adversarial(blind))
    with pytest.raises(SettingError, match="demonstrations needs a truth"):
        begun(Demonstrations(blind))


# All of them.


@pytest.mark.parametrize(
    "spec",
    [
        *NESTED,
        Hard(responses=40, horizon=700, better="none", gap="printed"),
        Realizable(temperature=0.3, size=7, class_seed=9),
    ],
    ids=repr,
)
def test_worlds_survive_as_plain_data(spec: WorldSpec) -> None:
    again = spec_from_data(WorldSpec, spec.to_data())
    assert again == spec
    assert again.to_data() == spec.to_data()
    one, other = (play(world, Uniform(), 20, seed=1) for world in (spec, again))
    np.testing.assert_array_equal(one.regrets, other.regrets)


@pytest.mark.parametrize(
    "spec",
    [NESTED[1], NESTED[3], NESTED[4], NESTED[5], Hard(better="none"), Hard(), Realizable()],
    ids=repr,
)
def test_worlds_keep_the_promises_of_worlds(spec: WorldSpec) -> None:
    report = check(spec)
    assert report, str(report)


def test_a_world_in_use_can_be_copied_and_both_go_on_alike() -> None:
    simulation = begun(Demonstrations(Adversarial(SMALL)))
    list(islice(rounds(simulation, Uniform(), seed=1), 20))
    one, other = (
        play(world, LORIL(), 30, seed=4) for world in (simulation, copy.deepcopy(simulation))
    )
    np.testing.assert_array_equal(one.instructions, other.instructions)
    np.testing.assert_array_equal(one.regrets, other.regrets)
