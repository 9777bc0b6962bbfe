"""Models: each estimates P(x | y, s) from descriptions."""

from tellback.models.adam import MixtureByAdam
from tellback.models.finite import FiniteClass
from tellback.models.low_rank import LowRank
from tellback.models.mixture import Mixture
from tellback.models.model import Model, ModelSpec, Representing
from tellback.models.network import Network
from tellback.models.sentence import Sentence

__all__ = [
    "FiniteClass",
    "LowRank",
    "Mixture",
    "MixtureByAdam",
    "Model",
    "ModelSpec",
    "Network",
    "Representing",
    "Sentence",
]
