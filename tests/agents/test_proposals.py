"""Proposals: they learn from hindsight which responses to draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tellback import Facts, Task
from tellback.agents import Blind, LogLinear
from tellback.arrays import Array
from tellback.errors import SettingError
from tests.support.coloured_steps import LONGEST, ColouredSteps, Moves, all_sequences

FACTS = Facts(ColouredSteps.dim, None)
WEIGHTS = hnp.arrays(np.float64, Moves.dim, elements=st.floats(-3, 3))


def task(instruction: str = "end with red") -> Task:
    return Task(None, instruction, ColouredSteps())


def live(spec: Any) -> Any:
    return spec.build(FACTS, np.random.default_rng(0))


@given(WEIGHTS)
@settings(max_examples=20)
def test_the_grammar_of_the_tests_is_a_distribution(weights: Array) -> None:
    total = sum(np.exp(Moves().log_probability(one, weights)) for one in all_sequences())
    assert total == pytest.approx(1.0)


@given(WEIGHTS, st.sampled_from(list(all_sequences())))
@settings(max_examples=20)
def test_a_score_is_the_gradient_of_the_log_probability(
    weights: Array, response: tuple[str, ...]
) -> None:
    steps, tiny = Moves(), 1e-5
    slope = steps.score(response, weights)
    for i in range(steps.dim):
        nudge = np.zeros(steps.dim)
        nudge[i] = tiny
        rise = steps.log_probability(response, weights + nudge)
        fall = steps.log_probability(response, weights - nudge)
        assert slope is not None
        assert slope[i] == pytest.approx((rise - fall) / (2 * tiny), abs=1e-6)


def share(proposal: Any, said: str, response: tuple[str, ...]) -> float:
    """The probability of a response under an instruction, by many draws."""
    drawn = proposal.draw(task(said), 2000, np.random.default_rng(5))
    return float(drawn.count(response) / len(drawn))


@pytest.mark.parametrize("response", [("blue",), ("red", "green"), ("green", "green", "red")])
def test_a_demonstrated_response_becomes_likelier_under_its_description_alone(
    response: tuple[str, ...],
) -> None:
    proposal = live(LogLinear("moves", blind=0.0))
    before = share(proposal, "do it so", response)
    for _ in range(30):
        proposal.learn(task("whatever was asked"), response, "do it so")
    assert share(proposal, "do it so", response) > 3 * before > 0
    assert share(proposal, "something else", response) == pytest.approx(before, abs=0.05)


def test_a_share_of_the_candidates_is_drawn_blindly() -> None:
    proposal = live(LogLinear("moves", blind=0.25, rate=5.0))
    for _ in range(200):
        proposal.learn(task(), ("red",), "red alone")
    drawn = proposal.draw(task("red alone"), 4000, np.random.default_rng(1))
    blind = live(Blind("moves")).draw(task("red alone"), 4000, np.random.default_rng(1))
    assert drawn[:1000] == blind[:1000]
    assert set(drawn[1000:]) == {("red",)}


def test_without_lessons_a_learned_proposal_draws_as_a_blind_one() -> None:
    learned, blind = live(LogLinear("moves", blind=0.0)), live(Blind("moves"))
    assert learned.draw(task(), 50, np.random.default_rng(2)) == blind.draw(
        task(), 50, np.random.default_rng(2)
    )
    own = live(Blind()).draw(task(), 50, np.random.default_rng(2))
    assert own == ColouredSteps().draw(50, np.random.default_rng(2))


@given(st.lists(st.tuples(st.sampled_from(list(all_sequences())), st.text()), max_size=6))
@settings(max_examples=20)
def test_a_restored_proposal_goes_on_bit_for_bit(lessons: list[tuple[Any, str]]) -> None:
    proposal, other = live(LogLinear("moves")), live(LogLinear("moves"))
    for response, said in lessons:
        proposal.learn(task(), response, said)
    other.restore(proposal.state())
    for one in (proposal, other):
        one.learn(task(), ("red", "blue"), "first red, then blue")
    mine, theirs = proposal.state(), other.state()
    for name in mine:
        np.testing.assert_array_equal(mine[name], theirs[name])
    rngs = [np.random.default_rng(3) for _ in range(2)]
    assert proposal.draw(task(), 20, rngs[0]) == other.draw(task(), 20, rngs[1])


def test_a_state_of_another_shape_is_refused_and_changes_nothing() -> None:
    proposal = live(LogLinear("moves"))
    proposal.learn(task(), ("red",), "red")
    state = dict(proposal.state())
    with pytest.raises(SettingError, match="shape"):
        proposal.restore({**state, "proposal": np.zeros((1, 3))})
    np.testing.assert_array_equal(proposal.state()["proposal"], state["proposal"])


def test_a_response_that_the_grammar_cannot_make_teaches_it_nothing() -> None:
    proposal = live(LogLinear("moves"))
    proposal.learn(task(), ("red",) * (LONGEST + 1), "too long")
    assert not proposal.state()["proposal"].any()
