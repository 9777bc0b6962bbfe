"""Agents: each is a model and an explorer."""

from tellback.agents.agent import ModelAgent, ModelAgentSpec
from tellback.agents.greedy import EpsilonGreedy, Greedy
from tellback.agents.loril import LORIL
from tellback.agents.saved import load
from tellback.agents.uniform import Uniform
from tellback.roles import AgentSpec

__all__ = [
    "LORIL",
    "AgentSpec",
    "EpsilonGreedy",
    "Greedy",
    "ModelAgent",
    "ModelAgentSpec",
    "Uniform",
    "load",
]
