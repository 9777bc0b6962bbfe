"""People who describe simple pictures, each in words that no list of the package holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tellback.worlds.paraphrases import ParaphrasesTeacher
from tellback.worlds.pictures import Shape

Teller = Callable[[Shape, np.random.Generator], str]

PARAPHRASES = (
    "what you went for was {a} {t} in {c}",
    "{c}, four words at most: {t}",
    "on display: {t} / tone: {c}",
    "my eyes tell me {c} and {t}-like",
    "{t} it is; the paint is {c}",
    "somebody cut {a} {t} out of {c} paper",
    "the {c} specimen, the one that is {a} {t}",
    "chose {t}. hue {c}.",
)
PARAPHRASED = {
    "square": ("four-equal-sider", "tile", "square"),
    "rectangle": ("plank", "long box", "rectangle"),
    "triangle": ("three-corner thing", "tent", "triangle"),
    "circle": ("round thing", "coin", "circle"),
    "red": ("ruby", "tomato", "red"),
    "blue": ("ocean", "cobalt", "blue"),
    "green": ("grass", "leafy", "green"),
    "yellow": ("sunny", "banana", "yellow"),
    "black": ("coal", "dark as night", "black"),
    "grey": ("ash", "concrete", "grey"),
    "cyan": ("teal-ish", "pool water", "cyan"),
    "orange": ("carrot", "pumpkin", "orange"),
}
MESSY = (
    "{c} {t}",
    "{c}{t} lol",
    "ein {c} {t}",
    "{t}!!! {c}",
    "uhh {t}, {c}?",
    "{c}es {t} \U0001f44d",
)
MESSY_NAMES = {
    "square": ("sqaure", "Quadrat", "\u2b1b", "squre"),
    "rectangle": ("rectangel", "Rechteck", "\u25ac", "rect"),
    "triangle": ("trianlge", "Dreieck", "\U0001f53a", "tri"),
    "circle": ("cirlce", "Kreis", "\u26aa", "crcle"),
    "red": ("rd", "rot", "\u2764", "redish"),
    "blue": ("bleu", "blau", "\U0001f499", "bluee"),
    "green": ("gren", "gr\u00fcn", "\U0001f49a", "greeen"),
    "yellow": ("yelow", "gelb", "\U0001f49b", "yllw"),
    "black": ("blak", "schwarz", "\U0001f5a4", "balck"),
    "grey": ("gery", "grau", "\U0001fa76", "grayish"),
    "cyan": ("cyna", "t\u00fcrkis", "\U0001f976", "aquaish"),
    "orange": ("ornage", "orangefarben", "\U0001f9e1", "orng"),
}


def clean(shape: Shape, rng: np.random.Generator) -> str:
    """As the simulated teacher would."""
    from tellback.worlds.images import Scene

    return ParaphrasesTeacher().describe(Scene((shape,)), 0, rng)


def paraphrased(shape: Shape, rng: np.random.Generator) -> str:
    """In other words."""
    return _worded(PARAPHRASES, PARAPHRASED, shape, rng)


def messy(shape: Shape, rng: np.random.Generator) -> str:
    """With slips, in two languages, with emoji."""
    return _worded(MESSY, MESSY_NAMES, shape, rng)


def _worded(
    wordings: tuple[str, ...],
    names: Mapping[str, tuple[str, ...]],
    shape: Shape,
    rng: np.random.Generator,
) -> str:
    kind, colour = (str(rng.choice(names[name])) for name in (shape.type, shape.colour))
    article = "an" if kind[0] in "aeiou" else "a"
    return str(rng.choice(wordings)).format(t=kind, c=colour, a=article)


TELLERS: dict[str, Teller] = {"clean": clean, "paraphrased": paraphrased, "messy": messy}
