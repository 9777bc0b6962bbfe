"""The interface of encoders of pictures: pictures in, features g(y, s) out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tellback.arrays import Array
from tellback.errors import SettingError
from tellback.roles import Preparing
from tellback.specs import Data, Spec

Pictures = NDArray[np.uint8]
"""Pictures of shape (count, height, width, 3), each value from 0 to 255."""

Encoder = Callable[[Pictures], Array]
"""A live encoder: a row of features for each picture."""


class PictureSource(Protocol):
    """A source of offline pictures of a world, to train an encoder on."""

    def draw(self, count: int, rng: np.random.Generator) -> Pictures:
        """Pictures like those of the world."""
        ...

    def to_data(self) -> Data:
        """The settings that determine the pictures, as plain data."""
        ...


@dataclass(frozen=True)
class EncoderSpec(Spec):
    """The settings of an encoder of pictures."""

    role: ClassVar[str] = "encoder"

    @property
    def dim(self) -> int:
        """How many features it gives."""
        raise NotImplementedError

    def build(self, gallery: PictureSource) -> Encoder:
        """Build the encoder, trained on the gallery if it needs training."""
        raise NotImplementedError

    def prepare(self, gallery: PictureSource, progress: Preparing | None = None) -> None:
        """Do slow work that ``build`` needs, such as training, once beforehand."""


def encoder_from(thing: EncoderSpec | Encoder | Any, gallery: PictureSource) -> Encoder:
    """A live encoder from a spec, a torch module, or any other callable.

    A torch module is given a float tensor of shape (count, 3, height, width) with values from
    0 to 1, in evaluation mode. Anything else is given the pictures as they are. The output is
    flattened to one row per picture.
    """
    if isinstance(thing, EncoderSpec):
        return _Checked(thing.build(gallery), thing.kind, thing.dim)
    if not callable(thing) or isinstance(thing, type):
        raise SettingError(
            "encoder must be the spec of an encoder, a torch module or a function of "
            f"pictures, not {thing!r}."
        )
    name = getattr(thing, "__name__", type(thing).__name__)
    is_module = hasattr(thing, "named_parameters") and hasattr(thing, "eval")  # without torch
    return _Checked(_Module(thing) if is_module else thing, name)


class _Checked:
    """An encoder with its output checked: one row of finite numbers per picture."""

    def __init__(self, encode: Encoder, name: str, dim: int | None = None) -> None:
        self._encode = encode
        self._name = name
        self._dim = dim

    def __call__(self, pictures: Pictures) -> Array:
        output = self._encode(pictures)
        try:
            given = np.asarray(output)
        except (ValueError, TypeError, RuntimeError) as error:
            raise self._refusal(f"something else: {str(error).rstrip('.')}") from error
        if given.dtype.kind not in "biuf" or given.ndim < 2 or len(given) != len(pictures):
            raise self._refusal(f"{given.dtype} of shape {given.shape}", len(pictures))
        features = given.reshape(len(given), -1).astype(np.float64)
        if self._dim is not None and features.shape[1] != self._dim:
            raise self._refusal(f"{features.shape[1]} numbers a picture; its dim is {self._dim}")
        if not features.size or not np.isfinite(features).all():
            raise SettingError(f"Encoder {self._name} gave features that are not all numbers.")
        return features

    def _refusal(self, got: str, pictures: int | None = None) -> SettingError:
        each = f"each of {pictures} pictures" if pictures is not None else "each picture"
        return SettingError(
            f"Encoder {self._name} must give a row of numbers for {each}, not {got}."
        )


class _Module:
    """A torch module as an encoder."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __call__(self, pictures: Pictures) -> Array:
        import torch

        were_training = [part for part in self._module.modules() if part.training]
        self._module.eval()
        try:
            with torch.no_grad():
                weights = next(self._module.parameters(), torch.empty(0))
                output = self._module(as_tensor(pictures).to(weights.device))
        finally:
            for part in were_training:
                part.training = True
        if not torch.is_tensor(output):
            raise SettingError(
                "A torch module as an encoder must return one tensor, "
                f"not {type(output).__name__}: wrap it in a function that picks one."
            )
        features: Array = output.double().cpu().numpy()
        return features


def as_tensor(pictures: Pictures) -> Any:
    """Pictures as torch wants them: (count, 3, height, width), from 0 to 1."""
    import torch

    return torch.from_numpy(np.ascontiguousarray(pictures.transpose(0, 3, 1, 2))) / 255
