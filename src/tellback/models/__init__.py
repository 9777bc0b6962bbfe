"""Models: each estimates P(x | y, s) from descriptions."""

from tellback.models.finite import FiniteClass
from tellback.models.keywords import Keywords
from tellback.models.low_rank import LowRank
from tellback.models.mixture import Mixture
from tellback.models.mixture_by_adam import MixtureByAdam
from tellback.models.model import Model, ModelSpec, Posterior, Representing
from tellback.models.network import Network
from tellback.models.phrases import Phrases
from tellback.models.ridge import Ridge
from tellback.models.sentence import Sentence

__all__ = [
    "FiniteClass",
    "Keywords",
    "LowRank",
    "Mixture",
    "MixtureByAdam",
    "Model",
    "ModelSpec",
    "Network",
    "Phrases",
    "Posterior",
    "Representing",
    "Ridge",
    "Sentence",
]
