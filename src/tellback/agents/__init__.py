"""Agents: each is a model and an explorer."""

from tellback.agents.agent import ModelAgent, ModelAgentSpec
from tellback.agents.certified import Certified
from tellback.agents.deviations import Deviations
from tellback.agents.greedy import EpsilonGreedy, Greedy
from tellback.agents.imitation import Imitation
from tellback.agents.inverse_gap import InverseGap
from tellback.agents.learned import LearnedLORIL
from tellback.agents.loril import LORIL
from tellback.agents.one_hot import OneHotLORIL
from tellback.agents.proposals import Blind, LogLinear, Proposal, ProposalSpec
from tellback.agents.proposing import Proposing
from tellback.agents.radius import Printed, RadiusSpec, Repaired, SelfNormalized
from tellback.agents.recommended import recommended
from tellback.agents.reward_only import RewardOnly
from tellback.agents.thompson import Thompson
from tellback.agents.uniform import Uniform
from tellback.roles import AgentSpec
from tellback.saved import load

__all__ = [
    "LORIL",
    "AgentSpec",
    "Blind",
    "Certified",
    "Deviations",
    "EpsilonGreedy",
    "Greedy",
    "Imitation",
    "InverseGap",
    "LearnedLORIL",
    "LogLinear",
    "ModelAgent",
    "ModelAgentSpec",
    "OneHotLORIL",
    "Printed",
    "Proposal",
    "ProposalSpec",
    "Proposing",
    "RadiusSpec",
    "Repaired",
    "RewardOnly",
    "SelfNormalized",
    "Thompson",
    "Uniform",
    "load",
    "recommended",
]
