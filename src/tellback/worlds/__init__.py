"""Worlds: each presents a task per round. Simulated ones also have a teacher and a truth."""

from tellback.roles import WorldSpec
from tellback.worlds.adversarial import Adversarial
from tellback.worlds.babyai import BabyAI
from tellback.worlds.demonstrations import Demonstrations
from tellback.worlds.environments import Environment
from tellback.worlds.hard import Hard
from tellback.worlds.house import House
from tellback.worlds.images import Images
from tellback.worlds.one_hot_features import OneHotFeatures
from tellback.worlds.paraphrases import Paraphrases
from tellback.worlds.raw_features import RawFeatures
from tellback.worlds.realizable import Realizable
from tellback.worlds.recorded import Recorded, simulation_of
from tellback.worlds.recorded_pool import Split
from tellback.worlds.synthetic import Synthetic

__all__ = [
    "Adversarial",
    "BabyAI",
    "Demonstrations",
    "Environment",
    "Hard",
    "House",
    "Images",
    "OneHotFeatures",
    "Paraphrases",
    "RawFeatures",
    "Realizable",
    "Recorded",
    "Split",
    "Synthetic",
    "WorldSpec",
    "simulation_of",
]
