"""Worlds: each presents a task a round; a simulated one has a teacher and a truth too."""

from tellback.roles import WorldSpec
from tellback.worlds.adversarial import Adversarial
from tellback.worlds.demonstrated import Demonstrated
from tellback.worlds.hard import Hard
from tellback.worlds.images import Images
from tellback.worlds.one_hot_features import OneHotFeatures
from tellback.worlds.paraphrases import Paraphrases
from tellback.worlds.raw_features import RawFeatures
from tellback.worlds.realizable import Realizable
from tellback.worlds.synthetic import Synthetic

__all__ = [
    "Adversarial",
    "Demonstrated",
    "Hard",
    "Images",
    "OneHotFeatures",
    "Paraphrases",
    "RawFeatures",
    "Realizable",
    "Synthetic",
    "WorldSpec",
]
