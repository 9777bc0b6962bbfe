"""An agent whose runs do not end before a test lets them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tellback.agents import Uniform
from tellback.streams import Streams

HELD_WHILE = "HELD_WHILE"
"""Names, in the environment, the file that holds the runs while it exists."""

HELD_SEEDS = range(1, 10)
"""Seed 0 is left out: a command builds agents with it beforehand, to see whether they fit."""


@dataclass(frozen=True)
class Held(Uniform):
    """Draws responses at random, when it may. Its ``number`` is for a grid, and means nothing."""

    number: int = 0

    def build(self, facts: Any, rng: np.random.Generator) -> Any:
        """The agent, after the wait."""
        file = os.environ.get(HELD_WHILE)
        if file and _state(rng) in [_state(Streams(seed).init("agent")) for seed in HELD_SEEDS]:
            while Path(file).exists():
                time.sleep(0.02)
        return super().build(facts, rng)


def _state(rng: np.random.Generator) -> str:
    return str(rng.bit_generator.state)
