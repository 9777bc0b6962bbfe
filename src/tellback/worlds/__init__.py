"""Worlds: each presents a task a round; a simulated one has a teacher and a truth too."""

from tellback.roles import WorldSpec
from tellback.worlds.adversarial import Adversarial
from tellback.worlds.demonstrated import Demonstrated
from tellback.worlds.hard import Hard
from tellback.worlds.images import Images
from tellback.worlds.observed import Observed
from tellback.worlds.paraphrases import Paraphrases
from tellback.worlds.realizable import Realizable
from tellback.worlds.synthetic import Synthetic
from tellback.worlds.withheld import Withheld

__all__ = [
    "Adversarial",
    "Demonstrated",
    "Hard",
    "Images",
    "Observed",
    "Paraphrases",
    "Realizable",
    "Synthetic",
    "Withheld",
    "WorldSpec",
]
