"""Trained weights in the user's cache, named by a hash of the settings behind them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tellback.errors import TellbackError
from tellback.extras import from_extra
from tellback.files import atomic_write, demand_writable
from tellback.folders import user_cache
from tellback.specs import Data

DIGEST = "sha256"


class WeightCache:
    """The cached weights of one configuration.

    The format is safetensors, which holds named arrays and no code. A digest of the weights is
    stored with them: a damaged file is ignored, and the weights are trained again. ``made_from``
    has all settings that they depend on. The file name starts with ``name``, for people who look
    into the folder.
    """

    def __init__(self, name: str, made_from: Data) -> None:
        canonical = json.dumps(made_from, sort_keys=True, separators=(",", ":"))
        identity = hashlib.sha256(canonical.encode()).hexdigest()[:40]
        self.path = user_cache() / "encoders" / f"{name}-{identity}.safetensors"
        self._made_from = canonical

    def load(self, like: Mapping[str, Any]) -> dict[str, Any] | None:
        """The weights; None if there are none, or if they are damaged or of other shapes."""
        safetensors = from_extra("vision", "safetensors", "Storing a trained encoder")
        if not self.path.exists():
            return None
        try:
            with safetensors.safe_open(self.path, framework="pt") as file:
                weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                digest = (file.metadata() or {}).get(DIGEST)
        except (safetensors.SafetensorError, OSError, ValueError):
            return None
        shapes = {name: tensor.shape for name, tensor in like.items()}
        fits = shapes == {name: tensor.shape for name, tensor in weights.items()}
        return weights if fits and digest == _digest(weights) else None

    def demand_writable(self) -> None:
        """Refuse, before the training, if its result cannot be stored."""
        try:
            demand_writable(self.path.parent)
        except TellbackError as error:
            raise TellbackError(
                f"{error} Trained encoders are stored there; XDG_CACHE_HOME names another folder."
            ) from error

    def save(self, weights: Mapping[str, Any]) -> None:
        """Store the weights."""
        save_file = from_extra("vision", "safetensors.torch", "Storing a trained encoder").save_file
        about = {"made_from": self._made_from, DIGEST: _digest(weights)}
        with atomic_write(self.path) as temporary:
            save_file(dict(weights), temporary, metadata=about)


def _digest(weights: Mapping[str, Any]) -> str:
    content = hashlib.sha256()
    for name in sorted(weights):
        values = weights[name].numpy()
        content.update(f"{name} {values.dtype} {values.shape}".encode() + values.tobytes())
    return content.hexdigest()
