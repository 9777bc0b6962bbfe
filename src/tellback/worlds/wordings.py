"""Free wordings of simple objects, and synonyms of types and colours.

All of them were written for this package. In a wording, ``{type}`` and ``{colour}`` stand for a
name, ``{a_type}`` and ``{a_colour}`` for a name with its article, ``{TYPE}`` and ``{COLOUR}`` for a
name in capitals, ``{Type}`` and ``{Colour}`` for a capitalised name. Typos are intended.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from tellback.worlds.sentences import Object

TEACHING = (
    # short
    "{colour} {type}",
    "{a_colour} {type}",
    "{type}, {colour}",
    "{Colour} {type}.",
    "{COLOUR} {TYPE}",
    "{type} ({colour})",
    "one {colour} {type}",
    "that's {a_colour} {type}",
    "its {a_colour} {type}",
    "just {a_colour} {type}",
    "clearly {a_colour} {type}",
    "oh, {a_colour} {type}!",
    # whole sentences
    "You picked the {colour} {type}.",
    "You have chosen {a_type} that is {colour}.",
    "This one is {a_colour} {type}.",
    "The picture shows {a_colour} {type}.",
    "There's {a_type} here and it is {colour}.",
    "It is {a_type}, and the {type} is {colour}.",
    "On a white background there is a single {colour} {type}.",
    "The thing in the picture is {colour} and has the shape of {a_type}.",
    "Somebody drew {a_type} and filled it in with {colour}.",
    "What we have here is {a_type} painted {colour}.",
    "The agent took the {type}, the {colour} one.",
    "Selected: {type}, coloured {colour}",
    "shape = {type}; colour = {colour}",
    # first person
    "I see {a_colour} {type}.",
    "I can see {a_type} and it looks {colour} to me",
    "i think this is {a_colour} {type}",
    "I'd say {colour} {type}",
    "I would call this {a_type} in {colour}.",
    "To me this looks like {a_colour} {type}!",
    "we got {a_colour} {type} this time",
    # in a hurry
    "thats a {colour} {type}",
    "teh {colour} {type}",
    "you choose the {colour} {type}",
    "a pciture of {a_colour} {type}",
    "ok so this is  {a_type} , colour is {colour}",
    "looks like a {colour} {type} i guess..",
    "THE {COLOUR} {TYPE}!!!",
    "hmm {type}... {colour} i beleive",
    "nice, the {colour} {type} again :)",
    "its the {type} wich is {colour}",
    # only one of the two
    "something {colour}",
    "It is {a_type}.",
)
"""Descriptions by a teacher, equally likely."""

ASKING = (
    "give me the {colour} {type}",
    "Please show me {a_colour} {type}.",
    "Find {a_type} that is {colour}!",
    "Could you pick the {colour} {type} for me?",
    "I want the {type}, a {colour} one.",
    "I'd like to have {a_colour} {type}, please.",
    "where is the {colour} {type}?",
    "Which of them is {a_colour} {type}?",
    "Choose the {type} whose colour is {colour}.",
    "pls select {colour} {type}",
    "{COLOUR} {TYPE} PLEASE",
    "Look for {a_colour} {type}.",
    "now the {type} in {colour}",
    "take teh {colour} {type} plz",
    "Would you point at the {type} that somebody painted {colour}?",
    "i need a {colour} {type}",
    "can i get {a_type}? must be {colour}",
    "Next: {a_colour} {type}",
    "My favourite is the {colour} {type}; click on it.",
    "We are looking for {a_type} and it should be {colour}.",
    "Go to the picture with the {colour} {type} in it.",
    "the {type} please, teh {colour} one",
    "anything {colour} will do",
    "Show me any {type} you like.",
)
"""Instructions, in wordings that no teacher uses."""


class Synonyms(NamedTuple):
    """The names of a type or a colour."""

    main: str  # the most frequent one
    also: tuple[str, ...]  # in descriptions and instructions
    only_asked: tuple[str, ...]  # rare ones, only in instructions


TYPES = {
    "square": Synonyms("square", ("box",), ("cube",)),
    "rectangle": Synonyms("rectangle", ("bar", "oblong"), ("brick",)),
    "triangle": Synonyms("triangle", ("wedge",), ("pyramid",)),
    "circle": Synonyms("circle", ("disc", "dot"), ("ball",)),
}

COLOURS = {
    "red": Synonyms("red", ("crimson",), ("scarlet",)),
    "blue": Synonyms("blue", ("navy",), ("sapphire",)),
    "green": Synonyms("green", ("emerald",), ("lime",)),
    "yellow": Synonyms("yellow", ("golden",), ("lemon",)),
    "black": Synonyms("black", ("jet black",), ("ebony",)),
    "grey": Synonyms("grey", ("gray",), ("silver",)),
    "cyan": Synonyms("cyan", ("turquoise",), ("aqua",)),
    "orange": Synonyms("orange", ("amber",), ("tangerine",)),
}

_NAMES = re.compile(
    r"\b(?:"
    + "|".join(
        name
        for names in (*TYPES.values(), *COLOURS.values())
        for name in (*names.also, *names.only_asked, names.main)  # "jet black" before "black"
    )
    + r")\b"
)

MAIN = 0.7
"""The probability of the main name; the others share the rest equally."""

ONLY_ASKED = 0.02
"""The probability of a rare name in an instruction."""


class Meaning(NamedTuple):
    """The type and the colour that a sentence names; None if it names none."""

    type: str | None
    colour: str | None

    def fits(self, thing: Object) -> bool:
        """Whether the sentence is true of an object."""
        kind, colour = thing
        return self.type in (None, kind) and self.colour in (None, colour)


def worded(wording: str, thing: Object, rng: np.random.Generator, asking: bool = False) -> str:
    """A sentence about an object: the wording with random names."""
    kind, colour = thing
    return _filled(
        wording, _sampled(TYPES[kind], rng, asking), _sampled(COLOURS[colour], rng, asking)
    )


def meaning_of(wording: str, thing: Object) -> Meaning:
    """The meaning of a wording about an object."""
    kind, colour = thing
    plain = wording.lower()
    return Meaning(kind if "type}" in plain else None, colour if "colour}" in plain else None)


def all_sentences(wording: str, thing: Object) -> set[str]:
    """Every sentence of a wording about an object, with all synonyms."""
    kind, colour = thing
    return {
        _filled(wording, type_name, colour_name)
        for type_name in _all_names(TYPES[kind])
        for colour_name in _all_names(COLOURS[colour])
    }


def names_in(sentence: str) -> list[str]:
    """The names of types and colours in a sentence, also in capitals."""
    found = _NAMES.findall(sentence.lower())
    return [str(name) for name in found]


def _sampled(names: Synonyms, rng: np.random.Generator, asking: bool) -> str:
    # Always two draws, so that later draws do not depend on these.
    which, among = rng.random(), rng.random()
    if asking and which >= 1 - ONLY_ASKED:
        return names.only_asked[int(among * len(names.only_asked))]
    return names.main if which < MAIN else names.also[int(among * len(names.also))]


def _all_names(names: Synonyms) -> tuple[str, ...]:
    return (names.main, *names.also, *names.only_asked)


def _filled(wording: str, kind: str, colour: str) -> str:
    return wording.format(**_forms("type", kind), **_forms("colour", colour))


@cache
def _forms(slot: str, name: str) -> dict[str, str]:
    """The name in every form that a wording may ask for."""
    article = "an" if name[0] in "aeiou" else "a"
    return {
        slot: name,
        slot.upper(): name.upper(),
        slot.capitalize(): name.capitalize(),
        f"a_{slot}": f"{article} {name}",
    }
