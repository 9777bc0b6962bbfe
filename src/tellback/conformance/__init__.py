"""The conformance kit: checks that an object keeps the promises of its role."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tellback.agents import Greedy
from tellback.conformance.agents import agent_checks
from tellback.conformance.encoders import picture_encoder_checks, text_encoder_checks
from tellback.conformance.report import PromiseCheck, Report, report
from tellback.conformance.worlds import world_checks
from tellback.encoders import EncoderSpec, TextEncoderSpec
from tellback.models import ModelSpec
from tellback.roles import Agent, AgentSpec, Simulation, World, WorldSpec, missing

__all__ = ["PromiseCheck", "Report", "check"]


def check(thing: Any, world: Any = None) -> Report:
    """Try an agent, a world, a model or an encoder against the promises of its role.

    Parameters
    ----------
    thing : a spec or a live object
        A live object is tried on copies, and stays as it was.
    world : optional
        The world to try an agent or a model in. By default two small worlds are tried; an agent
        made for certain sizes needs the world that it is for.

    Returns
    -------
    Report
        True if all promises are kept. Printed, it lists them.

    Examples
    --------
    >>> from tellback.agents import Greedy
    >>> bool(check(Greedy()))
    True
    """
    if isinstance(thing, type):
        return _unfit("it is a class: give an instance, or a spec")
    if isinstance(thing, ModelSpec):
        return report("model", agent_checks(lambda: Greedy(model=thing), world))
    if isinstance(thing, AgentSpec) or not missing(thing, Agent):
        return report("agent", agent_checks(_maker(thing), world))
    if isinstance(thing, WorldSpec | Simulation) or not missing(thing, World):
        return report("world", world_checks(thing))
    if isinstance(thing, TextEncoderSpec):
        return report("encoder of sentences", text_encoder_checks(thing))
    if isinstance(thing, EncoderSpec) or callable(thing):
        return report("encoder of pictures", picture_encoder_checks(thing))
    return _unfit(
        f"as an agent it lacks {', '.join(missing(thing, Agent))}; "
        f"as a world, {', '.join(missing(thing, World))}; an encoder can be called"
    )


def _unfit(reason: str) -> Report:
    roles = "it is an agent, a world, a model or an encoder"
    return Report("object", (PromiseCheck(roles, reason),))


def _maker(agent: Any) -> Callable[[], Any]:
    return (lambda: agent) if isinstance(agent, AgentSpec) else (lambda: copy.deepcopy(agent))
