"""Slips of known words."""

from __future__ import annotations

import numpy as np
import pytest

from tellback import Facts, Listed
from tellback.models import Keywords
from tellback.models.near_words import nearest
from tellback.models.word_columns import SELDOM, WordColumns

KNOWN = ("square", "circle", "rectangle", "red", "two", "blue", "green", "yellow", "book", "zwei")


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("sqaure", "square"),
        ("squre", "square"),
        ("circcle", "circle"),
        ("cirkle", "circle"),
        ("retcangel", "rectangle"),
        ("bleu", "blue"),
        ("gren", "green"),
        ("redish", "red"),
        ("reddish", "red"),
        ("greenish", "green"),
    ],
)
def test_a_slip_is_read_as_the_word_that_was_meant(slip: str, meant: str) -> None:
    assert nearest(slip, KNOWN) == meant


@pytest.mark.parametrize(
    "word",
    ["read", "rod", "too", "look", "triangle", "rectify", "fish", "ish", "!", "\U0001f499", "2"],
)
def test_another_word_is_no_slip(word: str) -> None:
    assert nearest(word, KNOWN) is None


def test_the_nearest_counts_and_of_equals_the_first() -> None:
    assert nearest("planted", ["plaited", "plants", "planter"]) == "plaited"
    assert nearest("planted", ["plaiter", "plantes"]) == "plantes"


def test_a_word_said_often_has_a_column_of_its_own() -> None:
    columns = WordColumns(10, slips=True)
    columns.add(["plate"])
    columns.add(["plane"])
    assert columns.of("plane") == columns.of("plates") == 0
    assert columns.known(["plane", "mug"]) == 0.5
    columns.choose([["plate"]] * 9 + [["plane"]] * SELDOM)
    assert len(columns) == 1
    assert columns.told(["plane"]).tolist() == [1.0]
    columns.choose([["plate"]] * 9 + [["plane"]] * (SELDOM + 1))
    assert columns.told(["plane"]).tolist() == [0.0, 1.0]


def test_columns_that_are_restored_read_slips_alike() -> None:
    columns = WordColumns(10, slips=True)
    columns.choose([["square", "red"], ["square", "redish"]])
    again = WordColumns.restored(columns.state(), 10, slips=True)
    for said in (["sqaure"], ["redish"], ["square", "reddish"], ["circle"]):
        np.testing.assert_array_equal(again.told(said), columns.told(said))


def test_slips_teach_as_the_words_that_were_meant() -> None:
    slips = {"square": ("sqaure", "squre", "suqare"), "circle": ("cirlce", "crcle", "circel")}
    model = Keywords(waves=0).build(Facts(2, None), np.random.default_rng(0))
    for n, features in enumerate(np.eye(2)[[0, 1] * 4]):
        name = ("square", "circle")[n % 2]
        model.learn(features, f"a {name if n < 2 else slips[name][n // 2 - 1]}")
    for n, asked in enumerate(("square", "circle", "sqare", "cicrle")):
        estimates = model.estimates(f"the {asked}", Listed(np.eye(2)))
        assert estimates[n % 2] > 2 * estimates[1 - n % 2]
