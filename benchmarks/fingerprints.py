"""Fingerprints of short runs of every agent in every world.

    python -m benchmarks.fingerprints > before.txt     # then change the code
    python -m benchmarks.fingerprints | diff before.txt -

A change that must not change results leaves every line as it is. A fingerprint is the digest of
the responses, rewards, descriptions and estimates of a run, to the last bit.
"""

from __future__ import annotations

import hashlib

import numpy as np

import tellback.agents
import tellback.models  # noqa: F401  (their specs are known by their names)
from tellback import play
from tellback.agents import LORIL, Certified, Greedy, Thompson
from tellback.encoders import Thumbnail
from tellback.errors import TellbackError
from tellback.models import FiniteClass, MixtureByAdam, Ridge, Sentence
from tellback.roles import AgentSpec, WorldSpec
from tellback.specs import known_kinds
from tellback.worlds import (
    Adversarial,
    Hard,
    House,
    Images,
    Paraphrases,
    RawFeatures,
    Realizable,
    Synthetic,
)

ROUNDS = 120
SMALL = Synthetic(instructions=12, responses=9, rank=4)
FRESH = Synthetic(instructions=6, responses=8, rank=3, contexts="fresh")


def worlds() -> dict[str, WorldSpec]:
    """Small worlds of every kind; wrappers around a small synthetic one."""
    found: dict[str, WorldSpec] = {
        "synthetic": SMALL,
        "synthetic, fresh": FRESH,
        "realizable": Realizable(),
        "hard": Hard(),
        "adversarial": Adversarial(SMALL),
        "raw-features": RawFeatures(FRESH),
        "images": Images("canon", encoder=Thumbnail()),
        "paraphrases": Paraphrases(),
        "house": House(),
    }
    for name, spec in known_kinds(WorldSpec).items():
        if name not in found:
            try:
                found[name] = spec(SMALL)  # type: ignore[call-arg]
            except (TellbackError, TypeError, OSError) as error:
                print(f"# {name} is left out: {type(error).__name__}")
    return found


def agents() -> dict[str, AgentSpec]:
    """Every agent with its usual settings, and some with other models."""
    found: dict[str, AgentSpec] = {
        "LORIL on ridge": LORIL(model=Ridge()),
        "LORIL as printed": LORIL.as_printed(),
        "LORIL as repaired": LORIL.as_repaired(),
        "Thompson on ridge": Thompson(model=Ridge()),
        "greedy by Adam": Greedy(model=MixtureByAdam(steps=2)),
        "greedy, GRU": Greedy(model=Sentence()),
        "certified finite class": Certified(Greedy(model=FiniteClass())),
    }
    for name, spec in known_kinds(AgentSpec).items():
        try:
            found[name] = spec()
        except TypeError:
            found[name] = spec(Greedy())  # type: ignore[call-arg]
    return found


def fingerprint(world: WorldSpec, agent: AgentSpec) -> str:
    """The digest of a run, or why there is none."""
    try:
        run = play(world, agent, ROUNDS, seed=7)
    except TellbackError as error:
        return type(error).__name__
    digest = hashlib.sha256()
    for column in (run.responses, run.rewards, run.regrets, run.estimates, run.bonuses):
        digest.update(np.ascontiguousarray(column).tobytes())
    digest.update(repr([str(one) for one in run.descriptions]).encode())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    for world_name, world in worlds().items():
        for agent_name, agent in agents().items():
            print(f"{world_name} / {agent_name}: {fingerprint(world, agent)}", flush=True)
