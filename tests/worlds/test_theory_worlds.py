"""The worlds of the theory are what the theorems are about, to the number."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tellback import Choice, Facts, Listed, Run, Simulation, Task, check, play, rounds
from tellback.agents import LORIL, AgentSpec, EpsilonGreedy, Greedy, Imitation, Uniform
from tellback.encoders import Thumbnail
from tellback.errors import SettingError
from tellback.models import FiniteClass
from tellback.roles import DemonstratedContext, Exchange, Instruction, WorldSpec
from tellback.specs import spec_from_data
from tellback.streams import Stream, Streams
from tellback.worlds import Adversarial, Demonstrated, Hard, Images, Realizable, Synthetic
from tests.support.oracles import Floats, hidden_f
from tests.test_truth_is_hidden import leaks, played, reachable

SMALL = Synthetic(instructions=5, responses=4, rank=3, seed=2)
PICTURES = Images(responses=4, colours=("red", "blue", "grey"), encoder=Thumbnail(cells=2))


def begun(spec: WorldSpec, seed: int = 0) -> Simulation:
    return spec.build(np.random.default_rng(seed))


def listed(simulation: Simulation) -> Listed:
    responses: Listed = simulation.world.task(1, (), Stream(0, "world").at(1)).responses
    return responses


def rewards_of(simulation: Simulation) -> Floats:
    """P(x | y) of a world with one context, a row an instruction."""
    responses, truth = listed(simulation), simulation.truth
    assert truth is not None
    assert simulation.world.facts.instructions is not None
    return np.array(
        [
            [truth.reward(Task(0, x, responses), y) for y in range(len(responses))]
            for x in range(simulation.world.facts.instructions)
        ]
    )


# The lower bound's worlds.


@pytest.mark.parametrize(("form", "share"), [("printed", 1.0), ("repaired", 0.25)])
@pytest.mark.parametrize(("K", "T"), [(22, 500), (100, 2000), (125, 500)])
@pytest.mark.parametrize("better", [0, 7, 21])
def test_one_response_is_described_as_a_more_often_by_the_gap(
    form: str, share: float, K: int, T: int, better: int
) -> None:
    table = rewards_of(begun(Hard(responses=K, horizon=T, better=better, gap=form)))
    expected = np.full((2, K), 0.5)
    gap = share * math.sqrt(K / T)
    expected[:, better] = 0.5 + gap, 0.5 - gap
    np.testing.assert_allclose(table, expected, rtol=1e-15, atol=1e-16)


def test_its_teacher_describes_with_those_frequencies() -> None:
    simulation = begun(Hard(responses=22, horizon=500, better=3, gap="printed"))
    stream = Stream(5, "teacher")
    for y, chance in ((3, 0.5 + math.sqrt(22 / 500)), (4, 0.5)):
        told = [simulation.teacher.describe(0, y, stream.at(t)) for t in range(1, 6001)]
        assert set(told) == {0, 1}
        assert stats.binomtest(told.count(0), len(told), chance).pvalue > 1e-6
        other = chance + (0.1 if y == 4 else -0.1)
        assert stats.binomtest(told.count(0), len(told), other).pvalue < 1e-9


def test_a_and_b_are_asked_for_equally_often() -> None:
    run = play(Hard(), Uniform(), 4000, seed=1)
    assert stats.binomtest(int(np.sum(run.instructions)), 4000).pvalue > 1e-3


def test_features_tell_nothing_of_responses_that_were_not_tried() -> None:
    spec = Hard(responses=30, horizon=900)
    np.testing.assert_array_equal(listed(begun(spec)).matrix, np.eye(30))
    assert spec.facts == Facts(dim=30, instructions=2, fixed_responses=True)
    assert begun(spec).world.facts == spec.facts


def test_the_better_response_is_drawn_from_the_seed_unless_it_is_named() -> None:
    def found(spec: Hard, seed: int) -> list[int]:
        table = rewards_of(spec.build(Streams(seed).init("world")))
        return np.flatnonzero(table[0] != 0.5).tolist()

    drawn = [found(Hard(), seed) for seed in range(60)]
    assert all(len(one) == 1 for one in drawn)
    assert len({one[0] for one in drawn}) > 20
    assert drawn == [found(Hard(), seed) for seed in range(60)]
    assert {found(Hard(better=9), seed)[0] for seed in range(5)} == {9}
    assert [found(Hard(better="none"), seed) for seed in range(5)] == [[]] * 5


@pytest.mark.parametrize("form", ["printed", "repaired"])
def test_what_each_response_costs_is_as_the_paper_says(form: str) -> None:
    """Asked for A, all but i cost the gap; asked for B, only i does."""
    spec = Hard(responses=22, horizon=500, better=5, gap=form)
    gap = math.sqrt(22 / 500) * (1 if form == "printed" else 0.25)
    seen = set()
    for r in islice(rounds(spec, Uniform(), seed=2), 1500):
        x, better = r.task.instruction, r.choice.response == 5
        assert r.regret == pytest.approx(gap if (x == 0) != better else 0.0, abs=1e-15)
        assert r.reward == pytest.approx(
            0.5 if not better else 0.5 + gap if x == 0 else 0.5 - gap, rel=1e-14
        )
        seen.add((x, better))
    assert len(seen) == 4


@pytest.mark.parametrize("agent", [Uniform(), LORIL(k=1.0), Greedy()], ids=repr)
def test_in_the_empty_world_nothing_costs_anything(agent: AgentSpec) -> None:
    run = play(Hard(better="none"), agent, 200, seed=3)
    np.testing.assert_array_equal(run.regret, np.zeros(200))
    np.testing.assert_array_equal(run.rewards, np.full(200, 0.5))


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
    "no world to show": (lambda: Demonstrated("hard"), "world"),  # type: ignore[arg-type]
    "an adversary of sentences": (lambda: Adversarial(PICTURES), "images uses sentences"),
    "the same within": (lambda: Adversarial(Demonstrated(PICTURES)), "uses sentences"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_theory_does_not_speak_of_is_refused(what: str) -> None:
    make, said = REFUSED[what]
    with pytest.raises(SettingError, match=said):
        make()


def test_the_least_that_the_conditions_allow_is_allowed() -> None:
    least = rewards_of(begun(Hard(responses=22, horizon=434, better=0)))
    assert least[0, 0] == pytest.approx(0.5 + math.sqrt(22 / 434) / 4, rel=1e-14)
    extreme = rewards_of(begun(Hard(responses=200, horizon=800, gap="printed", better=0)))
    np.testing.assert_allclose(extreme[:, 0], [1, 0])
    assert rewards_of(begun(Hard(responses=600, horizon=600, better=0)))[0, 0] == 0.75


# The realizable world.


@pytest.mark.parametrize("class_seed", [0, 3])
def test_the_truth_is_a_member_of_the_class_that_agents_may_know(class_seed: int) -> None:
    spec = Realizable(5, 7, 3, temperature=0.5, size=10, class_seed=class_seed)
    members = FiniteClass(size=10, seed=class_seed, temperature=0.5).members(5, 3)
    which = []
    for seed in range(40):
        simulation = spec.build(Streams(seed).init("world"))
        f = hidden_f(simulation)
        same = [m for m in range(10) if np.array_equal(members[m], f)]
        assert len(same) == 1
        which += same
        table = listed(simulation).matrix @ members[same[0]].T
        np.testing.assert_allclose(rewards_of(simulation), table.T, rtol=1e-13)
    assert len(set(which)) > 5, "another seed is mostly another member"
    other = FiniteClass(size=10, seed=class_seed + 1, temperature=0.5).members(5, 3)
    assert not any(np.array_equal(f, member) for member in other)


def test_each_member_is_as_likely_to_be_the_truth() -> None:
    spec = Realizable(3, 2, 2, size=4)
    firsts = FiniteClass(size=4).members(3, 2)[:, 0, 0].tolist()
    drawn = [hidden_f(begun(spec, seed))[0, 0] for seed in range(400)]
    counts = [drawn.count(first) for first in firsts]
    assert sum(counts) == 400
    assert stats.chisquare(counts).pvalue > 1e-3


def test_other_seeds_have_other_features() -> None:
    one, other = (listed(begun(Realizable(), seed)).matrix for seed in (0, 1))
    assert one.shape == (50, 4)
    assert not np.isin(one, other).any()
    np.testing.assert_allclose(one.sum(axis=1), 1, rtol=1e-12)


# The adversary.


def costs_by_hand(run: Run, t: int, instructions: int) -> Floats:
    """What each instruction cost when it was last asked for before round t, from 0."""
    costs = np.full(instructions, np.inf)
    for earlier in range(t):
        costs[run.instructions[earlier]] = run.regrets[earlier]
    return costs


@pytest.mark.parametrize("agent", [Uniform(), LORIL(), EpsilonGreedy(epsilon=0.5)], ids=repr)
@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
def test_an_adversary_asks_for_all_once_and_then_for_what_cost_most(
    agent: AgentSpec, contexts: int | str
) -> None:
    run = play(Adversarial(SMALL.with_settings({"contexts": contexts})), agent, 150, seed=4)
    assert sorted(run.instructions[:5]) == list(range(5))
    for t in range(5, 150):
        costs = costs_by_hand(run, t, 5)
        assert costs[run.instructions[t]] == costs.max()
    assert len(set(run.instructions[5:])) > 1


def test_an_adversary_may_pick_contexts_too() -> None:
    """Every pair comes once before any comes again, and then the pair that cost most."""
    spec = Adversarial(SMALL.with_settings({"contexts": 3}), picks="both")
    game = list(islice(rounds(spec, EpsilonGreedy(epsilon=0.5), seed=4), 120))
    pairs = [(r.task.context, r.task.instruction) for r in game]
    costs: dict[Any, float] = {}
    for pair, one in zip(pairs, game, strict=True):
        if pair in costs:
            untried = {(s, x) for s, _ in costs for x in range(5)} - set(costs)
            assert not untried
            assert costs[pair] == max(costs.values())
        costs[pair] = one.regret
    assert len(costs) == 15
    assert len(set(pairs[40:])) > 1


def test_picking_contexts_too_costs_more_than_picking_instructions() -> None:
    world = Synthetic(instructions=5, responses=5, rank=3, temperature=0.4, contexts=5, seed=1)
    alone, both = (
        np.mean([play(one, LORIL(), 300, seed=s).regret[-1] for s in range(4)])
        for one in (Adversarial(world), Adversarial(world, picks="both"))
    )
    assert both > alone


def test_contexts_that_never_come_again_cannot_be_picked() -> None:
    spec = Adversarial(SMALL.with_settings({"contexts": "fresh"}), picks="both")
    with pytest.raises(SettingError, match=r"ndarray: use picks='instructions'"):
        play(spec, Uniform(), 1)


def test_an_adversary_of_instructions_keeps_its_identity() -> None:
    assert "picks" not in Adversarial(SMALL).to_data()
    for spec in (Adversarial(SMALL), Adversarial(SMALL, picks="both")):
        assert spec_from_data(WorldSpec, spec.to_data()) == spec
    with pytest.raises(SettingError, match="picks must be"):
        Adversarial(SMALL, picks="context")


def test_an_adversary_draws_among_equals() -> None:
    empty = Adversarial(Hard(better="none"))
    assert {play(empty, Uniform(), 1, seed=s).instructions[0] for s in range(20)} == {0, 1}
    later = play(empty, Uniform(), 1000, seed=0).instructions[2:]
    assert 400 < int(np.sum(later)) < 600


def test_an_adversary_costs_more() -> None:
    world = Synthetic(instructions=10, responses=5, rank=3, temperature=0.4, seed=1)
    fair, against = (
        np.mean([play(one, LORIL(), 300, seed=s).regret[-1] for s in range(4)])
        for one in (world, Adversarial(world))
    )
    assert against > fair


def test_an_adversary_changes_nothing_but_the_instructions() -> None:
    spec = SMALL.with_settings({"contexts": 3})
    plain = list(islice(rounds(spec, Uniform(), seed=6), 30))
    against = list(islice(rounds(Adversarial(spec), Uniform(), seed=6), 30))
    assert [r.task.context for r in plain] == [r.task.context for r in against]
    assert [r.description for r in plain] == [r.description for r in against]
    assert Adversarial(spec).facts == spec.facts


ADVERSARIES: list[WorldSpec] = [
    Adversarial(SMALL),
    Demonstrated(Adversarial(SMALL)),
    Adversarial(SMALL.with_settings({"contexts": 3}), picks="both"),
]
NESTED: list[WorldSpec] = [
    Adversarial(SMALL),
    Adversarial(SMALL.with_settings({"contexts": "fresh"})),
    Demonstrated(SMALL),
    Demonstrated(SMALL.with_settings({"contexts": 3})),
    Adversarial(Demonstrated(SMALL.with_settings({"contexts": 3}))),
    Demonstrated(Adversarial(SMALL.with_settings({"contexts": "fresh"}))),
    Adversarial(Adversarial(SMALL)),
    Demonstrated(Demonstrated(SMALL)),
    Adversarial(Hard()),
    Adversarial(SMALL.with_settings({"contexts": 3}), picks="both"),
    Demonstrated(Hard(better=2, gap="printed")),
    Demonstrated(Realizable(4, 5, 3, size=3)),
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


@pytest.mark.parametrize("spec", ADVERSARIES, ids=repr)
def test_an_adversary_is_a_function_of_the_past_that_it_is_given(spec: WorldSpec) -> None:
    """Also if it has read another before, shorter or longer or in turn."""
    pasts = [
        list(play(spec, agent, n, seed=seed).history)
        for agent, n, seed in ((Uniform(), 40, 1), (LORIL(), 41, 2), (Greedy(), 41, 3))
    ]
    pasts += [pasts[0][:-1], pasts[1][:20], []]
    stream = Stream(1, "world")

    def asked(world: Any, past: Sequence[Exchange]) -> Instruction:
        task: Task = world.task(len(past) + 1, past, stream.at(len(past) + 1))
        return task.instruction

    anew = [asked(begun(spec).world, past) for past in pasts]
    assert len(set(anew)) > 1
    again = begun(spec).world
    for _ in range(2):
        assert [asked(again, past) for past in pasts] == anew
        assert [asked(again, past) for past in reversed(pasts)] == anew[::-1]


@pytest.mark.parametrize("spec", ADVERSARIES, ids=repr)
def test_two_agents_in_one_live_world_do_not_pay_for_each_other(spec: WorldSpec) -> None:
    alone = [play(begun(spec), agent, 80, seed=s) for s, agent in ((1, LORIL()), (2, Uniform()))]
    shared = begun(spec)
    games = [rounds(shared, agent, seed=s) for s, agent in ((1, LORIL()), (2, Uniform()))]
    together = [[next(game) for game in games] for _ in range(80)]
    for n, run in enumerate(alone):
        instructions = [pair[n].task.instruction for pair in together]
        np.testing.assert_array_equal(instructions, run.instructions)


def test_a_long_past_is_not_read_again_every_round() -> None:
    """What the world within is given counts how much of the past was looked at."""
    looked = 0

    class Counting(Sequence[Exchange]):
        def __init__(self) -> None:
            self.rounds: list[Exchange] = []

        def __len__(self) -> int:
            return len(self.rounds)

        def __getitem__(self, which: Any) -> Any:
            nonlocal looked
            found = self.rounds[which]
            looked += len(found) if isinstance(which, slice) else 1
            return found

    for spec in ADVERSARIES:
        looked = 0
        simulation, past, stream = begun(spec), Counting(), Stream(1, "world")
        for t in range(1, 201):
            task = simulation.world.task(t, past, stream.at(t))
            past.rounds.append(Exchange(task, t % 4, t % 5))
        assert 0 < looked <= 3 * 200


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_no_chain_leads_to_what_the_adversary_knows_or_to_who_knows_the_best_response() -> None:
    adversary = begun(Adversarial(SMALL))
    showing = begun(Demonstrated(SMALL.with_settings({"contexts": "fresh"})))
    given = played(None, adversary) + played(None, showing)
    found = reachable(given, apart_from=[])  # one walk: it is a long one
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
    with pytest.raises(SettingError, match="demonstrated needs a truth"):
        begun(Demonstrated(blind))


# Demonstrations.


def best_rewards(simulation: Simulation, task: Task) -> list[float]:
    truth = simulation.truth
    assert truth is not None
    return [truth.reward(task, y) for y in range(len(task.responses))]


@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
def test_a_context_shows_the_task_before_and_a_best_response_to_it(contexts: int | str) -> None:
    spec = SMALL.with_settings({"contexts": contexts})
    inner = begun(spec)
    shown = list(islice(rounds(begun(Demonstrated(spec)), Uniform(), seed=3), 40))
    plain = list(islice(rounds(begun(spec), Uniform(), seed=3), 40))
    first = shown[0].task.context
    assert isinstance(first, DemonstratedContext)
    assert first.before is None
    assert first.best is None
    for before, r, one in zip(plain, shown[1:], plain[1:], strict=False):
        context = r.task.context
        assert type(context) is DemonstratedContext
        np.testing.assert_array_equal(context.scene, one.task.context)
        assert context.before is not None
        assert context.before.instruction == before.task.instruction
        np.testing.assert_array_equal(context.before.context, before.task.context)
        np.testing.assert_array_equal(context.before.responses.matrix, before.task.responses.matrix)
        rewards = best_rewards(inner, context.before)
        assert rewards[context.best] == max(rewards)


@pytest.mark.parametrize("agent", [LORIL(), EpsilonGreedy(epsilon=0.3), Uniform()], ids=repr)
@pytest.mark.parametrize("contexts", [1, 3, "fresh"])
def test_who_does_not_look_at_contexts_plays_as_in_the_world_itself(
    agent: AgentSpec, contexts: int | str
) -> None:
    spec = SMALL.with_settings({"contexts": contexts, "seed": None, "asks": "marginal"})
    plain, shown = (play(world, agent, 80, seed=5) for world in (spec, Demonstrated(spec)))
    columns = ("instructions", "responses", "descriptions", "rewards", "regrets", "estimates")
    for name in columns:
        np.testing.assert_array_equal(getattr(plain, name), getattr(shown, name), err_msg=name)
    assert Demonstrated(spec).facts == spec.facts


def test_its_teacher_and_truth_are_those_of_the_world() -> None:
    spec = SMALL.with_settings({"contexts": 3})
    inner, outer = begun(spec), begun(Demonstrated(spec))
    assert inner.truth is not None
    assert outer.truth is not None
    stream = Stream(2, "teacher")
    for r in islice(rounds(begun(spec), Uniform(), seed=3), 30):
        task, y = r.task, r.choice.response
        shown = task._replace(context=DemonstratedContext(task.context))
        assert inner.truth.reward(task, y) == outer.truth.reward(shown, y)
        assert inner.truth.best(task) == outer.truth.best(shown)
        told = [
            simulation.teacher.describe(one.context, y, stream.at(r.t))
            for simulation, one in ((inner, task), (outer, shown))
        ]
        assert told[0] == told[1]


def test_pictures_can_be_shown_too() -> None:
    plain, shown = (
        play(world, Uniform(), 12, seed=5) for world in (PICTURES, Demonstrated(PICTURES))
    )
    assert plain.instructions == shown.instructions
    assert plain.descriptions == shown.descriptions
    np.testing.assert_array_equal(plain.regrets, shown.regrets)


@pytest.mark.parametrize(
    "spec", [Adversarial(Demonstrated(SMALL)), Demonstrated(Adversarial(SMALL))], ids=repr
)
def test_what_an_adversary_asked_for_is_shown_whichever_is_within(spec: WorldSpec) -> None:
    made = list(islice(rounds(spec, Uniform(), seed=8), 60))
    for before, r in pairwise(made):
        assert isinstance(r.task.context, DemonstratedContext)
        assert r.task.context.before is not None
        assert r.task.context.before.instruction == before.task.instruction
        rewards = best_rewards(
            begun(SMALL), Task(0, before.task.instruction, before.task.responses)
        )
        assert rewards[r.task.context.best] == max(rewards)
    run = play(spec, Uniform(), 60, seed=8)
    for t in range(60):
        costs = costs_by_hand(run, t, 5)
        assert costs[run.instructions[t]] == costs.max()


class Reader:
    """A world that reads some rounds of the past, and notes what it was given."""

    def __init__(self, world: Any, memory: int | None) -> None:
        self.facts, self.memory, self._world = world.facts, memory, world
        self.given: list[list[Exchange]] = []

    def task(self, t: int, history: Sequence[Exchange], rng: np.random.Generator) -> Task:
        self.given.append(list(history))
        task: Task = self._world.task(t, history, rng)
        return task


@pytest.mark.parametrize(("memory", "most"), [(0, 1), (1, 1), (4, 4), (None, 11)])
def test_the_world_within_can_read_as_much_of_its_own_past_as_it_wants(
    memory: int | None, most: int
) -> None:
    made: list[Reader] = []

    class Reading(Synthetic):
        abstract = True

        def build(self, rng: np.random.Generator) -> Simulation:
            inner = super().build(rng)
            made.append(Reader(inner.world, memory))
            return Simulation(made[-1], inner.teacher, inner.truth)

    spec = Demonstrated(Reading(instructions=5, responses=4, rank=3, contexts=3))
    run = play(spec, Uniform(), 12, seed=2)
    (reader,) = made
    assert [len(past) for past in reader.given] == [min(t, most) for t in range(12)]
    for t, past in enumerate(reader.given):
        for before, exchange in zip(range(t - len(past), t), past, strict=True):
            assert exchange.task.context in (0, 1, 2)
            assert exchange.task.instruction == run.instructions[before]
            assert exchange.response == run.responses[before]
            assert exchange.description == run.descriptions[before]


def test_what_is_shown_does_not_grow_with_the_rounds() -> None:
    (last,) = islice(rounds(Demonstrated(SMALL), Uniform(), seed=8), 29, 30)
    assert last.task.context.before.context == 0


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
    simulation = begun(Demonstrated(Adversarial(SMALL)))
    list(islice(rounds(simulation, Uniform(), seed=1), 20))
    one, other = (
        play(world, LORIL(), 30, seed=4) for world in (simulation, copy.deepcopy(simulation))
    )
    np.testing.assert_array_equal(one.instructions, other.instructions)
    np.testing.assert_array_equal(one.regrets, other.regrets)


class Watching:
    """Notes the context of each task that it is given."""

    def __init__(self) -> None:
        self.contexts: list[Any] = []

    def respond(self, task: Task, rng: np.random.Generator) -> Choice:
        self.contexts.append(task.context)
        return task.choose(0)

    def learn(self, task: Task, choice: Choice, description: Instruction) -> None: ...


def test_what_is_shown_does_not_depend_on_what_the_agent_did() -> None:
    one = Watching()
    for _ in islice(rounds(Demonstrated(SMALL), one, seed=2), 25):
        pass
    other = [r.task.context for r in islice(rounds(Demonstrated(SMALL), Imitation(), seed=2), 25)]
    assert [(c.before and c.before.instruction, c.best) for c in one.contexts] == [
        (c.before and c.before.instruction, c.best) for c in other
    ]
