"""The settings of a lesson of one's own material."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tellback.specs import Count, Fraction, Spec

FORMS = ("words", "steps", "pictures", "strips")
"""How items are shown. A strip is a row of frames."""


@dataclass(frozen=True)
class MaterialSpec(Spec):
    """The base of such settings."""

    role: ClassVar[str] = "material"


@dataclass(frozen=True)
class Material(MaterialSpec):
    """The settings of a lesson of one's own material; its items are in the database.

    Parameters
    ----------
    items : int
        How many items there are.
    form : "words", "steps", "pictures" or "strips"
        How they are shown.
    seen_by : str
        The kind of the encoder of pictures; empty if there are none.
    candidates : int
        How many of them are shown in a round, at most.
    held_out : float
        The share of rounds whose descriptions are the exam, and are not taught.
    sha256 : str
        The digest of the items and of their descriptions.
    """

    items: Count = 1
    form: str = "words"
    seen_by: str = ""
    candidates: Count = 5
    held_out: Fraction = 0.25
    sha256: str = ""
