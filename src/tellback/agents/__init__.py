"""Agents: each is a model and an explorer."""

from tellback.agents.agent import ModelAgent, ModelAgentSpec
from tellback.agents.certified import Certified
from tellback.agents.greedy import EpsilonGreedy, Greedy
from tellback.agents.imitation import Imitation
from tellback.agents.learned import LearnedLORIL
from tellback.agents.loril import LORIL
from tellback.agents.one_hot import OneHotLORIL
from tellback.agents.radius import Printed, RadiusSpec, Repaired
from tellback.agents.reward_only import RewardOnly
from tellback.agents.saved import load
from tellback.agents.uniform import Uniform
from tellback.roles import AgentSpec

__all__ = [
    "LORIL",
    "AgentSpec",
    "Certified",
    "EpsilonGreedy",
    "Greedy",
    "Imitation",
    "LearnedLORIL",
    "ModelAgent",
    "ModelAgentSpec",
    "OneHotLORIL",
    "Printed",
    "RadiusSpec",
    "Repaired",
    "RewardOnly",
    "Uniform",
    "load",
]
