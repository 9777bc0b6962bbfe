"""How people may put it: wordings of simple objects, and names of types and colours.

All of it was written for this package. In a wording ``{type}`` and ``{colour}`` stand for a
name, ``{a_type}`` and ``{a_colour}`` for a name with its article, ``{TYPE}``, ``{COLOUR}``,
``{Type}`` and ``{Colour}`` for a name in capitals or beginning with one. Typos are meant.
"""

from __future__ import annotations

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
"""What a teacher types about a picture: each of the wordings is equally likely."""

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
"""What is asked for, in wordings that no teacher uses."""


class Names(NamedTuple):
    """The names of a type or a colour.

    Attributes
    ----------
    usual : str
        The one most people use.
    also : tuple of str
        Others, in teaching and in asking.
    only_asked : tuple of str
        Names that no teacher uses, and few people ask with.
    """

    usual: str
    also: tuple[str, ...]
    only_asked: tuple[str, ...]


TYPES = {
    "square": Names("square", ("box",), ("cube",)),
    "rectangle": Names("rectangle", ("bar", "oblong"), ("brick",)),
    "triangle": Names("triangle", ("wedge",), ("pyramid",)),
    "circle": Names("circle", ("disc", "dot"), ("ball",)),
}

COLOURS = {
    "red": Names("red", ("crimson",), ("scarlet",)),
    "blue": Names("blue", ("navy",), ("sapphire",)),
    "green": Names("green", ("emerald",), ("lime",)),
    "yellow": Names("yellow", ("golden",), ("lemon",)),
    "black": Names("black", ("jet black",), ("ebony",)),
    "grey": Names("grey", ("gray",), ("silver",)),
    "cyan": Names("cyan", ("turquoise",), ("aqua",)),
    "orange": Names("orange", ("amber",), ("tangerine",)),
}

USUAL = 0.7
"""How often the usual name is said; else one of the others, each as often."""

ONLY_ASKED = 0.02
"""How often a name in a request is one that no teacher uses."""


class Meaning(NamedTuple):
    """What a sentence says of an object; None for what it leaves open."""

    type: str | None
    colour: str | None

    def fits(self, thing: Object) -> bool:
        """Whether it is true of an object."""
        kind, colour = thing
        return self.type in (None, kind) and self.colour in (None, colour)


def worded(wording: str, thing: Object, rng: np.random.Generator, asking: bool = False) -> str:
    """A sentence that is true of an object: the wording with names that are drawn."""
    kind, colour = thing
    return _filled(wording, _drawn(TYPES[kind], rng, asking), _drawn(COLOURS[colour], rng, asking))


def meaning_of(wording: str, thing: Object) -> Meaning:
    """What a wording says of an object."""
    kind, colour = thing
    plain = wording.lower()
    return Meaning(kind if "type}" in plain else None, colour if "colour}" in plain else None)


def all_sentences(wording: str, thing: Object) -> set[str]:
    """Every sentence that a wording can give of an object, in teaching or asking."""
    kind, colour = thing
    return {
        _filled(wording, said_type, said_colour)
        for said_type in _all_names(TYPES[kind])
        for said_colour in _all_names(COLOURS[colour])
    }


def _drawn(names: Names, rng: np.random.Generator, asking: bool) -> str:
    # Two draws whatever they turn out to be: the stream stays in step.
    which, among = rng.random(), rng.random()
    if asking and which >= 1 - ONLY_ASKED:
        return names.only_asked[int(among * len(names.only_asked))]
    return names.usual if which < USUAL else names.also[int(among * len(names.also))]


def _all_names(names: Names) -> tuple[str, ...]:
    return (names.usual, *names.also, *names.only_asked)


def _filled(wording: str, kind: str, colour: str) -> str:
    slots = {"type": kind, "colour": colour}
    forms = {form: name for slot, name in slots.items() for form, name in _forms(slot, name)}
    return wording.format(**forms)


def _forms(slot: str, name: str) -> list[tuple[str, str]]:
    article = "an" if name[0] in "aeiou" else "a"
    return [
        (slot, name),
        (slot.upper(), name.upper()),
        (slot.capitalize(), name.capitalize()),
        (f"a_{slot}", f"{article} {name}"),
    ]
