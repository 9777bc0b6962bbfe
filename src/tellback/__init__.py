"""Interactive learning from hindsight instruction feedback."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tellback.sources import note_imports

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tellback.agents import load
    from tellback.conformance import check
    from tellback.own import agent, model, world
    from tellback.protocol import (
        Agent,
        Choice,
        Facts,
        Ledger,
        Round,
        Run,
        Simulation,
        Task,
        Teacher,
        Truth,
        World,
        play,
        rounds,
    )
    from tellback.responses import Listed
    from tellback.side_by_side import compare

__all__ = [
    "Agent",
    "Choice",
    "Facts",
    "Ledger",
    "Listed",
    "Round",
    "Run",
    "Simulation",
    "Task",
    "Teacher",
    "Truth",
    "World",
    "agent",
    "check",
    "compare",
    "load",
    "model",
    "play",
    "rounds",
    "world",
]

_ELSEWHERE = {
    "Listed": "responses",
    "agent": "own",
    "check": "conformance",
    "compare": "side_by_side",
    "load": "agents",
    "model": "own",
    "world": "own",
}

note_imports()  # as early as possible

_ROOMS = ("agents", "encoders", "lab", "models", "off_policy", "theory", "worlds")


def __getattr__(name: str) -> Any:
    """Import a public name on first use: ``tellback --help`` waits for nothing it does not need."""
    if name in _ROOMS:  # import_module also makes it an attribute of the package
        return import_module(f"tellback.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'tellback' has no attribute {name!r}")
    value = getattr(import_module(f"tellback.{_ELSEWHERE.get(name, 'protocol')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS, "__version__"])
