"""Agents in files: arrays and numbers in NumPy's format, settings as JSON, no pickle."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tellback.arrays import AnyArray
from tellback.errors import SettingError, TellbackError
from tellback.files import atomic_write
from tellback.roles import Agent, AgentSpec, Facts, State
from tellback.specs import spec_from_data

FORMAT = 1
HEADER = "tellback"
STATE = "state."
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError)
"""What reading a damaged file can raise, wherever in it the damage is."""


class Savable(Protocol):
    """An agent whose state can be taken and given back."""

    def state(self) -> State:
        """All that was learned, in arrays and numbers."""
        ...

    def restore(self, state: State) -> None:
        """Go back to such a state."""
        ...


def save(agent: Savable, path: str | Path) -> None:
    """Write an agent's state, and what it was made from, to a file.

    Parameters
    ----------
    agent : an agent with ``state()``
        The agent. If it also has its ``spec`` and ``facts``, ``load`` can make it anew.
    path : path
        Where to; an existing file is replaced in one step.
    """
    state = agent.state()
    header: dict[str, Any] = {"format": FORMAT}
    spec, facts = getattr(agent, "spec", None), getattr(agent, "facts", None)
    if isinstance(spec, AgentSpec) and isinstance(facts, Facts):
        header |= {"agent": spec.to_data(), "facts": asdict(facts)}
    if withdrawn := getattr(agent, "withdrawn", 0):  # not part of the state, but of its history
        header["withdrawn"] = int(withdrawn)
    said = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, **_arrays(state), **{HEADER: said})


def packed(state: State) -> bytes:
    """A state as bytes."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **_arrays(state))
    return file.getvalue()


def unpacked(data: bytes) -> State:
    """A state from its bytes; many kinds of errors if they are damaged."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return _state({name: archive[name] for name in archive.files})


def _arrays(state: State) -> dict[str, AnyArray]:
    arrays = {STATE + name: np.asarray(value) for name, value in state.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise SettingError(f"State may hold arrays and numbers only; {name} is {array.dtype}.")
    return arrays


def _state(arrays: Mapping[str, AnyArray]) -> State:
    return {
        name.removeprefix(STATE): array.item() if array.ndim == 0 else array
        for name, array in arrays.items()
    }


class InFiles:
    """The part of a live agent that writes it to a file."""

    def save(self: Savable, path: str | Path) -> None:
        """Write the agent to a file, which ``tellback.load`` reads."""
        save(self, path)


def load(path: str | Path, into: Savable | None = None) -> Agent:
    """Read an agent from a file that ``save`` wrote.

    Parameters
    ----------
    path : path
        The file.
    into : optional
        A live agent to give the saved state to; needed for agents of one's own.

    Returns
    -------
    Agent
        As it was when it was saved.
    """
    header, state = _read(Path(path))
    try:
        made: Any = into if into is not None else _made(header)
        made.restore(state)
        if hasattr(made, "withdrawn"):
            made.withdrawn = int(header.get("withdrawn", 0))
    except TellbackError as error:
        raise TellbackError(f"{path}: {error}") from error
    except _DAMAGE as error:
        raise TellbackError(f"{path} does not hold a state for this agent: {error!r}") from error
    agent: Agent = made
    return agent


def _made(header: Mapping[str, Any]) -> Agent:
    if "agent" not in header:
        raise TellbackError(
            "the file does not say how to make its agent: load it into a new one with "
            "load(path, into=agent)."
        )
    facts = Facts(**header["facts"])
    spec = spec_from_data(AgentSpec, header["agent"])
    return spec.build(facts, np.random.default_rng(0))


def _read(path: Path) -> tuple[Mapping[str, Any], State]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop(HEADER).tobytes())
        known = header["format"] == FORMAT
    except FileNotFoundError as error:
        raise TellbackError(f"There is no file {path}.") from error
    except (*_DAMAGE, EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise TellbackError(
            f"{path} is not a whole file of a tellback agent, such as agent.save(path) writes."
        ) from error
    if not known:
        raise TellbackError(f"{path} is of format {header['format']}, and this reads {FORMAT}.")
    return header, _state(arrays)
