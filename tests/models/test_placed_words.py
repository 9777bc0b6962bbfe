"""Words with their places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellback.models.placed_words import JOINING, LINKING, placed, places
from tellback.models.words import words


def clauses(sentence: str) -> dict[str, str]:
    said = words(sentence)
    return {word: clause for word, (clause, _, _) in zip(said, places(said), strict=True)}


def links(sentence: str) -> dict[str, str]:
    said = words(sentence)
    return {word: link for word, (_, link, _) in zip(said, places(said), strict=True)}


@pytest.mark.parametrize(
    "sentence",
    [
        "open x, then take y and hit z",
        "hit z after you open x and take y",
        "open x, and then take y. Hit z!",
        "after you open x, take y, then hit z",
    ],
)
def test_clauses_are_numbered_as_things_happen(sentence: str) -> None:
    found = clauses(sentence)
    happened = ["x", "y", "z"]
    if sentence.startswith("hit"):
        assert [found[word] for word in happened] == ["0", "1", "2"]
    assert sorted(happened, key=lambda word: int(found[word])) == happened


def test_a_word_is_linked_by_the_first_of_the_linking_words_in_a_row() -> None:
    assert links("put the ball next to the box")["box"] == "next"
    assert links("put the ball next to the box")["ball"] == "-"
    house = links("walk through the hall to the chair")
    assert (house["hall"], house["chair"]) == ("through", "to")


def test_a_new_clause_has_no_link_yet() -> None:
    assert links("go to the door and take it")["take"] == "-"


@pytest.mark.parametrize("sentence", ["ein roter Ball", "赤いボール", "red", ""])
def test_without_joining_and_linking_words_all_words_have_one_place(sentence: str) -> None:
    assert set(places(words(sentence))) <= {("0", "-", "0-")}


TOKENS = st.sampled_from([*sorted(JOINING), *sorted(LINKING), "red", "ball", "box"])


@given(st.lists(TOKENS, max_size=12))
def test_any_words_have_places(sentence: list[str]) -> None:
    found = places(sentence)
    assert len(found) == len(placed(sentence)) == len(sentence)
    numbers = {int(clause) for clause, _, _ in found}
    assert numbers <= set(range(len(sentence)))
    assert all(link == "-" or link in LINKING for _, link, _ in found)
