"""Sentences as words, and words as rows of a vocabulary."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellback.errors import SettingError
from tellback.models import Sentence
from tellback.models.words import BEGIN, END, Vocabulary, words
from tellback.worlds.pictures import COLOURS, INSIDE
from tellback.worlds.sentences import TEMPLATES, sentences

MARKS = {BEGIN, END}
SOME_WORDS = st.sampled_from(
    ["a", "red", "Red", "square", "é", "круг", "3", "don't", ".", ",", "!"]
)
SENTENCES = st.lists(SOME_WORDS, max_size=8).map(" ".join)


def told(*said: str) -> Vocabulary:
    vocabulary = Vocabulary()
    for sentence in said:
        vocabulary.learn(sentence)
    return vocabulary


def as_bytes(text: str | bytes) -> Any:
    content = text.encode() if isinstance(text, str) else text
    return np.frombuffer(content, dtype=np.uint8)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("", []),
        (" \t\n ", []),
        ("A red square", ["a", "red", "square"]),
        ("It is RED.", ["it", "is", "red", "."]),
        ("red,green;  (blue)", ["red", ",", "green", ";", "(", "blue", ")"]),
        ("What?!", ["what", "?", "!"]),
        ("a...b", ["a", ".", ".", ".", "b"]),
        ("It isn't the dog\u2019s", ["it", "isn't", "the", "dog\u2019s"]),
        ("Ein GRÜNES Dreieck", ["ein", "grünes", "dreieck"]),
        ("Это КРАСНЫЙ круг.", ["это", "красный", "круг", "."]),
        ("赤い 四角。", ["赤い", "四角", "。"]),
        ("two\u00a0words\u2003apart", ["two", "words", "apart"]),
        ("x_1 = 3", ["x_1", "=", "3"]),
        ("a \N{RED APPLE}!", ["a", "\N{RED APPLE}", "!"]),
    ],
)
def test_words_are_lower_case_and_punctuation_stands_alone(
    sentence: str, expected: list[str]
) -> None:
    assert words(sentence) == expected


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_nothing_but_white_space_gets_lost(text: str) -> None:
    found = words(text)
    assert "".join(found) == "".join(text.lower().split())
    assert all(re.fullmatch(r"[\w'\u2019]+", word) or len(word) == 1 for word in found)


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_the_words_of_words_are_themselves(text: str) -> None:
    for word in words(text):
        assert words(word) == [word]
    assert words(" ".join(words(text))) == words(text)


@settings(max_examples=100, deadline=None)
@given(SENTENCES)
def test_case_does_not_matter(sentence: str) -> None:
    assert words(sentence.upper()) == words(sentence.lower()) == words(sentence)


# Rows.


def test_a_new_vocabulary_has_the_two_marks_only() -> None:
    assert len(Vocabulary()) == 2
    assert {BEGIN, END} == {0, 1}


def test_words_take_the_next_rows_in_the_order_in_which_they_are_said() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.learn("a red square") == [2, 3, 4]
    assert vocabulary.learn("A blue, blue square.") == [2, 5, 6, 5, 4, 7]
    assert vocabulary.learn("") == []
    assert len(vocabulary) == 8


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=20), max_size=8))
def test_equal_words_have_equal_rows_and_others_others(said: list[str]) -> None:
    vocabulary = Vocabulary()
    rows = [vocabulary.learn(sentence) for sentence in said]
    row_of: dict[str, int] = {}
    for sentence, found in zip(said, rows, strict=True):
        for word, row in zip(words(sentence), found, strict=True):
            assert row_of.setdefault(word, row) == row
    assert len(set(row_of.values())) == len(row_of)
    assert set(row_of.values()) | MARKS == set(range(len(vocabulary)))
    # What was learned stays where it was.
    assert [vocabulary.learn(sentence) for sentence in said] == rows


@settings(max_examples=200, deadline=None)
@given(st.lists(SENTENCES, max_size=4), SENTENCES)
def test_looking_up_changes_nothing_and_gives_the_rows_that_learning_would(
    said: list[str], asked: str
) -> None:
    vocabulary = told(*said)
    before = vocabulary.state()
    rows = vocabulary.look_up(asked)
    assert vocabulary.look_up(asked) == rows
    np.testing.assert_array_equal(vocabulary.state(), before)
    assert vocabulary.learn(asked) == rows


def test_an_unsaid_word_that_is_repeated_has_one_row() -> None:
    vocabulary = told("a square")
    assert vocabulary.look_up("a pink square, a pink, pink one") == [2, 4, 3, 5, 2, 4, 5, 4, 6]
    assert len(vocabulary) == 4
    # Another sentence begins anew: nothing was kept of the first.
    assert vocabulary.look_up("one") == [4]


# Back to sentences.


def test_spelling_is_the_inverse_of_learning_for_every_sentence_of_the_templates() -> None:
    vocabulary = Vocabulary()
    everything = [
        sentence for kind in INSIDE for colour in COLOURS for sentence in sentences(kind, colour)
    ]
    for sentence in everything:
        assert vocabulary.spell(vocabulary.learn(sentence)) == sentence.lower()
    # Once all is known, the same; each sentence has rows of its own.
    spelled = {vocabulary.spell(vocabulary.look_up(sentence)) for sentence in everything}
    assert spelled == {sentence.lower() for sentence in everything}
    assert len(TEMPLATES) * len(INSIDE) * len(COLOURS) == len(everything)


def test_the_sentences_of_the_templates_have_the_papers_vocabulary() -> None:
    said = [s for kind in INSIDE for colour in COLOURS for s in sentences(kind, colour)]
    assert len(told(*said)) == Sentence().vocabulary == 34  # the marks included


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="'\u2019")))
def test_what_is_spelled_reads_as_the_same_words(text: str) -> None:
    vocabulary = Vocabulary()
    rows = vocabulary.learn(text)
    assert words(vocabulary.spell(rows)) == words(text)


def test_a_row_without_a_word_is_shown_as_a_blank() -> None:
    vocabulary = told("a red square.")
    assert vocabulary.spell([2, 6, 4, 5]) == "a _ square."
    assert vocabulary.spell([99]) == "_"
    assert vocabulary.spell([]) == ""


# Saved and restored.


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(), max_size=6), st.text())
def test_a_restored_vocabulary_is_the_saved_one(said: list[str], more: str) -> None:
    vocabulary = told(*said)
    state = vocabulary.state()
    assert state.dtype == np.uint8
    again = Vocabulary.restored(state)
    assert len(again) == len(vocabulary)
    assert [again.look_up(sentence) for sentence in said] == [
        vocabulary.look_up(sentence) for sentence in said
    ]
    np.testing.assert_array_equal(again.state(), state)
    assert again.learn(more) == vocabulary.learn(more)


def test_a_saved_vocabulary_does_not_follow_the_live_one() -> None:
    vocabulary = told("a red square")
    state = vocabulary.state()
    vocabulary.learn("and a blue one")
    assert len(Vocabulary.restored(state)) == 5


@pytest.mark.parametrize(
    "damaged",
    [
        b"\xff\xfe",
        b"red\n\xc3",
        "red\nblue\nred",
        "red\n",
        "\nred",
        "red\n\nblue",
        "red square",
        "red.",
        "Red",
        " red",
        "red\tblue",
    ],
    ids=repr,
)
def test_a_damaged_vocabulary_is_refused(damaged: str | bytes) -> None:
    with pytest.raises(SettingError, match="vocabulary"):
        Vocabulary.restored(as_bytes(damaged))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=12))
def test_any_bytes_are_a_vocabulary_that_could_be_or_refused(content: bytes) -> None:
    try:
        vocabulary = Vocabulary.restored(as_bytes(content))
    except SettingError:
        return
    assert vocabulary.state().tobytes() == content
    known = content.decode().split("\n") if content else []
    assert told(*known).state().tobytes() == content
